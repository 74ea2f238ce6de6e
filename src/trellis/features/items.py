"""Tokens as CRFsuite's users write them: lists of names, or dicts of text, numbers and further dicts.

    ["a", b"b"], {"a", "b"}          the attributes a, b with the value 1
    {"word": "dog"}                  word:dog
    {"length": 3, "title": True}     length with the value 3, title with 1 (False is 0)
    {"affix": ["d", "do"]}           affix:d, affix:do
    {"word": {"lower": "dog"}}       word:lower:dog, and so on to any depth

What recurs is looked up without running Python code: names, and the values under each name of a dict, are keys of
dictionaries whose `__missing__` does the work once for each new key. `attributes_of` says what a token means, slowly
and with clear errors; it is asked where that fails.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from numbers import Integral
from operator import getitem
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError
from trellis.features.arrays import Given
from trellis.features.packed import Packed, unless_ones

_DEEPEST = 50  # dicts within dicts; a dict that contains itself must end somewhere
_REMEMBERED = 1 << 20  # numbers kept in case they recur; most real values do not


class NewNames(dict[str, int]):
    """name -> number; a new name gets the next number."""

    def __missing__(self, name: Any) -> int:
        if type(name) is str:
            number = self[name] = len(self)
            return number
        return self[text_of(name)]


class KnownNames(dict[str, int]):
    """name -> number; -1 for others. Never changes, so that threads may share it."""

    def __missing__(self, name: Any) -> int:
        return -1 if type(name) is str else self[text_of(name)]


class _Pairs(dict[Any, "_Values"]):
    """What the pairs (name, value) of dicts mean: `self[name][value]` is a code.

    A code is an attribute's number, which then has the value 1, or -2 - k for the attribute `ids[k]` with the value
    `amounts[k]`.
    """

    def __init__(self, names: NewNames | KnownNames):
        self.names = names
        self.ids: list[int] = []
        self.amounts: list[float] = []

    def __missing__(self, name: Any) -> _Values:
        values = self[name] = _Values(text_of_key(name), self)
        return values

    def code(self, name: str, value: float) -> int:
        number = self.names[name]
        if value == 1.0:
            return number
        self.ids.append(number)
        self.amounts.append(value)
        return -1 - len(self.amounts)


class _Values(dict[Any, int]):
    """value -> code under one name. Values that are equal in Python, such as 1 and True, mean the same here."""

    def __init__(self, name: str, pairs: _Pairs):
        self.name = name
        self.pairs = pairs

    def __missing__(self, value: Any) -> int:
        if type(value) is str:
            code = self[value] = self.pairs.names[f"{self.name}:{value}"]
            return code
        ((name, number),) = _expand(self.name, value, 1)  # a ValueError if there are several: see pack_items
        code = self.pairs.code(name, number)
        if len(self.pairs.amounts) < _REMEMBERED:
            self[value] = code
        return code


def pack_items(sentences: Given, names: NewNames | KnownNames, first: int = 0) -> Packed:
    """Sentences of tokens in the numbers of `names`; errors count sentences from `first`."""
    pairs = _Pairs(names)
    codes: list[int] = []  # quicker to extend than an array
    ends = [0]
    name_code, values_of = names.__getitem__, pairs.__getitem__
    for s, sentence in enumerate(sentences, first + 1):
        for t, token in enumerate(sentence.tolist() if isinstance(sentence, np.ndarray) else sentence, 1):
            kind = type(token)
            try:
                if kind is list or kind is tuple:
                    codes.extend(map(name_code, token))
                elif kind is dict:
                    codes.extend(map(getitem, map(values_of, token), token.values()))
                else:
                    codes.extend(pairs.code(*attribute) for attribute in attributes_of(token))
            except (TypeError, ValueError, OverflowError):  # several attributes under one name, or what is no attribute
                del codes[ends[-1] :]
                try:
                    codes.extend(pairs.code(*attribute) for attribute in attributes_of(token))
                except (TypeError, ValueError, OverflowError) as error:
                    raise DataError(f"sentence {s}, token {t}: {error}") from None
            ends.append(len(codes))
    return _decoded(np.array(ends, np.int64), np.fromiter(codes, np.int64, len(codes)), pairs)


def attributes_of(token: Any) -> Iterator[tuple[str, float]]:
    """The attributes of one token with their values, in the order given; sets in the order of their text."""
    if isinstance(token, Mapping):
        yield from _expand_all(None, token, 0)
    elif isinstance(token, str | bytes) or not isinstance(token, Collection):
        raise TypeError(f"a token's attributes must be a list, a set or a dict, not {_shown(token)}")
    else:
        yield from ((name, 1.0) for name in _texts(token))


def text_of(name: Any) -> str:
    """Text as it is, bytes as UTF-8."""
    if isinstance(name, str):
        return str.__str__(name)  # of a subclass the text itself, whatever it prints as
    if isinstance(name, bytes):
        return name.decode()
    hint = "; numbers without names go into one array [tokens, features] a sentence" if _is_number(name) else ""
    raise TypeError(f"attribute {_shown(name)} is no text; expected a list of strings, or a dict{hint}")


def text_of_key(name: Any) -> str:
    if isinstance(name, Integral) and not isinstance(name, bool):
        return str(name)
    if isinstance(name, str | bytes):
        return text_of(name)
    raise TypeError(f"the name {_shown(name)} is no text")


def _expand(name: str, value: Any, depth: int) -> Iterable[tuple[str, float]]:
    """The attributes of `{name: value}`."""
    if isinstance(value, str | bytes):
        return [(f"{name}:{text_of(value)}", 1.0)]
    if isinstance(value, Mapping):
        return _expand_all(name, value, depth)
    if isinstance(value, list | tuple | Set) or (isinstance(value, np.ndarray) and value.ndim):
        return [(f"{name}:{text}", 1.0) for text in _texts(value)]
    if value is None:
        raise TypeError(f"attribute '{name}' has the value None; leave it out where it is not known")
    if not _is_number(value) or not math.isfinite(value):
        raise TypeError(f"attribute '{name}' has the value {_shown(value)}; expected text, a finite number, or more")
    return [(name, float(value))]


def _expand_all(prefix: str | None, values: Mapping[Any, Any], depth: int) -> Iterator[tuple[str, float]]:
    if depth >= _DEEPEST:
        raise ValueError(f"attribute '{prefix}': dicts within dicts, more than {_DEEPEST} deep")
    for key, value in values.items():
        name = text_of_key(key)
        yield from _expand(name if prefix is None else f"{prefix}:{name}", value, depth + 1)


def _texts(names: Collection[Any]) -> list[str]:
    texts = [text_of(name) for name in names]
    return sorted(texts) if isinstance(names, Set) else texts  # sets are in another order in every process


def _is_number(value: object) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, str | complex | np.complexfloating)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _decoded(indptr: NDArray[np.int64], codes: NDArray[np.int64], pairs: _Pairs) -> Packed:
    if not pairs.amounts:
        return Packed(indptr, codes.astype(np.int32))
    valued = np.flatnonzero(codes < -1)
    which = -2 - codes[valued]
    values = np.ones(len(codes))
    values[valued] = np.array(pairs.amounts)[which]
    codes[valued] = np.array(pairs.ids)[which]
    return Packed(indptr, codes.astype(np.int32), unless_ones(values))
