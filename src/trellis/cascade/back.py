"""The way back of a joint gradient, through the stages of one block from the highest to the lowest (see `joint`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.passes import Found, JointStage, Pass, Reads, StageWeights, h_of, split
from trellis.losses import Answer

F64 = NDArray[np.float64]


def go_back(stages: Sequence[JointStage], weights: Sequence[StageWeights], done: Sequence[Pass], n: int) -> float:
    """Adds the gradient of a block; its value."""
    value = 0.0
    for stage, at, here in zip(stages[::-1], weights[::-1], done[::-1], strict=True):
        answer = answer_of(stage, here, n)
        value += float(answer.values.sum())
        nodes, arcs = answer.nodes, answer.arcs
        if here.by_node is not None:
            more = through(stage, here, n)
            nodes, arcs = nodes + more.nodes, arcs + more.arcs
        stage.shard._add(nodes, arcs, n)
        if stage.encoded is not None:
            a, b = stage.shard._tokens(n)
            stage.encoded.by_score[a:b] = stage.shard.on_labels(nodes, n)
        if stage.reads is not None and here.found is not None:
            _hand_down(stage, stage.reads, at, stage.shard.on_labels(nodes, n), here, here.found, done)
    return value


def through(stage: JointStage, here: Pass, n: int) -> Any:
    """Cov[H, 1_e] for what upper stages say of this one's probabilities."""
    assert here.solved is not None
    return here.solved.covariance(*h_of(stage, here.beliefs, here.by_node, here.by_arc, n))


def _hand_down(
    stage: JointStage,
    reads: Reads,
    at: StageWeights,
    rows: F64,
    here: Pass,
    found: Found,
    done: Sequence[Pass],
) -> None:
    """The gradient in the weights of what was read, and in the probabilities that were. `rows: F64[tokens, width]`,
    that in the scores of labels."""
    reads.labels.add(rows, found.labels)
    by_arc_value = None
    if here.gathered is not None and reads.arcs is not None and at.arcs is not None:
        by_arc_value = reads.arcs.add(at.arcs, here.chain.gradient, here.gathered)
    if reads.given is None and at.labels is not None:
        by_value = reads.labels.by_value(at.labels, rows, found.labels)
        tell_lower(reads, found, by_value, by_arc_value, done)


def tell_lower(reads: Reads, found: Found, by_value: F64, by_arc_value: F64 | None, done: Sequence[Pass]) -> None:
    """The gradient in what was read, from that in its values."""
    by_z = found.on_labels.back(by_value)
    if by_arc_value is not None and found.on_arcs is not None:
        by_z += found.on_arcs.back(found.below(by_arc_value))
    for s, (by_node, by_arc) in zip(reads.lower, split(by_z, [done[s].beliefs for s in reads.lower]), strict=True):
        lower = done[s]
        lower.by_node = by_node if lower.by_node is None else lower.by_node + by_node
        lower.by_arc = by_arc if lower.by_arc is None else lower.by_arc + by_arc


def answer_of(stage: JointStage, here: Pass, n: int) -> Answer:
    return here.answer or stage.shard.loss.answer(here.kept, stage.shard.targets[n])
