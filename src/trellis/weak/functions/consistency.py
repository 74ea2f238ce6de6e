"""One sense per document: what other functions vote for somewhere in a document is voted for wherever it stands there.

Votes for each phrase, tokens for tokens, are counted in each document. The label that most of them are for is voted
wherever the phrase stands; where two labels have as many, nothing is. (Krishnan & Manning 2006 measured how seldom a
name changes its type within a document.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import SettingError, shown
from trellis.features.functions.trie import Trie
from trellis.labels.packed import ranges
from trellis.weak.functions.casts import Cast, SpanVotes
from trellis.weak.functions.contract import LabelingFunction, check_functions, column_of, made_up
from trellis.weak.functions.segments import spans_asked_for

I64 = NDArray[np.int64]
_DOCSTART = "-DOCSTART-"


class Consistent(LabelingFunction):
    """As `consistent` says."""

    whole = True

    def __init__(
        self,
        functions: list[LabelingFunction],
        documents: str | None,
        column: str | None,
        least: int,
        name: str | None,
    ):
        super().__init__("spans", name, made_up("consistent", *(one.name for one in functions[:2])))
        self.asks, self.documents, self.column, self.least = tuple(functions), documents, column, least

    def on(self, data: Corpus, first: int = 0) -> SpanVotes:
        return self.made_of([one.on(data, first) for one in self.asks], data)

    def made_of(self, casts: Sequence[Cast], data: Corpus) -> SpanVotes:
        words, sentence_document = column_of(data, self.column, self.name), self._documents(data)
        document = np.repeat(sentence_document, np.diff(data.offsets))
        start, end, label, labels = self._collected(casts, data)
        if not len(start):
            return SpanVotes(start, end, label, tuple(labels))
        phrase, lengths, tokens = _phrases(words.ids.astype(np.int64), start, end)
        agreed, chosen = _majority(document[start] * len(lengths) + phrase, label, len(labels), self.least)
        every = np.arange(len(lengths))
        trie = Trie.of_numbers(words.index, tokens, lengths, every, every)
        start, end, found = trie.matches(words.ids.astype(np.int64), data.offsets)
        key = document[start] * len(lengths) + found
        at = np.searchsorted(agreed, key)
        there = np.flatnonzero(np.append(agreed, -1)[at] == key)
        return SpanVotes.apart(start[there], end[there], chosen[at[there]], labels)

    def _collected(self, casts: Sequence[Cast], data: Corpus) -> tuple[I64, I64, I64, list[str]]:
        """The spans that all functions vote for, start, end and label, and the labels."""
        number: dict[str, int] = {}
        parts: list[tuple[I64, I64, I64]] = [(np.zeros(0, np.int64),) * 3]
        for function, cast in zip(self.asks, casts, strict=True):
            spans = spans_asked_for(cast, data.offsets, function.name, self.name, "counts")
            table = np.array([number.setdefault(one, len(number)) for one in spans.labels], np.int64)
            parts.append((spans.start, spans.end, table[spans.label] if len(table) else spans.label))
        start, end, label = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return start, end, label, list(number)

    def _documents(self, data: Corpus) -> I64:
        """The number of the document of each sentence."""
        filled = data.offsets[:-1] < data.offsets[1:]
        out = np.zeros(len(data), np.int64)
        if self.documents is not None:
            out[filled] = column_of(data, self.documents, self.name).ids[data.offsets[:-1][filled]]
            return out
        words = next(iter(data.columns.values()))
        starts = words.index.get(_DOCSTART, -1)
        out[filled] = words.ids[data.offsets[:-1][filled]] == starts
        return np.cumsum(out)


def _phrases(ids: I64, start: I64, end: I64) -> tuple[I64, I64, I64]:
    """The number of the phrase in each span, I64[spans], and the phrases: their lengths, and their tokens end to
    end."""
    number = np.zeros(len(start), np.int64)
    lengths, tokens = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    base = 0
    for length in np.unique(end - start).tolist():
        own = np.flatnonzero(end - start == length)
        rows = ids[ranges(start[own], np.full(len(own), length))].reshape(-1, length)
        distinct, which = np.unique(rows, axis=0, return_inverse=True)
        number[own] = base + which.reshape(-1)
        base += len(distinct)
        lengths.append(np.full(len(distinct), length))
        tokens.append(distinct.ravel())
    return number, np.concatenate(lengths), np.concatenate(tokens)


def _majority(key: I64, label: I64, labels: int, least: int) -> tuple[I64, I64]:
    """Keys that have one label more often than any other, and at least so often; sorted, with that label."""
    pairs, count = np.unique(key * max(labels, 1) + label, return_counts=True)
    keys = pairs // max(labels, 1)
    order = np.lexsort((-count, keys))
    keys, count, label = keys[order], count[order], (pairs % max(labels, 1))[order]
    begins = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
    tie = np.append((keys[1:] == keys[:-1]) & (count[1:] == count[:-1]), False)[: len(keys)]
    good = begins & ~tie & (count >= least)
    return keys[good], label[good]


def consistent(
    functions: LabelingFunction | Iterable[LabelingFunction],
    documents: str | None = None,
    column: str | None = None,
    least: int = 2,
    name: str | None = None,
) -> Consistent:
    """What these functions vote for most often for a phrase of a document is voted wherever the phrase stands in it.

    documents: the column that says which document a sentence is of, by its first token; if None a document begins with
    a sentence whose first word is -DOCSTART-, and without such all sentences are one. column: which makes phrases the
    same; the first if None. least: how many votes there have to be for the label.
    """
    found = check_functions([functions] if isinstance(functions, LabelingFunction) else functions)
    for one in found:
        if one.votes not in ("spans", "tokens"):
            raise SettingError(f"consistent looks at spans; '{one.name}' votes on {one.votes}")
    if not isinstance(least, int) or least < 1:
        raise SettingError(f"least is {shown(least)}; expected a whole number >= 1")
    return Consistent(found, documents, column, least, name)
