"""The best path in which segments of many types occur once at most: found exactly, or nearly and with a bound.

For up to four types at a time the answer is exact (`once`). The best path that keeps to the rule for some types scores
no less than the best one that keeps to it for all; and if it happens to keep to all, it is that one. So types are added
as paths offend against them. Where these are more than four, segments of the others have a price. With n_k(y) segments
of type k on a path,

    L(price) = max over y of S(y) - sum_k price_k (n_k(y) - 1)  >=  S(y)  for every y that keeps to the rule

for all prices >= 0, and prices that rise where n_k is 2 or more, and fall where it is 0, lower this bound (subgradient
steps in Polyak's length). A path that keeps to the rule comes of each path on the way: of every type that it has too
often one segment stays, and all others of that type are forbidden.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from trellis.errors import NoLegalPathError, SettingError
from trellis.lattice.graph import BOOL, F64, I32, I64, Graph
from trellis.lattice.once import MOST_ONCE, AtMostOnce
from trellis.lattice.parts import PartLattice, Parts
from trellis.lattice.spelling import Spelling

_STEPS = 60
_CLOSE = 1e-9  # a gap that is rounding, in relation to the score


@dataclass
class ManyOnce(AtMostOnce):
    """`base` with segments of any number of types at most once each, for the best path alone."""

    @classmethod
    def of(cls, base: PartLattice, spelling: Spelling, kinds: tuple[int, ...]) -> ManyOnce:
        return cls(base.node_scores, base.arc_scores, base.offsets, base, spelling, kinds)

    def best(self) -> tuple[I32, F64]:
        return self.bounded()[:2]

    def bounded(self) -> tuple[I32, F64, F64]:
        """Paths, their scores, and bounds (see `best_once`)."""
        return best_once(self.base, self.spelling, self.kinds)

    def parts(self) -> Parts:
        raise SettingError(
            f"{len(self.kinds)} types that may occur once: only the best path can be asked for; probabilities, k best "
            f"paths and beams are there for up to {MOST_ONCE} types"
        )


def best_once(base: PartLattice, spelling: Spelling, kinds: tuple[int, ...]) -> tuple[I32, F64, F64]:
    """Of each sentence a path with at most one segment of each of the types `kinds`, I32[tokens]; its score,
    F64[sentences]; and a bound that no such path's score exceeds: the same number where the path is the best."""
    paths, totals = base.best()
    base.require_paths(totals)
    bounds = totals.copy()
    whole = _Priced.of(base, spelling, kinds, ())
    on = whole.graph.best()[0]
    for s, (a, b) in enumerate(zip(base.offsets[:-1].tolist(), base.offsets[1:].tolist(), strict=True)):
        if (whole.counts(on, s) > 1).any():
            paths[a:b], totals[s], bounds[s] = _searched(base.sentence(s), spelling, kinds, s)
    return paths, totals, bounds


def _searched(one: PartLattice, spelling: Spelling, kinds: tuple[int, ...], s: int) -> tuple[I32, float, float]:
    """For a single sentence, the one with that number."""
    chosen: tuple[int, ...] = ()
    while True:
        problem = _Priced.of(one, spelling, kinds, chosen)
        on, total = problem.best(np.zeros(len(kinds)))
        if total == -np.inf:
            raise _none(s)
        often = [kinds[k] for k in np.flatnonzero(problem.counts(on) > 1).tolist()]
        if not often:
            return problem.path(on), total, total
        if len(chosen) == MOST_ONCE:
            return _priced(problem, on, total, s)
        chosen = (*chosen, *often)[:MOST_ONCE]


