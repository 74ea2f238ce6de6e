"""Support tokens: those training tokens that have coefficients, and the scores that they give to others."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trellis.dual.events import Coefficients
from trellis.dual.kernel import Polynomial
from trellis.dual.plain import plain_scores
from trellis.features.packed import Packed

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class Supports:
    """Support s has attributes `ids[indptr[s]:indptr[s + 1]]` with values (None: 1), as in `Packed`, and coefficient
    `coefficients[p]` for `label[p]`, for p from `start[s]` to `start[s + 1]`, labels ascending."""

    packed: Packed
    start: I64
    label: I32
    coefficients: F64
    kernel: Polynomial
    attributes: int
    labels: int
    size: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", len(self.start) - 1)

    @classmethod
    def of(cls, found: Coefficients, packed: Packed, kernel: Polynomial, attributes: int) -> Supports:
        """From coefficients over the tokens of the training data."""
        labels = len(found.transitions)
        tokens, counts = np.unique(found.codes // labels, return_counts=True)
        start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        label = (found.codes % labels).astype(np.int32)
        return cls(rows(packed, tokens), start, label, found.values, kernel, attributes, labels)

    def scores(self, packed: Packed, compiled: bool) -> F64:
        """F64[tokens, labels]; what is too large is inf or NaN."""
        factors = self.kernel.factors(packed.indptr, packed.ids, packed.values)
        if not compiled:
            return plain_scores(self, packed, factors)
        from trellis.dual.score_kernels import score_tokens

        start, members, beside = self.lists
        out = np.zeros((len(packed.indptr) - 1, self.labels))
        values = np.zeros(0) if packed.values is None else packed.values
        if len(values) and not len(beside):  # products of ones can be told from none; others cannot
            beside = np.ones(len(members))
        kernel = (int(self.kernel.degree), float(self.kernel.offset), float(self.kernel.scale))
        score_tokens(
            packed.indptr, packed.ids, values, factors, start, members, beside, self.factors, kernel, self.start,
            self.label.astype(np.uint32), self.coefficients, self.balance, out,
        )  # fmt: skip
        return out

    @cached_property
    def lists(self) -> tuple[I64, NDArray[np.uint32], F64]:
        """The supports that have attribute a are `members[start[a]:start[a + 1]]`, and the values that they have it
        with, if not 1 throughout."""
        ids, values = self.packed.ids, self.packed.values
        order = np.argsort(ids, kind="stable")
        support = np.repeat(np.arange(self.size, dtype=np.uint32), np.diff(self.packed.indptr))
        start = np.concatenate([[0], np.cumsum(np.bincount(ids, minlength=self.attributes))]).astype(np.int64)
        return start, support[order], np.zeros(0) if values is None else values[order]

    @cached_property
    def factors(self) -> F64:
        """See `Polynomial.factors`; F64[supports]."""
        return self.kernel.factors(self.packed.indptr, self.packed.ids, self.packed.values)

    @cached_property
    def balance(self) -> F64:
        """The score of a token that shares no attribute with any support, F64[labels]."""
        support = np.repeat(np.arange(self.size), np.diff(self.start))
        weight = self.coefficients * self.factors[support]
        return np.asarray(self.kernel.nothing * np.bincount(self.label, weight, minlength=self.labels), np.float64)


def rows(packed: Packed, tokens: I64) -> Packed:
    """The attributes of some tokens."""
    counts = np.diff(packed.indptr)[tokens]
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    at = np.repeat(packed.indptr[tokens] - indptr[:-1], counts) + np.arange(indptr[-1])
    return Packed(indptr, packed.ids[at], None if packed.values is None else packed.values[at])
