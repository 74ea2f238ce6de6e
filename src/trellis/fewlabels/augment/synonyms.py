"""Synonyms from a user's table: word -> what may stand in its place, of one word or several.

Each token whose word the table has is replaced with probability p, by one of the entries. Words that are not in it as
they are spelt are looked up in small letters, and what takes the place of a word with a capital gets one, too. All
tokens of an entry have the other columns of what they replace. In a segment they all belong to it; outside, and with
labels that are no segments, they all have the label of the word.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column, Corpus
from trellis.errors import SettingError
from trellis.fewlabels.augment.contract import Method, Segments, Source, Table, of_file
from trellis.labels import is_gappy
from trellis.labels.packed import ranges

I64 = NDArray[np.int64]


def change(source: Source, rng: np.random.Generator, p: float, table: Table | None = None) -> Corpus:
    """As above."""
    words = source.corpus[source.words].compact()
    entries = [_entries(word, table or {}) for word in words.strings]
    many = np.array([len(own) for own in entries], np.int64)
    chosen = np.flatnonzero((rng.random(len(words)) < p) & (many[words.ids] > 0))
    # entries of all words, one after the other: where those of a word begin, and how long each is
    first = np.cumsum(many) - many
    drawn = first[words.ids[chosen]] + rng.integers(0, many[words.ids[chosen]])
    listed = [entry for own in entries for entry in own]
    sizes = np.array([len(entry) for entry in listed], np.int64)
    index = {word: k for k, word in enumerate(dict.fromkeys([*words.strings, *(w for e in listed for w in e)]))}
    spelt = np.array([index[word] for entry in listed for word in entry], np.int32)
    lengths = np.ones(len(words), np.int64)
    lengths[chosen] = sizes[drawn]
    ends = np.cumsum(lengths)
    ids = np.repeat(words.translated(index), lengths)
    at = ranges((ends - lengths)[chosen], lengths[chosen])
    ids[at] = spelt[ranges((np.cumsum(sizes) - sizes)[drawn], sizes[drawn])]
    taken, cuts = np.repeat(np.arange(len(words)), lengths), np.concatenate([[0], ends])
    offsets = cuts[source.offsets]
    return source.rebuilt(taken, offsets, _labels(source, taken, cuts, offsets), Column(ids, list(index)))


def _labels(source: Source, taken: I64, cuts: I64, offsets: I64) -> Column:
    """Those of the new tokens. `cuts` [tokens + 1]: where each token's begin."""
    if is_gappy(source.labels.strings) and len(taken) > source.corpus.tokens:
        raise SettingError(
            "the labels are of spans with gaps, in which a synonym has to be of one word; mend the table"
        )
    if not source.has_segments:
        return Column(source.labels.ids[taken], source.labels.strings)
    old = source.segments
    return source.written(Segments(cuts[old.start], cuts[old.end], old.kind, old.kinds), offsets)


def _entries(word: str, table: Table) -> list[list[str]]:
    """What may stand in the place of a word, as lists of words."""
    found = table.get(word)
    if found is None:
        found = [_like(word, entry) for entry in table.get(word.lower(), ())]
    return [entry.split() for entry in found]


def _like(word: str, entry: str) -> str:
    """With a capital where the word has one."""
    if word.isupper() and len(word) > 1:
        return entry.upper()
    return entry[:1].upper() + entry[1:] if word[:1].isupper() else entry


def check(source: Source, table: Table) -> list[str]:
    """Nothing: a table may have any number of words that the corpus has not, unless it has no other ones."""
    words = source.corpus[source.words].compact().strings
    if not any(word in table or word.lower() in table for word in words):
        raise SettingError(
            f"{of_file(table)}the table has none of the words in the column '{source.words}', such as "
            f"{', '.join(map(repr, words[:3]))}; what its lines begin with has to be such a word"
        )
    return []


METHOD = Method(change, 0.3, "a word gives way to a synonym from a table, of one word or more", check, needs_table=True)
