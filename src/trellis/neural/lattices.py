"""The lattices that an encoder's scores go into, as its training asks them: log Z, expectations, covariances.

A kind of lattice knows its sentences; scores come with each question. Answers have the shapes of the scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trellis.errors import DataError
from trellis.labels.packed import check_offsets, check_packed
from trellis.lattice import Chain, WorkChain
from trellis.lattice.segments import SegmentChain, SegmentTypes
from trellis.lattice.solved import SolvedChain
from trellis.lattice.solved_parts import SolvedParts
from trellis.rows import padded

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


class Solved(Protocol):
    """A lattice after forward-backward. Weights are of sentences, F64[sentences]."""

    @property
    def log_z(self) -> F64: ...

    def expected(self, weights: F64) -> tuple[F64, F64]:
        """sum_s w_s P_s(e) of nodes and of arcs."""
        ...

    def covariance(self, node_h: F64, arc_h: F64, weights: F64) -> tuple[F64, F64, F64]:
        """sum_s w_s Cov_s[H, 1_e] of nodes and of arcs, and E_s[H], F64[sentences]."""
        ...


class Lattices(Protocol):
    """A kind of lattice over some sentences."""

    def check(self, nodes: F64, arcs: F64) -> None:
        """DataError for scores of other shapes, NaN or +inf."""
        ...

    def solve(self, nodes: F64, arcs: F64) -> Solved:
        """NoLegalPathError for a sentence without a path."""
        ...

    def best(self, nodes: F64, arcs: F64) -> I32:
        """The best paths, I32[tokens]."""
        ...

    def check_path(self, nodes: F64, path: ArrayLike) -> I32:
        """One path a sentence, a label for each token; DataError for other numbers."""
        ...

    def path_sums(self, nodes: F64, arcs: F64, path: I32) -> F64:
        """Numbers on nodes and arcs added up along one path a sentence, F64[sentences]."""
        ...

    def on_path(self, path: I32, weights: F64, nodes: tuple[int, ...], arcs: tuple[int, ...]) -> tuple[F64, F64]:
        """The transpose: the sentences' weights on the nodes and arcs of their paths, in arrays of these shapes."""
        ...


@dataclass(frozen=True)
class Chains:
    """Nodes F64[tokens, labels]; arcs F64[labels, labels], or F64[tokens, labels, labels] where block t leads into
    token t; `offsets: I64[sentences + 1]`."""

    offsets: I64

    def __post_init__(self) -> None:
        object.__setattr__(self, "offsets", check_offsets(self.offsets).copy())

    def check(self, nodes: F64, arcs: F64) -> None:
        if nodes.ndim != 2:
            raise DataError(f"scores of labels have the shape {nodes.shape}; expected [tokens, labels]")
        self._chain(nodes, arcs)

    def solve(self, nodes: F64, arcs: F64) -> Solved:
        if arcs.ndim == 3:
            return _SolvedBlocks(self._chain(nodes, arcs))
        scores = np.full((len(nodes), padded(len(arcs))), -np.inf)
        scores[:, : len(arcs)] = nodes
        solved = WorkChain(scores, arcs, self.offsets, scores.copy).solve()
        if not np.isfinite(solved.log_z).all():
            self._chain(nodes, arcs).best()  # which says where paths end
        assert isinstance(solved, SolvedChain)
        return _SolvedRows(solved, len(arcs))

    def best(self, nodes: F64, arcs: F64) -> I32:
        return self._chain(nodes, arcs).best()[0]

    def check_path(self, nodes: F64, path: ArrayLike) -> I32:
        return check_packed(path, self.offsets, nodes.shape[1], "path")[0].astype(np.int32)

    def path_sums(self, nodes: F64, arcs: F64, path: I32) -> F64:
        return self._chain(nodes, arcs).path_scores(path)

    def on_path(self, path: I32, weights: F64, nodes: tuple[int, ...], arcs: tuple[int, ...]) -> tuple[F64, F64]:
        from trellis.lattice.kernels.paths import subtract_path

        on_nodes, on_arcs = np.zeros(nodes), np.zeros(arcs)
        blocks = on_arcs.reshape((-1, *arcs[-2:]))
        subtract_path(on_nodes, blocks, int(len(arcs) == 3), self.offsets, path, -weights)
        return on_nodes, on_arcs

    def _chain(self, nodes: F64, arcs: F64) -> Chain:
        return Chain(nodes, arcs, self.offsets)


