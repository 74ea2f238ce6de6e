"""One shard of the training data: loss(lattice(scoring(theta))) -> value and gradient.

A shard knows only the weights its own tokens can touch. It takes them out of theta and gives their gradient back, so
that neither memory nor the sum over shards pays for attributes that occur elsewhere. Within a shard the work goes
block by block, small enough for scores and marginals to stay in the cache.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError
from trellis.labels import runs
from trellis.lattice import Allowed, WorkChain
from trellis.losses import Loss
from trellis.scoring.hybrid import HybridScoring
from trellis.scoring.kernels import add_at, number_by_appearance, take
from trellis.scoring.layout import I32, I64, WeightLayout

F64 = NDArray[np.float64]

_BLOCK = 4096  # tokens: scores and marginals of a block stay in the cache
_SHARD = 25_000  # tokens below which cutting costs more than it gains
_MOST = 16  # shards: enough threads for one machine; a fixed number, so that results do not depend on threads


@dataclass(frozen=True)
class Examples:
    """Training data: packed attributes, gold labels I32[tokens], offsets I64[sentences + 1], and which labels each
    token may have, if not all."""

    indptr: I64
    ids: I32
    values: F64 | None
    gold: I32
    offsets: I64
    allowed: Allowed | None = None

    def __post_init__(self) -> None:
        if self.allowed is None:
            return
        if len(self.allowed) != len(self.gold):
            raise DataError(f"allowed labels are given for {len(self.allowed)} of {len(self.gold)} tokens")
        t = self.allowed.first_outside(self.gold)
        if t is not None:
            s = int(np.searchsorted(self.offsets, t, side="right")) - 1
            raise DataError(
                f"sentence {s + 1}, token {t - int(self.offsets[s]) + 1}: its own label, number {self.gold[t]}, "
                "is not among the labels allowed there; allow it, or leave the word out of the tag dictionary"
            )

    def part(self, first: int, last: int) -> Examples:
        """Sentences first..last."""
        a, b = int(self.offsets[first]), int(self.offsets[last])
        p, q = int(self.indptr[a]), int(self.indptr[b])
        return Examples(
            self.indptr[a : b + 1] - p,
            self.ids[p:q],
            None if self.values is None else self.values[p:q],
            self.gold[a:b],
            self.offsets[first : last + 1] - a,
            None if self.allowed is None else self.allowed.part(a, b),
        )


class Shard:
    """`index`: which weights of theta this shard reads and answers for, I32[local]."""

    def __init__(self, layout: WeightLayout, examples: Examples, loss: Loss):
        self.loss = loss
        self.gold, self.offsets = examples.gold, examples.offsets
        ids, attributes = number_by_appearance(examples.ids, layout.attributes)
        local, self.index = layout.restricted(attributes)
        self.scoring = HybridScoring(local)
        self.occurrences = self.scoring.bind(examples.indptr, ids, examples.values)
        self.blocks = runs(self.offsets, _BLOCK)
        longest = max((int(self.offsets[b] - self.offsets[a]) for a, b in self.blocks), default=0)
        self._scores = np.empty((longest, self.scoring.width))
        self._weights, self._gradient = np.empty(len(self.index)), np.empty(len(self.index))
        self._rows = np.zeros((self.scoring.rows, self.scoring.width))
        self._row_gradient = np.zeros_like(self._rows)

    def value_and_gradient(self, theta: F64) -> tuple[float, F64]:
        """theta: all weights. Returns the shard's loss and its gradient in the weights `index`, F64[local], in
        memory that the next call uses again."""
        scoring, layout = self.scoring, self.scoring.layout
        weights, gradient = self._weights, self._gradient
        take(theta, self.index, weights)
        transitions = layout.transition_matrix(weights[layout.pairs :])
        rows = scoring.rows_of(weights, self._rows)
        gradient.fill(0.0)
        self._row_gradient.fill(0.0)
        value, arcs = 0.0, np.zeros_like(transitions)
        for first, last in self.blocks:
            a, b = int(self.offsets[first]), int(self.offsets[last])
            scores = self._scores[: b - a]
            scoring.scores(rows, weights, self.occurrences, a, b, scores)
            again = partial(self._scores_again, rows, weights, a, b)
            chain = WorkChain(scores, transitions, self.offsets[first : last + 1] - a, again)
            values, d_scores, d_arcs = self.loss(chain, self.gold[a:b])
            value += float(values.sum())
            arcs += d_arcs
            scoring.add_gradient(d_scores, self.occurrences, a, b, self._row_gradient, gradient)
        scoring.collect(self._row_gradient, gradient)
        gradient[layout.pairs :] = arcs[layout.source, layout.target]
        return value, gradient

    def add_to(self, total: F64, gradient: F64) -> None:
        """Adds a gradient in this shard's weights to one in all weights."""
        add_at(gradient, self.index, total)

    def _scores_again(self, rows: F64, weights: F64, a: int, b: int) -> F64:
        scores = np.empty((b - a, self.scoring.width))
        self.scoring.scores(rows, weights, self.occurrences, a, b, scores)
        return scores


def cut_into_shards(layout: WeightLayout, examples: Examples, loss: Loss) -> list[Shard]:
    """Shards of about equal size; how many depends on the data alone."""
    from trellis.objective.restricted import RestrictedShard

    kind = Shard if examples.allowed is None else RestrictedShard
    tokens = int(examples.offsets[-1])
    count = max(1, min(_MOST, tokens // _SHARD))
    goals = np.linspace(0, tokens, count + 1)[1:-1]
    inner = np.searchsorted(examples.offsets, goals).tolist()
    cuts = [0, *inner, len(examples.offsets) - 1]
    return [kind(layout, examples.part(a, b), loss) for a, b in itertools.pairwise(cuts) if b > a]
