"""Which weights there are and in what order: the vector theta that optimisers see.

theta = [ weight of (attribute 0, its labels ascending), (attribute 1, ...), ..., transitions (i, j) ascending,
          arc attribute 0 with its label pairs (i, j) ascending, arc attribute 1, ...,
          triples (i, j, k) of labels ascending, quadruples, ... ]

Arc attributes are observed at a token and bear on the transition into it (the B lines of CRF++, the b patterns of
Wapiti). They are numbered by themselves; most models have none. Tuples of more than two labels are for chains of an
order above one, which have weights for the pairs and all shorter tuples too; chains of order zero have neither.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError
from trellis.labels import first_tokens
from trellis.lattice import Allowed

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U16 = NDArray[np.uint16]

_MOST = 1 << 31  # weights, numbered in 32 bits


@dataclass(frozen=True)
class WeightLayout:
    """Attribute a has weights `pair_start[a]:pair_start[a + 1]` of theta, for the labels `pair_label` there;
    after all pairs comes one weight for each transition `source[k] -> target[k]`; after these, at `arcs_at`, arc
    attribute a has weights `arc_start[a]:arc_start[a + 1]` for the label pairs `arc_pair` there, i * labels + j; last,
    from `tuples_at` on, a weight for each row of `tuples`: label triples, I32[..., 3], then quadruples, and so on, as
    many kinds as the order of the chain is above one."""

    labels: int
    pair_start: I64  # [attributes + 1]
    pair_label: U16  # [pairs]
    source: I32  # [transitions]
    target: I32  # [transitions]
    arc_start: I64 = field(default_factory=lambda: np.zeros(1, np.int64))  # [arc attributes + 1]
    arc_pair: I32 = field(default_factory=lambda: np.zeros(0, np.int32))  # [arc weights]
    order: int = 1
    tuples: tuple[I32, ...] = ()  # [order - 1 of them]

    def __post_init__(self) -> None:
        # one of the largest arrays of a training; there are never so many labels
        object.__setattr__(self, "pair_label", self.pair_label.astype(np.uint16, copy=False))

    @property
    def attributes(self) -> int:
        return len(self.pair_start) - 1

    @property
    def pairs(self) -> int:
        return int(self.pair_start[-1])

    @property
    def arc_attributes(self) -> int:
        return len(self.arc_start) - 1

    @property
    def arcs_at(self) -> int:
        """Where the weights of arc attributes begin in theta."""
        return self.pairs + len(self.source)

    @cached_property
    def arc_sides(self) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
        """The label before and the label here of each arc weight."""
        before, here = np.divmod(self.arc_pair, self.labels)
        return before.astype(np.uint16), here.astype(np.uint16)

    @property
    def tuples_at(self) -> int:
        """Where the weights of tuples begin in theta."""
        return self.arcs_at + len(self.arc_pair)

    @property
    def size(self) -> int:
        """The length of theta."""
        return self.tuples_at + sum(map(len, self.tuples))

    def transition_matrix(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weights of the transitions -> F64[labels, labels]; a transition without a weight scores 0."""
        matrix = np.zeros((self.labels, self.labels))
        matrix[self.source, self.target] = weights
        return matrix

    def outlined(self) -> WeightLayout:
        """Where weights are, without what they are weights of: as if one attribute had all pairs, and without their
        labels. These are the largest arrays of a layout."""
        return replace(self, pair_start=np.array([0, self.pairs]), pair_label=np.zeros(0, np.uint16))

    def lower(self, order: int) -> WeightLayout:
        """The same without what only chains of a higher order have."""
        if order > 0:
            return replace(self, order=order, tuples=self.tuples[: order - 1])
        none = np.zeros(0, np.int32)
        return replace(self, source=none, target=none, order=0, tuples=())

    def restricted(self, attributes: I64, arc_attributes: I64 | None = None) -> tuple[WeightLayout, I32]:
        """The layout of these attributes (and arc attributes, none if not given) only, and all transitions, and where
        its weights are in theta."""
        start, index = _gathered(self.pair_start, attributes)
        part = WeightLayout(self.labels, start, self.pair_label[index], self.source, self.target, order=self.order)
        parts = [index, np.arange(self.pairs, self.arcs_at)]
        if arc_attributes is not None:
            start, index = _gathered(self.arc_start, arc_attributes)
            part = replace(part, arc_start=start, arc_pair=self.arc_pair[index])
            parts.append(index + self.arcs_at)
        return part, np.concatenate(parts).astype(np.int32)


