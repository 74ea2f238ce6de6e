"""Graphs that remember what has happened on the way: a node for each node and each set of what may happen once."""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import ordered_kernel, ordered_part

Array = Any


@ordered_kernel
def count_once(event: Array, masks: int) -> int:
    """How many arcs there are."""
    arcs = 0
    for e in range(len(event)):
        arcs += masks if event[e] < 0 else masks // 2
    return arcs


@ordered_kernel
def once_shape(
    start: Array, source: Array, first: Array, last: Array, event: Array, first_event: Array, masks: int,
    new_start: Array, new_source: Array, new_first: Array, new_last: Array, new_arc: Array,
) -> None:  # fmt: skip
    """Node v with the set m is number v * masks + m. An arc with an event (its number in the set, -1 for none) leads
    from sets without it to the same with it; first_event: those of beginning at a node. new_arc: which arc each is."""
    arc = 0
    for v in range(len(first)):
        for m in range(masks):
            node = v * masks + m
            new_start[node] = arc
            begun = 0 if first_event[v] < 0 else 1 << first_event[v]
            new_first[node], new_last[node] = first[v] and m == begun, last[v]
            for e in range(start[v], start[v + 1]):
                before = m
                if event[e] >= 0:
                    if not m >> event[e] & 1:
                        continue
                    before = m ^ (1 << event[e])
                new_source[arc], new_arc[arc] = source[e] * masks + before, e
                arc += 1
    new_start[len(first) * masks] = arc


@ordered_kernel
def best_rests(start: Array, source: Array, last: Array, nodes: Array, arcs: Array, rest: Array) -> None:
    """rest F64[nodes]: the score of the best way on from each node to an end, without its own; -inf for none."""
    for v in range(len(rest)):
        rest[v] = 0.0 if last[v] else -np.inf
    for v in range(len(rest) - 1, -1, -1):
        on = nodes[v] + rest[v]
        for e in range(start[v], start[v + 1]):
            rest[source[e]] = max(rest[source[e]], arcs[e] + on)


@ordered_kernel
def search_once(
    start: Array, source: Array, first: Array, last: Array, nodes: Array, arcs: Array, event: Array, begun: Array,
    rest: Array, score: Array, sets: Array, back: Array, entry: Array, count: Array,
) -> Any:  # fmt: skip
    """The best path of one graph on which nothing happens twice (see `once_shape` for what happens), as far as there is
    room: score F64[nodes, room] and sets I64[nodes, room], the best ways to a node by what has happened on them, back
    and entry I32[nodes, room], the arc and the entry that each came by; count I64[nodes], which is 0.

    Answers the score, -inf if no path was found; the most that a way left out for want of room could have scored, -inf
    if there was none; and where the path ends: node and entry."""
    left_out = -np.inf
    for v in range(len(count)):
        if first[v] and nodes[v] + rest[v] > -np.inf:
            own = np.int64(0) if begun[v] < 0 else np.int64(1) << begun[v]
            _enter(score[v], sets[v], back[v], entry[v], count, v, nodes[v], own, -1, -1)
        for e in range(start[v], start[v + 1]):
            u, step = source[e], arcs[e] + nodes[v]
            if step + rest[v] == -np.inf:
                continue
            for k in range(count[u]):
                own = sets[u, k]
                if event[e] >= 0:
                    if own >> event[e] & 1:
                        continue
                    own |= np.int64(1) << event[e]
                lost = _enter(score[v], sets[v], back[v], entry[v], count, v, score[u, k] + step, own, e, k)
                left_out = max(left_out, rest[v] + lost)
    total, node, at = -np.inf, -1, -1
    for v in range(len(count)):
        if last[v] and count[v] > 0 and score[v, 0] > total:
            total, node, at = score[v, 0], v, 0
    return total, left_out, node, at


@ordered_part
def _enter(
    score: Array, sets: Array, back: Array, entry: Array, count: Array, v: int, value: float, own: Any, arc: int,
    via: int,
) -> float:  # fmt: skip
    """Puts a way to node v among those that are kept, best first, unless one of these is as good and has used up no
    more; ways that are no better than it go. The score of what there is no room for, -inf if there is room."""
    n, at = count[v], 0
    while at < n and score[at] >= value:
        if sets[at] & own == sets[at]:
            return -np.inf
        at += 1
    kept = at
    for k in range(at, n):  # worse ones that have used up no less
        if own & sets[k] != own:
            if kept != k:
                score[kept], sets[kept], back[kept], entry[kept] = score[k], sets[k], back[k], entry[k]
            kept += 1
    lost = -np.inf
    if kept == len(score):
        if at == kept:
            return value
        kept -= 1
        lost = score[kept]
    for k in range(kept, at, -1):
        score[k], sets[k], back[k], entry[k] = score[k - 1], sets[k - 1], back[k - 1], entry[k - 1]
    score[at], sets[at], back[at], entry[at] = value, own, arc, via
    count[v] = kept + 1
    return lost


@ordered_kernel
def follow_entries(source: Array, back: Array, entry: Array, node: int, at: int, on: Array) -> None:
    """Marks the nodes of a path that was searched for, BOOL[nodes]."""
    while node >= 0:
        on[node] = True
        arc, at = back[node, at], entry[node, at]
        node = source[arc] if arc >= 0 else -1
