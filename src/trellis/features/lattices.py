"""Lattices that a user gives node by node: spans of a text with labels, and which of them may follow each other.

    Lattice([Node(0, 1, "X", ["word=a"]), Node(0, 2, "Y", ["word=ab"]), Node(1, 2, "X", ["word=b"])])

Any node may follow any other that ends where it begins, unless the arcs are given too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column, Corpus
from trellis.errors import DataError, shown
from trellis.features.arrays import Given
from trellis.labels import runs
from trellis.lattice.shape import Shape

I64 = NDArray[np.int64]
BOOL = NDArray[np.bool_]

FARTHEST = (1 << 31) - 1  # where a node may end


class Node(NamedTuple):
    """The span from `start` up to but not including `end` of a text, with a label and attributes: a list of names, or
    a dict of names and values."""

    start: int
    end: int
    label: str
    attributes: Any = ()


class Arc(NamedTuple):
    """Node number `target` may follow node number `source`, counted from 0."""

    source: int
    target: int
    attributes: Any = ()


@dataclass(frozen=True)
class Lattice:
    """`nodes` in the order of their starts; `arcs`, or None for one from each node to all that begin where it ends.
    Paths lead from the first place of the text to its last."""

    nodes: Sequence[Node]
    arcs: Sequence[Arc] | None = None


@dataclass(frozen=True)
class Lattices:
    """Many lattices, end to end.

    `nodes`: what features read: a corpus with a row for each node, or lists of attributes; `labels`: of each node;
    `start`, `end`: I64[nodes], its span; `shape`: which follow each other; `arcs`: lists of the attributes of each arc
    of a lattice, in the order of the shape, if there are any.
    """

    nodes: Corpus | Given
    labels: Column
    start: I64
    end: I64
    shape: Shape
    arcs: Given | None = None

    @classmethod
    def of(cls, lattices: Sequence[Lattice]) -> Lattices:
        """From lattices one by one, checked."""
        checked = [_checked(lattice, s) for s, lattice in enumerate(lattices, 1)]
        nodes = [node for own, _ in checked for node in own]
        offsets = np.concatenate([[0], np.cumsum([len(own) for own, _ in checked])]).astype(np.int64)
        start, end = (np.array([node[side] for node in nodes], np.int64) for side in (0, 1))
        attributes = [[node.attributes for node in own] for own, _ in checked]
        labels = Column.of(node.label for node in nodes)
        if all(arcs is None for _, arcs in checked):
            return cls(attributes, labels, start, end, joined(start, end, offsets))
        pairs, named, counts = [], [], []
        for (own, arcs), first in zip(checked, offsets.tolist(), strict=False):
            listed = list(_neighbours(own)) if arcs is None else arcs
            pairs += [(first + arc.source, first + arc.target) for arc in listed]
            named += [arc.attributes for arc in listed]
            counts.append(len(listed))
        shape, order = Shape.of_arcs(np.array(pairs).reshape(-1, 2), offsets, *edges(start, end, offsets))
        cuts = np.cumsum([0, *counts]).tolist()  # arcs of a lattice stay together, as they are sorted by their heads
        listed_arcs = [[named[e] for e in order[a:b].tolist()] for a, b in pairwise(cuts)]
        return cls(attributes, labels, start, end, shape, listed_arcs)

    def __len__(self) -> int:
        return self.shape.sentences

    @property
    def offsets(self) -> I64:
        """Where the nodes of each lattice begin, I64[lattices + 1]."""
        return self.shape.offsets

    @property
    def owners(self) -> I64:
        """The lattice of each node, I64[nodes]."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def part(self, first: int, last: int) -> Lattices:
        """Lattices first..last, counted from 0, without the last."""
        if not (is_whole(first) and is_whole(last) and 0 <= first <= last <= len(self)):
            raise DataError(f"lattices {shown(first)} to {shown(last)} of {len(self)}; expected 0 <= first <= last")
        a, b = int(self.offsets[first]), int(self.offsets[last])
        return Lattices(
            self.nodes.slice(first, last) if isinstance(self.nodes, Corpus) else self.nodes[first:last],
            Column(self.labels.ids[a:b], self.labels.strings),
            self.start[a:b],
            self.end[a:b],
            self.shape.part(first, last),
            None if self.arcs is None else self.arcs[first:last],
        )

    def batches(self, size: int) -> Iterator[tuple[int, Lattices]]:
        """Parts of about so many nodes and arcs, each with the number of its first lattice."""
        sizes = self.offsets + self.shape.start[self.offsets]
        for first, last in runs(sizes, size):
            yield first, self.part(first, last)

    def chosen(self, which: BOOL) -> Lattices:
        """The lattices marked in BOOL[lattices]."""
        if which.all():
            return self
        nodes = np.repeat(which, np.diff(self.offsets))
        offsets = np.concatenate([[0], np.cumsum(np.diff(self.offsets)[which])]).astype(np.int64)
        listed = np.flatnonzero(which).tolist()
        return Lattices(
            self.nodes.rows(nodes, offsets) if isinstance(self.nodes, Corpus) else [self.nodes[s] for s in listed],
            Column(self.labels.ids[nodes], self.labels.strings),
            self.start[nodes],
            self.end[nodes],
            self.shape.chosen(which),
            None if self.arcs is None else [self.arcs[s] for s in listed],
        )


