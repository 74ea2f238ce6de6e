"""One shard of a cascade in training: the sum of its stages' losses, whose gradient goes back from stage to stage.

Block by block: from the lowest stage to the highest, scores are those of the stage's own attributes and of what it
reads of lower stages (Azuma & Matsumoto 2011, Algorithm 1, lines 2 to 4). Then back: with h = dL/dP, what all upper
stages' losses say about the probabilities of a stage's nodes and arcs, the gradient in its scores is that of its own
loss and

    Cov[H, 1_e]      for every node and arc e      (MATH section 4; the paper's Algorithm 2, corrected)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.monomials import Curve, Monomials
from trellis.cascade.plan import Beliefs
from trellis.cascade.wiring import Wiring
from trellis.lattice import WorkChain
from trellis.lattice.entries import ArcEntries, EntriesH, NodeEntries
from trellis.lattice.kernels.entries import list_nodes
from trellis.lattice.patched import PatchedChain
from trellis.lattice.patched_solved import PatchedSolved
from trellis.lattice.solved import Solved, SolvedChain
from trellis.losses import Answer
from trellis.objective.shard import Shard
from trellis.scoring.wires import ArcWireScoring, Occurring, Unrolled, WireScoring, WireWeights, behind, patched

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class Reads:
    """What a stage reads: `lower`, the numbers of stages; attributes on labels and, maybe, on transitions, whose
    weights are at `at` and `arcs_at` in theta; `columns`: the context, I32[tokens, contexts]; `curve`: see `Monomials`;
    `own_arcs`: attributes of transitions that come of the input, numbered before the others, of which there are
    `first_arc`."""

    lower: tuple[int, ...]
    wiring: Wiring
    labels: WireScoring
    arcs: ArcWireScoring | None
    at: slice
    arcs_at: slice
    columns: I32 | None = None
    curve: Curve | None = None
    own_arcs: Occurring | None = None
    first_arc: int = 0


@dataclass(frozen=True)
class JointStage:
    """`shard`: of the stage's own attributes, whose weights are those of theta that `own` lists, I64[...]; `labels`:
    how many it has; `is_read`, `is_chained`: whether upper stages read its labels, and pairs of neighbours."""

    shard: Shard
    own: I64
    labels: int
    reads: Reads | None
    is_read: bool
    is_chained: bool


@dataclass
class _Pass:
    """A stage's part in one block, on the way up."""

    kept: Any
    solved: Solved | None
    beliefs: Beliefs | None
    on_labels: Monomials | None = None
    on_arcs: Monomials | None = None
    unrolled: Unrolled | None = None
    from_below: I64 | slice = slice(None)  # which of what was unrolled comes of lower stages
    chain: Any = None
    answer: Answer | None = None
    by_node: F64 | None = None  # dL/dP of its listed nodes and arcs, from upper stages
    by_arc: F64 | None = None


@dataclass(frozen=True)
class _Weights:
    """A stage's weights, ready to score with."""

    point: Any
    labels: WireWeights | None
    arcs: F64 | None


