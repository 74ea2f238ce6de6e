"""Explicit directed acyclic graphs: whatever is no chain, and any other lattice written out arc by arc.

(Azuma 2011, section 2: a lattice is a DAG on purpose. Semi-Markov models, irregular segmentations and word lattices are
DAGs; so are chains of any order.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError, NoLegalPathError, SettingError
from trellis.lattice.shape import Shape
from trellis.lattice.solved_graph import GraphCovariance, GraphMarginals, SolvedGraph

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
BOOL = NDArray[np.bool_]


@dataclass(frozen=True)
class Graph:
    """A shape with scores: `nodes: F64[nodes]`, `arcs: F64[arcs]`; -inf forbids. A path is the set of its nodes,
    BOOL[nodes]."""

    shape: Shape
    nodes: F64
    arcs: F64

    def __post_init__(self) -> None:
        for name, values, size in (
            ("nodes", self.nodes, len(self.shape.first)),
            ("arcs", self.arcs, len(self.shape.source)),
        ):
            if values.shape != (size,):
                raise DataError(f"scores of shape {values.shape} do not fit {size} {name}")
            if not np.all(values < np.inf):  # also false for NaN
                raise DataError(f"a score of {name} is NaN or +inf; scores must be finite, or -inf to forbid")

    def best(self) -> tuple[BOOL, F64]:
        """The best path of each sentence, BOOL[nodes], and its score, F64[sentences]."""
        from trellis.lattice.kernels.graph_paths import best_paths

        on, totals = np.empty(len(self.nodes), bool), np.empty(self.shape.sentences)
        best_paths(*self.for_loops, np.empty(len(self.nodes)), on, totals)
        self.require_paths(totals)
        return on, totals

    def marginals(self) -> GraphMarginals:
        solved = self.solve()
        return GraphMarginals(solved.log_z, solved.nodes, solved.arcs)

    def covariance(self, node_h: F64, arc_h: F64 | None = None) -> GraphCovariance:
        """Of the sum of `node_h: F64[nodes]` and `arc_h: F64[arcs]` along the path with being there."""
        return self.solve().covariance(node_h, arc_h)

    def expectation(self, node_h: F64, arc_h: F64 | None = None) -> F64:
        """E of the same sum, F64[sentences]."""
        return self.solve().expectation(node_h, arc_h)

    def sample(self, count: int, rng: np.random.Generator) -> BOOL:
        """Paths drawn from the distribution: BOOL[count, nodes]."""
        return self.solve().sample(count, rng)

    def entropy(self) -> F64:
        """H(y) of each sentence in nats, F64[sentences]."""
        return self.solve().entropy()

    def path_scores(self, on: BOOL) -> F64:
        """S(y) of one path a sentence, BOOL[nodes]: F64[sentences], -inf for what is no path."""
        return self.path_sums(on, self.nodes, self.arcs)

    def path_sums(self, on: BOOL, node_h: F64, arc_h: F64) -> F64:
        """Numbers on nodes and arcs added up along one path a sentence."""
        from trellis.lattice.kernels.graph_paths import path_sums

        totals, shape = np.empty(self.shape.sentences), self.shape
        path_sums(shape.start, shape.source, shape.first, shape.last, shape.offsets, node_h, arc_h, on, totals)
        return totals

    def arcs_on(self, on: BOOL) -> BOOL:
        """The arcs of one path a sentence, BOOL[arcs]."""
        from trellis.lattice.kernels.graph_paths import arcs_on_path

        out, shape = np.zeros(len(self.arcs), bool), self.shape
        arcs_on_path(shape.start, shape.source, on, shape.offsets, out)
        return out

    def posterior(self, weights: F64 | None = None) -> tuple[BOOL, F64]:
        """The path through the most probable nodes: the one with the highest sum of P(v), or of P(v) times weights
        F64[nodes], such as the length of what a node spans; and that sum."""
        p = self.marginals().nodes
        nodes = np.where(self.nodes > -np.inf, p if weights is None else p * weights, -np.inf)
        return Graph(self.shape, nodes, np.where(self.arcs > -np.inf, 0.0, -np.inf)).best()

    def beam(self, width: int, levels: I32 | None = None) -> tuple[BOOL, F64, F64]:
        """A good path: of neighbouring nodes of one level (I32[nodes], which rise along every arc; by default the
        number of arcs before a node) only the `width` best go on. Also its score, and a bound: no path has a higher
        one."""
        from trellis.lattice.kernels.graph_paths import beam_paths

        if width < 1:
            raise SettingError(f"a beam of width {width}; expected 1 or more")
        width = min(width, max(1, len(self.nodes)))
        level = self.shape.levels if levels is None else levels
        if np.any(level[self.shape.source] >= level[self.shape.heads]):
            raise DataError("the levels of a beam must rise along every arc")
        on, totals, bounds = np.empty(len(self.nodes), bool), *np.empty((2, self.shape.sentences))
        shape = self.shape
        beam_paths(
            shape.start, shape.source, shape.first, shape.last, shape.offsets, level, self.nodes, self.arcs,
            width, np.empty(len(self.nodes)), on, totals, bounds,
        )  # fmt: skip
        if not np.isfinite(totals).all():
            self.require_paths(self.best()[1])
            lost = int(np.flatnonzero(~np.isfinite(totals))[0])
            raise NoLegalPathError(f": a beam of width {width} loses every legal path; widen it", lost)
        return on, totals, bounds

    def kbest(self, k: int) -> list[list[tuple[I32, float]]]:
        """For each sentence its k best paths (fewer where there are no more), best first: nodes, counted from the
        sentence's first, and score."""
        return [list(islice(self.paths(s), k)) for s in range(self.shape.sentences)]

    def paths(self, sentence: int) -> Iterator[tuple[I32, float]]:
        """All paths of a sentence, best first, each found when it is asked for."""
        from trellis.lattice.kernels.graph_paths import begin_search, follow, next_path

        a, b = int(self.shape.offsets[sentence]), int(self.shape.offsets[sentence + 1])
        if a == b:
            yield np.zeros(0, np.int32), 0.0
            return
        shape, delta = self.shape, self._delta
        if not np.any(delta[a:b][shape.last[a:b]] > -np.inf):
            self.require_paths(np.array([-np.inf]))
        size = b - a + 256
        numbers, entries, sizes = np.empty((2, size)), np.empty((3, size), np.int64), np.zeros(2, np.int64)
        begin_search(
            shape.last, a, b, delta, numbers[0], numbers[1], entries[0], entries[1], entries[2], sizes
        )  # fmt: skip
        found = np.empty(b - a, np.int32)
        while True:
            entry = next_path(
                shape.start, shape.source, shape.first, self.nodes, self.arcs, delta,
                numbers[0], numbers[1], entries[0], entries[1], entries[2], sizes,
            )  # fmt: skip
            if entry == -1:
                return
            if entry == -2:
                numbers, entries = (np.concatenate([old, np.empty_like(old)], axis=1) for old in (numbers, entries))
                continue
            count = follow(entries[0], entries[1], entry, found)
            yield (found[:count] - a).astype(np.int32), float(numbers[0, entry])

    def solve(self) -> SolvedGraph:
        """Forward-backward, with what it leaves behind."""
        solved = self.attempt()
        self.require_paths(solved.log_z)
        return solved

    def attempt(self) -> SolvedGraph:
        """The same, and log Z is -inf where there is no path."""
        from trellis.lattice.kernels.graph import backward, forward

        shape, nodes, arcs = self.shape, len(self.nodes), len(self.arcs)
        given, log_z = np.empty(arcs), np.empty(shape.sentences)
        alpha, begin, end, node_p = np.empty((4, nodes))
        arc_p = np.empty(arcs)
        forward(*self.for_loops, alpha, given, begin, end, log_z)
        backward(shape.start, shape.source, shape.offsets, given, end, node_p, arc_p)
        return SolvedGraph(shape, log_z, node_p, arc_p, given, begin, end)

    def require_paths(self, totals: F64) -> None:
        """Raises for the first sentence without a legal path, naming the node before which all paths have ended."""
        if np.isfinite(totals).all():
            return
        reached = self.reached()
        for s, (a, b) in enumerate(pairwise(self.shape.offsets.tolist())):
            if b > a and not (reached[a:b] & self.shape.last[a:b]).any():
                furthest = np.flatnonzero(reached[a:b])
                where = f"node {furthest[-1]}, counted from 0" if len(furthest) else "its very beginning"
                raise NoLegalPathError(
                    f" has no legal path: none comes further than {where}; what follows is forbidden, by itself or "
                    "after what can come before it",
                    s,
                )
        raise DataError("scores add up to more than a number can hold; make them smaller")

    def reached(self) -> BOOL:
        """The nodes that paths come to, BOOL[nodes]."""
        reached = np.zeros(len(self.nodes), bool)
        for v, (a, b) in enumerate(pairwise(self.shape.start.tolist())):
            ways = reached[self.shape.source[a:b]] & (self.arcs[a:b] > -np.inf)
            reached[v] = (self.shape.first[v] or ways.any()) and self.nodes[v] > -np.inf
        return reached

    @property
    def for_loops(self) -> tuple[I64, I32, BOOL, BOOL, I64, F64, F64]:
        """What most kernels begin with."""
        shape = self.shape
        return shape.start, shape.source, shape.first, shape.last, shape.offsets, self.nodes, self.arcs

    @cached_property
    def _delta(self) -> F64:
        """The score of the best path up to each node, F64[nodes]."""
        from trellis.lattice.kernels.graph_paths import best_paths

        delta = np.empty(len(self.nodes))
        best_paths(*self.for_loops, delta, np.empty(len(self.nodes), bool), np.empty(self.shape.sentences))
        return delta