def observed_layout(
    indptr: I64,
    ids: I32,
    gold: I32,
    offsets: I64,
    attributes: int,
    labels: int,
    all_pairs: bool = False,
    all_transitions: bool = False,
    allowed: Allowed | None = None,
    labels_at: NDArray[np.bool_] | None = None,
) -> WeightLayout:
    """Weights for what the training data shows: pairs of an attribute and a label at one token, and labels of
    neighbouring tokens; or for all pairs, or all transitions.

    With `allowed`, pairs are counted only at tokens that have a choice: the others teach nothing about attributes.
    `labels_at: BOOL[tokens, labels]` says which labels are seen at a token, if not just the gold one.
    """
    if all_pairs:
        start = np.arange(0, (attributes + 1) * labels, labels, dtype=np.int64)
        label = np.tile(np.arange(labels, dtype=np.uint16), attributes)
    else:
        from trellis.scoring.kernels import list_pairs, mark_pairs

        if allowed is not None:
            from trellis.scoring.restricted import attributes_at

            indptr, ids, _ = attributes_at(allowed.open, indptr, ids)
        seen = np.zeros((attributes, (labels + 63) // 64), np.uint64)
        mark_pairs(*((indptr, ids, gold) if labels_at is None else _once_a_label(indptr, ids, labels_at)), seen)
        start, label = list_pairs(seen, labels)
    if all_transitions:
        follows = np.ones((labels, labels), bool)
    else:
        follows = _neighbours(gold, offsets, labels) if labels_at is None else _possible_neighbours(labels_at, offsets)
    _check_number(len(label))
    source, target = (side.astype(np.int32) for side in np.nonzero(follows))
    return WeightLayout(labels, start, label, source, target)


def with_observed_arcs(
    layout: WeightLayout,
    indptr: I64,
    ids: I32,
    gold: I32,
    offsets: I64,
    arc_attributes: int,
    all_pairs: bool = False,
) -> WeightLayout:
    """The layout with weights for the packed arc attributes (-1: unknown) too: for the label pairs (before, here) that
    the training data shows at a token with the attribute, or for all pairs."""
    cells = layout.labels * layout.labels
    if all_pairs:
        _check_number(layout.size + arc_attributes * cells)
        start = np.arange(arc_attributes + 1, dtype=np.int64) * cells
        return replace(layout, arc_start=start, arc_pair=np.tile(np.arange(cells, dtype=np.int32), arc_attributes))
    token = np.repeat(np.arange(len(gold)), np.diff(indptr))
    here = (ids >= 0) & ~first_tokens(offsets)[token]
    token, ids = token[here], ids[here]
    seen = np.unique((ids.astype(np.int64) * layout.labels + gold[token - 1]) * layout.labels + gold[token])
    _check_number(layout.size + len(seen))
    start = np.searchsorted(seen, np.arange(arc_attributes + 1, dtype=np.int64) * cells).astype(np.int64)
    return replace(layout, arc_start=start, arc_pair=(seen % cells).astype(np.int32))


def of_order(
    layout: WeightLayout,
    order: int,
    gold: I32,
    offsets: I64,
    labels_at: NDArray[np.bool_] | None = None,
    all_tuples: bool = False,
) -> WeightLayout:
    """The layout for a chain of another order: without transitions for 0; with the tuples of labels that neighbouring
    tokens have in the training data, or with all tuples, above 1. `labels_at` as in `observed_layout`."""
    if order == 0:
        return layout.lower(0)
    tuples = []
    for length in range(3, order + 2):
        if all_tuples:
            _check_number(layout.size + layout.labels**length)
            grid = np.indices((layout.labels,) * length, np.int32).reshape(length, -1)
            tuples.append(np.ascontiguousarray(grid.T))
        else:
            tuples.append(_seen_tuples(length, layout.labels, gold, offsets, labels_at))
    longer = replace(layout, order=order, tuples=tuple(tuples))
    _check_number(longer.size)
    return longer


def keys_of_tuples(rows: I32, labels: int) -> I64:
    """A number for each tuple of labels, I32[tuples, length], with these as digits."""
    key = np.zeros(len(rows), np.int64)
    for column in rows.T:
        key = key * labels + column
    return key


def _seen_tuples(length: int, labels: int, gold: I32, offsets: I64, labels_at: NDArray[np.bool_] | None) -> I32:
    """The labels of so many neighbouring tokens, each once, ascending: I32[tuples, length]."""
    place = np.arange(len(gold)) - np.repeat(offsets[:-1], np.diff(offsets))
    ends = np.flatnonzero(place >= length - 1)
    back = np.arange(length - 1, -1, -1)
    if labels_at is None:
        rows = gold[ends[:, None] - back]
    else:
        choices = [_products(labels_at[t - back]) for t in ends.tolist()]
        rows = np.concatenate([np.zeros((0, length), np.int32), *choices])
    return np.unique(rows, axis=0).astype(np.int32) if len(rows) else np.zeros((0, length), np.int32)


def _products(choices: NDArray[np.bool_]) -> I32:
    """All ways to choose one label of each row, I32[ways, rows]."""
    grid = np.meshgrid(*map(np.flatnonzero, choices), indexing="ij")
    return np.stack([side.ravel() for side in grid], axis=1).astype(np.int32)


def _neighbours(gold: I32, offsets: I64, labels: int) -> NDArray[np.bool_]:
    follows = np.zeros((labels, labels), bool)
    here = np.flatnonzero(~first_tokens(offsets))
    follows[gold[here - 1], gold[here]] = True
    return follows


def _possible_neighbours(labels_at: NDArray[np.bool_], offsets: I64) -> NDArray[np.bool_]:
    here = np.flatnonzero(~first_tokens(offsets))
    counts = labels_at[here - 1].astype(np.float32).T @ labels_at[here].astype(np.float32)
    return np.asarray(counts > 0)


def _once_a_label(indptr: I64, ids: I32, labels_at: NDArray[np.bool_]) -> tuple[I64, I32, I32]:
    """Each token's attributes once for each of its labels: packed, and that label."""
    token, label = np.nonzero(labels_at)
    begin, source = _gathered(indptr, token)
    return begin, ids[source], label.astype(np.int32)


def _gathered(start: I64, chosen: I64) -> tuple[I64, I64]:
    """Where the weights of the chosen begin once they lie end to end, and where each of them came from."""
    counts = start[chosen + 1] - start[chosen]
    begin = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return begin, np.repeat(start[chosen] - begin[:-1], counts) + np.arange(begin[-1])


def _check_number(weights: int) -> None:
    if weights >= _MOST:
        raise SettingError(f"{weights:,} weights are too many; at most {_MOST:,} (use fewer features)")
