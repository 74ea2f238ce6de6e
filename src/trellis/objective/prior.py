"""Priors: penalties on the weights themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]


class Prior(Protocol):
    """A penalty that is added to the objective."""

    def value(self, theta: F64) -> float: ...

    def add_gradient(self, theta: F64, gradient: F64) -> None: ...


@dataclass(frozen=True)
class L2:
    """l2 / 2 * |theta|^2, l2 = 1 / sigma^2 (a Gaussian of that variance)."""

    l2: float

    def value(self, theta: F64) -> float:
        # einsum, not dot: the sum must not depend on how many threads a BLAS has
        return 0.5 * self.l2 * float(np.einsum("i,i->", theta, theta))

    def add_gradient(self, theta: F64, gradient: F64) -> None:
        gradient += self.l2 * theta
