"""Random corpora with segments in any encoding, whose parts of speech follow from their words."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from trellis.corpus import Column, Corpus
from trellis.labels import ENCODINGS, read_segments, segment_types
from trellis.labels.encode import encoded

KINDS = ["X", "Y-Z"]
WORDS = ["a", "b", "c", "d", "e", "f", "Große", "42"]


@st.composite
def corpora(draw, encodings=ENCODINGS):
    """(Corpus with the columns word, pos, label; encoding)."""
    encoding = draw(st.sampled_from(encodings))
    lengths = draw(st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any))
    offsets = np.cumsum([0, *lengths])
    segments = []
    for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        at = a
        while at < b:
            end = draw(st.integers(at, b))
            kind = draw(st.sampled_from([0, 1]))
            if end > at and not (encoding == "io" and segments and segments[-1][1:] == (at, kind)):
                segments.append((at, end, kind))
            at = max(end, at + 1)
    start, end, kind = (np.array(each, np.int64) for each in (list(zip(*segments, strict=True)) or [[], [], []]))
    ids, labels = encoded(start, end, kind, KINDS, offsets.astype(np.int64), encoding)
    words = draw(st.lists(st.sampled_from(WORDS), min_size=len(ids), max_size=len(ids)))
    columns = {
        "word": Column.of(words),
        "pos": Column.of([f"P{word}" for word in words]),
        "label": Column(ids, labels).compact(),
    }
    return Corpus(columns, offsets.astype(np.int64)), encoding


def types_of(corpus, encoding):
    """The types of the segments of each sentence, in order."""
    column = corpus["label"]
    start, _, kind = read_segments(column.ids, column.strings, corpus.offsets, "conlleval", encoding)
    names = segment_types(column.strings)
    home = np.searchsorted(corpus.offsets, start, side="right") - 1
    return [[names[k] for k, s in zip(kind.tolist(), home.tolist(), strict=True) if s == n] for n in range(len(corpus))]


def mentions_of(corpus, encoding):
    """(type, words, parts of speech) of every segment."""
    column, words, tags = corpus["label"], corpus["word"].values(), corpus["pos"].values()
    names = segment_types(column.strings)
    found = read_segments(column.ids, column.strings, corpus.offsets, "conlleval", encoding)
    rows = zip(*(each.tolist() for each in found), strict=True)
    return [(names[k], tuple(words[a:b]), tuple(tags[a:b])) for a, b, k in rows]
