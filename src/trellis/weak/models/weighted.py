"""Weighted vote: functions that are right more often count for more.

    P(y | votes) is in proportion to exp(sum of the weights of functions that vote for y)

With the weight log((L - 1) a / (1 - a)) of a function that is right with probability a, wrong in any of L - 1 ways
alike, this is what independent functions and labels of equal frequency lead to. Weights that nobody gives are learnt:
a is how often a function agrees with the majority of all others; none is negative, so that whoever nobody agrees with
is hardly heard, rather than taken to say the opposite.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError, shown
from trellis.weak.em import softened
from trellis.weak.models.contract import LabelModel
from trellis.weak.models.majority import shares, tally
from trellis.weak.models.tensors import amounts_of, array_of
from trellis.weak.patterns import Patterns
from trellis.weak.votes import ABSTAINS, Votes

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]

_LIGHTEST = 1e-3  # so that what only such functions say is what is said
_HEAVIEST = 1e6  # log-odds; so surely nobody is right
_SURE = 0.01  # no function is right or wrong more surely than this


class WeightedVote(LabelModel):
    """weights: {function: weight}, for all or some; those of the others are learnt."""

    name = "weighted"

    def __init__(self, weights: Mapping[str, float] | None = None):
        self.weights = weights

    def _learn(self, votes: Votes) -> None:
        given = self._given(votes.functions)
        patterns = votes.patterns
        self.totals_ = patterns.counts @ tally(patterns.rows, votes.space)
        learnt = np.maximum(_LIGHTEST, log_odds(agreement(patterns, votes), len(votes.labels)))
        self.weights_ = np.array([given.get(name, learnt[j]) for j, name in enumerate(votes.functions)], np.float64)

    def _given(self, functions: tuple[str, ...]) -> Mapping[str, float]:
        if not (self.weights is None or isinstance(self.weights, Mapping)):
            raise SettingError(f"weights are {shown(self.weights)}; expected a table: {{'function': 1.5}}")
        for name, weight in (self.weights or {}).items():
            if name not in functions:
                raise SettingError(f"a weight is given for {name!r}; the functions are: {', '.join(functions)}")
            if not isinstance(weight, Real) or not abs(float(weight)) <= _HEAVIEST:
                raise SettingError(f"the weight of {name!r} is {weight!r}; expected a number, {_HEAVIEST:g} at most")
        return self.weights or {}

    def _probabilities(self, votes: Votes) -> F64:
        patterns = votes.patterns
        return weighed(patterns.rows, votes, self.weights_, np.zeros(len(votes.labels)))[patterns.of]

    def _frequency(self) -> F64:
        return self.totals_

    def _learnt(self) -> dict[str, NDArray[Any]]:
        return {"weights": self.weights_, "totals": self.totals_}

    def _restore(self, learnt: dict[str, NDArray[Any]]) -> None:
        self.weights_ = array_of(learnt, "weights", np.float64, (len(self.functions_),))
        self.totals_ = amounts_of(learnt, "totals", (len(self.own_labels),))
        by_name = dict(zip(self.functions_, self.weights_.tolist(), strict=True))
        if self.weights is not None and not isinstance(self.weights, dict):
            raise ValueError("weights that are given")
        for name, weight in (self.weights or {}).items():
            if not isinstance(weight, Real) or by_name[name] != float(weight):
                raise ValueError("weights that are not those given")
        if not math.isfinite(2.0 * sum(map(abs, by_name.values()))):
            raise ValueError("weights whose sum no number can hold")


def weighed(rows: I32, votes: Votes, weights: F64, prior: F64) -> F64:
    """P(label | votes) of patterns I32[patterns, functions], for weights F64[functions] and log P(label); where there
    are no votes O, or the prior. Where labels are of segments, only those voted for can be right: O needs a vote."""
    table = np.concatenate([votes.space.admits, np.zeros((1, len(votes.labels)), np.bool_)])
    scores = np.tile(prior, (len(rows), 1))
    for j in range(rows.shape[1]):
        scores += weights[j] * table[rows[:, j]]
    if votes.space.outside is not None:
        scores = np.where(tally(rows, votes.space) > 0, scores, -np.inf)
        scores[(rows == ABSTAINS).all(axis=1), votes.space.outside] = 0.0
    return softened(scores)[0]


def agreement(patterns: Patterns, votes: Votes) -> F64:
    """How often each function, where it votes, agrees with the majority of the others, F64[functions]; in parts where
    these are not of one mind. One observation more of each, right and wrong, for functions that are rarely checked."""
    counts, out = tally(patterns.rows, votes.space), np.empty(patterns.rows.shape[1])
    table = np.concatenate([votes.space.admits, np.zeros((1, len(votes.labels)), np.bool_)])
    for j in range(patterns.rows.shape[1]):
        own = patterns.rows[:, [j]]
        others = np.maximum(counts - tally(own, votes.space), 0.0)
        checked = (own[:, 0] != ABSTAINS) & (others.sum(axis=1) > 1e-9)
        right = (shares(others, votes.space) * table[own[:, 0]]).sum(axis=1)
        weight = patterns.counts * checked
        out[j] = (weight @ right + 1.0) / (weight.sum() + 2.0)
    return out


def log_odds(accuracy: F64, labels: int) -> F64:
    """Weights of functions that are right so often."""
    a = np.clip(accuracy, _SURE, 1.0 - _SURE)
    return np.asarray(np.log(max(1, labels - 1) * a / (1.0 - a)))
