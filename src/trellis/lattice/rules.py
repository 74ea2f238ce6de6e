"""What paths may do, whatever the weights: numbers that are added to scores, -inf to forbid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trellis.errors import NoLegalPathError
from trellis.labels import first_tokens
from trellis.lattice.allowed import BOOL, Allowed
from trellis.lattice.graph import F64, I64


@dataclass(frozen=True)
class Rules:
    """`first`, `last: BOOL[labels]`, the labels a sentence may begin and end with; `pairs: F64[labels, labels]`, what
    is added to the score of one label after another; `closed`: longer tuples of labels without a weight are forbidden,
    too."""

    first: BOOL
    last: BOOL
    pairs: F64
    closed: bool = False

    @classmethod
    def of_masks(cls, first: BOOL, pairs: BOOL, last: BOOL) -> Rules:
        """From what is allowed."""
        return cls(np.asarray(first, bool), np.asarray(last, bool), np.where(pairs, 0.0, -np.inf))

    @classmethod
    def none(cls, labels: int) -> Rules:
        """Every path is one."""
        every = np.ones(labels, bool)
        return cls(every, every, np.zeros((labels, labels)))

    def forbidden(self, offsets: I64) -> BOOL:
        """Labels that a token may not have for where it stands, BOOL[tokens, labels]."""
        mask = np.zeros((int(offsets[-1]), len(self.first)), bool)
        mask[first_tokens(offsets)] = ~self.first
        mask[_last_tokens(offsets)] |= ~self.last
        return mask

    def within(self, allowed: Allowed, offsets: I64) -> Allowed:
        """Of the labels that tokens may have, those that they may have where they stand."""
        left = allowed.mask() & ~self.forbidden(offsets)
        for t in np.flatnonzero(~left.any(axis=1))[:1].tolist():
            s = int(np.searchsorted(offsets, t, side="right")) - 1
            raise NoLegalPathError(
                f" has no legal path: none of the labels that token {t - int(offsets[s]) + 1} may have can stand at "
                "that end of a sentence",
                s,
            )
        return Allowed.of_mask(left)

    def legal(self, allowed: Allowed, offsets: I64) -> BOOL:
        """Whether each sentence has a path of the labels that its tokens may have, as far as pairs of labels go:
        BOOL[sentences]."""
        from trellis.lattice.kernels.rules import legal_sentences

        legal = np.empty(len(offsets) - 1, bool)
        legal_sentences(
            allowed.start, allowed.labels, allowed.which, offsets, self.first, self.last, self.pairs, legal
        )  # fmt: skip
        return legal

    def close_ends(self, scores: F64, offsets: I64) -> None:
        """-inf in scores F64[tokens, labels or more] for labels that first and last tokens may not have."""
        labels = len(self.first)
        for tokens, mask in ((np.flatnonzero(first_tokens(offsets)), self.first), (_last_tokens(offsets), self.last)):
            scores[np.ix_(tokens, np.flatnonzero(~mask[:labels]))] = -np.inf


def _last_tokens(offsets: I64) -> I64:
    ends = offsets[1:][np.diff(offsets) > 0]
    return ends - 1