class JointShard:
    """Stages in such an order that lower ones come first, all over the same sentences, cut into the same blocks.
    `index`: see `Shard`. `least`: nodes and arcs that are no more probable are not read."""

    def __init__(self, stages: Sequence[JointStage], least: float):
        self.stages, self.least = list(stages), least
        self.blocks = stages[0].shard.blocks
        self.offsets = stages[0].shard.offsets
        self.keeping = 0
        self.index = np.concatenate([part for stage in self.stages for part in _indexes(stage)]).astype(np.int32)
        self.loss = stages[-1].shard.loss
        self.moderate = all(stage.shard.moderate for stage in self.stages)

    @property
    def sentences(self) -> int:
        return len(self.offsets) - 1

    @property
    def has_curvature(self) -> bool:
        return False

    def value(self, theta: F64) -> float:
        weights, value = [self._load(stage, theta) for stage in self.stages], 0.0
        for n in range(len(self.blocks)):
            for stage, here in zip(self.stages, self._up(weights, n), strict=True):
                value += float(self._answered(stage, here, n).values.sum())
        return value

    def value_and_gradient(self, theta: F64) -> tuple[float, F64]:
        weights, value = [self._load(stage, theta) for stage in self.stages], 0.0
        self._begin()
        for n in range(len(self.blocks)):
            value += self._down(weights, self._up(weights, n), n)
        return value, self._collected()

    def forget(self) -> None:
        for stage in self.stages:
            stage.shard.forget()

    def add_to(self, total: F64, gradient: F64) -> None:
        """Adds numbers of this shard's weights to ones of all weights."""
        from trellis.scoring.kernels import add_at

        add_at(gradient, self.index, total)

    def _load(self, stage: JointStage, theta: F64) -> _Weights:
        point = stage.shard._load(theta[stage.own])
        if stage.reads is None:
            return _Weights(point, None, None)
        arcs = None if stage.reads.arcs is None else theta[stage.reads.arcs_at]
        return _Weights(point, stage.reads.labels.load(theta[stage.reads.at]), arcs)

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

    def _up(self, weights: Sequence[_Weights], n: int) -> list[_Pass]:
        done: list[_Pass] = []
        for stage, at in zip(self.stages, weights, strict=True):
            done.append(self._solved(stage, at, n, done))
        return done

    def _solved(self, stage: JointStage, at: _Weights, n: int, lower: Sequence[_Pass]) -> _Pass:
        shard, here = stage.shard, _Pass(None, None, None)
        if stage.reads is not None:
            self._read(stage, stage.reads, at, n, lower, here)
        chain = here.chain = self._chain(stage, at, n, here)
        if not stage.is_read:
            here.answer = shard.loss.value_and_gradient(chain, shard.targets[n])
            return here
        here.kept = shard.loss.keep(chain, shard.targets[n])
        here.solved = shard.loss.solved_in(here.kept)
        if here.solved is None:
            here.solved = self._chain(stage, at, n, here, apart=True).solve()
        rows = shard.on_labels(here.solved.node_marginals(), n)
        nodes, arcs = NodeEntries(*list_nodes(rows, stage.labels, self.least)), None
        if stage.is_chained:
            assert isinstance(here.solved, SolvedChain | PatchedSolved)
            arcs = here.solved.list_arcs(nodes, self.least)
        here.beliefs = Beliefs(stage.labels, nodes, arcs)
        return here

    def _read(self, stage: JointStage, reads: Reads, at: _Weights, n: int, lower: Sequence[_Pass], here: _Pass) -> None:
        (first, last), (a, b) = self.blocks[n], stage.shard._tokens(n)
        beliefs = [lower[s].beliefs for s in reads.lower]
        columns = None if reads.columns is None else reads.columns[a:b]
        here.on_labels, here.on_arcs = reads.wiring.expand(
            [one for one in beliefs if one is not None], columns, self.offsets[first : last + 1] - a, self.least,
            reads.curve,
        )  # fmt: skip
        assert at.labels is not None
        stage.shard.added = reads.labels.scores(at.labels, here.on_labels.occurring)
        if reads.arcs is not None:
            assert at.arcs is not None
            assert here.on_arcs is not None
            occurring = here.on_arcs.occurring
            if reads.own_arcs is not None:
                occurring, here.from_below = behind(reads.own_arcs.part(a, b), occurring, reads.first_arc)
            here.unrolled = reads.arcs.unrolled(at.arcs, occurring)

    def _chain(self, stage: JointStage, at: _Weights, n: int, here: _Pass, apart: bool = False) -> Any:
        chain = stage.shard._chain(at.point, n)
        if apart and isinstance(chain, WorkChain):
            chain.space = []  # that of the first chain is in use
        if here.unrolled is None:
            return chain
        assert isinstance(chain, WorkChain)
        assert not isinstance(chain, PatchedChain)
        return patched(chain, here.unrolled)

    def _answered(self, stage: JointStage, here: _Pass, n: int) -> Answer:
        if here.answer is not None:
            return here.answer
        return stage.shard.loss.answer(here.kept, stage.shard.targets[n])

    # and back

    def _down(self, weights: Sequence[_Weights], done: Sequence[_Pass], n: int) -> float:
        """Adds the gradient of a block; its value."""
        value = 0.0
        for s in range(len(self.stages) - 1, -1, -1):
            stage, here = self.stages[s], done[s]
            answer = self._answered(stage, here, n)
            value += float(answer.values.sum())
            nodes, arcs = answer.nodes, answer.arcs
            if here.by_node is not None:
                more = self._through(stage, here, n)
                nodes, arcs = nodes + more.nodes, arcs + more.arcs
            stage.shard._add(nodes, arcs, n)
            if stage.reads is not None:
                self._hand_down(stage, stage.reads, weights[s], nodes, n, here, done)
        return value

    def _through(self, stage: JointStage, here: _Pass, n: int) -> Any:
        """Cov[H, 1_e] for what upper stages say of this one's probabilities."""
        assert here.solved is not None
        assert here.beliefs is not None
        assert here.by_node is not None
        nodes, (a, b) = here.beliefs.nodes, stage.shard._tokens(n)
        rows = np.zeros((b - a, -(-stage.labels // 4) * 4))
        rows[np.repeat(np.arange(b - a), np.diff(nodes.start)), nodes.label] = here.by_node
        arc_h = None
        if here.beliefs.arcs is not None:
            entries = here.beliefs.arcs._replace(value=here.by_arc)
            arc_h = EntriesH(np.zeros((stage.labels, stage.labels)), ArcEntries(*entries))
        if isinstance(here.solved, PatchedSolved):
            here.solved.gradient = here.chain.gradient  # that of its own loss, where they are not one
        return here.solved.covariance(stage.shard.on_nodes(rows, n), arc_h)

    def _hand_down(
        self,
        stage: JointStage,
        reads: Reads,
        at: _Weights,
        nodes: F64,
        n: int,
        here: _Pass,
        done: Sequence[_Pass],
    ) -> None:
        """The gradient in the weights of what was read, and in the probabilities that were."""
        assert here.on_labels is not None
        assert at.labels is not None
        rows = stage.shard.on_labels(nodes, n)
        reads.labels.add(rows, here.on_labels.occurring)
        by_z = here.on_labels.back(reads.labels.by_value(at.labels, rows, here.on_labels.occurring))
        if here.unrolled is not None:
            assert reads.arcs is not None
            assert at.arcs is not None
            assert here.on_arcs is not None
            by_value = reads.arcs.add(at.arcs, here.chain.gradient, here.unrolled)
            by_z += here.on_arcs.back(by_value[here.from_below])
        beliefs = [done[s].beliefs for s in reads.lower]
        sizes = [len(one.nodes.value) for one in beliefs if one is not None]
        sizes += [0 if one is None or one.arcs is None else len(one.arcs.value) for one in beliefs]
        parts = np.split(by_z, np.cumsum(sizes)[:-1])
        for k, s in enumerate(reads.lower):
            lower = done[s]
            lower.by_node = parts[k] if lower.by_node is None else lower.by_node + parts[k]
            by_arc = parts[len(reads.lower) + k]
            if len(by_arc) or (lower.beliefs is not None and lower.beliefs.arcs is not None):
                lower.by_arc = by_arc if lower.by_arc is None else lower.by_arc + by_arc


def _indexes(stage: JointStage) -> list[I64]:
    """Where the weights of a stage are in theta: its own, then those of what it reads."""
    parts = [stage.own[stage.shard.index]]
    if stage.reads is not None:
        parts.append(np.arange(stage.reads.at.start, stage.reads.at.stop))
        if stage.reads.arcs is not None:
            parts.append(np.arange(stage.reads.arcs_at.start, stage.reads.arcs_at.stop))
    return parts
