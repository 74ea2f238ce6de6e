"""Mistakes of a training in the dual, and the coefficients that they add up to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U16 = NDArray[np.uint16]


@dataclass(frozen=True)
class Events:
    """Token `tokens[e]` (I32) was given the wrong label `labels[e]` (U16) at visit `visits[e]` (I64, ascending, from 1
    on): one visit is one sentence once."""

    tokens: I32
    labels: U16
    visits: I64

    @classmethod
    def none(cls) -> Events:
        return cls(np.zeros(0, np.int32), np.zeros(0, np.uint16), np.zeros(0, np.int64))

    def __len__(self) -> int:
        return len(self.tokens)

    def from_visit(self, visit: int) -> Events:
        """Those of this visit and later."""
        first = int(np.searchsorted(self.visits, visit))
        return Events(self.tokens[first:], self.labels[first:], self.visits[first:])

    def with_more(self, later: Events) -> Events:
        return Events(
            np.concatenate([self.tokens, later.tokens]),
            np.concatenate([self.labels, later.labels]),
            np.concatenate([self.visits, later.visits]),
        )

    def balance(self, gold: I32, factors: F64, labels: int) -> F64:
        """For each label, the events' factors added up: gold labels count for it, wrong ones against it."""
        weight = factors[self.tokens]
        gained = np.bincount(gold[self.tokens], weight, minlength=labels)
        return np.asarray(gained - np.bincount(self.labels, weight, minlength=labels), np.float64)

    def coefficients(self, gold: I32, labels: int, visits: int, averaged: bool) -> tuple[I64, F64]:
        """What the events add up to after so many visits: codes token * labels + label, ascending, and a coefficient
        for each. Averaged, it is the mean over the coefficients after every visit: those of an event are there for
        `visits` - its own + 1 of them."""
        weight = (visits + 1 - self.visits if averaged else np.ones(len(self))).astype(np.float64)
        codes = self.tokens.astype(np.int64) * labels
        both = np.concatenate([codes + gold[self.tokens], codes + self.labels])
        found, which = np.unique(both, return_inverse=True)
        sums: F64 = np.bincount(which, np.concatenate([weight, -weight]), minlength=len(found)).astype(np.float64)
        return found, sums / max(visits, 1) if averaged else sums


@dataclass(frozen=True)
class Coefficients:
    """What a training in the dual has learnt: `values[k]` for label `codes[k] % labels` at training token
    `codes[k] // labels` (I64, ascending; F64), and transitions F64[labels, labels].

    The training loop carries weights as one vector of floats: `vector` is that, transitions first, then codes, then
    values. Codes are whole numbers below 2^53, which floats hold exactly."""

    codes: I64
    values: F64
    transitions: F64

    @property
    def vector(self) -> F64:
        return np.concatenate([self.transitions.ravel(), self.codes.astype(np.float64), self.values])

    @classmethod
    def of_vector(cls, vector: F64, labels: int, tokens: int) -> Coefficients:
        """ValueError for what is none."""
        cells = labels * labels
        count = (len(vector) - cells) // 2
        if count < 0 or len(vector) != cells + 2 * count or not np.isfinite(vector).all():
            raise ValueError("coefficients")
        floats = vector[cells : cells + count]
        if count and not (floats[0] >= 0 and floats[-1] < tokens * labels and np.all(floats[1:] > floats[:-1])):
            raise ValueError("coefficients")
        codes = floats.astype(np.int64)
        if np.any(codes != floats):
            raise ValueError("coefficients")
        return cls(codes, vector[cells + count :], vector[:cells].reshape(labels, labels))

    @staticmethod
    def active(vector: F64, labels: int) -> int:
        """How many coefficients and transitions of a vector are not 0."""
        cells = labels * labels
        return int(np.count_nonzero(vector[:cells])) + int(np.count_nonzero(vector[(len(vector) + cells) // 2 :]))
