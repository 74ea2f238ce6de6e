"""Features that a user has already made: for each token a list of attribute names, or a dict.

In a dict, text `{"word": "dog"}` is the attribute `word:dog`, a number `{"length": 3.0}` the attribute `length` with
that value, True is 1 and False is 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from numbers import Real

import numpy as np

from trellis.errors import DataError
from trellis.features.packed import Packed

Token = Iterable[str] | Mapping[str, str | bool | float]


class GivenFeatures:
    """Learnt attribute names, numbered in order of first appearance."""

    def __init__(self, strings: Sequence[str]):
        self.strings = list(strings)

    @property
    def attributes(self) -> int:
        return len(self.strings)

    @cached_property
    def index(self) -> dict[str, int]:
        return {s: i for i, s in enumerate(self.strings)}

    @classmethod
    def learn(cls, sentences: Sequence[Sequence[Token]]) -> tuple[GivenFeatures, Packed]:
        """Numbers every attribute seen, and the sentences in these numbers."""
        index: dict[str, int] = {}
        packed = _pack(sentences, lambda name: index.setdefault(name, len(index)))
        return cls(list(index)), packed

    def transform(self, sentences: Sequence[Sequence[Token]]) -> Packed:
        """Sentences in the learnt numbers; what was never seen is -1."""
        return _pack(sentences, lambda name: self.index.get(name, -1))

    def names(self) -> list[str]:
        """The name of every attribute, by number."""
        return list(self.strings)


def offsets_of(sentences: Sequence[Sequence[object]]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Where each sentence begins: I64[sentences + 1]."""
    lengths = [len(sentence) for sentence in sentences]
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _pack(sentences: Sequence[Sequence[Token]], number: Callable[[str], int]) -> Packed:
    counts: list[int] = []
    ids: list[int] = []
    values: list[float] = []
    for s, sentence in enumerate(sentences):
        for t, token in enumerate(sentence):
            before = len(ids)
            try:
                for name, value in _attributes(token):
                    ids.append(number(name))
                    values.append(value)
            except (TypeError, ValueError, OverflowError) as error:
                raise DataError(f"sentence {s + 1}, token {t + 1}: {error}") from None
            counts.append(len(ids) - before)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    weights = np.array(values, np.float64)
    return Packed(indptr, np.array(ids, np.int32), None if np.all(weights == 1.0) else weights)


def _attributes(token: Token) -> Iterable[tuple[str, float]]:
    if isinstance(token, str | bytes):
        raise TypeError(f"a token's attributes must be a list or a dict, not the text {token!r}")
    if not isinstance(token, Mapping):
        for name in token:
            if not isinstance(name, str):
                raise TypeError(f"attribute {name!r} is not text; expected a list of strings or a dict")
            yield name, 1.0
        return
    for name, value in token.items():
        if isinstance(value, str):
            yield f"{name}:{value}", 1.0
        elif isinstance(value, Real | np.bool_) and math.isfinite(value):
            yield str(name), float(value)
        else:
            raise TypeError(f"attribute '{name}' has the value {value!r}; expected text or a finite number")
