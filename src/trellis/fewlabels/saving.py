"""What one way of choosing saves against another: the tokens that each needs to become as good.

Both mean curves are made to rise (a score once reached stays reached). The goal is the last score of the one that ends
lower, so that both reach it; saved is 1 - t / t_base, where t and t_base are the tokens at which they first do, on
straight lines between points. A curve saves nothing against itself, and less than nothing where it needs more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]

_DRAWS = 1000
_FEWEST = 4  # repeats: the bootstrap of fewer finds ranges that are far too narrow
_MIDDLE = (0.025, 0.975)


class Saved(NamedTuple):
    """The part of the tokens, and the middle 95 % of what the bootstrap over repeats finds, the part itself always
    among it; None of fewer than four repeats, which say too little of others."""

    part: float
    low: float | None
    high: float | None


def saved(grid: F64, base: F64, curves: F64) -> Saved:
    """grid: tokens, F64[points], ascending; base, curves: scores there, F64[repeats, points] each, of the same repeats
    in the same order. Repeats are drawn in pairs, with replacement, by a seed of their own."""
    part = float(_part(grid, base.mean(axis=0), curves.mean(axis=0)))
    many = len(base)
    if many < _FEWEST:
        return Saved(part, None, None)
    drawn = np.random.default_rng(0).integers(0, many, (_DRAWS, many))
    shares = np.stack([np.bincount(row, minlength=many) for row in drawn]) / many
    low, high = np.quantile(_part(grid, shares @ base, shares @ curves), _MIDDLE)
    return Saved(part, min(part, float(low)), max(part, float(high)))


def _part(grid: F64, base: F64, curve: F64) -> F64:
    """Of mean curves [..., points] -> [...]."""
    base, curve = (np.maximum.accumulate(each, axis=-1) for each in (base, curve))
    goal = np.minimum(base[..., -1], curve[..., -1])
    part: F64 = 1.0 - _reached(grid, curve, goal) / _reached(grid, base, goal)
    return part


def _reached(grid: F64, curve: F64, goal: F64) -> F64:
    """Tokens at which rising curves [..., points] first are at their goals [...]."""
    at = np.argmax(curve >= goal[..., None], axis=-1)
    before = np.maximum(at - 1, 0)
    low, high = (np.take_along_axis(curve, each[..., None], -1)[..., 0] for each in (before, at))
    share = np.divide(goal - low, high - low, out=np.ones_like(goal), where=high > low)
    tokens: F64 = grid[before] + share * (grid[at] - grid[before])
    return tokens
