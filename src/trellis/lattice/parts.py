"""Lattices by way of a graph: what a lattice is made of, and every question answered by the graph written out.

A lattice has numbers on *parts*: on its nodes (labels of tokens, segments) and on its arcs (transitions, tuples of
labels, which may occur at many tokens). A graph node or arc is at most one part; a part may be many of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Self

import numpy as np

from trellis.errors import DataError, NoLegalPathError, SettingError
from trellis.lattice.chain import Marginals
from trellis.lattice.graph import BOOL, F64, I32, I64, Graph
from trellis.lattice.shape import Shape
from trellis.lattice.solved_parts import SolvedParts
from trellis.lattice.spelling import Spelling


@dataclass(frozen=True)
class Parts:
    """Graphs, and which part each of their nodes and arcs is: `of_nodes: I64[nodes]`, `of_arcs: I64[arcs]`, -1 for
    none. Parts are numbered through: `nodes` of them on the lattice's nodes, then `arcs` on its arcs."""

    shape: Shape
    of_nodes: I64
    of_arcs: I64
    nodes: int
    arcs: int

    def graph(self, node_scores: F64, arc_scores: F64) -> Graph:
        return Graph(self.shape, *self.spread(node_scores, arc_scores))

    def spread(self, node_values: F64, arc_values: F64) -> tuple[F64, F64]:
        """Numbers on parts -> on the graph's nodes and arcs."""
        values = np.concatenate([node_values, arc_values, [0.0]])  # the last one is number -1
        return values[self.of_nodes], values[self.of_arcs]

    def gathered(self, nodes: F64, arcs: F64) -> tuple[F64, F64]:
        """Numbers on the graph's nodes and arcs -> added up on parts."""
        size = self.nodes + self.arcs
        total: F64 = np.bincount(self.of_nodes + 1, weights=nodes, minlength=size + 1).astype(np.float64)
        total += np.bincount(self.of_arcs + 1, weights=arcs, minlength=size + 1)
        return total[1 : self.nodes + 1], total[self.nodes + 1 :]

    def on(self, path: BOOL) -> I64:
        """The node parts of graph paths BOOL[nodes], ascending."""
        from trellis.lattice.kernels.graph_paths import arcs_on_path

        along = np.zeros(len(self.of_arcs), bool)
        arcs_on_path(self.shape.start, self.shape.source, path, self.shape.offsets, along)
        found = np.concatenate([self.of_nodes[path], self.of_arcs[along]])
        return np.unique(found[(found >= 0) & (found < self.nodes)])


