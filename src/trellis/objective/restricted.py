"""A shard whose tokens may not have all labels: value and gradient over the lattice of allowed labels.

Exact for every loss that a constant added to all paths leaves alone: then the one label of a token without a choice
has no gradient, and its score, which log Z and S(y) share, need not be known.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError
from trellis.labels import runs
from trellis.lattice import RestrictedWorkChain
from trellis.losses import Loss
from trellis.objective.shard import Examples, Shard
from trellis.scoring.kernels import take
from trellis.scoring.layout import WeightLayout
from trellis.scoring.restricted import RestrictedScoring

F64 = NDArray[np.float64]

_BLOCK = 4096  # tokens: scores and marginals of a block stay in the cache


class RestrictedShard(Shard):
    """A shard of examples with `allowed`; `index: I32[local]`, the weights of labels allowed at its tokens; one that
    tokens with all labels and others share is there twice."""

    def __init__(self, layout: WeightLayout, examples: Examples, loss: Loss):
        assert examples.allowed is not None
        self.loss, self.layout = loss, layout
        self.gold, self.offsets, allowed = examples.gold, examples.offsets, examples.allowed
        if allowed.size != layout.labels:
            raise DataError(f"label sets are given for {allowed.size} labels; there are {layout.labels}")
        self.restricted = RestrictedScoring(layout, allowed, examples.indptr, examples.ids, examples.values)
        self.index = self.restricted.index
        self.blocks = runs(self.offsets, _BLOCK)
        self._parts = [allowed.part(int(self.offsets[a]), int(self.offsets[b])) for a, b in self.blocks]
        self._space = np.empty(max((int(part.places[-1]) for part in self._parts), default=0))
        self._weights, self._gradient = np.empty(len(self.index)), np.empty(len(self.index))

    def value_and_gradient(self, theta: F64) -> tuple[float, F64]:
        """As `Shard.value_and_gradient`."""
        scoring, layout, weights, gradient = self.restricted, self.layout, self._weights, self._gradient
        take(theta, self.index, weights)
        scoring.load(weights)
        transitions = layout.transition_matrix(weights[scoring.pairs :])
        gradient.fill(0.0)
        value, arcs = 0.0, np.zeros_like(transitions)
        for (first, last), allowed in zip(self.blocks, self._parts, strict=True):
            a, b = int(self.offsets[first]), int(self.offsets[last])
            scores = self._space[: int(allowed.places[-1])]
            scoring.scores(weights, a, b, scores)
            chain = RestrictedWorkChain(scores, allowed, transitions, self.offsets[first : last + 1] - a)
            values, d_scores, d_arcs = self.loss(chain, self.gold[a:b])
            value += float(values.sum())
            arcs += d_arcs
            scoring.add_gradient(d_scores, a, b, gradient)
        scoring.collect(gradient)
        gradient[scoring.pairs :] = arcs[layout.source, layout.target]
        return value, gradient
