"""What a block of a cascade goes through, up and down: the stages, what they read, and what is known of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.monomials import Curve, Monomials
from trellis.cascade.plan import Beliefs
from trellis.cascade.wiring import Wiring
from trellis.lattice.entries import ArcEntries, EntriesH
from trellis.lattice.solved import Solved
from trellis.losses import Answer
from trellis.objective.shard import Shard
from trellis.rows import padded
from trellis.scoring.occurring import Occurring
from trellis.scoring.wires import ArcWireScoring, Gathered, WireScoring, WireWeights

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class Reads:
    """What a stage reads: `lower`, the numbers of stages, or `given`, what is believed where they stay as they are;
    attributes on labels and, maybe, on transitions, whose weights are at `at` and `arcs_at` in theta; `columns`: the
    context, I32[tokens, contexts]; `curve`: see `Monomials`; `own_arcs`: attributes of transitions that come of the
    input, numbered before the others, of which there are `first_arc`."""

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
    given: tuple[Beliefs, ...] | None = None


@dataclass(frozen=True)
class Shift:
    """What is added to a stage's weights before they are used: to its own, and to those of what it reads, on labels and
    on transitions."""

    own: F64
    labels: F64
    arcs: F64


class Encoded:
    """What an encoder adds to the scores of labels, F64[tokens, width], and what all losses say of these."""

    def __init__(self, scores: F64):
        self.scores, self.by_score = scores, np.zeros_like(scores)


@dataclass(frozen=True)
class JointStage:
    """`shard`: of the stage's own attributes, whose weights are those of theta that `own` lists, I64[...]; `labels`:
    how many it has; `is_read`, `is_chained`: whether upper stages read its labels, and pairs of neighbours; `shift`:
    nothing if None (see `folded`); `encoded`: of stages that have an encoder (see `neural_joint`)."""

    shard: Shard
    own: I64
    labels: int
    reads: Reads | None
    is_read: bool
    is_chained: bool
    shift: Shift | None = None
    encoded: Encoded | None = None


@dataclass(frozen=True)
class Found:
    """What a stage has read in a block: on labels, and on transitions the same for lower stages (`on_arcs`) and with
    what comes of the input (`arcs`, where `from_below` says which are the first ones)."""

    on_labels: Monomials
    labels: Occurring
    on_arcs: Monomials | None = None
    arcs: Occurring | None = None
    from_below: I64 | None = None

    def below(self, values: F64) -> F64:
        """Of numbers for `arcs`, those of lower stages."""
        return values if self.from_below is None else values[self.from_below]

    def arc_values(self, values: F64) -> F64:
        """Numbers for what comes of lower stages as numbers for `arcs`, 0 for the rest."""
        if self.from_below is None or self.arcs is None:
            return values
        out = np.zeros(len(self.arcs.ids))
        out[self.from_below] = values
        return out


@dataclass(frozen=True)
class StageWeights:
    """A stage's weights, ready to score with."""

    point: Any
    labels: WireWeights | None
    arcs: F64 | None


@dataclass
class Pass:
    """A stage in one block: what its loss has `kept`, or its `answer`, where nothing else will be asked; `by_node`,
    `by_arc`: what upper stages say of the probabilities of its listed nodes and arcs, dL/dP."""

    chain: Any
    kept: Any = None
    answer: Answer | None = None
    solved: Solved | None = None
    beliefs: Beliefs | None = None
    found: Found | None = None
    gathered: Gathered | None = None
    by_node: F64 | None = None
    by_arc: F64 | None = None
    lower_beliefs: tuple[Beliefs | None, ...] = ()

    @property
    def patch_gradient(self) -> F64 | None:
        """What has been found out about the weights of its patches, if it has any."""
        return getattr(self.chain, "gradient", None)

    def clear_patches(self) -> None:
        if self.patch_gradient is not None:
            self.patch_gradient.fill(0.0)


def h_of(
    stage: JointStage, beliefs: Beliefs | None, by_node: F64 | None, by_arc: F64 | None, n: int
) -> tuple[F64, EntriesH | None]:
    """Numbers on listed nodes and arcs as h on a stage's lattices."""
    assert beliefs is not None
    nodes, (a, b) = beliefs.nodes, stage.shard._tokens(n)
    rows = np.zeros((b - a, padded(stage.labels)))
    rows[np.repeat(np.arange(b - a), np.diff(nodes.start)), nodes.label] = by_node
    if beliefs.arcs is None:
        return stage.shard.on_nodes(rows, n), None
    entries = ArcEntries(beliefs.arcs.start, beliefs.arcs.before, beliefs.arcs.here, by_arc)
    return stage.shard.on_nodes(rows, n), EntriesH(np.zeros((stage.labels, stage.labels)), entries)


def split(z: F64, beliefs: Sequence[Beliefs | None]) -> list[tuple[F64, F64]]:
    """Numbers for all that is listed, nodes of all stages and then arcs, apart by stage."""
    nodes = [0 if one is None else len(one.nodes.value) for one in beliefs]
    arcs = [0 if one is None or one.arcs is None else len(one.arcs.value) for one in beliefs]
    parts = np.split(z, np.cumsum([*nodes, *arcs])[:-1])
    return list(zip(parts[: len(nodes)], parts[len(nodes) :], strict=True))
