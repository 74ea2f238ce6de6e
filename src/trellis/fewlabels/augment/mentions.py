"""Mention replacement (Dai & Adel 2020, section 3): a segment gives way to another one of the same type.

Each is replaced with probability p. What takes its place is drawn from the segments of that type in the corpus, as
often as they occur, and from those in a table, if one is given (type -> mentions, their words apart by spaces), each
once. Tokens of the corpus bring all their columns with them. Words of a table bring none: token k of such a mention has
the other columns of token k of what it replaces, or of its last one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column, Corpus
from trellis.errors import SettingError
from trellis.fewlabels.augment.contract import Method, Segments, Source, Table
from trellis.fewlabels.augment.pieces import drawn_alike, spliced

I64 = NDArray[np.int64]


@dataclass(frozen=True)
class _Donors:
    """Segments to choose from, those of the corpus first: `kind`, `start` and `lengths`, all I64[donors]. The tokens of
    a table's mentions are numbered from those of the corpus on, and are the words `more`."""

    kind: I64
    start: I64
    lengths: I64
    more: Column


def change(source: Source, rng: np.random.Generator, p: float, table: Table | None = None) -> Corpus:
    """As above."""
    segments = source.segments
    donors = _donors(source, table)
    chosen = np.flatnonzero(rng.random(len(segments)) < p)
    drawn = drawn_alike(donors.kind, segments.kind[chosen], rng)
    start, lengths = segments.start.copy(), segments.lengths.copy()
    start[chosen], lengths[chosen] = donors.start[drawn], donors.lengths[drawn]
    return _replaced(source, start, lengths, donors.more)


def _replaced(source: Source, start: I64, lengths: I64, more: Column) -> Corpus:
    """Segment k is made of `lengths[k]` tokens from `start[k]` on; those beyond the tokens of the corpus are the words
    `more`, with the other columns of what they replace."""
    segments, tokens = source.segments, source.corpus.tokens
    new = spliced(source.offsets, (segments.start, segments.end), start, lengths)
    written = Segments(new.start, new.start + lengths, segments.kind, segments.kinds)
    labels, foreign = source.written(written, new.offsets), np.flatnonzero(new.taken >= tokens)
    if not len(foreign):
        return source.rebuilt(new.taken, new.offsets, labels)
    own = source.corpus[source.words]
    index = {word: k for k, word in enumerate(dict.fromkeys([*own.strings, *more.strings]))}
    every = np.concatenate([own.translated(index), more.translated(index)])
    words = Column(every[new.taken], list(index))
    of = np.searchsorted(new.start, foreign, side="right") - 1  # the segment each of them is in
    new.taken[foreign] = segments.start[of] + np.minimum(foreign - new.start[of], segments.lengths[of] - 1)
    return source.rebuilt(new.taken, new.offsets, labels, words)


def _donors(source: Source, table: Table | None) -> _Donors:
    segments = source.segments
    kinds, mentions = _from_table(segments, table)
    words = Column.of(word for mention in mentions for word in mention)
    sizes = np.array([len(mention) for mention in mentions], np.int64)
    return _Donors(
        np.concatenate([segments.kind, np.array(kinds, np.int64)]),
        np.concatenate([segments.start, source.corpus.tokens + np.cumsum(sizes) - sizes]),
        np.concatenate([segments.lengths, sizes]),
        words,
    )


def _from_table(segments: Segments, table: Table | None) -> tuple[list[int], list[list[str]]]:
    """Types and words of a table's mentions; those of types that the corpus does not have are of no use."""
    number = {name: k for k, name in enumerate(segments.kinds)}
    if table is not None and not number.keys() & table.keys():
        there, wanted = ", ".join(sorted(table)[:3]), ", ".join(segments.kinds)
        raise SettingError(
            f"the table has mentions of the types {there} ..., the corpus segments of the types {wanted}"
        )
    kinds, mentions = [], []
    for name, own in (table or {}).items():
        for mention in own if name in number else ():
            kinds.append(number[name])
            mentions.append(mention.split())
    return kinds, mentions


METHOD = Method(change, 0.6, "a segment gives way to another one of its type, also from a table", takes_table=True)
