"""One shard of a cascade in training: the sum of its stages' losses, whose gradient goes back from stage to stage.

Block by block: from the lowest stage to the highest, scores are those of the stage's own attributes and of what it
reads of lower stages (Azuma & Matsumoto 2011, Algorithm 1, lines 2 to 4). Then back: with h = dL/dP, what all upper
stages' losses say about the probabilities of a stage's nodes and arcs, the gradient in its scores is that of its own
loss and

    Cov[H, 1_e]      for every node and arc e      (MATH section 4; the paper's Algorithm 2, corrected)

Where lower stages stay as they are, there is one stage, and what it reads of others is given (Bunescu 2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.back import answer_of, go_back
from trellis.cascade.passes import Found, JointStage, Pass, Reads, Shift, StageWeights
from trellis.cascade.plan import Beliefs
from trellis.lattice import WorkChain
from trellis.lattice.entries import NodeEntries
from trellis.lattice.kernels.entries import list_nodes
from trellis.lattice.patched import PatchedChain
from trellis.lattice.patched_solved import PatchedSolved
from trellis.lattice.solved import Solved, SolvedChain
from trellis.scoring.kernels import add_at
from trellis.scoring.occurring import behind
from trellis.scoring.wires import Gathered, patched, unpatched

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


class JointShard:
    """Stages in such an order that lower ones come first, all over the same sentences, cut into the same blocks.
    `index`, `answers_stay`: see `Shard`. `least`: nodes and arcs that are no more probable are not read."""

    answers_stay = True

    def __init__(self, stages: Sequence[JointStage], least: float):
        self.stages, self.least = list(stages), least
        self.blocks, self.offsets = stages[0].shard.blocks, stages[0].shard.offsets
        self.keeping = 0
        self.loss = stages[-1].shard.loss
        self._given: dict[int, Found] = {}

    @property
    def index(self) -> I32:
        """Made anew each time: of many small shards it would be most of what there is in memory."""
        return np.concatenate([part for stage in self.stages for part in _indexes(stage)]).astype(np.int32)

    @property
    def sentences(self) -> int:
        return len(self.offsets) - 1

    @property
    def has_curvature(self) -> bool:
        return all(stage.shard.has_curvature for stage in self.stages)

    def value(self, theta: F64) -> float:
        weights, value = self._loaded(theta), 0.0
        for n in range(len(self.blocks)):
            for stage, here in zip(self.stages, self._up(weights, n), strict=True):
                value += float(answer_of(stage, here, n).values.sum())
        return value

    def value_and_gradient(self, theta: F64) -> tuple[float, F64]:
        weights, value = self._loaded(theta), 0.0
        self._begin()
        for n in range(len(self.blocks)):
            value += go_back(self.stages, weights, self._up(weights, n), n)
        return value, self._collected()

    def hessian_vector(self, theta: F64, direction: F64) -> F64:
        """The Hessian, or what losses have in its place, times a direction, F64[local]."""
        from trellis.cascade.product import add_product

        weights = self._loaded(theta)
        along = [self._load(stage, direction, along=True) for stage in self.stages]
        self._begin()
        for n in range(len(self.blocks)):
            add_product(self, weights, along, n)
        for stage in self.stages:
            stage.shard.added_h = None
        return self._collected()

    def hessian_diagonal(self, theta: F64) -> F64:
        """About that of the stages' losses, F64[local], as if what is read were given."""
        weights = self._loaded(theta)
        self._begin()
        for n in range(len(self.blocks)):
            for stage, here in zip(self.stages, self._up(weights, n, keep=True), strict=True):
                nodes, arcs = stage.shard.loss.diagonal(here.kept, stage.shard.targets[n])
                stage.shard._add(nodes, arcs, n, squared=True)
                if stage.reads is not None and here.found is not None:
                    labels = here.found.labels
                    stage.reads.labels.add(stage.shard.on_labels(nodes, n), labels, labels.values**2)
                    if stage.reads.arcs is not None and here.gathered is not None:
                        stage.reads.arcs.add_squares(here.chain.gradient, here.gathered)
        diagonal = self._collected()
        return np.maximum(diagonal, 0.0, out=diagonal)

    def forget(self) -> None:
        for stage in self.stages:
            stage.shard.forget()

    def add_to(self, total: F64, gradient: F64) -> None:
        """Adds numbers of this shard's weights to ones of all weights."""
        add_at(gradient, self.index, total)

    def _loaded(self, theta: F64) -> list[StageWeights]:
        return [self._load(stage, theta, stage.shift) for stage in self.stages]

    def _load(self, stage: JointStage, theta: F64, shift: Shift | None = None, along: bool = False) -> StageWeights:
        """`along`: theta is a direction."""
        own = theta[stage.own]
        if shift is not None:
            own += shift.own
        point = stage.shard._load_direction(own) if along else stage.shard._load(own)
        if stage.reads is None:
            return StageWeights(point, None, None)
        labels, arcs = theta[stage.reads.at], None if stage.reads.arcs is None else theta[stage.reads.arcs_at]
        if shift is not None:
            labels, arcs = labels + shift.labels, None if arcs is None else arcs + shift.arcs
        return StageWeights(point, stage.reads.labels.load(labels), arcs)

    def _begin(self) -> None:
        for stage in self.stages:
            stage.shard._begin()
            if stage.reads is not None:
                stage.reads.labels.begin()
                if stage.reads.arcs is not None:
                    stage.reads.arcs.begin()

    def _collected(self) -> F64:
        parts = []
        for stage in self.stages:
            parts.append(stage.shard._collected())
            if stage.reads is not None:
                parts.append(stage.reads.labels.collected())
                if stage.reads.arcs is not None:
                    parts.append(stage.reads.arcs.collected())
        return np.concatenate(parts)

    # up

    def _up(self, weights: Sequence[StageWeights], n: int, keep: bool = False, curved: bool = False) -> list[Pass]:
        """`keep`: more will be asked of all stages' losses than value and gradient; `curved`: and of lattices than
        covariances."""
        done: list[Pass] = []
        for stage, at in zip(self.stages, weights, strict=True):
            done.append(self._solved(stage, at, n, done, keep, curved))
        return done

    def _solved(
        self, stage: JointStage, at: StageWeights, n: int, lower: Sequence[Pass], keep: bool, curved: bool
    ) -> Pass:
        shard, found, gathered = stage.shard, None, None
        if stage.reads is not None and at.labels is not None:
            found = self._found(stage, stage.reads, n, lower)
            shard.added = stage.reads.labels.scores(at.labels, found.labels)
            if stage.reads.arcs is not None and at.arcs is not None and found.arcs is not None:
                gathered = stage.reads.arcs.gathered(at.arcs, found.arcs)
        if stage.encoded is not None:
            a, b = shard._tokens(n)
            own = stage.encoded.scores[a:b]
            shard.added = own if stage.reads is None or shard.added is None else shard.added + own
        chain = self._chain(stage, at, n, gathered, curved=curved)
        here = Pass(chain, found=found, gathered=gathered)
        if stage.reads is not None:
            here.lower_beliefs = tuple(lower[s].beliefs for s in stage.reads.lower)
        if not (keep or stage.is_read):
            here.answer = shard.loss.value_and_gradient(chain, shard.targets[n])
            return here
        here.kept = shard.loss.keep(chain, shard.targets[n])
        if stage.is_read:
            here.solved = shard.loss.solved_in(here.kept)
            if here.solved is None:
                here.solved = self._chain(stage, at, n, gathered, apart=True, curved=curved).solve()
                if isinstance(here.solved, PatchedSolved):
                    here.solved.gradient = here.patch_gradient  # that of its own loss
            here.beliefs = self._believed(stage, here.solved, n)
        return here

    def _found(self, stage: JointStage, reads: Reads, n: int, lower: Sequence[Pass]) -> Found:
        if n in self._given:
            return self._given[n]
        (first, last), (a, b) = self.blocks[n], stage.shard._tokens(n)
        if reads.given is None:
            beliefs = [one for one in (lower[s].beliefs for s in reads.lower) if one is not None]
        else:
            beliefs = [one.part(a, b) for one in reads.given]
        columns = None if reads.columns is None else reads.columns[a:b]
        offsets = self.offsets[first : last + 1] - a
        on_labels, on_arcs = reads.wiring.expand(beliefs, columns, offsets, self.least, reads.curve)
        found = Found(on_labels, on_labels.occurring)
        if on_arcs is not None:
            arcs, from_below = on_arcs.occurring, None
            if reads.own_arcs is not None:
                arcs, from_below = behind(reads.own_arcs.part(a, b), arcs, reads.first_arc)
            found = Found(on_labels, on_labels.occurring, on_arcs, arcs, from_below)
        if reads.given is not None:
            self._given[n] = found
        return found

    def _chain(
        self,
        stage: JointStage,
        at: StageWeights,
        n: int,
        gathered: Gathered | None,
        apart: bool = False,
        curved: bool = False,
    ) -> Any:
        """`apart`: beside another one of the same stage, which is in use; `curved`: third cumulants will be asked for,
        which chains with patches have, even if there are none."""
        chain: Any = stage.shard._chain(at.point, n)
        if apart and isinstance(chain, WorkChain):
            chain.space = []
        if isinstance(chain, PatchedChain) and curved and chain.gradient is not None:
            chain.gradient = np.zeros_like(chain.gradient)  # that of the shard is for what is asked for in the end
        if gathered is None:
            plain = isinstance(chain, WorkChain) and not isinstance(chain, PatchedChain)
            return patched(chain, unpatched(len(chain.scores))) if curved and stage.is_read and plain else chain
        assert isinstance(chain, WorkChain)
        return patched(chain, gathered.patches)

    def _believed(self, stage: JointStage, solved: Solved, n: int) -> Beliefs:
        rows = stage.shard.on_labels(solved.node_marginals(), n)
        nodes, arcs = NodeEntries(*list_nodes(rows, stage.labels, self.least)), None
        if stage.is_chained:
            assert isinstance(solved, SolvedChain | PatchedSolved)
            arcs = solved.list_arcs(nodes, self.least)
        return Beliefs(stage.labels, nodes, arcs)


def _indexes(stage: JointStage) -> list[I64]:
    """Where the weights of a stage are in theta: its own, then those of what it reads."""
    parts = [stage.own[stage.shard.index]]
    if stage.reads is not None:
        parts.append(np.arange(stage.reads.at.start, stage.reads.at.stop))
        if stage.reads.arcs is not None:
            parts.append(np.arange(stage.reads.arcs_at.start, stage.reads.arcs_at.stop))
    return parts