@dataclass(frozen=True)
class Segments:
    """Nodes F64[tokens, cells], of the segments that end at each token (see `SegmentTypes.of_cells`); arcs F64[types,
    types], of one type after another."""

    offsets: I64
    types: SegmentTypes

    def __post_init__(self) -> None:
        object.__setattr__(self, "offsets", check_offsets(self.offsets).copy())

    def check(self, nodes: F64, arcs: F64) -> None:
        tokens, cells, kinds = int(self.offsets[-1]), self.types.cells, len(self.types)
        if nodes.shape != (tokens, cells) or arcs.shape != (kinds, kinds):
            raise DataError(
                f"scores of segments have the shapes {nodes.shape} and {arcs.shape}; expected {(tokens, cells)} for "
                f"{tokens} tokens with {cells} segments that may end at each, and {(kinds, kinds)}"
            )
        for values in (nodes, arcs):
            if not np.all(values < np.inf):  # also false for NaN
                raise DataError("a score is NaN or +inf; scores must be finite, or -inf to forbid")

    def solve(self, nodes: F64, arcs: F64) -> Solved:
        chain = self._chain(nodes, arcs)
        answer = chain.marginals()
        assert answer.arcs is not None
        chain.require_paths(answer.log_z)
        return _SolvedSegments(chain, answer.log_z, answer.nodes, answer.arcs)

    def best(self, nodes: F64, arcs: F64) -> I32:
        chain = self._chain(nodes, arcs)
        paths, totals = chain.best()
        chain.require_paths(totals)
        return paths

    def check_path(self, nodes: F64, path: ArrayLike) -> I32:
        checked = check_packed(path, self.offsets, self.types.labels, "path")[0].astype(np.int32)
        if np.any(self._chain(nodes, np.zeros(0)).node_parts_of(checked)[0] < 0):
            raise DataError("the path has a segment that there is not; expected labels that spell segments")
        return checked

    def path_sums(self, nodes: F64, arcs: F64, path: I32) -> F64:
        return self._chain(nodes, arcs).path_scores(path)

    def on_path(self, path: I32, weights: F64, nodes: tuple[int, ...], arcs: tuple[int, ...]) -> tuple[F64, F64]:
        on_nodes, on_arcs = np.zeros(nodes), np.zeros(arcs)
        self._chain(on_nodes, on_arcs).add_path(on_nodes.reshape(-1), on_arcs.reshape(-1), path, weights)
        return on_nodes, on_arcs

    def on_segments(self, rows: F64) -> F64:
        """Numbers on the labels of tokens, F64[tokens, labels], added up over segments, F64[tokens, cells]; -inf for
        what would begin before its sentence."""
        expected = int(self.offsets[-1]), self.types.labels
        if rows.shape != expected:
            raise DataError(f"scores of labels have the shape {rows.shape}; expected {expected}")
        return self._chain(np.zeros(0), np.zeros(0)).on_nodes(rows).reshape(-1, self.types.cells)

    def on_labels(self, nodes: F64) -> F64:
        """The transpose, of what is finite."""
        return self._chain(np.zeros(0), np.zeros(0)).on_labels(nodes.reshape(-1))

    def _chain(self, nodes: F64, arcs: F64) -> SegmentChain:
        return SegmentChain(nodes.reshape(-1), arcs.reshape(-1), self.offsets, self.types)


@dataclass
class _SolvedRows:
    """Of chains with one matrix of transitions."""

    solved: SolvedChain
    labels: int

    @property
    def log_z(self) -> F64:
        return self.solved.log_z

    def expected(self, weights: F64) -> tuple[F64, F64]:
        alike = _common(weights)
        nodes, arcs = self.solved.expected(None if alike is not None else weights)
        if alike is None or alike == 1.0:
            return nodes[:, : self.labels], arcs
        return alike * nodes[:, : self.labels], alike * arcs

    def covariance(self, node_h: F64, arc_h: F64, weights: F64) -> tuple[F64, F64, F64]:
        h = np.zeros((len(node_h), self.solved.width))
        h[:, : self.labels] = node_h
        found = self.solved.covariance(h, arc_h, weights)
        return found.nodes[:, : self.labels], found.arcs, found.expectation


@dataclass
class _SolvedBlocks:
    """Of chains whose transitions depend on the position."""

    chain: Chain

    @cached_property
    def _answer(self) -> tuple[F64, F64, F64]:
        answer = self.chain.marginals(arcs=True)
        assert answer.arcs is not None
        return answer.log_z, answer.nodes, answer.arcs

    @property
    def log_z(self) -> F64:
        return self._answer[0]

    def expected(self, weights: F64) -> tuple[F64, F64]:
        each = np.repeat(weights, np.diff(self.chain.offsets))
        return each[:, None] * self._answer[1], each[:, None, None] * self._answer[2]

    def covariance(self, node_h: F64, arc_h: F64, weights: F64) -> tuple[F64, F64, F64]:
        found, each = self.chain.covariance(node_h, arc_h), np.repeat(weights, np.diff(self.chain.offsets))
        return each[:, None] * found.nodes, each[:, None, None] * found.arcs, found.expectation


@dataclass
class _SolvedSegments:
    """Of segments. The quick pass has arcs of all sentences together; what asks for more goes by the graph."""

    chain: SegmentChain
    log_z: F64
    nodes: F64
    arcs: F64

    def expected(self, weights: F64) -> tuple[F64, F64]:
        alike, shapes = _common(weights), ((-1, self.chain.types.cells), (len(self.chain.types), -1))
        if alike is None:
            nodes, arcs = self._graph.expected(weights)
        else:
            nodes, arcs = alike * self.nodes, alike * self.arcs
        return nodes.reshape(shapes[0]), arcs.reshape(shapes[1])

    def covariance(self, node_h: F64, arc_h: F64, weights: F64) -> tuple[F64, F64, F64]:
        found = self._graph.covariance(node_h.reshape(-1).copy(), arc_h.reshape(-1), weights)
        return found.nodes.reshape(node_h.shape), found.arcs.reshape(arc_h.shape), found.expectation

    @cached_property
    def _graph(self) -> SolvedParts:
        return self.chain.solve()


def _common(weights: F64) -> float | None:
    """The weight of all sentences, if they have the same, as the sum and the mean of a loss give them."""
    if not len(weights) or np.all(weights == weights[0]):
        return float(weights[0]) if len(weights) else 1.0
    return None
