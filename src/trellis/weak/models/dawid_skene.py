"""Dawid and Skene (1979): each voter has its own table of confusions, P(outcome | label), learnt by EM.

    P(votes, y) = balance(y) prod over voters v of P(outcome of v | y)

Abstaining is an outcome like any other (`abstention="modelled"`): a list of diseases that is silent speaks against a
disease. With `abstention="ignored"` it says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError
from trellis.weak.em import check_settings, climb, softened
from trellis.weak.emissions import Evidence
from trellis.weak.models.contract import LabelModel
from trellis.weak.models.majority import shares, tally
from trellis.weak.models.tensors import emissions_from, emissions_in, shares_of
from trellis.weak.structure import Structure
from trellis.weak.votes import Votes

F64 = NDArray[np.float64]

ABSTENTION = ("modelled", "ignored")


class DawidSkene(LabelModel):
    """structure: see `structure`; anchor and smoothing: see `emissions`. An anchor of None is 10 where labels are of
    segments, else 0: where no function says O, nothing else speaks against its growing."""

    name = "dawid-skene"
    balance_: F64

    def __init__(
        self,
        structure: Structure = "learned",
        abstention: str = "modelled",
        anchor: float | None = None,
        smoothing: float = 1.0,
        max_iter: int = 500,
        tol: float | None = 1e-7,
    ):
        self.structure = structure
        self.abstention = abstention
        self.anchor = anchor
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.tol = tol

    def _learn(self, votes: Votes) -> None:
        anchor = (0.0 if votes.space.outside is None else 10.0) if self.anchor is None else self.anchor
        check_settings(self.max_iter, self.tol, anchor=anchor, smoothing=self.smoothing)
        check_positive("smoothing", self.smoothing)
        check_abstention(self.abstention)
        patterns = votes.patterns
        start = shares(tally(patterns.rows, votes.space), votes.space)
        heard = self.abstention == "modelled" or (patterns.rows >= 0).any(axis=1)
        counts = patterns.counts * heard
        weights = start * counts[:, None]
        evidence = Evidence(
            votes, patterns, weights, self.structure, anchor, self.smoothing, self.abstention == "modelled"
        )
        believed = anchor * weights.sum(axis=0) + self.smoothing / weights.shape[1]
        self.groups_ = [[votes.functions[j] for j in group] for group in evidence.voters.groups]
        logs = np.zeros((0, 0))

        def steps() -> Iterator[float]:
            nonlocal weights, logs
            while True:
                logs, prior = evidence.estimate(weights)
                balance = weights.sum(axis=0) + believed
                balance /= balance.sum()
                self.balance_ = balance
                chances, likelihood = softened(evidence.scores(logs) + np.log(balance))
                weights = chances * counts[:, None]
                yield float(counts @ likelihood) + prior + float(believed @ np.log(balance))

        self.climb_ = climb(steps(), self.max_iter, self.tol, type(self).__name__)
        self.emissions_ = evidence.emissions(logs, weights, self.smoothing)

    def _probabilities(self, votes: Votes) -> F64:
        patterns = votes.patterns
        chances, _ = softened(self.emissions_.scores(patterns.rows, votes.space.admits) + np.log(self.balance_))
        if self.abstention == "ignored" and votes.space.outside is not None:
            chances[(patterns.rows < 0).all(axis=1)] = np.eye(len(votes.labels))[votes.space.outside]
        return np.asarray(chances[patterns.of])

    def _frequency(self) -> F64:
        return self.balance_

    def _learnt(self) -> dict[str, NDArray[Any]]:
        return {"balance": self.balance_, **emissions_in(self.emissions_, self.functions_)}

    def _restore(self, learnt: dict[str, NDArray[Any]]) -> None:
        anchor = 0.0 if self.anchor is None else self.anchor
        check_settings(self.max_iter, self.tol, anchor=anchor, smoothing=self.smoothing)
        check_positive("smoothing", self.smoothing)
        check_abstention(self.abstention)
        self.balance_ = shares_of(learnt, "balance", (len(self.own_labels),))
        self.emissions_, self.groups_ = emissions_from(
            learnt, self.functions_, self.own_space_, self.structure, self.abstention == "modelled"
        )


def check_positive(name: str, value: float) -> None:
    if not value > 0:
        raise SettingError(f"{name} is {value!r}; expected a number > 0, so that nothing is impossible")


def check_abstention(value: object) -> None:
    if value not in ABSTENTION:
        raise SettingError(f"abstention is {value!r}; expected one of {', '.join(ABSTENTION)}")
