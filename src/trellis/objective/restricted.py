"""A shard whose tokens may not have all labels: the lattice of allowed labels alone.

Exact for every loss that a constant added to all paths leaves alone, as all of them do: then the one label of a token
without a choice has no gradient, and its score, which log Z and S(y) share, need not be known.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trellis.lattice import RestrictedWorkChain
from trellis.lattice.solved import ArcH
from trellis.losses import Loss
from trellis.objective.examples import Examples
from trellis.objective.plain import Point
from trellis.objective.shard import Shard
from trellis.rows import padded
from trellis.scoring.layout import WeightLayout
from trellis.scoring.restricted import RestrictedScoring

F64 = NDArray[np.float64]


class RestrictedShard(Shard):
    """A shard of examples with `allowed`; `index` has the weights of labels allowed at its tokens; one that tokens with
    all labels and others share is there twice."""

    def __init__(self, layout: WeightLayout, examples: Examples, loss: Loss):
        super().__init__(examples, loss)
        assert examples.allowed is not None
        self.layout, allowed, self.rules = layout, examples.allowed, examples.rules
        if self.rules is not None:
            allowed = self.rules.within(allowed, examples.offsets)
        self.restricted = RestrictedScoring(layout, allowed, examples.indptr, examples.ids, examples.values)
        self.index = self.restricted.index
        self._parts = [allowed.part(*self._tokens(n)) for n in range(len(self.blocks))]
        self._space = np.empty(max((int(part.places[-1]) for part in self._parts), default=0))
        self._gradient = np.empty(len(self.index))
        self._arc_sums = np.zeros((layout.labels, layout.labels))

    def _load(self, theta: F64) -> Point:
        point = self._point(theta, self._here)
        return point if self.rules is None else replace(point, transitions=point.transitions + self.rules.pairs)

    def _load_direction(self, direction: F64) -> Point:
        return self._point(direction, self._along)

    @cached_property
    def _here(self) -> tuple[F64, F64]:
        """Memory for weights and their rows."""
        return np.empty(len(self.index)), self.restricted.rows_of(np.zeros(len(self.index)))

    @cached_property
    def _along(self) -> tuple[F64, F64]:
        return np.empty(len(self.index)), self.restricted.rows_of(np.zeros(len(self.index)))

    def _point(self, theta: F64, memory: tuple[F64, F64]) -> Point:
        weights, rows = memory
        self._taken(theta, weights)
        self.restricted.rows_of(weights, rows)
        return Point(weights, rows, self.layout.transition_matrix(weights[self.restricted.pairs :]))

    def _chain(self, point: Point, block: int, keep: bool = False) -> RestrictedWorkChain:
        (first, last), a = self.blocks[block], self._tokens(block)[0]
        scores = self._scores(point, block, self._space, self.added)
        return RestrictedWorkChain(scores, self._parts[block], point.transitions, self.offsets[first : last + 1] - a)

    def _h(self, along: Point, block: int) -> tuple[F64, ArcH]:
        return self._scores(along, block, np.empty_like(self._space), self.added_h), along.transitions

    def on_labels(self, nodes: F64, block: int) -> F64:
        a, b = self._tokens(block)
        rows = np.zeros((b - a, padded(self.layout.labels)))
        rows[self._parts[block].sites] = nodes
        return rows

    def on_nodes(self, rows: F64, block: int) -> F64:
        return rows[self._parts[block].sites]

    def _scores(self, point: Point, block: int, space: F64, added: F64 | None) -> F64:
        scores = space[: int(self._parts[block].places[-1])]
        self.restricted.scores(point.weights, point.rows, *self._tokens(block), scores)
        if added is not None:
            scores += self.on_nodes(added, block)
        return scores

    def _begin(self) -> None:
        self._gradient.fill(0.0)
        self._arc_sums.fill(0.0)
        self.restricted.begin()

    def _add(self, nodes: F64, arcs: F64, block: int, squared: bool = False) -> None:
        self._arc_sums += arcs
        self.restricted.add_gradient(nodes, *self._tokens(block), self._gradient, squared)

    def _collected(self) -> F64:
        self.restricted.collect(self._gradient)
        self._gradient[self.restricted.pairs :] = self._arc_sums[self.layout.source, self.layout.target]
        return self._gradient
