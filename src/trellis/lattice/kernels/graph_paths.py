"""Single paths through explicit graphs (see `kernels.graph`): the best one, the k best, and a beam.

A path is the set of its nodes, which are in topological order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import ordered_kernel, ordered_part
from trellis.lattice.kernels.beam import drop

Array = Any


@ordered_part
def furthest(start: Array, source: Array, first: Array, nodes: Array, arcs: Array, v: int, delta: Array) -> Any:
    """delta_v = s_v + max( [0 if v is first], max over arcs (u, v) of delta_u + s_e ), the score of the best path up to
    v."""
    high = 0.0 if first[v] else -np.inf
    for e in range(start[v], start[v + 1]):
        high = max(high, delta[source[e]] + arcs[e])
    return nodes[v] + high


@ordered_part
def _trace(start: Array, source: Array, first: Array, arcs: Array, delta: Array, here: int, on: Array) -> None:
    """True in on: BOOL[nodes] along the best path that ends at node `here`, -1 for none."""
    while here >= 0:
        on[here] = True
        high, before = 0.0 if first[here] else -np.inf, -1
        for e in range(start[here], start[here + 1]):
            value = delta[source[e]] + arcs[e]
            if value > high:
                high, before = value, source[e]
        here = before


@ordered_kernel
def best_paths(
    start: Array,
    source: Array,
    first: Array,
    last: Array,
    offsets: Array,
    nodes: Array,
    arcs: Array,
    delta: Array,
    on: Array,
    totals: Array,
) -> None:
    """Written: delta F64[nodes]; on BOOL[nodes], True on the best path; totals F64[sentences], -inf without a path.
    Of equal paths the one with the earliest nodes, from the end on, is taken."""
    for s in range(len(offsets) - 1):
        a, b = offsets[s], offsets[s + 1]
        totals[s] = 0.0 if a == b else -np.inf
        here = -1
        for v in range(a, b):
            on[v] = False
            delta[v] = furthest(start, source, first, nodes, arcs, v, delta)
            if last[v] and delta[v] > totals[s]:
                totals[s], here = delta[v], v
        _trace(start, source, first, arcs, delta, here, on)


@ordered_kernel
def path_sums(
    start: Array,
    source: Array,
    first: Array,
    last: Array,
    offsets: Array,
    nodes: Array,
    arcs: Array,
    on: Array,
    totals: Array,
) -> None:
    """Numbers on nodes and arcs added up along one path a sentence, BOOL[nodes]; -inf for what is no path."""
    for s in range(len(offsets) - 1):
        total, before = 0.0, -1
        for v in range(offsets[s], offsets[s + 1]):
            if not on[v]:
                continue
            total += nodes[v]
            if before < 0:
                total += 0.0 if first[v] else -np.inf
            else:
                found = -np.inf
                for e in range(start[v], start[v + 1]):
                    if source[e] == before:
                        found = arcs[e]
                total += found
            before = v
        if offsets[s + 1] > offsets[s] and (before < 0 or not last[before]):
            total = -np.inf
        totals[s] = total


@ordered_kernel
def arcs_on_path(start: Array, source: Array, on: Array, offsets: Array, out: Array) -> None:
    """out[e] = True for the arcs between neighbours on one path a sentence, BOOL[nodes]."""
    for s in range(len(offsets) - 1):
        before = -1
        for v in range(offsets[s], offsets[s + 1]):
            if on[v]:
                for e in range(start[v], start[v + 1]):
                    if source[e] == before:
                        out[e] = True
                before = v


# The k best paths: a best-first search from the end, in which delta says exactly how much the rest of a path can still
# add. So every step towards the beginning is a step on one of the k best, and the work for one more path is the number
# of arcs into its nodes. An entry is a node with the path behind it: node, after (the entry it goes on to, -1 for
# none), tail (the score from behind the node to the end). A heap holds entries by delta + tail. An entry for a path
# that begins at its node and is complete has the node's number as -2 - v.


@ordered_part
def _before(priority: Array, heap: Array, i: int, j: int) -> Any:
    """Whether entry heap[i] comes before heap[j]: higher, and of equals the older one."""
    x, y = heap[i], heap[j]
    return priority[x] > priority[y] or (priority[x] == priority[y] and x < y)


@ordered_part
def _push(priority: Array, heap: Array, size: int) -> None:
    """heap[size] has just been written."""
    i = size
    while i > 0 and _before(priority, heap, i, (i - 1) // 2):
        heap[i], heap[(i - 1) // 2] = heap[(i - 1) // 2], heap[i]
        i = (i - 1) // 2


@ordered_part
def _pop(priority: Array, heap: Array, size: int) -> Any:
    """The first entry; `size` entries there were."""
    entry = heap[0]
    heap[0] = heap[size - 1]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size - 1:
            break
        if child + 1 < size - 1 and _before(priority, heap, child + 1, child):
            child += 1
        if not _before(priority, heap, child, i):
            break
        heap[i], heap[child] = heap[child], heap[i]
        i = child
    return entry


@ordered_kernel
def next_path(
    start: Array,
    source: Array,
    first: Array,
    nodes: Array,
    arcs: Array,
    delta: Array,
    priority: Array,
    tail: Array,
    node: Array,
    after: Array,
    heap: Array,
    sizes: Array,
) -> Any:
    """The next best path as the number of an entry that begins it; -1 when there are no more, -2 when the arrays of
    entries are full: make them longer and ask again. sizes I64[2]: entries and heap."""
    while True:
        entries, waiting = sizes[0], sizes[1]
        if waiting == 0:
            return -1
        v = node[heap[0]]
        if v <= -2:
            entry = _pop(priority, heap, waiting)
            sizes[1] = waiting - 1
            return entry
        if entries + start[v + 1] - start[v] + 1 > len(priority):
            return -2
        entry = _pop(priority, heap, waiting)
        waiting -= 1
        behind = nodes[v] + tail[entry]
        if first[v]:
            priority[entries], tail[entries], node[entries], after[entries] = behind, behind, -2 - v, entry
            heap[waiting] = entries
            _push(priority, heap, waiting)
            entries, waiting = entries + 1, waiting + 1
        for e in range(start[v], start[v + 1]):
            value = delta[source[e]] + (arcs[e] + behind)
            if value > -np.inf:
                priority[entries], tail[entries], node[entries], after[entries] = (
                    value,
                    arcs[e] + behind,
                    source[e],
                    entry,
                )
                heap[waiting] = entries
                _push(priority, heap, waiting)
                entries, waiting = entries + 1, waiting + 1
        sizes[0], sizes[1] = entries, waiting


@ordered_kernel
def begin_search(
    last: Array, a: int, b: int, delta: Array, priority: Array, tail: Array, node: Array, after: Array, heap: Array,
    sizes: Array,
) -> None:  # fmt: skip
    """Entries for the nodes of a..b at which paths may end; there is room for all of them."""
    count = 0
    for v in range(a, b):
        if last[v] and delta[v] > -np.inf:
            priority[count], tail[count], node[count], after[count] = delta[v], 0.0, v, -1
            heap[count] = count
            _push(priority, heap, count)
            count += 1
    sizes[0], sizes[1] = count, count


@ordered_kernel
def follow(node: Array, after: Array, entry: int, out: Array) -> int:
    """The nodes of a complete path into out; how many there are."""
    count, here = 0, after[entry]
    while here >= 0:
        out[count] = node[here]
        count += 1
        here = after[here]
    return count


@ordered_kernel
def beam_paths(
    start: Array,
    source: Array,
    first: Array,
    last: Array,
    offsets: Array,
    level: Array,
    nodes: Array,
    arcs: Array,
    width: int,
    delta: Array,
    on: Array,
    totals: Array,
    bounds: Array,
) -> None:
    """As `best_paths`, but of the nodes of each level (I32[nodes], which rises along every arc and never falls along
    a sentence) only the `width` best go on. bounds F64[sentences]: no path scores more.

    A path that is lost was dropped at one of its nodes, where delta was exact; what it could have added from there is
    at most

        rest_l = max( [0 if paths may end at level l], max over arcs (u, v) from level l of s_e + s_v + rest_(level v) )
    """
    deepest = 0
    for v in range(len(level)):
        deepest = max(deepest, level[v])
    rest = np.empty(deepest + 1)
    best = np.empty(width)
    for s in range(len(offsets) - 1):
        a, b = offsets[s], offsets[s + 1]
        totals[s] = 0.0 if a == b else -np.inf
        for v in range(a, b):
            on[v] = False
            rest[level[v]] = -np.inf
        for v in range(b - 1, a - 1, -1):
            if last[v]:
                rest[level[v]] = max(rest[level[v]], 0.0)
            for e in range(start[v], start[v + 1]):
                far = arcs[e] + nodes[v] + rest[level[v]]
                rest[level[source[e]]] = max(rest[level[source[e]]], far)
        lost, here, v = -np.inf, -1, a
        while v < b:
            behind = v
            while behind < b and level[behind] == level[v]:
                behind += 1
            for u in range(v, behind):
                delta[u] = furthest(start, source, first, nodes, arcs, u, delta)
            lost = max(lost, drop(delta[v:behind], best) + rest[level[v]])
            for u in range(v, behind):
                if last[u] and delta[u] > totals[s]:
                    totals[s], here = delta[u], u
            v = behind
        bounds[s] = max(totals[s], lost)
        _trace(start, source, first, arcs, delta, here, on)


@ordered_kernel
def depths(start: Array, source: Array, level: Array) -> None:
    """The number of arcs on the longest way to each node; level I32[nodes] is 0 everywhere."""
    for v in range(len(level)):
        for e in range(start[v], start[v + 1]):
            level[v] = max(level[v], level[source[e]] + 1)


@ordered_kernel
def path_arcs(start: Array, source: Array, before: Array, after: Array, out: Array) -> None:
    """out[k] = the arc from node before[k] to node after[k], I64[pairs]; -1 for none."""
    for k in range(len(before)):
        out[k] = -1
        for e in range(start[after[k]], start[after[k] + 1]):
            if source[e] == before[k]:
                out[k] = e