def _priced(problem: _Priced, on: BOOL, bound: float, s: int) -> tuple[I32, float, float]:
    prices = np.zeros(len(problem.kinds))
    found, score = problem.repaired(on)
    for _ in range(_STEPS):
        slope = problem.counts(on) - 1.0
        slope[(prices <= 0.0) & (slope < 0.0)] = 0.0
        gap = bound - score
        if gap <= _CLOSE * max(1.0, abs(score)) or not slope.any():
            break
        step = gap / (slope @ slope) if score > -np.inf else 1.0
        prices = np.maximum(prices + step * slope, 0.0)
        on, total = problem.best(prices)
        bound = min(bound, total + prices.sum())
        other, own = problem.repaired(on)
        if own > score:
            found, score = other, own
    if score == -np.inf:
        raise _none(s)
    return problem.path(found), score, max(bound, score)


def _none(s: int) -> NoLegalPathError:
    return NoLegalPathError(": no labelling was found that has each of the types once at most", s)


@dataclass(frozen=True)
class _Priced:
    """A graph that is exact for some types, and can have prices for the others: `event: I64[arcs]` and `begun:
    I64[nodes]`, which of `kinds` begins along an arc, and with a path that begins at a node; -1 for none."""

    lattice: AtMostOnce
    kinds: tuple[int, ...]
    parts: Parts
    graph: Graph
    event: I64
    begun: I64

    @classmethod
    def of(cls, base: PartLattice, spelling: Spelling, kinds: tuple[int, ...], exact: tuple[int, ...]) -> _Priced:
        lattice = AtMostOnce.of(base, spelling, tuple(sorted(exact)))
        parts, which = lattice.larger()
        event, begun = base.segment_events(base.parts(), spelling, kinds)
        begun = np.where(base.parts().shape.first, begun, -1)
        graph = parts.graph(base.node_scores, base.arc_scores)
        return cls(lattice, kinds, parts, graph, event[which], np.repeat(begun, 1 << len(exact)))

    def counts(self, on: BOOL, s: int = 0) -> I64:
        """How many segments of each type a path of sentence s has, I64[kinds]."""
        a, b = self.graph.shape.offsets[s : s + 2].tolist()
        p, q = self.graph.shape.start[[a, b]].tolist()
        events = self.event[p:q][self.graph.arcs_on(on)[p:q]]
        first = np.flatnonzero(on[a:b])[:1]
        events = np.concatenate([events, self.begun[a:b][first]])
        return np.bincount(events[events >= 0], minlength=len(self.kinds))

    def best(self, prices: F64) -> tuple[BOOL, float]:
        """The best path when each segment has the price of its type, and its score with these."""
        dear = np.append(prices, 0.0)  # the last one is number -1
        return self._solved(self.graph.nodes - dear[self.begun], self.graph.arcs - dear[self.event])

    def repaired(self, on: BOOL) -> tuple[BOOL, float]:
        """A path that keeps to the rule, and its score: of each type that a path has too often the first stays."""
        nodes, arcs = self.graph.nodes.copy(), self.graph.arcs.copy()
        while True:  # what takes the place of other segments may be too often itself; each time fewer types are left
            often = np.flatnonzero(self.counts(on) > 1).tolist()
            if not often:
                return on, self._score(on)
            along, start = self.graph.arcs_on(on), int(np.flatnonzero(on)[0])
            for k in often:
                begins = self.begun[start] == k
                others, starts = self.event == k, self.begun == k
                if begins:
                    starts[start] = False
                else:
                    others[np.flatnonzero(along & others)[:1]] = False
                arcs[others], nodes[starts] = -np.inf, -np.inf
            on, score = self._solved(nodes, arcs)
            if score == -np.inf:
                return on, score

    def _score(self, on: BOOL) -> float:
        return float(self.graph.path_scores(on)[0])

    def path(self, on: BOOL) -> I32:
        return self.lattice.path_of(self.parts.on(on))

    def _solved(self, nodes: F64, arcs: F64) -> tuple[BOOL, float]:
        from trellis.lattice.kernels.graph_paths import best_paths

        graph = replace(self.graph, nodes=nodes, arcs=arcs)
        on, totals = np.empty(len(nodes), bool), np.empty(1)
        best_paths(*graph.for_loops, np.empty(len(nodes)), on, totals)
        return on, float(totals[0])
