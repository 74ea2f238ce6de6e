"""Every kind of lattice that can be asked anything, with the hooks by which one suite asks them all.

A kind has numbers on parts (see `trellis.lattice.parts`): `node_scores`, `arc_scores`, and lists all paths of a
sentence: `listed(s)` gives for each its key, the node parts and the arc parts on it. The questions are asked through
hooks of the same names, which answer in keys and in numbers on parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from hypothesis import strategies as st

from trellis.lattice import Allowed, Chain
from trellis.lattice.explicit import ExplicitLattice
from trellis.lattice.graph import Graph
from trellis.lattice.once import AtMostOnce
from trellis.lattice.pairs import PairChain
from trellis.lattice.segments import SegmentChain, SegmentTypes
from trellis.lattice.shape import Shape
from trellis.lattice.spelling import Spelling
from trellis.lattice.windows import WindowChain, Windows
from trellis.lattice.written import WrittenChain
from trellis.metrics.segments import segment_types, segments, spelling_of

SCALES = [0.0, 1.0, 8.0, 100.0, 900.0]


@dataclass(frozen=True)
class Recipe:
    seed: int
    lengths: list
    nodes: float = 1.0  # scale of scores
    arcs: float = 1.0
    ties: bool = False
    forbid_nodes: bool = False
    forbid_arcs: bool = False


recipes = st.builds(
    Recipe,
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(0, 4), max_size=3),
    st.sampled_from(SCALES),
    st.sampled_from(SCALES),
    st.booleans(),
    st.sampled_from([False, False, True]),
    st.sampled_from([False, False, True]),
)


class Kind:
    """What is the same for all kinds."""

    def __init__(self, recipe):
        self.recipe, self.rng = recipe, np.random.default_rng(recipe.seed)
        self.prepare()
        self._listed = [self.listed(s) for s in range(self.sentences)]

    def scored(self, size, scale, forbid):
        values = self.rng.normal(size=size) * scale
        if self.recipe.ties:
            values = np.round(values)
        if forbid:
            values[self.rng.random(size) < 0.2] = -np.inf
        return values

    def draw_scores(self, nodes, arcs):
        self.node_scores = self.scored(nodes, self.recipe.nodes, self.recipe.forbid_nodes)
        self.arc_scores = self.scored(arcs, self.recipe.arcs, self.recipe.forbid_arcs)

    @property
    def sentences(self):
        return len(self.recipe.lengths)

    def all_paths(self, s):
        """Keys, node parts, arc parts and scores of the legal paths of a sentence."""
        out = []
        for key, nodes, arcs in self._listed[s]:
            score = self.node_scores[list(nodes)].sum() + self.arc_scores[list(arcs)].sum()
            if score > -np.inf:
                out.append((key, nodes, arcs, score))
        return out

    @property
    def is_legal(self):
        return all(self.all_paths(s) for s in range(self.sentences))

    @property
    def tolerance(self):
        """A stated multiple of rounding at the magnitude of the scores."""
        finite = np.concatenate([self.node_scores, self.arc_scores, [1.0]])
        return 1e-14 * max(100.0, 20 * np.abs(finite[np.isfinite(finite)]).max())

    def enumerated(self, s):
        paths = self.all_paths(s)
        scores = np.array([path[3] for path in paths])
        powers = np.exp(scores - scores.max())
        return paths, scores, powers / powers.sum(), scores.max() + np.log(powers.sum())

    def added_up(self, weigh):
        """Numbers on parts: every path of every sentence times `weigh(s, paths, probabilities)`."""
        nodes, arcs = np.zeros(len(self.node_scores)), np.zeros(len(self.arc_scores))
        for s in range(self.sentences):
            paths, _, p, _ = self.enumerated(s)
            for path, weight in zip(paths, weigh(s, paths, p), strict=True):
                np.add.at(nodes, list(path[1]), weight)
                np.add.at(arcs, list(path[2]), weight)
        return nodes, arcs

    def values(self, paths, node_h, arc_h):
        return np.array([node_h[list(nodes)].sum() + arc_h[list(arcs)].sum() for _, nodes, arcs, _ in paths])

    def posterior_sums(self, s):
        """Key -> the sum of P of a path's nodes."""
        p = self.added_up(lambda s, paths, p: p)[0]
        return {path[0]: p[list(path[1])].sum() for path in self.all_paths(s)}


