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
