"""A shard of lattices that are given arc by arc."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.lattice.explicit import ExplicitLattice
from trellis.lattice.solved import ArcH
from trellis.losses import Loss
from trellis.objective.examples import Examples
from trellis.objective.shard import Shard
from trellis.rows import padded
from trellis.scoring.explicit import ExplicitLayout, arc_entries, node_entries

F64 = NDArray[np.float64]

_ARCS = 1 << 20  # in a block


@dataclass(frozen=True)
class _Point:
    weights: F64


class ExplicitShard(Shard):
    """`examples` have `lattices`; their attributes are those of nodes, and gold is 1 on the nodes of the right path."""

    def __init__(self, layout: ExplicitLayout, examples: Examples, loss: Loss):
        assert examples.lattices is not None
        data = examples.lattices
        super().__init__(examples, loss, np.diff(data.shape.start), _ARCS)
        self._nodes = node_entries(layout.pairs, data.labels, examples.indptr, examples.ids, examples.values)
        self._arcs = arc_entries(layout, data)
        self._start, self._label, self._labels = data.shape.start, data.labels, layout.pairs.labels
        self._shapes = [data.part(first, last).shape for first, last in self.blocks]
        self.index = np.arange(layout.size, dtype=np.int32)
        self._gradient = np.empty(layout.size)

    def _load(self, theta: F64) -> _Point:
        return _Point(theta)

    def _load_direction(self, direction: F64) -> _Point:
        return _Point(direction)

    def _chain(self, point: _Point, block: int, keep: bool = False) -> ExplicitLattice:
        nodes, arcs = self._scores(point, block, self.added)
        return ExplicitLattice(nodes, arcs, self._shapes[block].offsets, self._shapes[block])

    def _h(self, along: _Point, block: int) -> tuple[F64, ArcH]:
        return self._scores(along, block, self.added_h)

    def on_labels(self, nodes: F64, block: int) -> F64:
        rows = np.zeros((len(nodes), padded(self._labels)))
        rows[np.arange(len(nodes)), self._label[slice(*self._tokens(block))]] = nodes
        return rows

    def on_nodes(self, rows: F64, block: int) -> F64:
        return rows[np.arange(len(rows)), self._label[slice(*self._tokens(block))]]

    def _scores(self, point: _Point, block: int, added: F64 | None) -> tuple[F64, F64]:
        a, b = self._tokens(block)
        arcs = self._arcs.scores(point.weights, int(self._start[a]), int(self._start[b]))
        nodes = self._nodes.scores(point.weights, a, b)
        return nodes if added is None else nodes + self.on_nodes(added, block), arcs

    def _begin(self) -> None:
        self._gradient.fill(0.0)

    def _add(self, nodes: F64, arcs: F64, block: int, squared: bool = False) -> None:
        a, b = self._tokens(block)
        self._nodes.add_gradient(nodes, a, b, self._gradient, squared)
        self._arcs.add_gradient(arcs, int(self._start[a]), int(self._start[b]), self._gradient, squared)

    def _collected(self) -> F64:
        return self._gradient
