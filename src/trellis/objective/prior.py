"""Priors: penalties on the weights themselves. Those with a gradient everywhere; l1 is the optimisers' business."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]

_AT_ONCE = 1 << 15


class Prior(Protocol):
    """A penalty that is added to the objective: a sum of one function of each weight, so its Hessian is a diagonal."""

    def value(self, theta: F64) -> float: ...

    def add_gradient(self, theta: F64, gradient: F64) -> None: ...

    def diagonal(self, theta: F64) -> F64 | float:
        """Second derivatives, F64[weights], or one number if they are all the same."""
        ...


@dataclass(frozen=True)
class L2:
    """l2 / 2 * |theta|^2, l2 = 1 / sigma^2 (a Gaussian of that variance)."""

    l2: float

    def value(self, theta: F64) -> float:
        # einsum, not dot: the sum must not depend on how many threads a BLAS has
        return 0.5 * self.l2 * float(np.einsum("i,i->", theta, theta))

    def add_gradient(self, theta: F64, gradient: F64) -> None:
        for first in range(0, len(theta), _AT_ONCE):  # no vector as long as theta is made
            part = slice(first, first + _AT_ONCE)
            gradient[part] += self.l2 * theta[part]

    def diagonal(self, theta: F64) -> float:
        return self.l2


@dataclass(frozen=True)
class Hyperbolic:
    """strength * sum of (sqrt(theta^2 + width^2) - width): l1 with its kink rounded off, about theta^2 / (2 width) near
    0 and |theta| far from it (also known as pseudo-Huber), so that large weights are not held back as by a Gaussian."""

    strength: float
    width: float = 0.1

    def value(self, theta: F64) -> float:
        return self.strength * float(np.sum(np.hypot(theta, self.width) - self.width))

    def add_gradient(self, theta: F64, gradient: F64) -> None:
        gradient += self.strength * (theta / np.hypot(theta, self.width))

    def diagonal(self, theta: F64) -> F64:
        return self.strength * self.width**2 / np.hypot(theta, self.width) ** 3


@dataclass(frozen=True)
class Priors:
    """Several at once."""

    parts: Sequence[Prior]

    def value(self, theta: F64) -> float:
        return sum(part.value(theta) for part in self.parts)

    def add_gradient(self, theta: F64, gradient: F64) -> None:
        for part in self.parts:
            part.add_gradient(theta, gradient)

    def diagonal(self, theta: F64) -> F64 | float:
        return sum((part.diagonal(theta) for part in self.parts), start=0.0)


@dataclass(frozen=True)
class Around:
    """A prior of how far the weights are from `centre`, F64[weights]."""

    prior: Prior
    centre: F64

    def value(self, theta: F64) -> float:
        return self.prior.value(theta - self.centre)

    def add_gradient(self, theta: F64, gradient: F64) -> None:
        self.prior.add_gradient(theta - self.centre, gradient)

    def diagonal(self, theta: F64) -> F64 | float:
        return self.prior.diagonal(theta - self.centre)


@dataclass(frozen=True)
class PriorsOfParts:
    """A prior of its own for each part of theta, one behind the other: so many weights each."""

    sizes: Sequence[int]
    parts: Sequence[Prior]

    def value(self, theta: F64) -> float:
        return sum(part.value(own) for part, own in zip(self.parts, self._split(theta), strict=True))

    def add_gradient(self, theta: F64, gradient: F64) -> None:
        for part, own, out in zip(self.parts, self._split(theta), self._split(gradient), strict=True):
            part.add_gradient(own, out)

    def diagonal(self, theta: F64) -> F64:
        diagonals = (
            np.broadcast_to(part.diagonal(own), own.shape)
            for part, own in zip(self.parts, self._split(theta), strict=True)
        )
        return np.concatenate(list(diagonals))

    def _split(self, values: F64) -> list[F64]:
        return np.split(values, np.cumsum(self.sizes)[:-1])
