"""Which weights there are and in what order: the vector theta that optimisers see.

theta = [ weight of (attribute 0, its labels ascending), (attribute 1, ...), ..., transitions (i, j) ascending ]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError
from trellis.lattice import Allowed

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

_MOST = 1 << 31  # weights, numbered in 32 bits


@dataclass(frozen=True)
class WeightLayout:
    """Attribute a has weights `pair_start[a]:pair_start[a + 1]` of theta, for the labels `pair_label` there;
    after all pairs comes one weight for each transition `source[k] -> target[k]`."""

    labels: int
    pair_start: I64  # [attributes + 1]
    pair_label: I32  # [pairs]
    source: I32  # [transitions]
    target: I32  # [transitions]

    @property
    def attributes(self) -> int:
        return len(self.pair_start) - 1

    @property
    def pairs(self) -> int:
        return len(self.pair_label)

    @property
    def size(self) -> int:
        """The length of theta."""
        return self.pairs + len(self.source)

    def transition_matrix(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weights of the transitions -> F64[labels, labels]; a transition without a weight scores 0."""
        matrix = np.zeros((self.labels, self.labels))
        matrix[self.source, self.target] = weights
        return matrix

    def restricted(self, attributes: I64) -> tuple[WeightLayout, I32]:
        """The layout of these attributes only (and all transitions), and where its weights are in theta."""
        counts = self.pair_start[attributes + 1] - self.pair_start[attributes]
        start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        index = np.repeat(self.pair_start[attributes] - start[:-1], counts) + np.arange(start[-1])
        part = WeightLayout(self.labels, start, self.pair_label[index], self.source, self.target)
        return part, np.concatenate([index, np.arange(self.pairs, self.size)]).astype(np.int32)


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
) -> WeightLayout:
    """Weights for what the training data shows: pairs of an attribute and a label at one token, and labels of
    neighbouring tokens; or for all pairs, or all transitions.

    With `allowed`, pairs are counted only at tokens that have a choice: the others teach nothing about attributes.
    """
    if all_pairs:
        start = np.arange(0, (attributes + 1) * labels, labels, dtype=np.int64)
        label = np.tile(np.arange(labels, dtype=np.int32), attributes)
    else:
        from trellis.scoring.kernels import list_pairs, mark_pairs

        if allowed is not None:
            from trellis.scoring.restricted import attributes_at

            indptr, ids, _ = attributes_at(allowed.open, indptr, ids)
        seen = mark_pairs(indptr, ids, gold, attributes, labels)
        start, label = list_pairs(seen, labels)
    follows = np.ones((labels, labels), bool) if all_transitions else _neighbours(gold, offsets, labels)
    if len(label) >= _MOST:
        raise SettingError(f"{len(label):,} weights are too many; at most {_MOST:,} (use fewer features)")
    source, target = (side.astype(np.int32) for side in np.nonzero(follows))
    return WeightLayout(labels, start, label, source, target)


def _neighbours(gold: I32, offsets: I64, labels: int) -> NDArray[np.bool_]:
    follows = np.zeros((labels, labels), bool)
    inside = np.ones(len(gold), bool)
    inside[offsets[:-1][np.diff(offsets) > 0]] = False
    here = np.flatnonzero(inside)
    follows[gold[here - 1], gold[here]] = True
    return follows
