"""Trains a cascade: its stages one after the other, from the lowest on, and then, if so asked, all of them as one."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.development import CascadeDevelopment, OfStages, StageDevelopment
from trellis.cascade.model import CascadeModel, TrainedStage
from trellis.cascade.plan import Beliefs, joined
from trellis.cascade.preparing import Ready, prepared
from trellis.cascade.stage import Stage
from trellis.cascade.warm import carried
from trellis.corpus import Corpus
from trellis.errors import DataError, TrellisError
from trellis.features import Packed
from trellis.labels import runs
from trellis.models.fingerprint import digest, settings_of
from trellis.models.fitting import Fitting
from trellis.models.recipe import optimizer_of, prior_of
from trellis.scoring.occurring import Occurring
from trellis.training import Fingerprint, Outcome, Progress

if TYPE_CHECKING:
    from trellis.cascade.cascade import Cascade
    from trellis.cascade.objective import JointObjective

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

_LOG = logging.getLogger(__name__)
_BATCH = 8192  # tokens


@dataclass(frozen=True)
class Keeping:
    """Where trainings are written down, and who hears of them: see `CRF.fit`."""

    checkpoint: str | Path | None = None
    resume: bool = False
    every: int | None = None
    log: str | Path | None = None
    progress: Callable[[Progress], None] | None = None

    def fitting(self, settings: Any, name: str) -> Fitting:
        """For one of the trainings, with a folder and a file of its own."""
        folder = None if self.checkpoint is None else Path(self.checkpoint) / name
        log = None if self.log is None else Path(self.log).with_name(f"{Path(self.log).stem}.{name}.jsonl")
        return Fitting(settings, folder, self.resume, self.every, log, self.progress)


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
        self.model = CascadeModel(tuple(trained), wire, float(cascade.least), paths, int(cascade.seed))
        if start is not None:
            self.model = self.model.with_weights([carried(stage, start.stages) for stage in self.model.stages])
        self.beliefs: dict[int, Beliefs] = {}
        self.dev_packed: list[Packed] = []
        self.dev_beliefs: dict[int, Beliefs] = {}

    def stage_by_stage(self) -> list[Outcome]:
        """Each stage with what it reads of lower ones, which stay as they are."""
        return [self._stage(s) for s in range(len(self.ready))]

    def _stage(self, s: int) -> Outcome:
        from trellis.cascade.together import stage_shards
        from trellis.objective import cut_into_shards
        from trellis.optim import traits_of

        ready, target = self.ready[s], self.ready[s].stage.target
        estimator = _by_itself(ready.stage, self.cascade.seed, self.threads)
        _LOG.info("stage '%s'", target)
        fitting = self.keeping.fitting(estimator, target)
        optimizer, prior = optimizer_of(estimator), prior_of(estimator)
        read = None if ready.wiring is None else self._read(s)
        examples, is_online = ready.examples(read), traits_of(type(optimizer)).is_online
        if ready.reads_arcs and not is_online:
            shards: Any = stage_shards(ready, [self.beliefs[k] for k in self.reads[s]], self.model.least_read)
        else:
            shards = cut_into_shards(ready.model.layout, examples, ready.loss, is_online)
        held_out = self._held_out(s)
        theta = self.model.stages[s].model.weights
        fitting.describe(ready.model, examples, held_out, theta)
        packed = Packed(examples.indptr, examples.ids, examples.values, examples.arcs, examples.allowed, examples.spans)
        try:
            outcome = fitting.minimised(shards, prior, optimizer, theta, held_out, [self.corpus], self.threads)
        except TrellisError as error:
            error.add_note(f"in stage '{target}'")
            raise
        self._adopt(s, outcome.theta)
        if self.model.is_read(s):
            self.beliefs[s] = self._believed(s, packed)
            if self.dev is not None:
                self.dev_beliefs[s] = self._in_batches(s, self.dev_packed[s], self.dev.offsets)
        return outcome

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
            return self._jackknifed(s)
        return self._in_batches(s, packed, self.corpus.offsets)

    def _in_batches(self, s: int, packed: Packed, offsets: I64) -> Beliefs:
        if self.cascade.wire == "gold":
            assert self.dev is not None
            return self.model._gold(self.dev)[s]

        def one(run: tuple[int, int]) -> Beliefs:
            a, b = int(offsets[run[0]]), int(offsets[run[1]])
            return self.model.beliefs(s, packed.part(a, b), offsets[run[0] : run[1] + 1] - a)

        with ThreadPoolExecutor(self.threads) as pool:
            return joined(list(pool.map(one, runs(offsets, _BATCH))))

    def _jackknifed(self, s: int) -> Beliefs:
        """Of each fold, from stages trained on the others."""
        folds, parts = int(self.cascade.jackknife), []
        ends = np.linspace(0, len(self.corpus), folds + 1).astype(int).tolist()
        below = _below(s, self.reads)
        stages = [self.ready[k].stage for k in below]
        for first, last in pairwise(ends):
            if first == last:
                continue
            _LOG.info("stage '%s' without sentences %d to %d", self.ready[s].stage.target, first + 1, last)
            rest = without(self.corpus, first, last)
            once = Learning(_plain(self.cascade), stages, rest, None, Keeping())
            once.stage_by_stage()
            parts.append(once.believed_of(self.corpus.slice(first, last), self.ready[s].labels, self.model.chained(s)))
        return joined(parts)

    def believed_of(self, corpus: Corpus, labels: Sequence[str], chained: bool) -> Beliefs:
        """What the last stage believes about other data, in the numbers of labels that may be others."""
        from trellis.cascade.believing import beliefs_of

        model, s = self.model, len(self.model.stages) - 1
        number = {name: j for j, name in enumerate(labels)}
        table = np.array([number.get(name, -1) for name in model.stages[s].labels])

        def ask(own: Any, packed: Packed, offsets: I64) -> Beliefs | None:
            if own is not model.stages[s].model:
                return None
            return beliefs_of(
                model.wire, own, packed, offsets, len(table), chained, model.least, model.paths, model.seed
            )

        found = [one for one in model.answers(corpus, self.threads, ask)[s] if one is not None]
        return joined(found).renamed(table, len(labels))

    def _held_out(self, s: int) -> StageDevelopment | None:
        if self.dev is None:
            return None
        stage, wiring = self.model.stages[s], self.ready[s].wiring
        own = stage.model.pack(self.dev)
        columns = None
        if wiring is not None and wiring.context is not None:
            from trellis.cascade.wiring import context_columns

            columns = context_columns(wiring.context, self.dev)
        lower = [self.dev_beliefs[k] for k in self.reads[s]]
        self.dev_packed.append(self.model.packed(s, own, columns, lower, self.dev.offsets))
        return StageDevelopment(stage.model, self.dev_packed[s], self.dev, stage.target)

    # all as one

    def together(self) -> Outcome:
        """From where the stages are."""
        from trellis.cascade.objective import BATCH, JointObjective
        from trellis.cascade.together import joint_prior, joint_shards

        settings = self.cascade
        shards = joint_shards(self.ready, self.reads, self.model.least)
        prior, optimizer = joint_prior(self.ready, settings.seed), optimizer_of(settings._settings)
        theta = np.concatenate([stage.model.weights for stage in self.model.stages])
        self.model = replace(self.model, wire="joint")
        held_out = None
        if self.dev is not None:
            held_out = CascadeDevelopment(self.model, self.dev, self.split, self.threads)
        fitting = self.keeping.fitting(settings._settings, "joint")
        sizes = {
            "sentences": len(self.corpus), "tokens": self.corpus.tokens, "labels": len(self.model.labels),
            "attributes": sum(one.model.features.attributes for one in self.ready), "weights": len(theta),
        }  # fmt: skip
        content = None if held_out is None else held_out.content
        fitting.describe_as(sizes, lambda: self._fingerprint(theta, content))
        _LOG.info("all stages as one")

        def batches() -> Any:
            return joint_shards(self.ready, self.reads, self.model.least, BATCH)

        keeps = {name: getattr(optimizer, name) for name in ("cache", "hvp") if hasattr(optimizer, name)}
        with JointObjective(shards, len(theta), prior, self.threads, batches, **keeps) as objective:
            if settings.schedule == "alternate":
                outcome = self._in_turns(objective, optimizer, theta, held_out)
            elif settings.frozen:
                outcome = self._some(objective, optimizer, theta, held_out, fitting)
            else:
                outcome = fitting.train(objective, optimizer, theta, held_out, [self.corpus])
        if not (np.isfinite(outcome.theta).all() and math.isfinite(outcome.objective)):
            raise DataError("training led to weights that are no numbers; are there extreme feature values?")
        self.model = self.model.with_weights(self.split(outcome.theta))
        return outcome

    def _some(
        self,
        objective: JointObjective,
        optimizer: Any,
        theta: F64,
        held_out: CascadeDevelopment | None,
        fitting: Fitting,
    ) -> Outcome:
        """Without the stages that are frozen."""
        from trellis.cascade.objective import SomeStages

        sizes = [one.model.layout.size for one in self.ready]
        free = np.repeat([one.stage.target not in self.cascade.frozen for one in self.ready], sizes)
        part = np.flatnonzero(free)
        score = None if held_out is None else OfStages(held_out, theta, part)
        outcome = fitting.train(SomeStages(objective, theta, part), optimizer, theta[part], score)
        whole = theta.copy()
        whole[part] = outcome.theta
        return replace(outcome, theta=whole)

    def _in_turns(
        self, objective: JointObjective, optimizer: Any, theta: F64, held_out: CascadeDevelopment | None
    ) -> Outcome:
        """Each stage by itself, from the highest to the lowest and again, with the others as they are."""
        from trellis.cascade.objective import SomeStages

        ends = np.cumsum([0, *(one.model.layout.size for one in self.ready)]).tolist()
        outcomes: list[Outcome] = []
        for turn in range(int(self.cascade.rounds)):
            for s in range(len(self.ready) - 1, -1, -1):
                if self.ready[s].stage.target in self.cascade.frozen:
                    continue
                part = np.arange(ends[s], ends[s + 1])
                _LOG.info("turn %d of stage '%s'", turn + 1, self.ready[s].stage.target)
                name = f"joint-{turn + 1}-{self.ready[s].stage.target}"
                fitting = self.keeping.fitting(self.cascade._settings, name)
                fitting.describe_as({"tokens": self.corpus.tokens}, partial(self._fingerprint, theta.copy(), None))
                score = None if held_out is None else OfStages(held_out, theta, part)
                outcome = fitting.train(SomeStages(objective, theta, part), optimizer, theta[part], score)
                theta = theta.copy()
                theta[part] = outcome.theta
                outcomes.append(outcome)
        last = outcomes[-1]
        return replace(
            last, theta=theta, iterations=sum(one.iterations for one in outcomes),
            evaluations=sum(one.evaluations for one in outcomes), products=sum(one.products for one in outcomes),
            seconds=sum(one.seconds for one in outcomes), converged=all(one.converged for one in outcomes),
        )  # fmt: skip

    def split(self, theta: F64) -> list[F64]:
        """The weights of each stage."""
        return np.split(theta, np.cumsum([one.model.layout.size for one in self.ready])[:-1])

    def _fingerprint(self, theta: F64, dev: object) -> Fingerprint:
        settings = self.cascade._settings.get_params()
        return {
            "model type": "cascade",
            **settings_of(settings),
            "labels": digest(tuple((one.labels, one.gold, one.offsets) for one in self.ready)),
            "attributes": digest(tuple(replace(one.own_examples(1.0), rules=None) for one in self.ready)),
            "layout": digest(tuple(one.model.layout for one in self.ready)),
            "dev": None if dev is None else digest(dev),
            "start": digest(theta),
        }


def _by_itself(stage: Stage, seed: int, threads: int) -> Any:
    """The stage's model with priors as they are when its loss has the weight 1: the minimum is the same."""
    estimator = stage.estimator(seed, threads)
    for name in ("l2", "l1", "hyperbolic"):
        setattr(estimator, name, getattr(estimator, name) / float(stage.weight))
    return estimator


def without(corpus: Corpus, first: int, last: int) -> Corpus:
    """The corpus but for sentences first..last."""
    lengths = np.diff(corpus.offsets)
    keep = np.ones(len(lengths), bool)
    keep[first:last] = False
    if not keep.any():
        raise DataError("jackknife leaves no sentence to learn from; use fewer folds")
    offsets = np.concatenate([[0], np.cumsum(lengths[keep])]).astype(np.int64)
    return corpus.rows(np.repeat(keep, lengths), offsets)


def _below(s: int, reads: Sequence[tuple[int, ...]]) -> list[int]:
    """Stage s and all that it depends on, in order."""
    needed = {s}
    for k in range(s, -1, -1):
        if k in needed:
            needed |= set(reads[k])
    return sorted(needed)


def _plain(cascade: Cascade) -> Cascade:
    """The same without folds."""
    from trellis.cascade.cascade import Cascade

    return Cascade(**{**cascade.get_params(), "jackknife": 0})
