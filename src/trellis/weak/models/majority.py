"""Majority vote: the label that most functions vote for. Every other model has to beat it.

Segments are voted for by type, token by token (IO), and runs of a type become segments: functions that agree on an
entity but not on where it begins still agree on its middle. A coarse vote counts in equal shares for the labels it may
mean. A token that nobody votes on is O; an item that nobody votes on can be anything.

Ties are frequent, and how they are broken moves the result; so their number is there to be asked for (`tied`), and the
way is named:

    frequent   the label with more votes in all
    first      the first in the order of the labels
    random     any of them, by `seed` and by where the token stands among all
    outside    none: O (segments only)
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError, shown
from trellis.weak.models.contract import LabelModel
from trellis.weak.models.tensors import amounts_of
from trellis.weak.space import Space, in_io
from trellis.weak.votes import Votes

BOOL = NDArray[np.bool_]
F64 = NDArray[np.float64]
I32 = NDArray[np.int32]

TIES = ("frequent", "first", "random", "outside")
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
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
        patterns = own.patterns
        return np.asarray((_leading(tally(patterns.rows, own.space)).sum(axis=1) > 1)[patterns.of] & own.fired)

    def _learn(self, votes: Votes) -> None:
        if self.ties not in TIES:
            raise SettingError(f"ties are broken by {self.ties!r}; expected one of {', '.join(TIES)}")
        check_seed(self.seed)
        if self.ties == "outside" and votes.space.outside is None:
            raise SettingError("ties cannot be O: these labels spell no segments; expected frequent, first or random")
        patterns = votes.patterns
        self.totals_ = patterns.counts @ tally(patterns.rows, votes.space)

    def _probabilities(self, votes: Votes) -> F64:
        patterns = votes.patterns
        return np.asarray(shares(tally(patterns.rows, votes.space), votes.space)[patterns.of])

    def _decoded(self, votes: Votes) -> I32:
        patterns = votes.patterns
        counts = shares(tally(patterns.rows, votes.space), votes.space)
        leading = _leading(counts)
        if self.ties == "outside":
            several = leading.sum(axis=1) > 1
            return np.asarray(np.where(several, 0, leading.argmax(axis=1))[patterns.of], np.int32)
        if self.ties == "random":
            draws = _drawn(self.seed, votes.first, votes.tokens, counts.shape[1])
            return np.asarray(np.where(leading[patterns.of], draws.astype(np.int64), -1).argmax(axis=1), np.int32)
        order = np.arange(counts.shape[1]) if self.ties == "first" else np.argsort(-self.totals_, kind="stable")
        return np.asarray(order[leading[:, order].argmax(axis=1)][patterns.of], np.int32)

    def _frequency(self) -> F64:
        return self.totals_

    def _learnt(self) -> dict[str, NDArray[Any]]:
        return {"totals": self.totals_}

    def _restore(self, learnt: dict[str, NDArray[Any]]) -> None:
        if self.ties not in TIES or (self.ties == "outside" and self.own_space_.outside is None):
            raise ValueError(f"ties are broken by {self.ties!r}")
        check_seed(self.seed)
        self.totals_ = amounts_of(learnt, "totals", (len(self.own_labels),))


def majority_beside(model: LabelModel, votes: Votes | None = None) -> MajorityVote:
    """Majority vote of the votes that a model is fitted to, to be compared with; without votes, of none so far."""
    majority, space = MajorityVote(), in_io(model.space_)
    majority.functions_, majority.linkers_, majority.space_ = model.functions_, model.linkers_, model.space_
    majority.abstain_, majority.climb_ = model.abstain_, None
    majority.own_space_, majority.totals_ = space, np.zeros(len(space.labels))
    if votes is not None:
        majority._learn(votes.in_io())
    return majority


def check_seed(seed: object) -> None:
    if not isinstance(seed, Integral) or isinstance(seed, bool) or not 0 <= int(seed) < 1 << 64:
        raise SettingError(f"seed is {shown(seed)}; expected a whole number from 0 to 2^64 - 1")


def _drawn(seed: int, first: int, tokens: int, labels: int) -> NDArray[np.uint64]:
    """A number for each token and label, U64[tokens, labels], that depends on the seed and on which token of all it is,
    so that votes that come in pieces have the same draws: splitmix64 (Steele, Lea & Flood 2014) of a counter."""
    with np.errstate(over="ignore"):
        state = (np.arange(first * labels, (first + tokens) * labels, dtype=np.uint64) + np.uint64(1)) * _GOLDEN
        state += _mixed(np.uint64(seed) + _GOLDEN)
        return np.asarray(_mixed(state) >> np.uint64(1)).reshape(tokens, labels)


def _mixed(state: Any) -> Any:
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


def tally(rows: I32, space: Space) -> F64:
    """Votes for each label, F64[patterns, labels]: rows I32[patterns, functions]."""
    parts = space.admits / space.admits.sum(axis=1, keepdims=True)
    table = np.concatenate([parts, np.zeros((1, len(space.labels)))])
    counts = np.zeros((len(rows), len(space.labels)))
    for j in range(rows.shape[1]):
        counts += table[rows[:, j]]
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
