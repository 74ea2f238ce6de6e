"""Majority vote: the label that most functions vote for. Every other model has to beat it.

Segments are voted for by type, token by token (IO), and runs of a type become segments: functions that agree on an
entity but not on where it begins still agree on its middle. A coarse vote counts in equal shares for the labels it may
mean. A token that nobody votes on is O; an item that nobody votes on can be anything.

Ties are frequent, and how they are broken moves the result; so their number is there to be asked for (`tied`), and the
way is named:

    frequent   the label with more votes in all
    first      the first in the order of the labels
    random     any of them, by `seed`
    outside    none: O (segments only)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError
from trellis.weak.models.contract import LabelModel
from trellis.weak.models.tensors import amounts_of
from trellis.weak.patterns import Patterns
from trellis.weak.votes import Space, Votes, in_io

BOOL = NDArray[np.bool_]
F64 = NDArray[np.float64]
I32 = NDArray[np.int32]

TIES = ("frequent", "first", "random", "outside")
_EQUAL = 1e-9  # shares of coarse votes, thirds for one, do not add up exactly


class MajorityVote(LabelModel):
    """As above."""

    name = "majority"
    needs_votes = False

    def __init__(self, ties: str = "frequent", seed: int = 0):
        self.ties = ties
        self.seed = seed

    def tied(self, votes: Votes) -> BOOL:
        """BOOL[tokens]: where several labels have the most votes."""
        own = self._fitting(votes)
        patterns = Patterns.of_votes(own.values)
        return np.asarray((_leading(tally(patterns.rows, own.space)).sum(axis=1) > 1)[patterns.of] & own.fired)

    def _learn(self, votes: Votes) -> None:
        if self.ties not in TIES:
            raise SettingError(f"ties are broken by {self.ties!r}; expected one of {', '.join(TIES)}")
        if self.ties == "outside" and votes.space.outside is None:
            raise SettingError("ties cannot be O: these labels spell no segments; expected frequent, first or random")
        patterns = Patterns.of_votes(votes.values)
        self.totals_ = patterns.counts @ tally(patterns.rows, votes.space)

    def _probabilities(self, votes: Votes) -> F64:
        patterns = Patterns.of_votes(votes.values)
        return np.asarray(shares(tally(patterns.rows, votes.space), votes.space)[patterns.of])

    def _decoded(self, votes: Votes) -> I32:
        patterns = Patterns.of_votes(votes.values)
        counts = shares(tally(patterns.rows, votes.space), votes.space)
        leading = _leading(counts)
        if self.ties == "outside":
            several = leading.sum(axis=1) > 1
            return np.asarray(np.where(several, 0, leading.argmax(axis=1))[patterns.of], np.int32)
        if self.ties == "random":
            draws = np.random.default_rng(self.seed).random((votes.tokens, counts.shape[1]))
            return np.asarray(np.where(leading[patterns.of], draws, -1.0).argmax(axis=1), np.int32)
        order = np.arange(counts.shape[1]) if self.ties == "first" else np.argsort(-self.totals_, kind="stable")
        return np.asarray(order[leading[:, order].argmax(axis=1)][patterns.of], np.int32)

    def _frequency(self) -> F64:
        return self.totals_

    def _learnt(self) -> dict[str, NDArray[Any]]:
        return {"totals": self.totals_}

    def _restore(self, learnt: dict[str, NDArray[Any]]) -> None:
        if self.ties not in TIES or (self.ties == "outside" and self.own_space_.outside is None):
            raise ValueError(f"ties are broken by {self.ties!r}")
        np.random.default_rng(self.seed)  # an error, now, for what is no seed
        self.totals_ = amounts_of(learnt, "totals", (len(self.own_labels),))


def majority_beside(model: LabelModel, votes: Votes | None = None) -> MajorityVote:
    """Majority vote of the votes that a model is fitted to, to be compared with; without votes, of none so far."""
    majority, space = MajorityVote(), in_io(model.space_)
    majority.functions_, majority.linkers_, majority.space_ = model.functions_, model.linkers_, model.space_
    majority.abstain_ = model.abstain_
    majority.own_space_, majority.totals_ = space, np.zeros(len(space.labels))
    if votes is not None:
        majority._learn(votes.in_io())
    return majority


def tally(rows: I32, space: Space, weights: F64 | None = None) -> F64:
    """Votes for each label, F64[patterns, labels]: rows I32[patterns, functions], weights F64[functions] what a vote
    of each counts."""
    parts = space.admits / space.admits.sum(axis=1, keepdims=True)
    table = np.concatenate([parts, np.zeros((1, len(space.labels)))])
    counts = np.zeros((len(rows), len(space.labels)))
    for j in range(rows.shape[1]):
        counts += table[rows[:, j]] * (1.0 if weights is None else weights[j])
    return counts


def shares(counts: F64, space: Space) -> F64:
    """Votes -> shares; where there are none, O, or all labels alike."""
    totals = counts.sum(axis=1, keepdims=True)
    silent = np.full(counts.shape[1], 1.0 / max(1, counts.shape[1])) if space.outside is None else _only(counts, space)
    return np.where(totals > 0, np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0), silent)


def _only(counts: F64, space: Space) -> F64:
    one = np.zeros(counts.shape[1])
    one[space.outside] = 1.0
    return one


def _leading(counts: F64) -> BOOL:
    """Which labels have the most votes."""
    return np.asarray(counts >= counts.max(axis=1, keepdims=True, initial=0.0) - _EQUAL)
