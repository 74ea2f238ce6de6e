"""Which functions are nearly copies of each other, so that they should vote as one (see `voters`).

Two functions are alike as far as one, beyond what the label tells, tells what the other does:

    alike(i, j) = I(v_i; v_j | y) / min(H(v_i | y), H(v_j | y))        from 0 to 1

with y as the majority vote has it. Lists of names with and without regard to case are alike by 0.9 or more; functions
that are wrong independently of each other, by about 0. Functions are joined, the most alike first, as long as the mean
over all pairs of two groups is above the threshold.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError, shown
from trellis.weak.patterns import Patterns

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

Structure = str | Sequence[Sequence[str]]

ALIKE = (
    0.8  # measured on WikiGold's 16 functions: pairs that differ in case alone have 0.90 to 0.99, others 0.78 at most
)
_LITTLE = 1e-9  # nats: a function that always does the same under each label is like no other


def groups_of(structure: Structure, functions: Sequence[str], patterns: Patterns, weights: F64) -> list[list[int]]:
    """Groups of numbers of functions: each by itself ("independent"), found ("learned"), or named by the user, who may
    leave out those that stand alone. weights F64[patterns, labels]: how often a pattern stands where the label is."""
    if structure == "independent":
        return [[j] for j in range(len(functions))]
    if structure == "learned":
        return joined(alike(patterns, weights), ALIKE)
    if not isinstance(structure, list | tuple) or not all(isinstance(group, list | tuple) for group in structure):
        raise SettingError(
            f"the structure is {shown(structure)}; expected 'independent', 'learned', or groups of functions: "
            "[['a', 'b']] (--groups a+b)"
        )
    named = [name for group in structure for name in group]
    for name in named:
        if name not in functions:
            raise SettingError(f"the structure names {name!r}, but the functions are: {', '.join(functions)}")
        if named.count(name) > 1:
            raise SettingError(f"the structure names {name!r} twice; a function is of one group")
    groups = [[functions.index(name) for name in group] for group in structure if group]
    return groups + [[j] for j, name in enumerate(functions) if name not in named]


def alike(patterns: Patterns, weights: F64) -> F64:
    """F64[functions, functions], as above."""
    functions = patterns.rows.shape[1]
    totals = weights.sum(axis=0)
    said = patterns.rows.astype(np.int64) + 1
    many = int(said.max(initial=0)) + 1
    single = np.array([_entropy(said[:, j], many, weights, totals) for j in range(functions)])
    table = np.zeros((functions, functions))
    for i in range(functions):
        for j in range(i):
            least = min(single[i], single[j])
            if least > _LITTLE:
                both = _entropy(said[:, i] * many + said[:, j], many * many, weights, totals)
                table[i, j] = table[j, i] = (single[i] + single[j] - both) / least
    return table


def _entropy(said: I64, many: int, weights: F64, totals: F64) -> float:
    """H(votes | y) in nats: said I64[patterns], one of so `many` things each."""
    if many > len(said):  # hardly any of them happens
        said = np.unique(said, return_inverse=True)[1].ravel()
        many = len(said)
    joint = np.stack([np.bincount(said, weights[:, k], many) for k in range(weights.shape[1])], axis=1)
    shares = np.divide(joint, totals, out=np.zeros_like(joint), where=totals > 0)
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    return float(-(joint * logs).sum() / max(totals.sum(), 1.0))


def joined(table: F64, threshold: float) -> list[list[int]]:
    """Groups by average linkage; of pairs that are equally alike, the first."""
    groups = [[j] for j in range(len(table))]
    while True:
        best, which = threshold, None
        for b in range(len(groups)):
            for a in range(b):
                mean = float(table[np.ix_(groups[a], groups[b])].mean())
                if mean > best:
                    best, which = mean, (a, b)
        if which is None:
            return groups
        a, b = which
        groups[a] = sorted(groups[a] + groups[b])
        del groups[b]
