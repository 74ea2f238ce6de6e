"""Products of a cascade's Hessian with a direction: the gradient's way up and down once more, along the direction.

Up, every stage's scores change by what the direction is worth on its attributes, and by what lower stages' changes make
of what it reads; its probabilities by Cov[S', 1_e]. Down, the gradient in its scores is, besides its loss's own part,
Cov[H, 1_e], which changes with the scores, by a third cumulant (MATH section 5), and with H. All else is products of
two numbers that both change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.back import tell_lower, through
from trellis.cascade.passes import JointStage, Pass, StageWeights, h_of, split
from trellis.lattice.kernels.patched_answers import PatchedH
from trellis.lattice.patched_solved import PatchedSolved
from trellis.lattice.solved import ArcH
from trellis.scoring.occurring import Occurring

if TYPE_CHECKING:
    from trellis.cascade.joint import JointShard

F64 = NDArray[np.float64]


@dataclass
class _Changes:
    """Of a stage in one block: its scores on nodes and arcs; the values of what it reads, on labels and on transitions;
    what is listed of lower stages that it reads; what is listed of itself; and what upper stages say of that."""

    node_h: F64
    arc_h: ArcH
    values: F64 | None = None
    arc_values: F64 | None = None
    read: F64 | None = None
    nodes: F64 | None = None
    arcs: F64 | None = None
    by_node: F64 | None = None
    by_arc: F64 | None = None


@dataclass
class _Slopes:
    """The gradient in a stage's scores of labels, F64[tokens, width], in the weights of its patches, and in the values
    of what it reads."""

    rows: F64
    by_patch: F64
    by_value: F64 | None = None
    by_arc_value: F64 | None = None


def add_product(shard: JointShard, weights: Sequence[StageWeights], along: Sequence[StageWeights], n: int) -> None:
    """Adds the product for block n to what the stages collect."""
    done = shard._up(weights, n, keep=True, curved=True)
    slopes = _slopes(shard, weights, done, n)
    changes: list[_Changes] = []
    for stage, at, to, here in zip(shard.stages, weights, along, done, strict=True):
        changes.append(_up(stage, at, to, here, changes, n))
    for s in range(len(shard.stages) - 1, -1, -1):
        _down(shard.stages[s], weights[s], along[s], done[s], slopes[s], changes, s, n)


def _slopes(shard: JointShard, weights: Sequence[StageWeights], done: Sequence[Pass], n: int) -> list[_Slopes]:
    """The gradient's way down, without adding anything to what stages collect."""
    out: list[_Slopes] = []
    for stage, at, here in zip(shard.stages[::-1], weights[::-1], done[::-1], strict=True):
        answer = stage.shard.loss.answer(here.kept, stage.shard.targets[n])
        nodes = answer.nodes
        if here.by_node is not None:
            nodes = nodes + through(stage, here, n).nodes
        by_patch = np.zeros(0) if here.patch_gradient is None else here.patch_gradient.copy()
        here.clear_patches()
        slopes = _Slopes(stage.shard.on_labels(nodes, n), by_patch)
        if stage.reads is not None and here.found is not None and at.labels is not None:
            slopes.by_value = stage.reads.labels.by_value(at.labels, slopes.rows, here.found.labels)
            if stage.reads.arcs is not None and here.gathered is not None and at.arcs is not None:
                slopes.by_arc_value = stage.reads.arcs.by_value(at.arcs, by_patch, here.gathered)
            if stage.reads.given is None:
                tell_lower(stage.reads, here.found, slopes.by_value, slopes.by_arc_value, done)
        out.append(slopes)
    return out[::-1]


