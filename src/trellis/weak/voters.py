"""Voters: labeling functions, or groups of functions that are nearly copies of each other and vote as one.

A model that takes copies for independent witnesses believes them too much. So the joint vote of a group is one outcome,
and has a probability of its own under each label:

    P(votes | y) = prod over voters v of P(outcome of v | y)

The outcomes of a function by itself are all names and abstaining; those of a group the joint votes it was seen to cast.
For a joint vote never seen before, the group's members are asked one by one, and together count as one: the geometric
mean of what they say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trellis.jit import worthwhile
from trellis.weak.patterns import unique_rows

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class Voters:
    """`groups`: numbers of functions, each function in one group; `joint`: for each group the joint votes it is known
    to cast, I32[outcomes, members], for a single function -1 and all `names`.

    Outcomes of all voters are numbered through: those of voter v from `first[v]` to `first[v + 1]`.
    """

    groups: tuple[tuple[int, ...], ...]
    joint: tuple[I32, ...]
    names: int

    @classmethod
    def of(cls, groups: Sequence[Sequence[int]], rows: I32, names: int) -> Voters:
        """rows I32[patterns, functions]: what functions were seen to vote."""
        alone = np.arange(-1, names, dtype=np.int32)[:, None]
        joint = [unique_rows(rows[:, list(group)])[0] if len(group) > 1 else alone for group in groups]
        return cls(tuple(tuple(group) for group in groups), tuple(joint), names)

    @cached_property
    def first(self) -> I64:
        return np.cumsum([0, *(len(own) for own in self.joint)]).astype(np.int64)

    @property
    def outcomes(self) -> int:
        return int(self.first[-1])

    def cast(self, rows: I32) -> I64:
        """The outcome of each voter, I64[patterns, voters], for votes I32[patterns, functions]; -1: never seen."""
        out = np.empty((len(rows), len(self.groups)), np.int64)
        for v, (group, joint) in enumerate(zip(self.groups, self.joint, strict=True)):
            if len(group) == 1:
                out[:, v] = self.first[v] + rows[:, group[0]] + 1
                continue
            number = {row.tobytes(): self.first[v] + r for r, row in enumerate(np.ascontiguousarray(joint))}
            own, of = unique_rows(rows[:, list(group)])
            found = [number.get(row.tobytes(), -1) for row in own]
            out[:, v] = np.array([*found, -1], np.int64)[of]
        return out

    def shares(self, counts: F64) -> F64:
        """Counts F64[outcomes, labels] -> P(outcome | label), which sum to 1 over the outcomes of each voter."""
        totals = np.add.reduceat(counts, self.first[:-1], axis=0)
        spread = np.repeat(totals, np.diff(self.first), axis=0)
        # a group that only ever abstains has nothing to tell where that is not heard
        return np.asarray(np.divide(counts, spread, out=np.zeros_like(counts), where=spread > 0))


def counted(cast: I64, weights: F64, outcomes: int) -> F64:
    """How often voters did what under which label, F64[outcomes, labels]: cast I64[patterns, voters], weights
    F64[patterns, labels] (how often the pattern stands where the label is)."""
    counts = np.zeros((outcomes, weights.shape[1]))
    if worthwhile(cast.size):
        from trellis.weak.kernels import add_counts

        add_counts(cast, weights, counts)
        return counts
    for v in range(cast.shape[1]):
        np.add.at(counts, cast[:, v], weights)
    return counts


def scored(cast: I64, logs: F64) -> F64:
    """log P(votes | label) of patterns, F64[patterns, labels]; logs F64[outcomes, labels]. What was never seen (-1)
    says nothing."""
    scores = np.zeros((len(cast), logs.shape[1]))
    if worthwhile(cast.size):
        from trellis.weak.kernels import add_scores

        add_scores(cast, logs, scores)
        return scores
    padded = np.concatenate([logs, np.zeros((1, logs.shape[1]))])
    for v in range(cast.shape[1]):
        scores += padded[cast[:, v]]
    return scores
