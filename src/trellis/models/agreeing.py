"""What is known of the path through a lattice: its nodes, segments that it has, or probabilities of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError, SettingError, shown
from trellis.features.lattices import FARTHEST, Lattices, is_whole
from trellis.lattice.explicit import ExplicitLattice
from trellis.models.known import WORTH_A_WEIGHT

BOOL = NDArray[np.bool_]
F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

_FAR = FARTHEST + 1
_LISTED = (AbstractSet, list, tuple)
_EXPECTED = "expected the number of a node, or (start, end, label), where the label may be None or a set of labels"


@dataclass(frozen=True)
class Agreed:
    """`kind`: gold, part or soft; `path: I32[nodes]`, 1 on the nodes that are on the path, or may be; `known:
    BOOL[nodes, 2]` and `soft: F64[nodes, 2]`, as in `Target`: whether a path may pass by a node, or go there; `seen:
    BOOL[nodes]`, which nodes count as seen; `fits: BOOL[lattices]`, whether the lattice has all that is known."""

    kind: str
    path: NDArray[np.int32]
    known: BOOL | None
    soft: F64 | None
    seen: BOOL
    fits: BOOL

    def chosen(self, offsets: I64) -> Agreed:
        """Of the lattices that fit, whose nodes began at these offsets."""
        nodes = np.repeat(self.fits, np.diff(offsets))
        return Agreed(
            self.kind,
            self.path[nodes],
            None if self.known is None else self.known[nodes],
            None if self.soft is None else self.soft[nodes],
            self.seen[nodes],
            self.fits[self.fits],
        )


def agreed_on(
    data: Lattices,
    y: Sequence[Sequence[Any]] | None,
    soft: Sequence[Any] | None,
    partial: bool,
    check: bool = True,
) -> Agreed:
    """From the segments `y` of each lattice, all of its path, or with `partial` some; or from probabilities of nodes.
    `check`: that what is known leaves a path."""
    if (y is None) == (soft is None):
        what = "neither is given" if y is None else "both are given"
        raise SettingError(f"paths are learnt from segments y, or from soft, probabilities of nodes; {what}")
    if soft is not None:
        return _of_soft(data, soft)
    assert y is not None
    found = matches(data, y)
    _check_apart(found)
    on, fits = np.zeros(len(data.start), bool), np.ones(len(data), bool)
    fits[found.owner[found.count == 0]] = False
    on[found.nodes] = True
    allowed = on.copy()
    if partial:
        allowed |= ~_overlapping(data, found)
    known = np.stack([np.ones(len(on), bool), allowed], axis=1)
    if partial or bool((found.count > 1).any()):
        answer = Agreed("part", on.astype(np.int32), known, None, on, fits)
    else:
        answer = Agreed("gold", on.astype(np.int32), None, None, on, fits)
    if check:
        _check_paths(data, answer, allowed)
    return answer


@dataclass(frozen=True)
class Matches:
    """Items that are known: the lattice of each, its span, and how many nodes it may be, I64[items]; and these `nodes`,
    one item after the other."""

    owner: I64
    start: I64
    end: I64
    count: I64
    nodes: I64


def matches(data: Lattices, y: Sequence[Sequence[Any]]) -> Matches:
    """The nodes that items (numbers of nodes, or (start, end, label or labels)) may be."""
    if not hasattr(y, "__len__") or isinstance(y, str) or len(y) != len(data):
        there = len(y) if hasattr(y, "__len__") else "no"
        raise DataError(f"{len(data)} lattices and {there} lists of segments in y; expected one for each lattice")
    sizes, choices = np.diff(data.offsets).tolist(), dict[Any, int]()
    for s, items in enumerate(y, 1):
        if isinstance(items, str) or not hasattr(items, "__iter__"):
            raise DataError(f"lattice {s}: {shown(items)} in y; expected a list of segments")
    rows = [_row(item, s, sizes[s], choices) for s, items in enumerate(y) for item in items]
    owner, start, end, which = np.array(rows, np.int64).reshape(-1, 4).T.copy()
    numbered = np.flatnonzero(start == -1)
    node = np.full(len(owner), -1)
    node[numbered] = data.offsets[owner[numbered]] + which[numbered]
    start[numbered], end[numbered] = data.start[node[numbered]], data.end[node[numbered]]
    first, count, order = _candidates(data, owner, start, end)
    item = np.repeat(np.arange(len(owner)), count)
    at = order[np.repeat(first - (np.cumsum(count) - count), count) + np.arange(len(item))]
    names = data.labels.strings
    may = np.array([[labels is None or name in labels for name in names] for labels in choices], bool)
    may = may.reshape(len(choices), len(names))
    good = np.where(node[item] >= 0, at == node[item], False)
    spans = np.flatnonzero(node[item] < 0)
    good[spans] = may[which[item[spans]], data.labels.ids[at[spans]]]
    return Matches(owner, start, end, np.bincount(item[good], minlength=len(owner)), at[good])


def _row(item: Any, s: int, nodes: int, choices: dict[Any, int]) -> tuple[int, int, int, int]:
    """Lattice, span, and which of the choices of labels it has; or lattice, -1, -1 and the number of a node."""
    if isinstance(item, int | np.integer) and not isinstance(item, bool):
        if not 0 <= item < nodes:
            raise DataError(f"lattice {s + 1} has no node {item}; it has {nodes}, counted from 0")
        return s, -1, -1, int(item)
    start, end, labels = _item(item, s)
    return s, start, end, choices.setdefault(labels, len(choices))


def _candidates(data: Lattices, owner: I64, start: I64, end: I64) -> tuple[I64, I64, I64]:
    """The nodes with the same span as each item: order[first:first + count]."""
    spans = np.stack([np.append(data.owners, owner), np.append(data.start, start), np.append(data.end, end)], axis=1)
    number = np.unique(spans, axis=0, return_inverse=True)[1].reshape(-1)
    keys, wanted = number[: len(data.start)], number[len(data.start) :]
    order = np.argsort(keys, kind="stable")
    first, last = (np.searchsorted(keys[order], wanted, side=side) for side in ("left", "right"))
    return first, last - first, order


def _item(item: Any, s: int) -> tuple[int, int, frozenset[str] | None]:
    try:
        start, end, label = item
        if not (is_whole(start) and is_whole(end) and 0 <= start < end <= FARTHEST):
            raise ValueError
        start, end = int(start), int(end)
    except (TypeError, ValueError):
        raise DataError(f"lattice {s + 1}: {shown(item)} in y; {_EXPECTED}") from None
    if label is None:
        return start, end, None
    labels = [label] if isinstance(label, str) else list(label) if isinstance(label, _LISTED) else []
    if not labels or not all(isinstance(one, str) for one in labels):
        raise DataError(f"lattice {s + 1}: the label {shown(label)} in y; {_EXPECTED}")
    return start, end, frozenset(labels)


def _overlapping(data: Lattices, found: Matches) -> BOOL:
    """Which nodes share a place of the text with an item; items of a lattice do not overlap."""
    order = np.lexsort((found.start, found.owner))
    owner, start, end = found.owner[order], found.start[order], found.end[order]
    keys = owner * _FAR + start
    at = np.searchsorted(keys, data.owners * _FAR + data.end) - 1  # the last item that begins before the node ends
    there = (at >= 0) & (np.append(owner, -1)[at] == data.owners)
    return np.asarray(there & (np.append(end, 0)[at] > data.start))


def _check_apart(found: Matches) -> None:
    """Items of a path share no place of the text."""
    order = np.lexsort((found.end, found.start, found.owner))
    owner, start, end = found.owner[order], found.start[order], found.end[order]
    for k in np.flatnonzero((owner[1:] == owner[:-1]) & (start[1:] < end[:-1]))[:1].tolist():
        what = f"{start[k]} to {end[k]} and {start[k + 1]} to {end[k + 1]}"
        raise DataError(f"lattice {owner[k] + 1}: the segments {what} in y overlap, so no path has both")


def _check_paths(data: Lattices, answer: Agreed, allowed: BOOL) -> None:
    """What fits is a path, or leaves one."""
    nodes, arcs = np.where(allowed, 0.0, -np.inf), np.zeros(len(data.shape.source))
    lattice = ExplicitLattice(nodes, arcs, data.offsets, data.shape)
    totals = lattice.path_scores(answer.path) if answer.kind == "gold" else lattice.best()[1]
    for s in np.flatnonzero(answer.fits & ~np.isfinite(totals))[:1].tolist():
        what = {
            "gold": "the segments in y are no path through it, from its beginning to its end",
            "part": "the segments in y leave no path",
            "soft": "soft leaves no path: on each some node has the probability 0",
        }
        raise DataError(f"lattice {s + 1}: {what[answer.kind]}")


def _of_soft(data: Lattices, soft: Sequence[Any]) -> Agreed:
    if not hasattr(soft, "__len__") or len(soft) != len(data):
        raise DataError(f"soft must be a list with an array of probabilities for each of {len(data)} lattices")
    parts = [np.zeros(0)]
    for s, (array, nodes) in enumerate(zip(soft, np.diff(data.offsets).tolist(), strict=True), 1):
        try:
            part = np.asarray(array, dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError(
                f"lattice {s}: soft has what are no numbers; expected a probability for each node"
            ) from None
        if part.shape != (nodes,) or not np.all((part >= 0.0) & (part <= 1.0)):
            raise DataError(f"lattice {s}: expected a probability from 0 to 1 for each of its {nodes} nodes in soft")
        parts.append(part)
    p = np.concatenate(parts)
    seen = p >= WORTH_A_WEIGHT
    answer = Agreed("soft", seen.astype(np.int32), None, np.stack([1.0 - p, p], axis=1), seen, np.ones(len(data), bool))
    _check_paths(data, answer, p > 0.0)
    return answer