class Graphs(Kind):
    """Explicit graphs; a path's key is its nodes, counted from the first of the sentence."""

    def prepare(self):
        rng = self.rng
        sizes = [2 * length for length in self.recipe.lengths]
        self.offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        pairs = [(u, v) for a, b in pairwise(self.offsets.tolist()) for v in range(a, b) for u in range(a, v)]
        arcs = np.array([pair for pair in pairs if rng.random() < 0.5], np.int64).reshape(-1, 2)
        nodes = int(self.offsets[-1])
        ends = (None, None) if rng.random() < 0.5 else rng.random((2, nodes)) < 0.5
        self.shape, order = Shape.of_arcs(rng.permutation(arcs), self.offsets, *ends)
        assert sorted(order.tolist()) == list(range(len(arcs)))
        self.draw_scores(nodes, len(arcs))

    @property
    def lattice(self):
        return Graph(self.shape, self.node_scores, self.arc_scores)

    def listed(self, s):
        a, b = self.offsets[s : s + 2].tolist()
        if a == b:
            return [((), (), ())]
        shape, found = self.shape, []

        def extend(nodes, arcs):
            v = nodes[0]
            if shape.first[v]:
                found.append((tuple(u - a for u in nodes), nodes, arcs))
            for e in range(shape.start[v], shape.start[v + 1]):
                extend((int(shape.source[e]), *nodes), (e, *arcs))

        for v in range(a, b):
            if shape.last[v]:
                extend((v,), ())
        return found

    @property
    def graph(self):
        return self.lattice

    def spread(self, node_h, arc_h):
        return node_h, arc_h

    gathered = spread

    def keys(self, on):
        return [tuple(np.flatnonzero(on[a:b]).tolist()) for a, b in pairwise(self.offsets.tolist())]

    def best(self):
        on, totals = self.lattice.best()
        return self.keys(on), totals

    def kbest(self, k):
        return [[(tuple(path.tolist()), score) for path, score in found] for found in self.lattice.kbest(k)]

    def marginals(self):
        answer = self.lattice.marginals()
        return answer.log_z, answer.nodes, answer.arcs

    def covariance(self, node_h, arc_h):
        answer = self.lattice.covariance(node_h, arc_h)
        return answer.nodes, answer.arcs, answer.expectation

    def expectation(self, node_h, arc_h):
        return self.lattice.expectation(node_h, arc_h)

    def sample(self, count, rng):
        return [self.keys(on) for on in self.lattice.sample(count, rng)]

    def entropy(self):
        return self.lattice.entropy()

    def posterior(self):
        on, totals = self.lattice.posterior()
        return self.keys(on), totals

    def beam(self, width):
        on, totals, bounds = self.lattice.beam(width)
        return self.keys(on), totals, bounds


