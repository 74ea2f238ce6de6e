"""A shard of chains of order two or more, over the allowed labels of each token (all of them, if nothing else is said);
and of lower order, where more is asked than the shards for these know.

As in `restricted`, a token without a choice has no gradient, and its score need not be known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trellis.lattice import Allowed
from trellis.lattice.parts import PartLattice
from trellis.lattice.solved import ArcH
from trellis.lattice.windows import CellFactors, WindowChain, Windows
from trellis.losses import Loss
from trellis.objective.examples import Examples
from trellis.objective.shard import Shard
from trellis.rows import padded
from trellis.scoring.layout import WeightLayout
from trellis.scoring.restricted import RestrictedScoring
from trellis.scoring.tuples import TupleScoring, fixed_cells

F64 = NDArray[np.float64]

_ARCS = 1 << 22  # in a block: where its lattices are written out, they take about 40 bytes each
_WRITTEN = 1 << 20  # where they are always, and more than once


@dataclass(frozen=True)
class _Point:
    """Weights ready to score with: of attributes, F64[local] and as rows, and of cells."""

    weights: F64
    rows: F64
    cells: F64
    factors: CellFactors | None = None


class WindowShard(Shard):
    def __init__(self, layout: WeightLayout, examples: Examples, loss: Loss):
        allowed = Allowed.all_of(len(examples.gold), layout.labels) if examples.allowed is None else examples.allowed
        if examples.rules is not None:
            allowed = examples.rules.within(allowed, examples.offsets)
        windows = Windows.of(max(layout.order, 1), allowed, examples.offsets)
        super().__init__(examples, loss, windows.arcs, _ARCS if examples.imposed is None else _WRITTEN)
        self._labels = layout.labels
        self._restricted = RestrictedScoring(layout, allowed, examples.indptr, examples.ids, examples.values)
        self._tuples = TupleScoring(layout, windows)
        self._fixed = None if examples.rules is None else fixed_cells(examples.rules, windows, self._tuples)
        self._pairs = self._restricted.pairs
        self.index = np.concatenate([self._restricted.index[: self._pairs], self._tuples.index])
        self._parts = [windows.part(first, last) for first, last in self.blocks]
        self._gradient, self._cells = np.empty(len(self.index)), np.zeros(windows.cells)

    def _load(self, theta: F64) -> _Point:
        point = self._load_direction(theta)
        cells = point.cells if self._fixed is None else point.cells + self._fixed
        return replace(point, cells=cells, factors=CellFactors.of(cells))

    def _load_direction(self, direction: F64) -> _Point:
        weights = self._taken(direction, np.empty(len(self.index)))
        rows = self._restricted.rows_of(weights[: self._pairs])
        return _Point(weights, rows, self._tuples.scores(weights[self._pairs :]))

    def _chain(self, point: _Point, block: int, keep: bool = False) -> PartLattice:
        windows = self._parts[block]
        chain = WindowChain(
            self._scores(point, block, self.added), point.cells, windows.offsets, windows, point.factors
        )
        return self._constrained(chain, block)

    def _h(self, along: _Point, block: int) -> tuple[F64, ArcH]:
        return self._scores(along, block, self.added_h), along.cells

    def on_labels(self, nodes: F64, block: int) -> F64:
        a, b = self._tokens(block)
        rows = np.zeros((b - a, padded(self._labels)))
        rows[self._parts[block].allowed.sites] = nodes
        return rows

    def on_nodes(self, rows: F64, block: int) -> F64:
        return rows[self._parts[block].allowed.sites]

    def _scores(self, point: _Point, block: int, added: F64 | None) -> F64:
        scores = np.empty(int(self._parts[block].allowed.places[-1]))
        self._restricted.scores(point.weights[: self._pairs], point.rows, *self._tokens(block), scores)
        if added is not None:
            scores += self.on_nodes(added, block)
        return scores

    def _begin(self) -> None:
        self._gradient.fill(0.0)
        self._cells.fill(0.0)
        self._restricted.begin()

    def _add(self, nodes: F64, arcs: F64, block: int, squared: bool = False) -> None:
        self._cells += arcs
        self._restricted.add_gradient(nodes, *self._tokens(block), self._gradient[: self._pairs], squared)

    def _collected(self) -> F64:
        self._restricted.collect(self._gradient[: self._pairs])
        self._tuples.add_gradient(self._cells, self._gradient[self._pairs :])
        return self._gradient
