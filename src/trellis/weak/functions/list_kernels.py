"""Compiled loops of lists of phrases: the longest phrase from left to right, down a trie."""

from __future__ import annotations

from typing import Any

from trellis.jit import kernel, part

Array = Any


@part
def _child(edges: Array, low: int, high: int, key: int) -> int:
    """Where the key is among edges[low:high], which are sorted; -1 if it is not there."""
    end = high
    while low < high:
        middle = (low + high) // 2
        if edges[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < end and edges[low] == key else -1


@kernel
def longest_phrases(
    tokens: Array, offsets: Array, root: Array, edges: Array, children: Array, first: Array, out: Array
) -> int:
    """Writes start, end and node of each phrase into out: I64[3, tokens]; how many there are. tokens: I64[tokens],
    numbers of words, -1 for those of no phrase; root: I64[words], the node that a word leads to from the root, or -1;
    the others are those of a `Trie`."""
    words = len(root)
    found = 0
    for s in range(len(offsets) - 1):
        t, stop = offsets[s], offsets[s + 1]
        while t < stop:
            node = root[tokens[t]] if tokens[t] >= 0 else -1
            at, end = t + 1, -1
            while node >= 0:
                if first[node + 1] > first[node]:
                    end = at
                    out[2, found] = node
                if at == stop or tokens[at] < 0:
                    break
                edge = _child(edges, children[node], children[node + 1], node * words + tokens[at])
                node = edge + 1 if edge >= 0 else -1
                at += 1
            if end < 0:
                t += 1
                continue
            out[0, found], out[1, found] = t, end
            found += 1
            t = end
    return found