class Labelled(Kind):
    """Kinds whose paths are labels; a path's key is its labels. Training needs to go on where there is no path, so that
    these raise only if asked to."""

    @property
    def graph(self):
        return self.lattice.graph()[1]

    def spread(self, node_h, arc_h):
        return self.lattice.parts().spread(node_h, arc_h)

    def gathered(self, nodes, arcs):
        return self.lattice.parts().gathered(nodes, arcs)

    def keys(self, path):
        return [tuple(path[a:b].tolist()) for a, b in pairwise(self.offsets.tolist())]

    def posterior_sums(self, s):
        """Key -> the sum of P of a path's labels."""
        paths, _, p, _ = self.enumerated(s)
        rows = {}
        for path, probability in zip(paths, p, strict=True):
            for site in enumerate(path[0]):
                rows[site] = rows.get(site, 0.0) + probability
        return {path[0]: sum(rows[site] for site in enumerate(path[0])) for path in paths}

    def best(self):
        paths, totals = self.lattice.best()
        self.lattice.require_paths(totals)
        return self.keys(paths), totals

    def kbest(self, k):
        return [[(tuple(path.tolist()), score) for path, score in found] for found in self.lattice.kbest(k)]

    def sample(self, count, rng):
        return [self.keys(path) for path in self.lattice.sample(count, rng)]

    def entropy(self):
        return self.lattice.entropy()

    def expectation(self, node_h, arc_h):
        return self.lattice.expectation(node_h, arc_h)

    def posterior(self):
        paths, totals = self.lattice.posterior()
        return self.keys(paths), totals

    def beam(self, width):
        paths, totals, bounds = self.lattice.beam(width)
        return self.keys(paths), totals, bounds

    def marginals(self):
        answer = self.lattice.marginals()
        self.lattice.require_paths(answer.log_z)
        return answer.log_z, answer.nodes, answer.arcs

    def covariance(self, node_h, arc_h):
        solved = self.lattice.solve()
        self.lattice.require_paths(solved.log_z)
        answer = solved.covariance(node_h.copy(), arc_h)
        return answer.nodes, answer.arcs, answer.expectation


class WindowsOfOrder1(Labelled):
    order, most = 1, 3

    def prepare(self):
        rng, labels = self.rng, int(self.rng.integers(1, self.most + 1))
        self.offsets = np.concatenate([[0], np.cumsum(self.recipe.lengths)]).astype(np.int64)
        tokens = int(self.offsets[-1])
        some = [np.flatnonzero(rng.random(labels) < 0.6) for _ in range(2)]
        lists = [np.arange(labels), rng.integers(labels, size=1), *(one for one in some if len(one))]
        which = rng.integers(0, len(lists), tokens).astype(np.int32)
        start = np.cumsum([0, *map(len, lists)]).astype(np.int64)
        self.allowed = Allowed(which, start, np.concatenate(lists).astype(np.int32))
        self.windows = Windows.of(self.order, self.allowed, self.offsets)
        self.draw_scores(int(self.allowed.places[-1]), self.windows.cells)

    @property
    def lattice(self):
        return WindowChain(self.node_scores, self.arc_scores, self.offsets, self.windows)

    def listed(self, s):
        a, b = self.offsets[s : s + 2].tolist()
        allowed, found = self.allowed, []
        number = {}
        for cell, labels in enumerate(self.windows.cell_labels().tolist()):
            pattern = int(np.searchsorted(self.windows.base, cell, side="right")) - 1
            number[(pattern, *labels)] = cell
        sets = [allowed.labels[allowed.start[k] : allowed.start[k + 1]].tolist() for k in allowed.which[a:b]]
        for labels in product(*sets):
            nodes = [int(allowed.places[a + t]) + sets[t].index(j) for t, j in enumerate(labels)]
            padded = (-1,) * self.order + labels
            arcs = [
                number[(int(self.windows.pattern[a + t]), *padded[t : t + self.order + 1])] for t in range(1, b - a)
            ]
            found.append((labels, nodes, arcs))
        return found


class WindowsOfOrder2(WindowsOfOrder1):
    order = 2


class WindowsOfOrder3(WindowsOfOrder1):
    order = 3