@dataclass
class PartLattice(ABC):
    """A lattice with `node_scores: F64[node parts]` and `arc_scores: F64[arc parts]`; -inf forbids. Paths are I32, one
    number a token; answers about nodes and arcs are numbers on parts.

    All questions are answered here, by the graph; kinds of lattices have quicker ways of their own to the most frequent
    ones. As everywhere in training, sentences without a path have a log Z of -inf.
    """

    node_scores: F64
    arc_scores: F64
    offsets: I64

    # what a kind says of itself

    @property
    @abstractmethod
    def labels(self) -> int: ...

    @abstractmethod
    def parts(self) -> Parts: ...

    @abstractmethod
    def node_parts_of(self, path: I32) -> tuple[I64, I64]:
        """The node parts on one path a sentence, in the order of the text, and the sentence of each; -1 for a part
        that the lattice does not have."""

    @abstractmethod
    def arc_parts_of(self, path: I32) -> tuple[I64, I64]:
        """The same for arc parts, counted from 0."""

    @abstractmethod
    def path_of(self, node_parts: I64) -> I32:
        """The paths, I32[tokens], whose node parts these are."""

    @abstractmethod
    def on_nodes(self, rows: F64) -> F64:
        """Numbers on the labels of tokens, F64[tokens, labels], added up on node parts."""

    @abstractmethod
    def on_labels(self, nodes: F64) -> F64:
        """The transpose: numbers on node parts added up on the labels of tokens, F64[tokens, labels]."""

    @property
    @abstractmethod
    def owners(self) -> I64:
        """The sentence of each node part."""

    @abstractmethod
    def sentence(self, s: int) -> Self:
        """The lattice of one sentence."""

    @abstractmethod
    def tokens_of(self, parts: Parts) -> I64:
        """The last token that a path has been labelled up to at each node of the graph, I64[nodes]."""

    def path_labels(self, parts: Parts) -> I64:
        """The label of each node of the graph, I64[nodes], where nodes are labels of tokens."""
        raise SettingError(f"the nodes of a {type(self).__name__} are no labels of tokens, so they spell no segments")

    def segment_events(self, parts: Parts, spelling: Spelling, kinds: tuple[int, ...]) -> tuple[I64, I64]:
        """Which of the types `kinds` of segments starts along each arc of the graph, I64[arcs], and which with a path
        that begins at a node, I64[nodes]; -1 for none."""
        label, number = self.path_labels(parts), np.full(spelling.kinds + 1, -1)  # the last: of no type
        number[list(kinds)] = np.arange(len(kinds))
        begun = number[spelling.kind[label]]
        where, heads = np.where(spelling.starts, number[spelling.kind], -1), parts.shape.heads
        return where[label[parts.shape.source], label[heads]], begun

    # questions

    @property
    def sentences(self) -> int:
        return len(self.offsets) - 1

    def graph(self) -> tuple[Parts, Graph]:
        parts = self.parts()
        return parts, parts.graph(self.node_scores, self.arc_scores)

    def require_paths(self, totals: F64) -> None:
        """Raises for the first sentence without a legal path, naming the token where the last one dies."""
        for s in np.flatnonzero(~np.isfinite(totals))[:1].tolist():
            one = self.sentence(s)
            parts, graph = one.graph()
            reached = graph.reached()
            if (reached & graph.shape.last).any():
                raise DataError("scores add up to more than a number can hold; make them smaller")
            token = int(one.tokens_of(parts)[reached].max(initial=-1)) + 1
            raise NoLegalPathError(
                f" has no legal path: every label of token {token + 1} is forbidden, by itself or after what can come "
                "before it",
                s,
            )

    def best(self) -> tuple[I32, F64]:
        """The best path of each sentence, I32[tokens], and its score, F64[sentences] (-inf where there is none)."""
        from trellis.lattice.kernels.graph_paths import best_paths

        parts, graph = self.graph()
        on, totals = np.empty(len(graph.nodes), bool), np.empty(self.sentences)
        best_paths(*graph.for_loops, np.empty(len(graph.nodes)), on, totals)
        return self.path_of(parts.on(on)), totals

    def kbest(self, k: int) -> list[list[tuple[I32, float]]]:
        """For each sentence its k best paths (fewer where there are no more), best first, with their scores."""
        return [list(islice(self.paths(s), k)) for s in range(self.sentences)]

    def paths(self, sentence: int) -> Iterator[tuple[I32, float]]:
        """All paths of a sentence, best first, each found when it is asked for."""
        one = self.sentence(sentence)
        parts, graph = one.graph()
        if one.best()[1][0] == -np.inf:
            self.require_paths(self.best()[1])
        on = np.empty(len(graph.nodes), bool)
        for nodes, score in graph.paths(0):
            on[:] = False
            on[nodes] = True
            yield one.path_of(parts.on(on)), score

    def posterior(self) -> tuple[I32, F64]:
        """The path with the highest sum of the probabilities of its labels at all tokens, and that sum: the most
        labels right, of a legal path, as far as the model knows."""
        rows = self._solved().label_marginals()
        scores = np.where(self.node_scores > -np.inf, self.on_nodes(rows), -np.inf)
        arcs = np.where(self.arc_scores > -np.inf, 0.0, -np.inf)
        return replace(self, node_scores=scores, arc_scores=arcs).best()

    def beam(self, width: int) -> tuple[I32, F64, F64]:
        """A good path, found by keeping the `width` best states of each token; its score; and a bound that no path's
        score exceeds."""
        self.require_paths(self.best()[1])
        parts, graph = self.graph()
        on, totals, bounds = graph.beam(width)
        return self.path_of(parts.on(on)), totals, bounds

    def sample(self, count: int, rng: np.random.Generator) -> I32:
        """Paths drawn from the distribution: I32[count, tokens]."""
        solved = self._solved()
        drawn = [self.path_of(solved.parts.on(on)) for on in solved.graph.sample(count, rng)]
        return np.stack(drawn) if drawn else np.zeros((0, int(self.offsets[-1])), np.int32)

    def entropy(self) -> F64:
        """H(y) of each sentence in nats, F64[sentences]."""
        return self._solved().graph.entropy()

    def expectation(self, node_h: F64, arc_h: F64) -> F64:
        """E of the sum of h on parts along the path, F64[sentences]."""
        solved = self._solved()
        return solved.graph.expectation(*solved.parts.spread(node_h, arc_h))

    def _solved(self) -> SolvedParts:
        solved = self.solve()
        self.require_paths(solved.log_z)
        return solved

    # what training asks (see `TrainingChain`)

    def path_scores(self, paths: I32) -> F64:
        """S(y) of one path a sentence, F64[sentences]; -inf for what is no path of the lattice."""
        return self.path_sums(self.node_scores, self.arc_scores, paths)

    def path_sums(self, node_h: F64, arc_h: F64, paths: I32) -> F64:
        """Numbers on parts added up along one path a sentence."""
        total = np.zeros(self.sentences)
        for values, (parts, owner) in (
            (node_h, self.node_parts_of(paths)),
            (arc_h, self.arc_parts_of(paths)),
        ):
            each = np.append(values, -np.inf)[parts]  # the last one is number -1
            total += np.bincount(owner, weights=each, minlength=self.sentences)
        return total

    def mean_scores(self, soft: F64) -> F64:
        parts, graph = self.softened(soft).graph()
        return graph.attempt().expectation(*parts.spread(self.node_scores, self.arc_scores))

    def softened(self, soft: F64) -> Self:
        """The lattice whose paths have probabilities in proportion to the product of their labels' probabilities,
        F64[tokens, labels]: over all paths of a chain, that of independent tokens."""
        with np.errstate(divide="ignore"):
            scores = self.on_nodes(np.log(soft))
        nodes = np.where(self.node_scores > -np.inf, scores, -np.inf)
        return replace(self, node_scores=nodes, arc_scores=np.where(self.arc_scores > -np.inf, 0.0, -np.inf))

    def add_costs(self, gold: I32, costs: F64) -> None:
        self.node_scores = self.node_scores + self.on_nodes(costs[gold])

    def constrained(self, known: BOOL, evidence: F64 | None = None) -> Self:
        logs = np.where(known, 0.0 if evidence is None else evidence, -np.inf)
        return replace(self, node_scores=self.node_scores + self.on_nodes(logs))

    def path_gradient(self, plus: I32, minus: I32, weights: F64 | None) -> tuple[F64, F64]:
        nodes, arcs = np.zeros(len(self.node_scores)), np.zeros(len(self.arc_scores))
        each = np.ones(self.sentences) if weights is None else weights
        self.add_path(nodes, arcs, plus, each)
        self.add_path(nodes, arcs, minus, -each)
        return nodes, arcs

    def add_path(self, nodes: F64, arcs: F64, path: I32, weights: F64) -> None:
        """Adds the sentences' weights to the parts on a path."""
        for values, (parts, owner) in ((nodes, self.node_parts_of(path)), (arcs, self.arc_parts_of(path))):
            there = parts >= 0
            values += np.bincount(parts[there], weights=weights[owner[there]], minlength=len(values))

    def marginals(self) -> Marginals:
        solved = self.solve()
        return Marginals(solved.log_z, *solved.expected())

    def subtract_path(self, answer: Marginals, path: I32) -> None:
        assert answer.arcs is not None
        self.add_path(answer.nodes, answer.arcs, path, -np.ones(self.sentences))

    def solve(self) -> SolvedParts:
        """Forward-backward with what it leaves behind."""
        parts, graph = self.graph()
        return SolvedParts(self, parts, graph.attempt())
