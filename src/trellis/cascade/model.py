"""A trained cascade: its stages, from the lowest on, and what it answers. Immutable, as threads may share one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.believing import beliefs_of
from trellis.cascade.context import context_columns
from trellis.cascade.monomials import Curve
from trellis.cascade.packing import StageModel, is_chain, with_wires
from trellis.cascade.plan import Beliefs, gold_beliefs
from trellis.cascade.wiring import Wiring
from trellis.corpus import Corpus
from trellis.errors import DataError, NoLegalPathError
from trellis.features import Packed
from trellis.jit import announce
from trellis.labels import runs
from trellis.models.neural_chain import NeuralChain
from trellis.models.segment_model import SegmentModel

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
Answer = TypeVar("Answer")

BATCH = 8192  # tokens at a time by one thread


@dataclass(frozen=True)
class TrainedStage:
    """`labels`: as its lattices have them; `reads`: the numbers of the stages that `wiring` reads."""

    target: str
    model: StageModel
    labels: tuple[str, ...]
    reads: tuple[int, ...] = ()
    wiring: Wiring | None = None
    curve: Curve | None = None

    @property
    def is_chain(self) -> bool:
        return is_chain(self.model)


@dataclass(frozen=True)
class CascadeModel:
    """`wire`, `least`, `paths`, `seed`: see `believing`."""

    stages: tuple[TrainedStage, ...]
    wire: str
    least: float
    paths: int
    seed: int

    @property
    def labels(self) -> tuple[str, ...]:
        """Those of the last stage."""
        return self.stages[-1].model.labels

    @property
    def weights(self) -> F64:
        """Those of all stages, one behind the other."""
        return np.concatenate([stage.model.weights for stage in self.stages])

    @property
    def summary(self) -> str:
        encoders = [stage.model.encoder.shape.size for stage in self.stages if isinstance(stage.model, NeuralChain)]
        sparse = f"{len(self.weights) - sum(encoders):,} weights"
        return f"{sparse} and encoders of {sum(encoders):,}" if encoders else sparse

    def chained(self, s: int) -> bool:
        """Whether labels of neighbouring tokens of a stage are read together, and can be."""
        return self.stages[s].is_chain and any(
            chained
            for stage in self.stages
            if stage.wiring is not None
            for number, chained in zip(stage.reads, stage.wiring.chained, strict=True)
            if number == s
        )

    def is_read(self, s: int) -> bool:
        return any(s in stage.reads for stage in self.stages)

    def with_weights(self, weights: Sequence[F64]) -> CascadeModel:
        stages = [
            replace(stage, model=stage.model.with_weights(own)) for stage, own in zip(self.stages, weights, strict=True)
        ]
        return replace(self, stages=tuple(stages))

    def packed(self, s: int, own: Packed, columns: I32 | None, lower: Sequence[Beliefs], offsets: I64) -> Packed:
        """The data of a stage with what it reads."""
        stage = self.stages[s]
        if stage.wiring is None:
            return own
        labels, arcs = stage.wiring.expand(lower, columns, offsets, self.least_read, stage.curve)
        return with_wires(own, stage.model.features, labels.occurring, None if arcs is None else arcs.occurring)

    @property
    def least_read(self) -> float:
        """What is less probable is not looked at; of paths all are."""
        return self.least if self.wire in ("marginal", "joint") else 0.0

    def beliefs(self, s: int, packed: Packed, offsets: I64) -> Beliefs:
        """What upper stages see of stage s."""
        stage = self.stages[s]
        return beliefs_of(
            self.wire, stage.model, packed, offsets, len(stage.labels), self.chained(s), self.least, self.paths,
            self.seed,
        )  # fmt: skip

    def answers(
        self, data: Corpus, threads: int, answer: Callable[[StageModel, Packed, I64], Answer]
    ) -> list[list[Answer]]:
        """For each stage what its model answers about batches of the data, in order."""
        stages = self.stages
        readings = [stage.model.features.translated(data) for stage in stages]
        contexts = [
            None if stage.wiring is None or stage.wiring.context is None else stage.wiring.context.translated(data)
            for stage in stages
        ]
        gold = self._gold(data) if self.wire == "gold" else None

        def one(run: tuple[int, int]) -> list[Answer]:
            first, until = run
            a, offsets = int(data.offsets[first]), data.offsets[first : until + 1] - data.offsets[first]
            beliefs: dict[int, Beliefs] = {}
            found = []
            for s, stage in enumerate(stages):
                own = stage.model.features.transform(readings[s].slice(first, until), first)
                context = contexts[s]
                columns = None
                if stage.wiring is not None and stage.wiring.context is not None and context is not None:
                    columns = context_columns(stage.wiring.context, context.slice(first, until))
                try:
                    packed = self.packed(s, own, columns, [beliefs[k] for k in stage.reads], offsets)
                    found.append(answer(stage.model, packed, offsets))
                    if self.is_read(s) and s < len(stages) - 1:
                        beliefs[s] = (
                            self.beliefs(s, packed, offsets) if gold is None else gold[s].part(a, a + int(offsets[-1]))
                        )
                except NoLegalPathError as error:
                    raise error.after(first) from None
            return found

        announce(sum(stage.model.work(data.tokens) for stage in stages))
        batches = runs(data.offsets, BATCH)
        if threads <= 1 or len(batches) <= 1:
            rows = [one(run) for run in batches]
        else:
            with ThreadPoolExecutor(threads) as pool:
                rows = list(pool.map(one, batches))
        return [[row[s] for row in rows] for s in range(len(stages))]

    def _gold(self, data: Corpus) -> dict[int, Beliefs]:
        """The annotation as upper stages see it."""
        out = {}
        for s, stage in enumerate(self.stages):
            if not self.is_read(s):
                continue
            if stage.target not in data.columns:
                raise DataError(
                    f"the wire 'gold' reads the annotation, and there is no column '{stage.target}'", data.path
                )
            ids = data[stage.target].translated({name: j for j, name in enumerate(stage.model.labels)})
            model: Any = stage.model
            within = model.within(np.maximum(ids, 0), data.offsets) if isinstance(model, SegmentModel) else ids
            out[s] = gold_beliefs(within.astype(np.int32), len(stage.labels), data.offsets, ids >= 0)
        return out

    def best(self, data: Corpus, threads: int = 1) -> list[I32]:
        """The best label of every token, I32[tokens], of each stage."""
        found = self.answers(data, threads, lambda model, packed, offsets: model.best_of_packed(packed, offsets))
        return [np.concatenate([np.zeros(0, np.int32), *parts]) for parts in found]

    def marginals(self, data: Corpus, threads: int = 1) -> list[F64]:
        """P(label) of every token, F64[tokens, labels], of each stage."""
        found = self.answers(data, threads, lambda model, packed, offsets: model.marginals_of_packed(packed, offsets))
        widths = [len(stage.model.labels) for stage in self.stages]
        return [np.concatenate([np.zeros((0, w)), *parts]) for w, parts in zip(widths, found, strict=True)]
