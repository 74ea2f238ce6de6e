"""The best path in which segments of many types occur once at most: found exactly, or nearly and with a bound.

As in `once`, whether a type has occurred is part of where a path is. But of the many sets of types that may have
occurred on the way to a node only the best few are kept: those with the highest scores, without any for which another
one has no lower score and has used up no type that it has not (it can go on in no better way). What is left out for
want of room could score no more than its score so far and the best way on from there, whatever the rule says: the
highest of these is the bound. Where it is above what was found, the search is done again with more room.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from trellis.errors import DataError, NoLegalPathError, SettingError
from trellis.lattice.graph import F64, I32
from trellis.lattice.once import MOST_ONCE, AtMostOnce
from trellis.lattice.parts import PartLattice, Parts
from trellis.lattice.spelling import Spelling

MANY_ONCE = 60  # types: a set of them is a number
_ROOMS = (16, 128, 1024)  # sets kept at a node
_MOST = 1 << 24  # sets at all nodes of a sentence: 400 MB


@dataclass
class ManyOnce(AtMostOnce):
    """`base` with segments of any number of types at most once each, for the best path alone."""

    @classmethod
    def of(cls, base: PartLattice, spelling: Spelling, kinds: tuple[int, ...]) -> ManyOnce:
        if len(kinds) > MANY_ONCE:
            raise SettingError(f"{len(kinds)} types that may occur once; at most {MANY_ONCE}")
        return cls(base.node_scores, base.arc_scores, base.offsets, base, spelling, kinds)

    def best(self) -> tuple[I32, F64]:
        return self.bounded()[:2]

    def bounded(self) -> tuple[I32, F64, F64]:
        """Of each sentence a path with at most one segment of each type, I32[tokens]; its score, F64[sentences]; and a
        bound that no such path's score exceeds: the same number where the path is the best."""
        base = replace(self.base, node_scores=self.node_scores, arc_scores=self.arc_scores)
        paths, totals = base.best()
        base.require_paths(totals)
        bounds = totals.copy()
        for s in np.flatnonzero(self.too_often(paths)).tolist():
            a, b = base.offsets[s : s + 2].tolist()
            paths[a:b], totals[s], bounds[s] = self._searched(base.sentence(s), s)
        return paths, totals, bounds

    def parts(self) -> Parts:
        raise SettingError(
            f"{len(self.kinds)} types that may occur once: only the best path can be asked for; probabilities, k best "
            f"paths and beams are there for up to {MOST_ONCE} types"
        )

    def _searched(self, one: PartLattice, s: int) -> tuple[I32, float, float]:
        """For a single sentence, the one with that number."""
        from trellis.lattice.kernels.once import best_rests, follow_entries, search_once

        parts, graph = one.graph()
        shape, (event, begun) = graph.shape, one.segment_events(parts, self.spelling, self.kinds)
        rest = np.empty(len(graph.nodes))
        best_rests(shape.start, shape.source, shape.last, graph.nodes, graph.arcs, rest)
        path, total, bound = np.zeros(0, np.int32), -np.inf, np.inf
        for room in _ROOMS:
            if room > _ROOMS[0] and room * len(rest) > _MOST:
                break
            score, sets = np.empty((len(rest), room)), np.empty((len(rest), room), np.int64)
            back, entry = np.empty((2, len(rest), room), np.int32)
            found, left_out, node, last = search_once(
                shape.start, shape.source, shape.first, shape.last, graph.nodes, graph.arcs, event, begun, rest,
                score, sets, back, entry, np.zeros(len(rest), np.int64),
            )  # fmt: skip
            if found > total:
                on = np.zeros(len(rest), bool)
                follow_entries(shape.source, back, entry, node, last, on)
                path, total = one.path_of(parts.on(on)), found
            bound = min(bound, max(found, left_out))
            if bound <= total:
                break
        if total == -np.inf:
            raise _without(bound, len(self.kinds), s)
        return path, total, max(bound, total)


def _without(bound: float, kinds: int, s: int) -> NoLegalPathError | DataError:
    if bound == -np.inf:
        return NoLegalPathError(f" has no legal path: none has each of {kinds} types once at most", s)
    return DataError(
        f"sentence {s + 1}: no labelling was found that has each of {kinds} types once at most, though there may be "
        "one; name fewer types"
    )
