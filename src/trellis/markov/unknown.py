"""Words that were never seen: what their shape and their ending say of their label (after Brants 2000, section 2.3).

A word belongs to classes that get ever smaller: words of its shape; those of them that end with the same letter, with
the same two letters, and so on. In each class c below a larger one b, rare words are counted:

    P(j | c) = (n(c, j) + P(j | b)) / (n(c) + 1)

and the smallest class that was seen answers. Bayes' rule turns that into what the label emits, P(x | j) = P(j | c) P(x)
/ P(j), where P(x) is the same for all labels and is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.markov.events import Vocabulary, sums

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class UnknownWords:
    """`classes`: which labels the rare words of each class have, with counts `seen: F64[pairs]`; `rare: F64[labels]`,
    P(j) of rare words, and `every: F64[labels]` of all."""

    classes: Vocabulary
    seen: F64
    rare: F64
    every: F64

    @classmethod
    def learn(
        cls, classes_of: I32, gold: I32, rare: NDArray[np.bool_], count: int, times: F64, labels: int
    ) -> UnknownWords:
        """`classes_of: I32[tokens, depths]`, the number of each token's classes among `count`, larger ones first, -1
        for none; `gold: I32[tokens]`; `rare: BOOL[tokens]`; `times: F64[tokens]`, how much each counts."""
        every = sums(gold, times, labels)
        top = sums(gold[rare], times[rare], labels)
        top = top if top.sum() > 0 else every
        token, depth = np.nonzero(classes_of[rare] >= 0)
        keys = classes_of[rare][token, depth].astype(np.int64) * labels + gold[rare][token]
        distinct, which = np.unique(keys, return_inverse=True)
        seen = sums(which.ravel(), times[rare][token], len(distinct))
        return cls(Vocabulary.of_keys(distinct, count, labels), seen, top / top.sum(), every / every.sum())

    def probabilities(self, classes_of: I32) -> F64:
        """P(label) of words by their classes, I32[tokens, depths] -> F64[tokens, labels]."""
        p = np.tile(self.rare, (len(classes_of), 1))
        totals = (
            np.add.reduceat(np.append(self.seen, 0.0), self.classes.start[:-1]) if self.classes.words else self.seen
        )
        totals = np.where(np.diff(self.classes.start) > 0, totals, 0.0)
        for column in classes_of.T:
            known = np.flatnonzero(column >= 0)
            known = known[totals[column[known]] > 0]
            number = column[known]
            share = 1.0 / (totals[number] + 1.0)
            p[known] *= share[:, None]
            token, pair = self.classes.pairs_of(number)
            p[known[token], self.classes.label[pair]] += self.seen[pair] * share[token]
        return p

    def scores(self, classes_of: I32) -> F64:
        """log P(word | label), less what is the same for all labels: F64[tokens, labels]."""
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = np.log(self.probabilities(classes_of)) - np.log(self.every)
        return np.where(np.isnan(scores), -np.inf, scores)
