"""A chain's weights for labels after one another as weights of attributes: `the label before is i`, `the two before are
h, i`. With them a sequential classifier is trained as one that labels every token by itself, on histories that are
given.

The attributes stand behind those of the features, in the order that the weights have in theta, which stays the same
vector: first the label before, then, of attributes of transitions, these with the label before, then longer pieces.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from trellis.features import Packed
from trellis.features.packed import unless_ones
from trellis.labels import first_tokens
from trellis.lattice.history import Pieces
from trellis.scoring import WeightLayout
from trellis.scoring.layout import keys_of_tuples
from trellis.scoring.occurring import Occurring, behind

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


def pieces_of(layout: WeightLayout, weights: F64) -> Pieces:
    """The weights of pieces of two labels or more."""
    keys, counts = _pieces(layout)
    cut = np.concatenate([[0], np.cumsum([len(one) for one in keys])]).astype(np.int64)
    start = np.cumsum(np.concatenate([[0], *counts])).astype(np.int64)
    label = np.concatenate([np.zeros(0, np.int32), *(rows[:, -1] for rows in layout.tuples)]).astype(np.int32)
    every = np.concatenate([np.zeros(0, np.int64), *keys])
    return Pieces(every, cut, start, label, weights[layout.tuples_at :])


def local_layout(layout: WeightLayout) -> WeightLayout:
    """The same weights in the same order, all of them of attributes."""
    _, counts = _pieces(layout)
    more = [np.bincount(layout.source, minlength=layout.labels), _arc_pieces(layout)[1], *counts]
    ends = layout.pair_start[-1] + np.cumsum(np.concatenate(more))
    labels = [layout.pair_label.astype(np.int32), layout.target, layout.arc_pair % layout.labels]
    labels += [rows[:, -1] for rows in layout.tuples]
    return WeightLayout(
        layout.labels,
        np.concatenate([layout.pair_start, ends]).astype(np.int64),
        np.concatenate(labels).astype(np.int32),
        np.zeros(0, np.int32),
        np.zeros(0, np.int32),
        order=0,
    )


def with_histories(packed: Packed, layout: WeightLayout, labels: I32, offsets: I64) -> Packed:
    """Packed data with what the labels I32[tokens] say of each token's history; pieces without weights are left out."""
    first = first_tokens(offsets)
    place = np.arange(len(labels)) - np.repeat(offsets[:-1], np.diff(offsets))
    inner = np.flatnonzero(~first)
    tokens, ids, values = [inner], [labels[inner - 1].astype(np.int64)], [np.ones(len(inner))]
    base = layout.labels
    if packed.arcs is not None:
        arcs = packed.arcs
        token = np.repeat(np.arange(len(labels)), np.diff(arcs.indptr))
        there = np.flatnonzero((arcs.ids >= 0) & ~first[token])
        keys, _ = _arc_pieces(layout)
        found, at = _among(keys, arcs.ids[there].astype(np.int64) * layout.labels + labels[token[there] - 1])
        tokens.append(token[there][found])
        ids.append(base + at[found])
        values.append(np.ones(len(there))[found] if arcs.values is None else arcs.values[there][found])
        base += len(keys)
    for length, keys in enumerate(_pieces(layout)[0], 2):
        ends = np.flatnonzero(place >= length)
        rows = labels[ends[:, None] - np.arange(length, 0, -1)]
        found, at = _among(keys, keys_of_tuples(rows, layout.labels))
        tokens.append(ends[found])
        ids.append(base + at[found])
        values.append(np.ones(int(found.sum())))
        base += len(keys)
    token, every = np.concatenate(tokens), np.concatenate(ids)
    order = np.argsort(token, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(token, minlength=len(labels)))]).astype(np.int64)
    more = Occurring(start, every[order].astype(np.int32), np.concatenate(values)[order])
    own = Occurring(packed.indptr, packed.ids, np.ones(len(packed.ids)) if packed.values is None else packed.values)
    both, _ = behind(own, more, layout.attributes)
    return replace(packed, indptr=both.start, ids=both.ids, values=unless_ones(both.values), arcs=None)


def _pieces(layout: WeightLayout) -> tuple[list[I64], list[I64]]:
    """Of each length the pieces of histories with weights, as numbers, ascending, and how many weights each has."""
    keys, counts = [], []
    for rows in layout.tuples:
        found, times = np.unique(keys_of_tuples(rows[:, :-1], layout.labels), return_counts=True)
        keys.append(found)
        counts.append(times)
    return keys, counts


def _arc_pieces(layout: WeightLayout) -> tuple[I64, I64]:
    """The same of attributes of transitions with the label before: attribute * labels + label."""
    attribute = np.repeat(np.arange(layout.arc_attributes), np.diff(layout.arc_start))
    return np.unique(attribute * layout.labels + layout.arc_pair // layout.labels, return_counts=True)


def _among(keys: I64, asked: I64) -> tuple[NDArray[np.bool_], I64]:
    """Whether each number is one of the keys, which ascend, and which."""
    at = np.searchsorted(keys, asked)
    return keys.take(at, mode="clip") == asked if len(keys) else np.zeros(len(asked), bool), at
