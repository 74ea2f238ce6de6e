"""Word vectors: `vectors(word, "glove.txt")` gives a token the numbers of its word as attributes 0, 1, 2, ...

The file has a word and its numbers on each line, as word2vec (text), GloVe and fastText write it; a first line of two
whole numbers is their `count dimensions`. A word that is not in the file has the vector of its lower-case form, else
none. Of a word that comes twice the first vector counts.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError
from trellis.features.functions.checks import file_first
from trellis.features.functions.contract import Arguments, Function, Resource, Tables, Values
from trellis.features.functions.reading import decoded, numbered_lines
from trellis.features.functions.tables import expect, finite, strings


@dataclass(frozen=True)
class Vectors:
    """`values: F64[words, dimensions]`."""

    words: list[str]
    values: NDArray[np.float64]

    @cached_property
    def index(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    def find(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The row of each word, or of its lower-case form; -1 where there is none."""
        get = self.index.get
        return np.fromiter((get(w, get(w.lower(), -1)) for w in words), np.int64, len(words))

    def tables(self) -> Tables:
        return {"words": self.words, "values": self.values}


def _check(arguments: Arguments) -> None:
    file_first(arguments, 1, 'one file of vectors in quotes, e.g. "glove.txt"')


def _load(arguments: Arguments) -> Vectors:
    return read_vectors(file_first(arguments, 1, "a file"))


def read_vectors(path: str) -> Vectors:
    """A file of word2vec's (as text), GloVe's or fastText's; DataError with file:line for what is none."""
    lines: Iterator[tuple[int, list[bytes]]] = ((number, raw.split()) for number, raw in numbered_lines(path))
    number, fields = next(lines, (0, []))
    promised = None
    if len(fields) == 2 and all(field.isdigit() and len(field) < 19 for field in fields):
        promised, width = int(fields[0]), int(fields[1])
    else:
        width = len(fields) - 1
        lines = itertools.chain([(number, fields)], lines)
    decoded(b" ".join(fields), path, number)  # what is no text should not be taken for a line without numbers
    if width < 1:
        raise DataError("no vector here; expected a word and its numbers on each line", path, number or None)
    index: dict[str, int] = {}
    values, numbers = array("d"), array("q")  # these grow in place, eight bytes an item
    found = 0
    for number, fields in lines:
        found += 1
        word = decoded(b" ".join(_word(fields, width, path, number)), path, number)
        if word in index:
            continue
        index[word] = len(index)
        numbers.append(number)
        try:
            values.extend(map(float, fields[-width:]))
        except ValueError:
            wrong = next(field for field in fields[-width:] if not _is_number(field)).decode("utf-8", "replace")
            raise DataError(f"'{wrong}' is not a number; expected a word and {width} numbers", path, number) from None
    if not found:
        raise DataError("no vector here; expected a word and its numbers on each line", path, number)
    if promised is not None and found != promised:
        raise DataError(f"{found} words, but the first line says {promised}; is the file cut off?", path, number)
    table = np.frombuffer(values, np.float64).reshape(len(index), width)
    finite_rows = np.isfinite(table).all(axis=1)
    if not finite_rows.all():
        line = numbers[int(finite_rows.argmin())]
        raise DataError("a number that is not finite; every value has to be", path, line)
    return Vectors(list(index), table)


def _word(fields: list[bytes], width: int, path: str, line: int) -> list[bytes]:
    """What comes before the numbers: one field, or several that are no numbers (GloVe has words with spaces)."""
    word = fields[:-width]
    if not word or any(map(_is_number, word[1:])):
        what = f"{len(fields) - 1} values, but {width} on the first line, or named there; every word needs as many"
        raise DataError(what, path, line)
    return word


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _restore(tables: Tables) -> Vectors:
    expect(tables, "words", "values")
    words = strings(tables, "words")
    return Vectors(words, finite(tables, "values", len(words)))


def _values(words: Sequence[str], resource: Resource | None, arguments: Arguments) -> Values:
    assert isinstance(resource, Vectors)
    found, dimensions = resource.find(words), resource.values.shape[1]
    known = found[found >= 0]
    start = np.concatenate([[0], np.cumsum(np.where(found >= 0, dimensions, 0))]).astype(np.int64)
    names = [str(k) for k in range(dimensions)]
    return Values(names, start, np.tile(np.arange(dimensions), len(known)), resource.values[known].ravel())


VECTORS = Function("vectors", "the numbers of a word's vector", _check, values=_values, load=_load, restore=_restore)
