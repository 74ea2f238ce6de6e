"""Data for a sequential classifier: every token with a history, the gold one or one that a model has gone itself.

A classifier that has seen gold histories alone does not know what to do after a mistake of its own. So it is trained
again, with the histories that it draws for the training sentences added (Ross, Gordon and Bagnell 2011: DAgger): the
label to learn is always the gold one, whatever went before. All histories of a sentence together count once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trellis.features import Packed
from trellis.labels import first_tokens
from trellis.lattice import Allowed
from trellis.lattice.rules import Rules
from trellis.losses import Target
from trellis.models.histories import with_histories
from trellis.objective import Examples
from trellis.scoring import WeightLayout

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class Labelled:
    """Training data: `gold: I32[tokens]`, `weights: F64[sentences]` or None."""

    packed: Packed
    gold: I32
    offsets: I64
    weights: F64 | None


def layout_after(layout: WeightLayout, data: Labelled, histories: Sequence[I32], order: int) -> WeightLayout:
    """The layout, which has weights for attributes alone, with weights for what the gold labels come after in one of
    the histories I32[tokens]: labels, attributes of transitions with labels, and pieces of up to `order` labels."""
    labels, gold, offsets = layout.labels, data.gold, data.offsets
    place = np.arange(len(gold)) - np.repeat(offsets[:-1], np.diff(offsets))
    tuples = []
    for length in range(1, order + 1):
        ends = np.flatnonzero(place >= length)
        back = np.arange(length, 0, -1)
        rows = [np.column_stack([history[ends[:, None] - back], gold[ends]]) for history in histories]
        tuples.append(np.unique(np.concatenate(rows), axis=0).astype(np.int32))
    pairs = tuples[0]
    layout = replace(
        layout, source=pairs[:, 0].copy(), target=pairs[:, 1].copy(), order=order, tuples=tuple(tuples[1:])
    )
    if data.packed.arcs is None:
        return layout
    arcs, attributes = data.packed.arcs, layout.arc_attributes
    token = np.repeat(np.arange(len(gold)), np.diff(arcs.indptr))
    there = np.flatnonzero((arcs.ids >= 0) & ~first_tokens(offsets)[token])
    keys = [
        (arcs.ids[there].astype(np.int64) * labels + history[token[there] - 1]) * labels + gold[token[there]]
        for history in histories
    ]
    seen = np.unique(np.concatenate(keys))
    start = np.searchsorted(seen, np.arange(attributes + 1, dtype=np.int64) * labels**2).astype(np.int64)
    return replace(layout, arc_start=start, arc_pair=(seen % labels**2).astype(np.int32))


def examples_after(data: Labelled, layout: WeightLayout, histories: Sequence[I32], rules: Rules | None) -> Examples:
    """The sentences once with each history."""
    copies, sentences = len(histories), len(data.offsets) - 1
    parts = [
        replace(with_histories(data.packed, layout, history, data.offsets), allowed=_allowed(data, history, rules))
        for history in histories
    ]
    packed = parts[0] if copies == 1 else Packed.joined(parts)
    gold = np.tile(data.gold, copies)
    lengths = np.tile(np.diff(data.offsets), copies)
    weights = np.ones(sentences) if data.weights is None else data.weights
    target = Target(gold, np.tile(weights / copies, copies) if copies > 1 or data.weights is not None else None)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Examples(packed.indptr, packed.ids, packed.values, gold, offsets, None, packed.allowed, target)


def _allowed(data: Labelled, history: I32, rules: Rules | None) -> Allowed | None:
    """What tokens may have where they stand, after the label before; the gold label in any case."""
    if rules is None:
        return data.packed.allowed
    mask = ~rules.forbidden(data.offsets)
    inner = np.flatnonzero(~first_tokens(data.offsets))
    mask[inner] &= (rules.pairs > -np.inf)[history[inner - 1]]
    if data.packed.allowed is not None:
        mask &= data.packed.allowed.mask()
    mask[np.arange(len(mask)), data.gold] = True
    return Allowed.of_mask(mask)
