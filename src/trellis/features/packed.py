"""What every kind of feature ends as: attribute numbers per token, packed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Packed:
    """Token t has attributes `ids[indptr[t]:indptr[t + 1]]` (`I64[tokens + 1]`, `I32[occurrences]`).

    An id of -1 is an attribute the model has never seen. `values` is None when every value is 1.
    """

    indptr: NDArray[np.int64]
    ids: NDArray[np.int32]
    values: NDArray[np.float64] | None = None

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
