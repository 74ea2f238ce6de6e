"""What every kind of feature ends as: attribute numbers per token, packed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trellis.jit import worthwhile

if TYPE_CHECKING:
    from trellis.features.keys import Found


@dataclass(frozen=True)
class Packed:
    """Token t has attributes `ids[indptr[t]:indptr[t + 1]]` (`I64[tokens + 1]`, `I32[occurrences]`).

    An id of -1 is an attribute the model has never seen. `values` is None when every value is 1. `arcs`: attributes
    of the transition into each token, where there are such; they have numbers of their own.
    """

    indptr: NDArray[np.int64]
    ids: NDArray[np.int32]
    values: NDArray[np.float64] | None = None
    arcs: Packed | None = None

    def tokens_with(self, attributes: int) -> NDArray[np.int64]:
        """In how many tokens each of so many attributes occurs, I64[attributes]; twice in one token counts once."""
        token = np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))
        pairs = np.unique(token[self.ids >= 0] * attributes + self.ids[self.ids >= 0])
        return np.bincount(pairs % max(1, attributes), minlength=attributes)

    def renumbered(self, number: NDArray[np.int32]) -> Packed:
        """Attribute a as `number[a]`; the occurrences of attributes whose new number is -1 are left out."""
        ids = number[self.ids]
        keep = ids >= 0
        before = np.concatenate([[0], np.cumsum(keep)]).astype(np.int64)  # occurrences kept before each
        return Packed(before[self.indptr], ids[keep], None if self.values is None else unless_ones(self.values[keep]))


def unless_ones(values: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Values as `Packed` holds them."""
    return values if np.any(values != 1.0) else None


def pack(found: Sequence[tuple[NDArray[np.int32], Found]], tokens: int, drop: bool = False) -> Packed:
    """Puts together what templates found, token by token. With `drop`, -1 is left out."""
    every = [ids for ids, what in found if what.token is None]
    some = [(ids, what.token, what.weight) for ids, what in found if what.token is not None]
    matrix = np.stack(every) if every else np.zeros((0, tokens), np.int32)
    weights = [w for _, _, w in some if w is not None and not np.all(w == 1.0)]
    if not worthwhile(tokens * len(found)):
        return _pack_plainly(matrix, some, bool(weights), drop)
    from trellis.features.kernels import count_every, count_some, place_every, place_some

    counts = np.zeros(tokens + 1, np.int64)
    count_every(matrix, drop, counts)
    for ids, token, _ in some:
        count_some(ids, token, drop, counts)
    indptr = np.cumsum(counts)
    out, cursor = np.empty(indptr[-1], np.int32), indptr[:-1].copy()
    values = np.ones(len(out) if weights else 0)
    place_every(matrix, drop, cursor, out)
    for ids, token, weight in some:
        place_some(ids, token, np.ones(len(ids)) if weight is None else weight, drop, cursor, out, values)
    return Packed(indptr, out, values if weights else None)


def _pack_plainly(
    matrix: NDArray[np.int32],
    some: Sequence[tuple[NDArray[np.int32], NDArray[np.int64] | None, NDArray[np.float64] | None]],
    valued: bool,
    drop: bool,
) -> Packed:
    """The same for small inputs, without a compiler."""
    templates, tokens = matrix.shape
    if not some and not drop:
        return Packed(np.arange(tokens + 1, dtype=np.int64) * templates, matrix.T.ravel())
    token = np.concatenate([np.repeat(np.arange(tokens), templates), *(at for _, at, _ in some if at is not None)])
    ids = np.concatenate([matrix.T.ravel(), *(ids for ids, _, _ in some)])
    weight = np.ones(len(ids))
    at = matrix.size
    for part, _, w in some:
        weight[at : at + len(part)] = 1.0 if w is None else w
        at += len(part)
    order = np.argsort(token, kind="stable")
    order = order[ids[order] >= 0] if drop else order
    indptr = np.concatenate([[0], np.cumsum(np.bincount(token[order], minlength=tokens))]).astype(np.int64)
    return Packed(indptr, ids[order], weight[order] if valued else None)
