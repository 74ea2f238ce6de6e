"""How long and how much memory a training will take, said before it starts.

Time is that of one evaluation, measured, times the usual number of evaluations (see `usual_evaluations`), times what
the optimiser says it takes over L-BFGS. As training goes on, `refined` trusts the optimiser's own guess more and more.
Memory is what the arrays take.

What came of it over what was said, on two busy cores (load 3 to 8), where single runs vary. Time: CoNLL-2000 chunking
(l2=2) 0.84, 1.15, 0.75; CoNLL-2002 Spanish entities 1.10, 1.71, 1.32 (l2=1) and 1.50 (l2=2); Penn Treebank sample 0.66.
The rule was fitted to these corpora among others. Memory: 1.02 (446 MB) and 1.09 (507 MB) on the first two, after which
its constant was chosen; 1.01 and 0.92 on two others.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]

_IMPORTED = 200_000_000  # bytes of an interpreter with Numba and the kernels, and of strings


@dataclass(frozen=True)
class Estimate:
    """Seconds and bytes; `at_most`: it may well end sooner."""

    seconds: float
    bytes: int
    at_most: bool = False

    def __str__(self) -> str:
        about = "up to" if self.at_most else "about"
        return f"{about} {roughly_seconds(self.seconds)} and {roughly_bytes(self.bytes)}"


def usual_evaluations(tokens: int, prior: float, tol: float, max_iter: int) -> float:
    """How many values and gradients L-BFGS with ten pairs needs, from five corpora of 7 to 265 thousand tokens with 9
    to 45 labels, a prior from 0.1 to 10 and tol from 1e-2 to 1e-5, by least squares; the true numbers, 25 to 511, were
    between 0.65 and 1.43 times the rule's, eight out of ten between 0.82 and 1.22. On two corpora that it was not
    fitted to (41 and 128 thousand tokens, three labels) it is too low throughout: 1.25 to 1.52 and 1.20 to 1.28 times
    as many were needed."""
    digits = max(-math.log10(tol), 1.0)
    usual: float = 2.1 * max(tokens, 1) ** 0.38 * max(prior, 1e-3) ** -0.19 * (digits + 1.0) / 6.0
    return min(usual, 1.07 * max_iter + 1.0)  # one iteration in fifteen needs a second evaluation


def estimate(
    evaluate: Callable[[], object],
    score: Callable[[], object] | None,
    evaluations: float,
    held: Callable[[], int],
) -> Estimate:
    """From one evaluation, for which kernels have to be loaded, a development score if there is any, how many
    evaluations what is still to come amounts to, and the bytes of data and optimiser, once everything is there."""
    # the first evaluation takes a fifth longer than those to come, about as much as the rest of an iteration does
    seconds = _seconds(evaluate)
    if score is not None:
        first = _seconds(score)  # with kernels to load
        seconds += first if first > 1.0 else _seconds(score)
    return Estimate(evaluations * seconds, _IMPORTED + held(), score is not None)


def refined(seconds: float, fraction: float, expected: float | None = None) -> float:
    """Seconds left after so many, when a fraction is done by the optimiser's guess and so many were expected in all.
    The guess is poor before a quarter is done, and good after half."""
    by_fraction = seconds / max(fraction, 0.01)
    trust = min(2.0 * fraction, 1.0) if expected is not None else 1.0
    return max(0.0, trust * by_fraction + (1.0 - trust) * (expected or 0.0) - seconds)


def array_bytes(*things: object) -> int:
    """The memory of all arrays that these hold, each counted once, also where several are views of one."""
    found: dict[int, int] = {}
    seen: set[int] = set()
    stack: list[Any] = list(things)
    while stack:
        thing = stack.pop()
        if isinstance(thing, np.ndarray):
            while isinstance(thing.base, np.ndarray):
                thing = thing.base
            found[id(thing)] = thing.nbytes
        elif id(thing) not in seen:
            seen.add(id(thing))
            stack += _held(thing)
    return sum(found.values())


def _held(thing: Any) -> Iterable[Any]:
    if isinstance(thing, dict):
        return thing.values()
    if isinstance(thing, tuple | list):
        return () if thing and isinstance(thing[0], str) else thing
    ours = hasattr(thing, "__dict__") and type(thing).__module__.startswith("trellis.")
    return vars(thing).values() if ours else ()


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def roughly_seconds(seconds: float) -> str:
    """No more digits than are known: 1 s, 20 s, 3 min, 2 h."""
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 1.5 * size:
            return f"{_rounded(seconds / size)} {unit}"
    return f"{_rounded(seconds)} s"


def roughly_bytes(count: int) -> str:
    """350 MB, 1.2 GB: two digits."""
    return f"{float(f'{count / 1e9:.2g}'):g} GB" if count >= 995e6 else f"{float(f'{count / 1e6:.2g}'):.0f} MB"


def _rounded(value: float) -> str:
    """1, 2, ... 10, 15, 20, 30, ... 100, 150, 200: one digit, or one and a half where the first is a 1."""
    value = max(value, 1.0)
    step = 10.0 ** math.floor(math.log10(value))
    if 10.0 <= value < 2.0 * step:
        step /= 2.0
    return f"{round(value / step) * step:.0f}"
