"""A trie of token sequences in one sorted array, and all its matches in a text by operations on whole arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

I64 = NDArray[np.int64]


@dataclass(frozen=True)
class Trie:
    """`edges: I64[nodes - 1]`, sorted: edge k = parent * words + word leads to node k + 1; node 0 is the root.

    Nodes are numbered level by level, each level by (parent, word), so edges are sorted as they come, and a node's
    number is where its edge is found. `types[first[v]:first[v + 1]]` are the types of the phrases that end in node v.
    """

    words: dict[str, int]
    edges: I64
    types: I64
    first: I64

    @classmethod
    def build(cls, phrases: Sequence[str], phrase: I64, kind: I64) -> Trie:
        """The trie of `phrases`, tokens apart by a space; phrase[k] is of type kind[k]."""
        flat = " ".join(phrases).split(" ") if len(phrases) else []  # one split is faster than one for each phrase
        words = {token: number for number, token in enumerate(dict.fromkeys(flat))}
        tokens = np.fromiter(map(words.__getitem__, flat), np.int64, len(flat))
        lengths = np.fromiter((p.count(" ") for p in phrases), np.int64, len(phrases)) + 1
        return cls.of_numbers(words, tokens, lengths, phrase, kind)

    @classmethod
    def of_numbers(cls, words: dict[str, int], tokens: I64, lengths: I64, phrase: I64, kind: I64) -> Trie:
        """The same of phrases of so many tokens each, which are numbers of `words`, end to end."""
        begins = np.cumsum(lengths) - lengths
        node = np.zeros(len(lengths), np.int64)
        edges: list[I64] = []
        nodes = 1
        longer = np.arange(len(lengths))
        for depth in range(int(lengths.max(initial=0))):
            longer = longer[lengths[longer] > depth]
            keys, which = np.unique(node[longer] * len(words) + tokens[begins[longer] + depth], return_inverse=True)
            node[longer] = nodes + which
            nodes += len(keys)
            edges.append(keys)
        ends = node[phrase]
        order = np.lexsort((kind, ends))
        first = np.append(0, np.cumsum(np.bincount(ends, minlength=nodes)))
        return cls(words, np.concatenate([np.zeros(0, np.int64), *edges]), kind[order], first)

    @cached_property
    def children(self) -> I64:
        """I64[nodes + 1]: the edges from node v are those of the numbers children[v] up to children[v + 1]."""
        nodes = len(self.edges) + 1
        parents = self.edges // max(len(self.words), 1)
        return np.append(0, np.cumsum(np.bincount(parents, minlength=nodes)))

    def matches(self, tokens: I64, offsets: I64) -> tuple[I64, I64, I64]:
        """Start, end and type of every phrase in the sentences of `tokens` (word numbers, -1: not in any phrase)."""
        start = np.flatnonzero(tokens >= 0)
        limit = offsets[np.searchsorted(offsets, start, side="right")]
        node, at = np.zeros(len(start), np.int64), start
        found = [(start[:0], start[:0], start[:0])]
        while len(start):
            key = node * len(self.words) + tokens[at]
            edge = np.searchsorted(self.edges, key)
            on = self.edges.take(edge, mode="clip") == key
            start, limit, node, at = start[on], limit[on], edge[on] + 1, at[on] + 1
            count = self.first[node + 1] - self.first[node]
            rank = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
            kinds = self.types[np.repeat(self.first[node], count) + rank]
            found.append((np.repeat(start, count), np.repeat(at, count), kinds))
            on = at < limit
            on[on] = tokens[at[on]] >= 0
            start, limit, node, at = start[on], limit[on], node[on], at[on]
        starts, ends, types = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return starts, ends, types
