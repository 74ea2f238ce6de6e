"""Chains of order k: what follows depends on the k labels before (see `kernels.windows`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from trellis.errors import SettingError
from trellis.labels import first_tokens
from trellis.lattice.allowed import Allowed
from trellis.lattice.chain import Marginals
from trellis.lattice.graph import F64, I32, I64
from trellis.lattice.parts import PartLattice, Parts
from trellis.lattice.shape import Shape

_MOST_CELLS = 1 << 25  # tuples of labels with a score: 268 MB in each of several arrays
_MOST_ARCS = 1 << 27  # of chains that are written out arc by arc: 5 GB


@dataclass(frozen=True)
class Windows:
    """Which tuples of labels can end at each token.

    `order`: how many labels before its own a token sees, 1 or more. `pattern: I32[tokens]`: tokens whose windows have
    the same label sets share a pattern; `sets: I32[patterns, order + 1]` are those, -1 before the sentence; `sizes:
    I64[patterns, 3]`, how many a, r and b there are (see `kernels.windows`); `base: I64[patterns + 1]`, where its cells
    begin. First tokens have cells too, of one label, which are on no arc.
    """

    order: int
    allowed: Allowed
    offsets: I64
    pattern: I32
    sets: I32
    sizes: I64
    base: I64

    @classmethod
    def of(cls, order: int, allowed: Allowed, offsets: I64) -> Windows:
        which = allowed.which.astype(np.int64)
        place = np.arange(len(which)) - np.repeat(offsets[:-1], np.diff(offsets))
        columns = [
            np.where(place >= back, which[np.maximum(np.arange(len(which)) - back, 0)], -1)
            for back in range(order, -1, -1)
        ]
        sets, pattern = _distinct_rows(np.stack(columns, axis=1), len(allowed.start) - 1)
        counts = np.where(sets >= 0, np.diff(allowed.start)[sets], 1)
        sizes = np.stack([counts[:, 0], counts[:, 1:-1].prod(axis=1), counts[:, -1]], axis=1)
        base = np.concatenate([[0], np.cumsum(sizes.prod(axis=1))]).astype(np.int64)
        if base[-1] > _MOST_CELLS:
            raise _too_many(order, f"{base[-1]:,} tuples of labels")
        return cls(order, allowed, offsets, pattern.astype(np.int32), sets.astype(np.int32), sizes, base)

    @property
    def cells(self) -> int:
        return int(self.base[-1])

    @cached_property
    def states(self) -> I64:
        """How many states each token has, I64[tokens]."""
        return np.asarray(self.sizes[self.pattern, 1] * self.sizes[self.pattern, 2])

    @cached_property
    def arcs(self) -> I64:
        """How many arcs lead to each token, I64[tokens]."""
        counts: I64 = self.sizes.prod(axis=1)[self.pattern]
        counts[first_tokens(self.offsets)] = 0
        return counts

    def cell_labels(self) -> I32:
        """The labels of all cells, I32[cells, order + 1]."""
        from trellis.lattice.kernels.window_paths import list_tuples

        out = np.empty((self.cells, self.order + 1), np.int32)
        list_tuples(self.sets, self.base, self.allowed.start, self.allowed.labels, out)
        return out

    def of_pairs(self, pairs: F64) -> F64:
        """Numbers on pairs of labels, F64[labels, labels] -> on the cells that end with them, F64[cells]; 0 for those
        of first tokens."""
        labels = self.cell_labels()
        before, here = labels[:, -2], labels[:, -1]
        return np.where(before >= 0, pairs[before, here], 0.0)

    def part(self, first: int, last: int) -> Windows:
        """Sentences first..last; patterns are shared."""
        a, b = int(self.offsets[first]), int(self.offsets[last])
        return replace(
            self,
            allowed=self.allowed.part(a, b),
            offsets=self.offsets[first : last + 1] - a,
            pattern=self.pattern[a:b],
        )

    @property
    def for_loops(self) -> tuple[I64, I32, I64, I64]:
        return self.allowed.places, self.pattern, self.sizes, self.base


@dataclass(frozen=True)
class CellFactors:
    """exp of the scores of cells less the largest of them, `across: F64[cells]`; that one, and how far finite ones
    spread."""

    cells: F64
    across: F64
    top: float
    spread: float

    @classmethod
    def of(cls, cells: F64) -> CellFactors:
        from trellis.lattice.kernels.windows import cell_factors

        across = np.empty_like(cells)
        return cls(cells, across, *cell_factors(cells, across))


@dataclass
class WindowChain(PartLattice):
    """`node_scores: F64[places]`, one for each allowed label of each token (see `Allowed`); `arc_scores: F64[cells]`,
    one for each tuple of labels of each pattern (see `Windows`); `factors` of these, if they are at hand."""

    windows: Windows
    factors: CellFactors | None = None

    @property
    def labels(self) -> int:
        return self.windows.allowed.size

    def best(self) -> tuple[I32, F64]:
        from trellis.lattice.kernels.windows import window_best

        allowed = self.windows.allowed
        chosen, totals = np.zeros(len(allowed), np.int32), np.empty(self.sentences)
        window_best(self.node_scores, *self.windows.for_loops, self.arc_scores, self.offsets, chosen, totals)
        return allowed.labels[allowed.start[allowed.which] + chosen], totals

    def on_pairs(self, pairs: F64) -> F64:
        """Numbers on pairs of neighbouring labels, F64[labels, labels] -> on arcs."""
        return self.windows.of_pairs(pairs)

    def marginals(self) -> Marginals:
        from trellis.lattice.kernels.windows import window_marginals

        nodes, arcs = np.empty_like(self.node_scores), np.zeros(self.windows.cells)
        log_z, redo = np.empty(self.sentences), np.empty(self.sentences, bool)
        factors = self.factors
        if factors is None or factors.cells is not self.arc_scores:
            factors = CellFactors.of(self.arc_scores)
        window_marginals(
            self.node_scores, *self.windows.for_loops, factors.across, factors.top, factors.spread, self.offsets,
            nodes, arcs, log_z, redo,
        )  # fmt: skip
        arcs *= factors.across
        for s in np.flatnonzero(redo).tolist():
            solved = self.sentence(s).solve()
            here, more = solved.expected()
            nodes[self._places(s)] = here
            arcs += more
            log_z[s] = solved.log_z[0]
        return Marginals(log_z, nodes, arcs)

    def parts(self) -> Parts:
        from trellis.lattice.kernels.windows import window_shape

        windows, places = self.windows, self.windows.allowed.places
        if windows.arcs.sum() > _MOST_ARCS:
            raise _too_many(windows.order, f"{windows.arcs.sum():,} tuples of labels at all tokens")
        states = np.concatenate([[0], np.cumsum(windows.states)]).astype(np.int64)
        ends, nodes, arcs = states[self.offsets], int(states[-1]), int(windows.arcs.sum())
        start, source = np.empty(nodes + 1, np.int64), np.empty(arcs, np.int32)
        first, last = np.empty(nodes, bool), np.empty(nodes, bool)
        of_nodes, of_arcs = np.empty(nodes, np.int64), np.empty(arcs, np.int64)
        window_shape(*windows.for_loops, self.offsets, ends, start, source, first, last, of_nodes, of_arcs)
        shape = Shape(start, source, first, last, ends)
        return Parts(shape, of_nodes, of_arcs + int(places[-1]), int(places[-1]), windows.cells)

    def node_parts_of(self, path: I32) -> tuple[I64, I64]:
        from trellis.lattice.kernels.restricted_paths import places_on_path

        at = np.empty(len(path), np.int64)
        places_on_path(*self.windows.allowed.for_loops, path, at)
        return at, self._sentence_of_tokens

    def arc_parts_of(self, path: I32) -> tuple[I64, I64]:
        from trellis.lattice.kernels.window_paths import cells_on_path

        places, _ = self.node_parts_of(path)
        numbers = np.where(places >= 0, places - self.windows.allowed.places[:-1], -1)
        cells = np.empty(len(path), np.int64)
        windows = self.windows
        cells_on_path(
            windows.pattern, windows.base, windows.order, self.offsets, windows.allowed.counts, numbers, cells
        )
        inner = ~first_tokens(self.offsets)
        return cells[inner], self._sentence_of_tokens[inner]

    def path_of(self, node_parts: I64) -> I32:
        token, label = self.windows.allowed.sites
        path = np.zeros(len(self.windows.allowed), np.int32)
        path[token[node_parts]] = label[node_parts]
        return path

    def on_nodes(self, rows: F64) -> F64:
        return rows[self.windows.allowed.sites]

    def on_labels(self, nodes: F64) -> F64:
        rows = np.zeros((len(self.windows.allowed), self.labels))
        rows[self.windows.allowed.sites] = nodes
        return rows

    @property
    def owners(self) -> I64:
        return np.repeat(self._sentence_of_tokens, self.windows.allowed.counts)

    def tokens_of(self, parts: Parts) -> I64:
        return self.windows.allowed.sites[0][parts.of_nodes]

    def path_labels(self, parts: Parts) -> I64:
        return self.windows.allowed.sites[1][parts.of_nodes]

    def sentence(self, s: int) -> Self:
        part = self.windows.part(s, s + 1)
        return replace(self, node_scores=self.node_scores[self._places(s)], offsets=part.offsets, windows=part)

    @property
    def _sentence_of_tokens(self) -> I64:
        return np.repeat(np.arange(self.sentences), np.diff(self.offsets))

    def _places(self, s: int) -> slice:
        places = self.windows.allowed.places
        return slice(int(places[self.offsets[s]]), int(places[self.offsets[s + 1]]))


def _distinct_rows(rows: I64, sets: int) -> tuple[I64, I64]:
    """The distinct rows of numbers from -1 to sets - 1, and which of them each row is."""
    if (sets + 1) ** rows.shape[1] < 2**62:
        keys = np.zeros(len(rows), np.int64)
        for column in rows.T:
            keys = keys * (sets + 1) + column + 1
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        return rows[first], which
    distinct, which = np.unique(rows, axis=0, return_inverse=True)
    return distinct, which.ravel()


def _too_many(order: int, what: str) -> SettingError:
    return SettingError(
        f"order {order} means {what}, which is too many; give `prune` (--prune 0.001), or a lower order"
    )
