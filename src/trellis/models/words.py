"""Sentences as columns of words, for models that look at the words alone: a corpus, or lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trellis.corpus import Corpus
from trellis.errors import DataError
from trellis.models.batches import Sentences

WORD = "word"


def corpus_of_words(X: Sentences, column: str) -> Corpus:
    """A corpus as it is; of lists one with that column, where a token is a string, a dict with the column's name as a
    key, or a list with one string."""
    if isinstance(X, Corpus):
        return X
    if isinstance(X, str | bytes) or not hasattr(X, "__getitem__"):
        raise DataError(f"expected a corpus (read_conll) or a list of sentences, not {type(X).__name__}")
    for s, row in enumerate(X, 1):
        if isinstance(row, str) and " " in row:
            raise DataError(
                f"sentence {s} is text with spaces, of which every letter would be a token; cut it into words"
            )
    return Corpus.from_lists(
        {column: [[_word(t, s, k, column) for k, t in enumerate(row, 1)] for s, row in enumerate(X, 1)]}
    )


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