class Chains(Labelled):
    """Chains of first order, transitions for all tokens."""

    positional = False

    def prepare(self):
        self.labels = int(self.rng.integers(1, 4))
        self.offsets = np.concatenate([[0], np.cumsum(self.recipe.lengths)]).astype(np.int64)
        tokens = int(self.offsets[-1])
        self.draw_scores(tokens * self.labels, (tokens if self.positional else 1) * self.labels**2)

    @property
    def lattice(self):
        blocks = self.arc_scores.reshape((-1, self.labels, self.labels))
        scores = self.node_scores.reshape((-1, self.labels))
        return Chain(scores, blocks if self.positional else blocks[0], self.offsets)

    def listed(self, s):
        a, b = self.offsets[s : s + 2].tolist()
        width, each = self.labels, self.labels**2 if self.positional else 0
        return [
            (
                labels,
                [(a + t) * width + j for t, j in enumerate(labels)],
                [(a + t) * each + labels[t - 1] * width + labels[t] for t in range(1, b - a)],
            )
            for labels in product(range(width), repeat=b - a)
        ]

    @property
    def written(self):
        return WrittenChain(self.node_scores, self.arc_scores, self.offsets, self.labels, self.positional)

    @property
    def graph(self):
        return self.written.graph()[1]

    def spread(self, node_h, arc_h):
        return self.written.parts().spread(node_h, arc_h)

    def gathered(self, nodes, arcs):
        return self.written.parts().gathered(nodes, arcs)

    def best(self):
        paths, totals = self.lattice.best()
        return self.keys(paths), totals

    def marginals(self):
        answer = self.lattice.marginals(arcs=True)
        return answer.log_z, answer.nodes.ravel(), answer.arcs.ravel()

    def covariance(self, node_h, arc_h):
        answer = self.lattice.covariance(*self.shaped(node_h, arc_h))
        return answer.nodes.ravel(), answer.arcs.ravel(), answer.expectation

    def expectation(self, node_h, arc_h):
        return self.lattice.expectation(*self.shaped(node_h, arc_h))

    def shaped(self, node_h, arc_h):
        blocks = arc_h.reshape((-1, self.labels, self.labels))
        return node_h.reshape((-1, self.labels)), blocks if self.positional else blocks[0]


class PositionalChains(Chains):
    positional = True


class ChainsWrittenOut(Chains):
    """The same, asked by way of their graphs alone."""

    @property
    def lattice(self):
        return self.written

    best, marginals = Labelled.best, Labelled.marginals
    covariance, expectation = Labelled.covariance, Labelled.expectation


class PositionalChainsWrittenOut(ChainsWrittenOut):
    positional = True


class PairsOfAllowed(WindowsOfOrder1):
    """Chains of first order over allowed labels, with one score for a pair of labels wherever it is."""

    def prepare(self):
        super().prepare()
        self.labels = self.allowed.size
        self.arc_scores = self.scored(self.labels**2, self.recipe.arcs, self.recipe.forbid_arcs)

    @property
    def lattice(self):
        return PairChain(self.node_scores, self.arc_scores, self.offsets, self.windows)

    def listed(self, s):
        pairs = [[i * self.labels + j for i, j in pairwise(labels)] for labels, _, _ in super().listed(s)]
        return [(labels, nodes, arcs) for (labels, nodes, _), arcs in zip(super().listed(s), pairs, strict=True)]

    def marginals(self):
        solved = self.lattice.solve()
        self.lattice.require_paths(solved.log_z)
        nodes, arcs = solved.expected()
        return solved.log_z, nodes, arcs.ravel()

    def covariance(self, node_h, arc_h):
        nodes, arcs, expectation = super().covariance(node_h, arc_h.reshape(self.labels, self.labels))
        return nodes, arcs.ravel(), expectation


