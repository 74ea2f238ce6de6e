"""Accuracies in closed form, from how often three functions agree two by two (Fu et al. 2020, here for any
number of labels).

A function that is right with probability a, wrong in any of L - 1 ways alike, is better than chance by

    e = (L a - 1) / (L - 1)                       1: always right, 0: chance

Where two functions vote independently of each other given the truth, whatever the frequencies of the labels,

    M_ij = (L P(i and j agree) - 1) / (L - 1) = e_i e_j

so that |e_i| = sqrt(M_ij M_ik / M_jk): of all triplets the median, that of functions which check each other more often
first. No iterations, nothing to start from. What cannot be told is which way round; functions are taken to be better
than chance. Labels' frequencies follow by EM with accuracies as they are, which has one optimum.

Votes for coarse labels agree with any of their labels, so whoever casts them is right, and agrees with others, more
often by chance: by c_i and c_ij, those of drawing one of its names (`repertoire`), each as often as it stands for
labels. With M_ij = (P - c_ij) / (1 - c_ij) and a = c_i + (1 - c_i) e the above holds for them roughly, so triplets of
others go before. Functions that vote for one and the same label alone always agree, which tells nothing; the model is
for functions that can contradict each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError, SettingError
from trellis.weak.em import check_settings, climb, softened
from trellis.weak.models.accuracies import Accuracies
from trellis.weak.models.majority import shares, tally
from trellis.weak.models.tensors import array_of, groups_from, groups_in, rates_of, shares_of
from trellis.weak.models.weighted import log_odds, weighed
from trellis.weak.patterns import Patterns
from trellis.weak.repertoire import repertoire, uses
from trellis.weak.space import Space
from trellis.weak.structure import Structure, groups_of
from trellis.weak.votes import ABSTAINS, Votes

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

_LEAST = 0.02  # of M_jk: dividing by less would be dividing by noise
_MOST_EXCESS = 0.98
_SURE = 1e-6  # who votes for a label that may mean any other is always right


class Triplets(Accuracies):
    """structure: functions of one group are never in one triplet, and count together as one (see `structure`)."""

    name = "triplets"

    def __init__(self, structure: Structure = "learned", max_iter: int = 500, tol: float | None = 1e-8):
        self.structure = structure
        self.max_iter = max_iter
        self.tol = tol

    def _learn(self, votes: Votes) -> None:
        check_settings(self.max_iter, self.tol)
        if len(votes.functions) < 3:
            raise SettingError(
                f"triplets need three functions; there are {len(votes.functions)}: use generative, or majority"
            )
        patterns = votes.patterns
        start = shares(tally(patterns.rows, votes.space), votes.space)
        groups = groups_of(self.structure, votes.functions, patterns, start * patterns.counts[:, None])
        self.groups_ = [[votes.functions[j] for j in group] for group in groups]
        home = {j: g for g, group in enumerate(groups) for j in group}
        self.share_ = np.array([1.0 / len(groups[home[j]]) for j in range(len(votes.functions))])
        # where no function says O, it is not among the labels that those that vote can be right or wrong about
        self.ways_ = max(2, len(votes.labels) - int(votes.space.outside is not None and not (votes.values == 0).any()))
        drawn = chances(uses(votes.values, len(votes.names)), votes.space, self.ways_)
        excess, sure = moments(patterns, votes, drawn)
        coarse = np.asarray((votes.values >= len(votes.labels)).any(axis=0))
        found = [excess_of(i, excess, sure, home, coarse) for i in range(len(votes.functions))]
        if all(one is None for one in found):
            raise DataError(
                "no three functions vote on the same tokens often enough to check each other; use generative, or "
                "majority"
            )
        typical = float(np.median([one for one in found if one is not None]))
        e = np.array([typical if one is None else one for one in found])
        chance = (drawn * votes.space.admits.sum(axis=1)).sum(axis=1) / self.ways_
        self.right_ = np.minimum(chance + (1.0 - chance) * np.clip(e, 0.0, _MOST_EXCESS), 1.0 - _SURE)
        self._find_balance(patterns, votes)

    def _find_balance(self, patterns: Patterns, votes: Votes) -> None:
        counts = patterns.counts * (patterns.rows != ABSTAINS).any(axis=1)
        labels = len(votes.labels)
        self.balance_ = np.full(labels, 1.0 / labels)
        with np.errstate(divide="ignore"):
            scores = np.log(weighed(patterns.rows, votes, self._weights, np.zeros(labels)))

        def steps() -> Iterator[float]:
            while True:
                chances, likelihood = softened(scores + np.log(self.balance_))
                yield float(counts @ likelihood) + float(np.log(self.balance_).sum())
                self.balance_ = (counts @ chances + 1.0) / (counts.sum() + labels)

        self.climb_ = climb(steps(), self.max_iter, self.tol, type(self).__name__)

    @property
    def _weights(self) -> F64:
        return np.asarray(log_odds(self.right_, self.ways_) * self.share_)

    def _probabilities(self, votes: Votes) -> F64:
        patterns = votes.patterns
        return weighed(patterns.rows, votes, self._weights, np.log(self.balance_))[patterns.of]

    def _learnt(self) -> dict[str, NDArray[Any]]:
        ways = np.array([self.ways_], np.int64)
        groups = groups_in(self.groups_, self.functions_)
        return {"right": self.right_, "balance": self.balance_, "ways": ways, **groups}

    def _restore(self, learnt: dict[str, NDArray[Any]]) -> None:
        check_settings(self.max_iter, self.tol)
        functions, labels = len(self.functions_), len(self.own_labels)
        self.balance_ = shares_of(learnt, "balance", (labels,))
        self.ways_ = int(array_of(learnt, "ways", np.int64, (1,))[0])
        if functions < 3 or self.ways_ not in {max(2, labels), max(2, labels - (self.own_space_.outside is not None))}:
            raise ValueError("number of functions, or of labels")
        self.right_ = rates_of(learnt, "right", (functions,))
        if (self.right_.min() * self.ways_ - 1.0) < -1e-9:
            raise ValueError("a function is worse than chance")
        self.groups_ = groups_from(learnt, self.functions_, self.structure)
        sizes = {name: len(group) for group in self.groups_ for name in group}
        self.share_ = np.array([1.0 / sizes[name] for name in self.functions_])


def chances(used: I64, space: Space, labels: int) -> F64:
    """How often each function would vote for what by chance, F64[functions, names]; used: as by `uses`. Of the
    plain labels there are `labels`: O is not among them where nobody says it."""
    drawn = repertoire(used, space) * space.admits.sum(axis=1)
    if labels < len(space.labels):
        drawn[:, space.outside] = 0.0
    return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))


def moments(patterns: Patterns, votes: Votes, drawn: F64) -> tuple[F64, F64]:
    """M, F64[functions, functions], and on how many tokens both vote; drawn: as by `chances`."""
    functions = patterns.rows.shape[1]
    excess, both = np.zeros((functions, functions)), np.zeros((functions, functions))
    parts = votes.space.admits / votes.space.admits.sum(axis=1, keepdims=True)
    agree = np.maximum(parts @ votes.space.admits.T, votes.space.admits @ parts.T)  # a coarse vote agrees with its own
    by_chance = drawn @ agree @ drawn.T
    for i, j in combinations(range(functions), 2):
        left, right = patterns.rows[:, i], patterns.rows[:, j]
        there = (left != ABSTAINS) & (right != ABSTAINS)
        weight = patterns.counts[there]
        both[i, j] = both[j, i] = weight.sum()
        if weight.sum():
            share = float(weight @ agree[left[there], right[there]]) / weight.sum()
            excess[i, j] = excess[j, i] = (share - by_chance[i, j]) / max(_LEAST, 1.0 - by_chance[i, j])
    return excess, both


def excess_of(i: int, excess: F64, both: F64, home: dict[int, int], coarse: NDArray[np.bool_]) -> float | None:
    """The weighted median over the triplets of function i, those with the fewest functions that cast coarse votes; None
    where there are none to go by."""
    by_coarse: dict[int, tuple[list[float], list[float]]] = {}
    others = [j for j in range(len(excess)) if home[j] != home[i]]
    for j, k in combinations(others, 2):
        if home[j] == home[k] or abs(excess[j, k]) < _LEAST:
            continue
        least = min(both[i, j], both[i, k], both[j, k])
        if least > 0:
            values, weights = by_coarse.setdefault(int(coarse[j]) + int(coarse[k]), ([], []))
            values.append(float(np.sqrt(abs(excess[i, j] * excess[i, k] / excess[j, k]))))
            weights.append(float(np.sqrt(least) * abs(excess[j, k])))
    if not by_coarse:
        return None
    values, weights = by_coarse[min(by_coarse)]
    order = np.argsort(values)
    sums = np.cumsum(np.array(weights)[order])
    return float(min(np.array(values)[order][np.searchsorted(sums, sums[-1] / 2)], 1.0))