def joined(start: I64, end: I64, offsets: I64) -> Shape:
    """Each node leads to all that begin where it ends; the nodes of a lattice are in the order of their starts."""
    place = np.repeat(_bases(end, offsets), np.diff(offsets))
    begins, ends = place + start, place + end  # places of all texts, laid end to end, with one between them
    first, last = (np.searchsorted(begins, ends, side=side) for side in ("left", "right"))
    count = last - first
    source = np.repeat(np.arange(len(start)), count)
    target = np.repeat(first - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
    return Shape.of_arcs(np.stack([source, target], axis=1), offsets, *edges(start, end, offsets))[0]


def edges(start: I64, end: I64, offsets: I64) -> tuple[BOOL, BOOL]:
    """Which nodes are at the beginning of their text, and which at its end."""
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    first = np.full(len(offsets) - 1, np.iinfo(np.int64).max)
    np.minimum.at(first, owner, start)
    return start == first[owner], end == _lengths(end, offsets)[owner]


def _lengths(end: I64, offsets: I64) -> I64:
    length = np.zeros(len(offsets) - 1, np.int64)
    np.maximum.at(length, np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), end)
    return length


def _bases(end: I64, offsets: I64) -> I64:
    """Where each text begins among all of them, one place apart, I64[lattices]."""
    lengths = _lengths(end, offsets) + 1
    return np.cumsum(lengths) - lengths


def _checked(lattice: Any, s: int) -> tuple[list[Node], list[Arc] | None]:
    if not isinstance(lattice, Lattice):
        raise DataError(f"lattice {s} is {shown(lattice)}; expected a Lattice")
    for what, listed in (("nodes", lattice.nodes), ("arcs", lattice.arcs or [])):
        if isinstance(listed, str) or not hasattr(listed, "__iter__"):
            raise DataError(f"lattice {s}: its {what} are {shown(listed)}; expected a list of them")
    nodes, before = [], 0
    for n, given in enumerate(lattice.nodes):
        try:
            node = Node(*given)
            good = isinstance(node.label, str) and all(is_whole(side) for side in node[:2])
        except TypeError:
            good = False
        if not good:
            raise DataError(f"lattice {s}, node {n}: {shown(given)}; expected Node(start, end, label, attributes)")
        if not 0 <= node.start < node.end <= FARTHEST:
            what = f"the span {shown(node.start)} to {shown(node.end)}; expected 0 <= start < end <= {FARTHEST}"
            raise DataError(f"lattice {s}, node {n}: {what}")
        if node.start < before:
            raise DataError(f"lattice {s}, node {n} begins before node {n - 1}; sort nodes by their starts")
        before = node.start
        nodes.append(node)
    if lattice.arcs is None:
        return nodes, None
    arcs = [_checked_arc(given, nodes, s, e) for e, given in enumerate(lattice.arcs)]
    there: dict[tuple[int, int], int] = {}
    for e, arc in enumerate(arcs):
        if there.setdefault(arc[:2], e) < e:
            raise DataError(f"lattice {s}: arcs {there[arc[:2]]} and {e} both lead from {arc.source} to {arc.target}")
    return nodes, arcs


def _checked_arc(given: Any, nodes: list[Node], s: int, e: int) -> Arc:
    try:
        arc = Arc(*given)
        good = all(is_whole(side) and 0 <= side < len(nodes) for side in arc[:2])
    except TypeError:
        good = False
    if not good:
        what = f"expected Arc(source, target, attributes) with numbers of nodes, 0 to {len(nodes) - 1}"
        raise DataError(f"lattice {s}, arc {e}: {shown(given)}; {what}")
    if nodes[arc.source].end > nodes[arc.target].start:
        what = f"node {arc.target} begins before node {arc.source} ends"
        raise DataError(f"lattice {s}, arc {e} from {arc.source} to {arc.target}: {what}")
    return arc


def _neighbours(nodes: list[Node]) -> Iterator[Arc]:
    starting: dict[int, list[int]] = {}
    for v, node in enumerate(nodes):
        starting.setdefault(node.start, []).append(v)
    for u, node in enumerate(nodes):
        yield from (Arc(u, v) for v in starting.get(node.end, ()))


def is_whole(value: object) -> bool:
    """Whether it is a whole number."""
    return isinstance(value, Integral) and not isinstance(value, bool)