class Segments(Labelled):
    """Semi-Markov chains; segments of three types, one of which is a token long."""

    def prepare(self):
        rng = self.rng
        self.offsets = np.concatenate([[0], np.cumsum(self.recipe.lengths)]).astype(np.int64)
        self.types = SegmentTypes.of([*rng.integers(1, 4, 2), 1], [1, 3, 0], [2, 4, -1], 5)
        cells, tokens = self.types.cells, int(self.offsets[-1])
        self.draw_scores(tokens * cells, len(self.types) ** 2)
        place = np.arange(tokens) - np.repeat(self.offsets[:-1], np.diff(self.offsets))
        outside = self.types.of_cells[0] > place[:, None] + 1
        self.node_scores[outside.ravel()] = -np.inf

    @property
    def lattice(self):
        return SegmentChain(self.node_scores, self.arc_scores, self.offsets, self.types)

    def listed(self, s):
        a, b = self.offsets[s : s + 2].tolist()
        cells = np.stack(self.types.of_cells, axis=1).tolist()
        found = []

        def extend(t, labels, nodes, arcs, before):
            if t == b:
                found.append((tuple(labels), nodes, arcs))
                return
            for cell, (d, y) in enumerate(cells):
                if t + d <= b:
                    own = [int(self.types.begin[y]), *[int(self.types.inside[y])] * (d - 1)]
                    move = [] if before is None else [before * len(self.types) + y]
                    extend(t + d, labels + own, [*nodes, (t + d - 1) * len(cells) + cell], arcs + move, y)

        extend(a, [], [], [], None)
        return found


def once(kind, labels):
    """A kind whose segments of some types may occur once at most."""

    class Once(kind):
        def __init__(self, recipe):
            super().__init__(recipe)
            names = labels[self.lattice.labels]
            types = segment_types(names)
            chosen = np.random.default_rng(recipe.seed).random(len(types)) < 0.8
            self.kinds = tuple(np.flatnonzero(chosen).tolist())
            self.spelling = Spelling(*spelling_of(names))
            for s, paths in enumerate(self._listed):
                self._listed[s] = [path for path in paths if self.is_once(path[0], names)]

        def is_once(self, path, names):
            found = segments(np.array(path, np.int32), names, np.array([0, len(path)]))[2].tolist()
            return all(found.count(k) <= 1 for k in self.kinds)

        @property
        def lattice(self):
            base = kind.lattice.fget(self)
            return AtMostOnce.of(base, self.spelling, self.kinds) if hasattr(self, "kinds") else base

    Once.graph, Once.spread, Once.gathered = Labelled.graph, Labelled.spread, Labelled.gathered
    Once.__name__ = f"{kind.__name__}Once"
    return Once


class ExplicitLattices(Graphs):
    """Graphs as lattices of parts; a path's key is its nodes."""

    @property
    def lattice(self):
        return ExplicitLattice(self.node_scores, self.arc_scores, self.offsets, self.shape)

    def best(self):
        paths, totals = self.lattice.best()
        self.lattice.require_paths(totals)
        return self.keys(paths == 1), totals

    def kbest(self, k):
        found = self.lattice.kbest(k)
        return [[(tuple(np.flatnonzero(path).tolist()), score) for path, score in paths] for paths in found]

    def sample(self, count, rng):
        return [self.keys(path == 1) for path in self.lattice.sample(count, rng)]

    def posterior(self):
        paths, totals = self.lattice.posterior()
        return self.keys(paths == 1), totals

    def beam(self, width):
        paths, totals, bounds = self.lattice.beam(width)
        return self.keys(paths == 1), totals, bounds

    graph, spread, gathered = Labelled.graph, Labelled.spread, Labelled.gathered
    marginals, covariance = Labelled.marginals, Labelled.covariance


_LABELS = {1: ["B-X"], 2: ["O", "I-X"], 3: ["O", "B-X", "I-X"], 5: ["O", "B-X", "I-X", "B-Y", "I-Y"]}
ONCE = [once(kind, _LABELS) for kind in (ChainsWrittenOut, WindowsOfOrder2, Segments)]
BY_PARTS = [
    *[ChainsWrittenOut, PositionalChainsWrittenOut, WindowsOfOrder1, WindowsOfOrder2, WindowsOfOrder3, Segments],
    *ONCE,
]
KINDS = [Chains, PositionalChains, Graphs, ExplicitLattices, PairsOfAllowed, *BY_PARTS]
