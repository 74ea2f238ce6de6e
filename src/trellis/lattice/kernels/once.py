"""Graphs that remember what has happened on the way: a node for each node and each set of what may happen once."""

from __future__ import annotations

from typing import Any

from trellis.jit import ordered_kernel

Array = Any


@ordered_kernel
def count_once(start: Array, event: Array, masks: int) -> int:
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
