"""Values of wired attributes: products and quotients of lower probabilities, through a smooth function.

With z the listed probabilities of the lower stages' nodes and arcs, occurrence n of an attribute has

    p_n = prod z[times] / prod z[over]        x_n = (p_n - least) / (1 - least)        value_n = weight_n f(x_n)

f is the identity unless the user gives another one. What is not more probable than `least` is not listed; that x, not
p, is the value, makes up for it: values then change without a jump when an occurrence comes or goes, and what is
certain still has the value f(1).

Only logarithmic derivatives are needed, d p_n / d z_k = p_n (1/z_k if k multiplies, -1/z_k if it divides).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.scoring.occurring import Occurring

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class Curve:
    """f with its first and second derivative, all of them functions of F64[n]; x is from 0 to 1."""

    f: Callable[[F64], F64]
    slope: Callable[[F64], F64]
    bend: Callable[[F64], F64]


@dataclass(frozen=True)
class Monomials:
    """Token t has the occurrences start[t]:start[t + 1]; `times`, `over: I32[n, parts]`, -1 for none; `z: F64[...]`,
    the listed probabilities."""

    start: I64
    ids: I32
    weight: F64
    p: F64
    times: I32
    over: I32
    z: F64
    least: float
    curve: Curve | None

    @cached_property
    def occurring(self) -> Occurring:
        x = self._x
        return Occurring(self.start, self.ids, self.weight * (x if self.curve is None else self.curve.f(x)))

    @cached_property
    def _x(self) -> F64:
        return np.minimum((self.p - self.least) / (1.0 - self.least), 1.0)

    @cached_property
    def _slope(self) -> F64:
        """d value / d p."""
        slope = self.weight / (1.0 - self.least)
        return slope if self.curve is None else slope * self.curve.slope(self._x)

    @cached_property
    def _inverse(self) -> tuple[F64, F64]:
        """1/z of what multiplies and of what divides, F64[n, parts], 0 for none."""
        inverse = np.append(1.0 / self.z, 0.0)
        return inverse[self.times], inverse[self.over]

    def back(self, by_value: F64) -> F64:
        """dL/dvalue -> dL/dz."""
        return self._gathered(by_value * self._slope * self.p)

    def _gathered(self, each: F64) -> F64:
        """sum over occurrences of each[n] (d log p_n / dz)."""
        times, over = self._inverse
        size = len(self.z) + 1
        out: F64 = np.bincount(self.times.ravel() + 1, (each[:, None] * times).ravel(), size).astype(np.float64)
        out -= np.bincount(self.over.ravel() + 1, (each[:, None] * over).ravel(), size)
        return out[1:]

    def along(self, dz: F64) -> F64:
        """A change of z -> the change of the values."""
        return self._slope * self.p * self._log_change(dz)

    def _log_change(self, dz: F64) -> F64:
        change = np.append(dz, 0.0)
        times, over = self._inverse
        grown: F64 = (change[self.times] * times).sum(axis=1) - (change[self.over] * over).sum(axis=1)
        return grown

    def back_along(self, by_value: F64, change_by_value: F64, dz: F64) -> F64:
        """How `back(by_value)` changes when z does, and by_value: the product rule."""
        grown = self._log_change(dz)  # d log p
        each = change_by_value * self._slope * self.p + by_value * self._slope * self.p * grown
        if self.curve is not None:
            bend = self.weight / (1.0 - self.least) ** 2 * self.curve.bend(self._x)
            each += by_value * bend * self.p * (self.p * grown)
        out = self._gathered(each)
        # d (1/z) = - dz / z^2
        change, base = np.append(dz, 0.0), by_value * self._slope * self.p
        times, over = self._inverse
        size = len(self.z) + 1
        shrunk = np.bincount(self.times.ravel() + 1, (base[:, None] * times**2 * change[self.times]).ravel(), size)
        shrunk -= np.bincount(self.over.ravel() + 1, (base[:, None] * over**2 * change[self.over]).ravel(), size)
        return np.asarray(out - shrunk[1:])


def nothing(tokens: int) -> dict[str, Any]:
    """The lists of none, for so many tokens."""
    none = np.zeros((0, 1), np.int32)
    return {
        "start": np.zeros(tokens + 1, np.int64), "ids": none[:, 0], "weight": np.zeros(0), "p": np.zeros(0),
        "times": none, "over": none,
    }  # fmt: skip
