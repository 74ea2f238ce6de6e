"""Labels that a word was seen with in training: `tags(word)` of the target, `tags(word, "pos")` of another column.

(Azuma et al. 2011, Table 1: "the word is in the vocabulary of T".) A number behind leaves out words seen less often.

`tags_elsewhere` are the labels that a word was seen with at other tokens. To new text that makes no difference; but a
token of the training data does not see the label it should get, unless the word has it somewhere else, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column
from trellis.features.functions.checks import is_text, listed
from trellis.features.functions.contract import Arguments, Function, Resource, Row, Rows, Tables
from trellis.features.functions.tables import expect, indices, strings

_UNKNOWN = "?"  # in a column with labels known in part: no label


@dataclass(frozen=True)
class Tags:
    """Word `word[k]` was seen with label `label[k]`, both I64[pairs], ordered by word, then label."""

    words: list[str]
    labels: list[str]
    word: NDArray[np.int64]
    label: NDArray[np.int64]

    @cached_property
    def rows(self) -> dict[str, Row]:
        values = [(label, 1.0) for label in self.labels]
        begin = np.searchsorted(self.word, np.arange(len(self.words) + 1)).tolist()
        label = self.label.tolist()
        return {w: tuple(values[j] for j in label[begin[i] : begin[i + 1]]) for i, w in enumerate(self.words)}

    def tables(self) -> Tables:
        return {"words": self.words, "labels": self.labels, "word": self.word, "label": self.label}


def _check(arguments: Arguments) -> None:
    column = arguments[:1] if arguments and isinstance(arguments[0], str) else ()
    least = arguments[len(column) :]
    if not all(map(is_text, column)) or len(least) > 1 or not all(isinstance(n, int) and n >= 1 for n in least):
        raise ValueError(
            f'needs no argument, a column in quotes, or how often a word has to be seen, e.g. "pos", 3; '
            f"found {listed(arguments)}"
        )


def _learn(words: Column, labels: Column, arguments: Arguments) -> Tags:
    least = arguments[-1] if arguments and isinstance(arguments[-1], int) else 1
    kept = np.bincount(words.ids, minlength=len(words.strings)) >= least
    known = np.array([label != _UNKNOWN for label in labels.strings], bool)[labels.ids]
    pairs = np.unique((words.ids.astype(np.int64) * max(1, len(labels.strings)) + labels.ids)[known])
    word, label = np.divmod(pairs, max(1, len(labels.strings)))
    word, label = word[kept[word]], label[kept[word]]
    seen, word = np.unique(word, return_inverse=True)
    return Tags([words.strings[i] for i in seen.tolist()], list(labels.strings), word.astype(np.int64), label)


def _restore(tables: Tables) -> Tags:
    expect(tables, "words", "labels", "word", "label")
    words, labels = strings(tables, "words"), strings(tables, "labels")
    word = indices(tables, "word", None, len(words))
    label = indices(tables, "label", len(word), len(labels))
    if np.any(np.diff(word * max(1, len(labels)) + label) <= 0):
        raise ValueError("pairs of word and label are not in order, or one comes twice")
    return Tags(words, labels, word, label)


def _rows(words: Sequence[str], resource: Resource | None, arguments: Arguments) -> list[Row]:
    assert isinstance(resource, Tags)
    return [resource.rows.get(w, ()) for w in words]


def _left_out(words: Column, labels: Column, resource: Resource, arguments: Arguments) -> Rows:
    """A token whose word has its label nowhere else has the word's other labels."""
    assert isinstance(resource, Tags)
    size = max(1, len(labels.strings))
    pairs = words.ids.astype(np.int64) * size + labels.ids
    seen, which, times = np.unique(pairs, return_inverse=True, return_counts=True)
    rows = [resource.rows.get(word, ()) for word in words.strings]
    place = words.ids.astype(np.int32).copy()
    for n in np.flatnonzero(times == 1).tolist():
        word, own = divmod(int(seen[n]), size)
        rows.append(tuple(value for value in rows[word] if value[0] != labels.strings[own]))
        times[n] = -len(rows)  # where its row is, and one more
    once = times[which] < 0
    place[once] = -times[which[once]] - 1
    return Rows(place, rows)


def _beside(arguments: Arguments) -> str | None:
    return next((argument for argument in arguments if isinstance(argument, str)), None)


TAGS = Function(
    "tags", "the labels a word was seen with", _check, rows=_rows, learn=_learn, restore=_restore, beside=_beside
)
TAGS_ELSEWHERE = replace(
    TAGS, name="tags_elsewhere", summary="the labels a word was seen with at other tokens", of_training=_left_out
)
