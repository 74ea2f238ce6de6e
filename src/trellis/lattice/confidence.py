"""How probable segments are: of all paths together, how much goes through just this segment.

Labels spell segments (see `Spelling`): labels of one type that follow each other without a start are one segment.

Let M_d be the probability that a segment of some type starts at a token and goes on for at least d tokens. Then
P(it is d tokens long) = M_d - M_(d+1), and as M falls with d, nothing that is below a threshold need be followed
further: all segments above it are found in one sweep over lengths, for all tokens at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.labels import first_tokens
from trellis.lattice.graph import F64, I64
from trellis.lattice.parts import PartLattice
from trellis.lattice.spelling import Spelling


@dataclass(frozen=True)
class Segments:
    """Tokens start..end (without the last), types and probabilities of segments, in the order of their starts."""

    start: I64
    end: I64
    kind: I64
    probability: F64

    @classmethod
    def joined(cls, parts: Sequence[Segments], firsts: Sequence[int] | None = None) -> Segments:
        """One after the other; `firsts`: what is added to the tokens of each."""
        none = np.zeros(0, np.int64)
        shifts = [0] * len(parts) if firsts is None else firsts
        pairs = list(zip(parts, shifts, strict=True))
        return cls(
            np.concatenate([none, *(part.start + shift for part, shift in pairs)]),
            np.concatenate([none, *(part.end + shift for part, shift in pairs)]),
            np.concatenate([none, *(part.kind for part in parts)]),
            np.concatenate([np.zeros(0), *(part.probability for part in parts)]),
        )

    def __len__(self) -> int:
        return len(self.start)

    def at_least(self, probability: float) -> Segments:
        """Those that are so probable."""
        return self.chosen(self.probability >= probability)

    def sorted(self) -> Segments:
        return self.chosen(np.lexsort((self.kind, self.end, self.start)))

    def chosen(self, which: NDArray[np.generic]) -> Segments:
        """Some of them, by a mask or by numbers."""
        return Segments(self.start[which], self.end[which], self.kind[which], self.probability[which])


def segments_in_chain(nodes: F64, arcs: F64, offsets: I64, spelling: Spelling, threshold: float) -> Segments:
    """All segments with at least that probability. nodes: P(y_t = j), F64[tokens, labels]; arcs: P(y_(t-1) = i, y_t =
    j), F64[tokens, labels, labels]."""
    found = [
        _followed(nodes, arcs, offsets, spelling, kind, np.arange(len(nodes)), None, threshold)
        for kind in range(spelling.kinds)
    ]
    return Segments.joined(found).at_least(threshold).sorted()


def probabilities_in_chain(
    nodes: F64, arcs: F64, offsets: I64, spelling: Spelling, start: I64, end: I64, kind: I64
) -> F64:
    """P of these segments, F64[segments]."""
    out = np.zeros(len(start))
    for k in range(spelling.kinds):
        own = np.flatnonzero(kind == k)
        found = _followed(nodes, arcs, offsets, spelling, k, start[own], (end - start)[own], 0.0)
        # each is followed to its own length, where it is the last of its start
        which = {(a, b): p for a, b, p in zip(found.start.tolist(), found.end.tolist(), found.probability, strict=True)}
        out[own] = [which[(a, b)] for a, b in zip(start[own].tolist(), end[own].tolist(), strict=True)]
    return out


def _followed(
    nodes: F64,
    arcs: F64,
    offsets: I64,
    spelling: Spelling,
    kind: int,
    start: I64,
    lengths: I64 | None,
    threshold: float,
) -> Segments:
    """Segments of one type from these starts on, of all lengths as long as M is at least the threshold, or up to these
    lengths."""
    labels = spelling.labels_of(kind)
    goes_on = spelling.goes_on(labels)
    is_first = first_tokens(offsets)
    last = offsets[np.searchsorted(offsets, np.arange(len(nodes)), side="right")]  # where each token's sentence ends
    begins = np.einsum("tij,ij->tj", arcs[:, :, labels], spelling.starts[:, labels])
    begins[is_first] = nodes[is_first][:, labels]
    mass = begins[start]
    parts, at, first, left = [], start, start, lengths
    while len(at):
        total = mass.sum(axis=1)
        # at: the token after the last; what goes on into it
        here = at + 1
        inside = here < last[first]
        inner = np.flatnonzero(inside)
        block = arcs[here[inner]][:, labels][:, :, labels] * goes_on
        before = nodes[at[inner]][:, labels]
        given = np.divide(block, before[:, :, None], out=np.zeros_like(block), where=before[:, :, None] > 0.0)
        after = np.zeros_like(mass)
        after[inner] = np.einsum("si,sij->sj", mass[inner], given)
        probability = np.clip(total - after.sum(axis=1), 0.0, 1.0)
        parts.append(Segments(first, here, np.full(len(first), kind), probability))
        more = inside & (after.sum(axis=1) >= max(threshold, 1e-300))
        if left is not None:
            left = left - 1
            more = inside & (left > 0)
            left = left[more]
        mass, at, first = after[more], here[more], first[more]
    return Segments.joined(parts)


def segments_in_lattice(lattice: PartLattice, spelling: Spelling, threshold: float) -> Segments:
    """All segments with at least that probability, of chains of any order: by way of the graph."""
    from trellis.lattice.kernels.confidence import follow_segments

    solved = lattice.solve()
    lattice.require_paths(solved.log_z)
    shape, token = solved.parts.shape, lattice.tokens_of(solved.parts)
    label = lattice.path_labels(solved.parts)
    begin = np.searchsorted(token, np.arange(int(lattice.offsets[-1]) + 1))  # nodes of each token
    sentence_end = np.repeat(lattice.offsets[1:], np.diff(lattice.offsets))
    rows = follow_segments(
        shape.start, shape.source, solved.graph.nodes, solved.graph.arcs, begin, label, sentence_end,
        first_tokens(lattice.offsets), spelling.kind, spelling.starts, spelling.kinds, max(threshold, 1e-300),
    )  # fmt: skip
    where = rows[:, :3].astype(np.int64)
    return Segments(where[:, 0], where[:, 1], where[:, 2], rows[:, 3]).at_least(threshold).sorted()
