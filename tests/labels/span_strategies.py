"""Random spans: with gaps as one column can hold them, and any that nest or cross."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from trellis.labels.spans import SpanSet

TYPES = ["X", "Y-Z"]


def _items(draw, at, end, spans, depth):
    """Spans from `at` on, up to `end` at most; those of the first depth may have gaps."""
    while at < end:
        if draw(st.booleans()):
            fragments = []
            while True:
                stop = draw(st.integers(at + 1, end))
                fragments.append((at, stop))
                at = stop
                if depth or at + 2 > end or draw(st.booleans()):
                    break
                again = draw(st.integers(at + 1, end - 1))
                _items(draw, at, again, spans, depth + 1)
                at = again
            spans.append((draw(st.sampled_from(TYPES)), fragments))
        else:
            at += 1


@st.composite
def gappy(draw):
    """(SpanSet, offsets)."""
    lengths = draw(st.lists(st.integers(0, 8), max_size=3))
    offsets = np.cumsum([0, *lengths])
    spans = []
    for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        _items(draw, a, b, spans, 0)
    return SpanSet.from_lists(spans), offsets


@st.composite
def nested(draw):
    """(SpanSet, offsets); spans may cross, too."""
    lengths = draw(st.lists(st.integers(1, 6), max_size=3))
    offsets = np.cumsum([0, *lengths])
    spans = []
    for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        for _ in range(draw(st.integers(0, 5))):
            start = draw(st.integers(a, b - 1))
            spans.append((draw(st.sampled_from(TYPES)), [(start, draw(st.integers(start + 1, b)))]))
    return SpanSet.from_lists(spans), offsets