def _up(
    stage: JointStage, at: StageWeights, to: StageWeights, here: Pass, lower: Sequence[_Changes], n: int
) -> _Changes:
    shard, reads, found = stage.shard, stage.reads, here.found
    shard.added_h, values, arc_values, read = None, None, None, None
    if reads is not None and found is not None and at.labels is not None and to.labels is not None:
        labels = found.labels
        read = np.zeros(len(found.on_labels.z))
        if reads.given is None:
            read = np.concatenate([*(lower[s].nodes for s in reads.lower), *(lower[s].arcs for s in reads.lower)])
        values = found.on_labels.along(read)
        shard.added_h = reads.labels.scores(to.labels, labels)
        shard.added_h += reads.labels.scores(at.labels, Occurring(labels.start, labels.ids, values))
    node_h, arc_h = shard._h(to.point, n)
    node_h = np.array(node_h, np.float64)
    if node_h.ndim == 2:
        node_h[:, stage.labels :] = 0.0  # padding
    if here.gathered is not None and reads is not None and reads.arcs is not None and found is not None:
        assert read is not None
        assert found.on_arcs is not None
        assert at.arcs is not None
        assert to.arcs is not None
        arc_values = found.arc_values(found.on_arcs.along(read))
        weights = reads.arcs.along(at.arcs, to.arcs, arc_values, here.gathered)
        arc_h = PatchedH(arc_h, here.gathered.patches._replace(weights=weights))
    changes = _Changes(node_h, arc_h, values, arc_values, read)
    if here.solved is not None and here.beliefs is not None:
        moved = here.solved.covariance(node_h.copy(), arc_h)
        here.clear_patches()
        rows, nodes = shard.on_labels(moved.nodes, n), here.beliefs.nodes
        changes.nodes = rows[np.repeat(np.arange(len(rows)), np.diff(nodes.start)), nodes.label]
        changes.arcs = np.zeros(0)
        if here.beliefs.arcs is not None:
            assert isinstance(here.solved, PatchedSolved)
            changes.arcs = here.solved.listed_changes(node_h, arc_h, here.beliefs.arcs)
    return changes


def _down(
    stage: JointStage,
    at: StageWeights,
    to: StageWeights,
    here: Pass,
    slopes: _Slopes,
    changes: Sequence[_Changes],
    s: int,
    n: int,
) -> None:
    mine, shard = changes[s], stage.shard
    nodes, arcs = shard.loss.curvature(here.kept, shard.targets[n], mine.node_h.copy(), mine.arc_h)
    if here.by_node is not None and mine.by_node is not None:
        solved: Any = here.solved
        bent = solved.third(*h_of(stage, here.beliefs, here.by_node, here.by_arc, n), mine.node_h, mine.arc_h)
        more = solved.covariance(*h_of(stage, here.beliefs, mine.by_node, mine.by_arc, n))
        nodes, arcs = nodes + bent.nodes + more.nodes, arcs + bent.arcs + more.arcs
    shard._add(nodes, arcs, n)
    by_patch = here.patch_gradient
    if by_patch is not None and here.gathered is None:
        shard.add_arcs(by_patch)
    reads, found = stage.reads, here.found
    if reads is None or found is None or at.labels is None or to.labels is None or mine.values is None:
        return
    assert slopes.by_value is not None
    assert mine.read is not None
    rows, labels = shard.on_labels(nodes, n), found.labels
    reads.labels.add(rows, labels)
    reads.labels.add(slopes.rows, labels, mine.values)
    by_value = reads.labels.by_value(at.labels, rows, labels) + reads.labels.by_value(to.labels, slopes.rows, labels)
    by_z = found.on_labels.back_along(slopes.by_value, by_value, mine.read)
    if here.gathered is not None and reads.arcs is not None:
        assert by_patch is not None
        assert at.arcs is not None
        assert to.arcs is not None
        assert mine.arc_values is not None
        assert slopes.by_arc_value is not None
        assert found.on_arcs is not None
        by_arc = reads.arcs.add_along(at.arcs, to.arcs, mine.arc_values, slopes.by_patch, by_patch, here.gathered)
        by_z += found.on_arcs.back_along(found.below(slopes.by_arc_value), found.below(by_arc), mine.read)
    if reads.given is not None:
        return
    for k, (by_node, by_listed) in zip(reads.lower, split(by_z, here.lower_beliefs), strict=True):
        lower = changes[k]
        lower.by_node = by_node if lower.by_node is None else lower.by_node + by_node
        lower.by_arc = by_listed if lower.by_arc is None else lower.by_arc + by_listed
