"""Chains of first order written out arc by arc, for the questions that are asked of single sentences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from trellis.labels import first_tokens
from trellis.lattice.graph import F64, I32, I64
from trellis.lattice.parts import PartLattice, Parts
from trellis.lattice.shape import Shape


@dataclass
class WrittenChain(PartLattice):
    """`node_scores: F64[tokens * labels]`; `arc_scores: F64[labels * labels]`, or where they are `positional`,
    F64[tokens * labels * labels], whose block t leads into token t; `width`, the number of labels."""

    width: int
    positional: bool

    @property
    def labels(self) -> int:
        return self.width

    @property
    def tokens(self) -> int:
        return int(self.offsets[-1])

    def parts(self) -> Parts:
        width, cells, inner = self.width, self.width**2, ~first_tokens(self.offsets)
        start = np.concatenate([[0], np.cumsum(np.repeat(np.where(inner, width, 0), width))]).astype(np.int64)
        token, label = np.divmod(np.arange(self.tokens * width), width)
        # arcs into (t, j) come from (t - 1, 0), (t - 1, 1), ...
        into = np.flatnonzero(inner[token])
        before = np.arange(width)
        source = ((token[into] - 1) * width)[:, None] + before
        of_arcs = before * width + (label[into] + token[into] * self._each)[:, None]
        last = np.append(~inner[1:], True)[: self.tokens]
        shape = Shape(
            start,
            source.ravel().astype(np.int32),
            np.repeat(~inner, width),
            np.repeat(last, width),
            self.offsets * width,
        )
        nodes = self.tokens * width
        arcs = self.tokens * cells if self.positional else cells
        return Parts(shape, np.arange(nodes), of_arcs.ravel() + nodes, nodes, arcs)

    def node_parts_of(self, path: I32) -> tuple[I64, I64]:
        return np.arange(self.tokens) * self.width + path, self._sentence_of_tokens

    def arc_parts_of(self, path: I32) -> tuple[I64, I64]:
        here = np.flatnonzero(~first_tokens(self.offsets))
        cells = path[here - 1].astype(np.int64) * self.width + path[here]
        return cells + here * self._each, self._sentence_of_tokens[here]

    def path_of(self, node_parts: I64) -> I32:
        return (node_parts % self.width).astype(np.int32)

    def on_nodes(self, rows: F64) -> F64:
        return rows.ravel()

    def on_labels(self, nodes: F64) -> F64:
        return nodes.reshape(self.tokens, self.width)

    @property
    def owners(self) -> I64:
        return np.repeat(self._sentence_of_tokens, self.width)

    def tokens_of(self, parts: Parts) -> I64:
        return parts.of_nodes // self.width

    def path_labels(self, parts: Parts) -> I64:
        return parts.of_nodes % self.width

    def sentence(self, s: int) -> Self:
        a, b = int(self.offsets[s]), int(self.offsets[s + 1])
        arcs = self.arc_scores[a * self._each : b * self._each] if self.positional else self.arc_scores
        nodes = self.node_scores[a * self.width : b * self.width]
        return replace(self, node_scores=nodes, arc_scores=arcs, offsets=np.array([0, b - a]))

    @property
    def _each(self) -> int:
        """How far one token's block is from that of the next."""
        return self.width**2 if self.positional else 0

    @property
    def _sentence_of_tokens(self) -> I64:
        return np.repeat(np.arange(self.sentences), np.diff(self.offsets))
