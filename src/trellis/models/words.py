"""Sentences as columns of words, for models that look at the words themselves: a corpus, or lists."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError
from trellis.features import Batch, Packed
from trellis.models.answers import Answers
from trellis.models.batches import Sentences

WORD = "word"
Answer = TypeVar("Answer")


class OfWords(Answers):
    """A model that takes lists of words, too."""

    @property
    @abstractmethod
    def column(self) -> str:
        """That of the words."""

    @property
    def further(self) -> Sequence[str]:
        """Other columns that it reads."""
        return ()

    def pack(self, data: Batch, first: int = 0) -> Packed:
        return super().pack(self._corpus(data) if isinstance(data, list | tuple) else data, first)

    def _corpus(self, data: Sentences) -> Corpus:
        return corpus_of_words(data, self.column, self.further)

    def placed_batches(
        self,
        data: Sentences,
        threads: int,
        answer: Callable[[Packed, NDArray[np.int64], int], Answer],
        copies: int = 1,
    ) -> list[Answer]:
        return super().placed_batches(self._corpus(data), threads, answer, copies)


def corpus_of_words(X: Sentences, column: str, further: Sequence[str] = ()) -> Corpus:
    """A corpus as it is; of lists one with that column, where a token is a string, a dict with the column's name as a
    key, or a list with one string. What else all dicts have as text are further columns; `further`: those
    that there are where there is no token."""
    if isinstance(X, Corpus):
        return X
    if isinstance(X, str | bytes) or not hasattr(X, "__getitem__"):
        raise DataError(f"expected a corpus (read_conll) or a list of sentences, not {type(X).__name__}")
    for s, row in enumerate(X, 1):
        if isinstance(row, str) and " " in row:
            raise DataError(
                f"sentence {s} is text with spaces, of which every letter would be a token; cut it into words"
            )
    words = [[_word(t, s, k, column) for k, t in enumerate(row, 1)] for s, row in enumerate(X, 1)]
    if not any(words):
        return Corpus.from_lists(dict.fromkeys((column, *further), words))
    return Corpus.from_lists({column: words, **_further(X, column)})


def _further(X: Any, column: str) -> dict[str, list[list[str]]]:
    """The columns beside the words: keys that all tokens have, with text."""
    tokens = [token for row in X for token in row]
    if not all(isinstance(token, Mapping) for token in tokens):
        return {}
    names = [name for name in tokens[0] if isinstance(name, str) and name != column]
    names = [name for name in names if all(isinstance(token.get(name), str) for token in tokens)]
    return {name: [[str.__str__(token[name]) for token in row] for row in X] for name in names}


def _word(token: Any, sentence: int, number: int, column: str) -> str:
    found = token
    if isinstance(token, Mapping):
        found = token.get(column)
    elif isinstance(token, Sequence) and not isinstance(token, str) and len(token) == 1:
        found = token[0]
    if not isinstance(found, str):
        raise DataError(
            f"sentence {sentence}, token {number}: {token!r} is no word; expected a string, a dict with the key "
            f"'{column}', or a list with one string"
        )
    return str.__str__(found)


def words_column(corpus: Corpus, column: str | None, target: str | None, others: Sequence[str] = ()) -> str:
    """The one named, or `word`, or the only one beside the target; `others` are predicted, too."""
    if column is not None:
        if column not in corpus.columns:
            raise SettingError(f"words is '{column}'; the columns are: {', '.join(corpus.columns)}")
        if column == target or column in others:
            which = "the target" if column == target else "predicted by another stage"
            raise SettingError(f"words is '{column}', which is {which}; name the column of the words")
        return column
    left = [name for name in corpus.columns if name != target and name not in others]
    if "word" in left or len(left) == 1:
        return "word" if "word" in left else left[0]
    there = ", ".join(left) or "none"
    raise SettingError(
        f"which column has the words? Beside the target there are: {there}; name it `word` (--columns word,...), or "
        "say which it is with `words` (--options words=NAME)"
    )
