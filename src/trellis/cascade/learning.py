"""Trains a cascade: its stages one after the other, from the lowest on, and then, if so asked, all of them as one."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.annotated import check_annotated
from trellis.cascade.development import StageDevelopment
from trellis.cascade.jackknife import Fold, folds_of, jackknifed
from trellis.cascade.model import BATCH, CascadeModel, TrainedStage
from trellis.cascade.plan import Beliefs, joined
from trellis.cascade.preparing import Ready, prepared
from trellis.cascade.stage import Stage
from trellis.cascade.warm import carried, check_kept, check_start
from trellis.corpus import Corpus
from trellis.errors import TrellisError
from trellis.features import Packed
from trellis.labels import runs
from trellis.models.keeping import Keeping
from trellis.models.neural_chain import NeuralChain
from trellis.models.neural_learning import seen_by
from trellis.models.recipe import optimizer_of, prior_of
from trellis.scoring.occurring import Occurring
from trellis.training import Outcome

if TYPE_CHECKING:
    from trellis.cascade.cascade import Cascade
    from trellis.objective import Examples

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

_LOG = logging.getLogger(__name__)
LEAST = 1e-100  # what is less probable is never read: one through it has to be a number, and its square


class Learning:
    """One call of `fit`. `stages`: lower ones first."""

    def __init__(
        self,
        cascade: Cascade,
        stages: Sequence[Stage],
        corpus: Corpus,
        dev: Corpus | None,
        keeping: Keeping,
        start: CascadeModel | None = None,
    ):
        self.cascade, self.corpus, self.dev, self.keeping = cascade, corpus, dev, keeping
        self.threads = cascade._threads
        self.ready: list[Ready] = []
        names = [stage.target for stage in stages]
        for stage in stages:
            self.ready.append(prepared(stage, corpus, self.ready, names, cascade.seed, self.threads))
        self.reads = [
            () if one.wiring is None else tuple(names.index(name) for name in one.wiring.lower) for one in self.ready
        ]
        wire = "marginal" if cascade.wire == "joint" else cascade.wire
        paths = int(cascade.k if wire == "kbest" else cascade.samples)
        trained = [
            TrainedStage(one.stage.target, one.model, one.labels, lower, one.wiring, one.curve)
            for one, lower in zip(self.ready, self.reads, strict=True)
        ]
        self.model = CascadeModel(tuple(trained), wire, max(float(cascade.least), LEAST), paths, int(cascade.seed))
        if start is not None:
            check_start(start.stages, names, cascade._frozen)
            weights = [carried(stage, start.stages) for stage in self.model.stages]
            check_kept(start.stages, dict(zip(names, weights, strict=True)), cascade._frozen)
            self.model = self.model.with_weights(weights)
        if cascade.wire == "gold":
            check_annotated(self.ready, {k for lower in self.reads for k in lower})
        self.beliefs: dict[int, Beliefs] = {}
        self.dev_packed: list[Packed] = []
        self.dev_beliefs: dict[int, Beliefs] = {}

    def stage_by_stage(self) -> list[Outcome]:
        """Each stage with what it reads of lower ones, which stay as they are."""
        return [self._stage(s) for s in range(len(self.ready))]

    def _stage(self, s: int) -> Outcome:
        ready, target = self.ready[s], self.ready[s].stage.target
        _LOG.info("stage '%s'", target)
        read = None if ready.wiring is None else self._read(s)
        examples, inputs = ready.examples(read), ready.packed.inputs
        held_out, reading = self._held_out(s), {} if read is None else self._reading
        packed = Packed(
            examples.indptr, examples.ids, examples.values, examples.arcs, examples.allowed, examples.spans, inputs
        )
        try:
            train = self._with_encoder if isinstance(ready.model, NeuralChain) else self._sparsely
            outcome = train(s, examples, held_out, reading)
        except TrellisError as error:
            error.add_note(f"in stage '{target}'")
            raise
        self._adopt(s, outcome.theta)
        if self.model.is_read(s):
            self.beliefs[s] = self._believed(s, packed)
            if self.dev is not None:
                self.dev_beliefs[s] = self._in_batches(s, self.dev_packed[s], self.dev.offsets)
        return outcome

    def _sparsely(
        self, s: int, examples: Examples, held_out: StageDevelopment | None, reading: dict[str, Any]
    ) -> Outcome:
        """A stage of sparse weights alone."""
        from trellis.cascade.together import stage_shards
        from trellis.objective import cut_into_shards
        from trellis.optim import traits_of

        ready = self.ready[s]
        estimator = _by_itself(ready.stage, self.cascade.seed, self.threads)
        fitting = self.keeping.fitting(estimator, ready.stage.target)
        optimizer, prior = optimizer_of(estimator), prior_of(estimator)
        is_online = traits_of(type(optimizer)).is_online
        has_values = examples.arcs is not None and examples.arcs.values is not None
        if ready.reads_arcs and has_values and not is_online:  # best labels have none, and many tokens look the same
            shards: Any = stage_shards(ready, [self.beliefs[k] for k in self.reads[s]], self.model.least_read)
        else:
            shards = cut_into_shards(ready.model.layout, examples, ready.loss, is_online)
        theta = self.model.stages[s].model.weights
        fitting.describe(ready.model, examples, held_out, theta, reading)
        return fitting.minimised(shards, prior, optimizer, theta, held_out, [self.corpus], self.threads)

    def _with_encoder(
        self, s: int, examples: Examples, held_out: StageDevelopment | None, reading: dict[str, Any]
    ) -> Outcome:
        from trellis.models.neural_fitting import NeuralFitting
        from trellis.models.neural_training import trained

        ready, model = self.ready[s], self.model.stages[s].model
        assert isinstance(model, NeuralChain)
        assert ready.packed.inputs is not None
        estimator = _by_itself(ready.stage, self.cascade.seed, self.threads)
        fitting = self.keeping.fitting(estimator, ready.stage.target, NeuralFitting)
        assert isinstance(fitting, NeuralFitting)
        seen = {"seen": seen_by(model, ready.packed.inputs)}
        fitting.describe(model, examples, held_out, model.weights, {**reading, **seen})
        return trained(
            fitting, estimator, model, examples, ready.packed.inputs, ready.loss, held_out, [self.corpus], self.threads
        )

    @property
    def _reading(self) -> dict[str, Any]:
        """How lower stages are read, as far as it matters."""
        own = {"marginal": "least", "kbest": "k", "sample": "samples"}.get(self.model.wire)
        names = ["jackknife", *([] if own is None else [own])]
        return {"wire": self.model.wire, **{name: getattr(self.cascade, name) for name in names}}

    def _adopt(self, s: int, theta: F64) -> None:
        stages = list(self.model.stages)
        stages[s] = replace(stages[s], model=stages[s].model.with_weights(theta))
        self.model = replace(self.model, stages=tuple(stages))

    def _read(self, s: int) -> tuple[Occurring, Occurring | None]:
        ready = self.ready[s]
        assert ready.wiring is not None
        labels, arcs = ready.wiring.expand(
            [self.beliefs[k] for k in self.reads[s]], ready.columns, self.corpus.offsets, self.model.least_read,
            ready.curve,
        )  # fmt: skip
        return labels.occurring, None if arcs is None else arcs.occurring

    def _believed(self, s: int, packed: Packed) -> Beliefs:
        """What upper stages are to learn from."""
        if self.cascade.wire == "gold":
            return self.ready[s].gold_beliefs
        if self.cascade.jackknife:
            return jackknifed(self, self.folds, s)
        return self._in_batches(s, packed, self.corpus.offsets)

    @cached_property
    def folds(self) -> list[Fold]:
        return folds_of(self)

    def _in_batches(self, s: int, packed: Packed, offsets: I64) -> Beliefs:
        if self.cascade.wire == "gold":
            assert self.dev is not None
            return self.model._gold(self.dev)[s]

        def one(run: tuple[int, int]) -> Beliefs:
            a, b = int(offsets[run[0]]), int(offsets[run[1]])
            return self.model.beliefs(s, packed.part(a, b), offsets[run[0] : run[1] + 1] - a)

        with ThreadPoolExecutor(self.threads) as pool:
            return joined(list(pool.map(one, runs(offsets, BATCH))))

    def _held_out(self, s: int) -> StageDevelopment | None:
        if self.dev is None:
            return None
        stage, wiring = self.model.stages[s], self.ready[s].wiring
        own = stage.model.pack(self.dev)
        columns = None
        if wiring is not None and wiring.context is not None:
            from trellis.cascade.context import context_columns

            columns = context_columns(wiring.context, self.dev)
        lower = [self.dev_beliefs[k] for k in self.reads[s]]
        self.dev_packed.append(self.model.packed(s, own, columns, lower, self.dev.offsets))
        return StageDevelopment(stage.model, self.dev_packed[s], self.dev, stage.target)

    def together(self) -> Outcome:
        """All stages as one, from where they are."""
        from trellis.cascade.jointly import Jointly

        self.beliefs, self.dev_beliefs, self.dev_packed = {}, {}, []  # which were for the stages one by one
        outcome = Jointly(self).train()
        self.model = self.model.with_weights(self.split(outcome.theta))
        return outcome

    @property
    def starts(self) -> list[int]:
        """Where the weights of each stage begin among those of all, and where the last ones end."""
        found: list[int] = np.cumsum([0, *(len(one.model.weights) for one in self.ready)]).tolist()
        return found

    def split(self, theta: F64) -> list[F64]:
        """The weights of each stage."""
        return np.split(theta, self.starts[1:-1])


def _by_itself(stage: Stage, seed: int, threads: int) -> Any:
    """The stage's model with priors as they are when its loss has the weight 1: the minimum is the same."""
    estimator = stage.estimator(seed, threads)
    for name in ("l2", "l1", "hyperbolic"):
        setattr(estimator, name, getattr(estimator, name) / float(stage.weight))
    return estimator
