"""Cut and paste that keeps types: a segment gives way, with what stands around it, to one of the same type from
elsewhere, which brings its own surroundings.

What is cut out is a segment with up to `AROUND` outside tokens on either side: all there are before the first and after
the last segment of a sentence, and no more than half of those between two, so that no token is in two pieces. Each
piece is replaced with probability p by the piece of another segment of its type. Only outside tokens and one segment of
the same type move, so that the sequence of types in a sentence stays what it was, while its frame is new. (Where
segments touch there is nothing around them, and it is mention replacement. In the encoding io, in which segments of one
type cannot touch, pieces that would make them do so stay.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.fewlabels.augment.contract import Method, Segments, Source, Table
from trellis.fewlabels.augment.pieces import drawn_alike, spliced

I64 = NDArray[np.int64]

AROUND = 2  # tokens


def change(source: Source, rng: np.random.Generator, p: float, table: Table | None = None) -> Corpus:
    """As above."""
    segments = source.segments
    left, right = surroundings(segments, source.offsets)
    start, end = segments.start - left, segments.end + right
    chosen = np.flatnonzero(rng.random(len(segments)) < p)
    donor = np.arange(len(segments))
    donor[chosen] = drawn_alike(segments.kind, segments.kind[chosen], rng)
    if source.spelt == "io":
        _keep_apart(donor, segments, source.offsets, left, right)
    new = spliced(source.offsets, (start, end), start[donor], (end - start)[donor])
    first = new.start + left[donor]
    written = Segments(first, first + segments.lengths[donor], segments.kind, segments.kinds)
    return source.rebuilt(new.taken, new.offsets, source.written(written, new.offsets))


def surroundings(segments: Segments, offsets: I64) -> tuple[I64, I64]:
    """How many tokens around each segment are cut out with it, before and after, both I64[segments]."""
    sentence = np.searchsorted(offsets, segments.start, side="right") - 1
    with_previous, with_next = np.zeros(len(segments), bool), np.zeros(len(segments), bool)
    with_previous[1:] = with_next[:-1] = sentence[1:] == sentence[:-1]
    before = segments.start - np.where(with_previous, np.roll(segments.end, 1), offsets[sentence])
    after = np.where(with_next, np.roll(segments.start, -1), offsets[sentence + 1]) - segments.end
    left = np.minimum(AROUND, np.where(with_previous, before // 2, before))
    right = np.minimum(AROUND, np.where(with_next, after // 2, after))
    return left, right


def _keep_apart(donor: I64, segments: Segments, offsets: I64, left: I64, right: I64) -> None:
    """Takes back what would make segments of one type touch, which in io would melt together; changes `donor`."""
    sentence = np.searchsorted(offsets, segments.start, side="right")
    near = np.flatnonzero((sentence[1:] == sentence[:-1]) & (segments.kind[1:] == segments.kind[:-1]))
    between = (segments.start - left)[near + 1] - (segments.end + right)[near]  # what stays where it is
    while True:
        touching = near[between + right[donor[near]] + left[donor[near + 1]] == 0]
        if not len(touching):
            return
        both = np.concatenate([touching, touching + 1])
        donor[both] = both


METHOD = Method(change, 0.6, "a segment gives way, with what stands around it, to another one of its type")
