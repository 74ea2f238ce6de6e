"""Mention replacement (Dai & Adel 2020, section 3): a segment gives way to another one of the same type.

Each is replaced with probability p. What takes its place is drawn from the segments of that type in the corpus, as
often as they occur. With a table (type -> mentions, their words apart by spaces) half of the replacements of each type
that it has are drawn from it, all its mentions as likely: so a few of them matter in a large corpus, too. Tokens of the
corpus bring all their columns with them. Words of a table bring none: token k of such a mention has the other columns
of token k of what it replaces, or of its last one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column, Corpus
from trellis.errors import SettingError
from trellis.fewlabels.augment.contract import Method, Segments, Source, Table, of_file, some_of
from trellis.fewlabels.augment.pieces import drawn_alike, spliced

I64 = NDArray[np.int64]

FROM_TABLE = 0.5


@dataclass(frozen=True)
class _Listed:
    """Mentions of a table: `kind`, `start` and `lengths`, all I64[mentions]. Their tokens are the `words`, and are
    numbered from those of the corpus on."""

    kind: I64
    start: I64
    lengths: I64
    words: Column


def change(source: Source, rng: np.random.Generator, p: float, table: Table | None = None) -> Corpus:
    """As above."""
    segments, listed = source.segments, _listed(source, table or {})
    start, lengths = segments.start.copy(), segments.lengths.copy()
    chosen = np.flatnonzero(rng.random(len(segments)) < p)
    drawn = drawn_alike(segments.kind, segments.kind[chosen], rng)
    start[chosen], lengths[chosen] = segments.start[drawn], segments.lengths[drawn]
    if len(listed.kind):
        there = np.isin(segments.kind[chosen], listed.kind)
        chosen = chosen[there & (rng.random(len(chosen)) < FROM_TABLE)]
        drawn = drawn_alike(listed.kind, segments.kind[chosen], rng)
        start[chosen], lengths[chosen] = listed.start[drawn], listed.lengths[drawn]
    return _replaced(source, start, lengths, listed.words)


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


def _listed(source: Source, table: Table) -> _Listed:
    """Those of types that the corpus has."""
    number = {name: k for k, name in enumerate(source.segments.kinds)}
    rows = [(number[name], mention.split()) for name, own in table.items() if name in number for mention in own]
    sizes = np.array([len(words) for _, words in rows], np.int64)
    return _Listed(
        np.array([kind for kind, _ in rows], np.int64),
        source.corpus.tokens + np.cumsum(sizes) - sizes,
        sizes,
        Column.of(word for _, words in rows for word in words),
    )


def check(source: Source, table: Table) -> list[str]:
    """Types that the corpus has not."""
    kinds = source.segments.kinds
    idle = [name for name in table if name not in kinds]
    if len(idle) == len(table):
        raise SettingError(
            f"{of_file(table)}the table has mentions of the types {some_of(sorted(idle))}, the labels of "
            f"'{source.target}' segments of the types {some_of(kinds)}; what its lines begin with has to be such a type"
        )
    return idle


METHOD = Method(change, 0.6, "a segment gives way to another one of its type, also from a table", check)
