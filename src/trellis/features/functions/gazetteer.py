"""Lists of names: `gazetteer(word, "cities.txt")` is `B-cities` where a phrase of the list begins, `I-cities` in it.

Each line of the file is a phrase, its tokens apart by spaces; `city<TAB>New York` gives it a type, which is else the
file's name; lines that begin with # are comments. For each type by itself, from left to right, the longest phrase is
taken; so a token has a value for every type that covers it. With "lower" behind the file, case is ignored.

Phrases are looked for all at once, one step down the trie at a time: only places where a phrase may still go on are
touched.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError
from trellis.features.functions.checks import file_first, listed
from trellis.features.functions.contract import Arguments, Function, Resource, Row, Rows, Sentences, Tables
from trellis.features.functions.reading import decoded, numbered_lines
from trellis.features.functions.tables import expect, indices, strings
from trellis.features.functions.trie import Trie
from trellis.jit import worthwhile

I64 = NDArray[np.int64]
_USAGE = 'a file of phrases in quotes, and maybe "lower" to ignore case'
_LONGEST = 1000  # tokens in a phrase; more is a file without line ends


@dataclass(frozen=True)
class Gazetteer:
    """Phrase `phrase[k]` (tokens with one space between) is of type `type[k]`, both I64[entries]."""

    phrases: list[str]
    types: list[str]
    phrase: I64
    type: I64

    @cached_property
    def trie(self) -> Trie:
        return Trie.build(self.phrases, self.phrase, self.type)

    def tables(self) -> Tables:
        return {"phrases": self.phrases, "types": self.types, "phrase": self.phrase, "type": self.type}


def _check(arguments: Arguments) -> None:
    file_first(arguments, 2, _USAGE)
    if len(arguments) == 2 and arguments[1] != "lower":
        raise ValueError(f"needs {_USAGE}; found {listed(arguments)}")


def _load(arguments: Arguments) -> Gazetteer:
    path = file_first(arguments, 2, _USAGE)
    phrases: dict[str, int] = {}
    types: dict[str, int] = {}
    entries: dict[tuple[int, int], None] = {}
    for phrase, kind in _entries(path):
        if len(arguments) > 1:
            phrase = " ".join(token.lower() for token in phrase.split(" "))
        entries[phrases.setdefault(phrase, len(phrases)), types.setdefault(kind, len(types))] = None
    if not entries:
        raise DataError("no phrase here; expected one on each line", path)
    pairs = np.array(list(entries), np.int64)
    return Gazetteer(list(phrases), list(types), pairs[:, 0].copy(), pairs[:, 1].copy())


def _entries(path: str) -> Iterator[tuple[str, str]]:
    """(phrase, type) of every line."""
    stem = Path(path).stem
    for number, raw in numbered_lines(path):
        line = decoded(raw, path, number).rstrip("\r\n")
        if line.startswith("#"):
            continue
        kind, tab, phrase = line.rpartition("\t")
        kind, tokens = kind.strip() if tab else stem, list(filter(None, phrase.split(" ")))
        if len(tokens) > _LONGEST:
            what = f"a phrase of {len(tokens)} tokens; expected one on each line, of at most {_LONGEST}"
            raise DataError(what, path, number)
        phrase = " ".join(tokens)
        if not kind or not phrase or "\t" in kind:
            raise DataError("expected a phrase, or a type, a tab and a phrase", path, number)
        yield phrase, kind


def _restore(tables: Tables) -> Gazetteer:
    expect(tables, "phrases", "types", "phrase", "type")
    phrases, types = strings(tables, "phrases"), strings(tables, "types")
    if not all(all(phrase.split(" ")) for phrase in phrases):
        raise ValueError("a phrase has an empty token")
    phrase = indices(tables, "phrase", None, len(phrases))
    return Gazetteer(phrases, types, phrase, indices(tables, "type", len(phrase), len(types)))


def _of_sentence(sentences: Sentences, resource: Resource | None, arguments: Arguments) -> Rows:
    assert isinstance(resource, Gazetteer)
    column, trie = sentences.columns[0], resource.trie
    words = map(str.lower, column.strings) if len(arguments) > 1 else column.strings
    # once per distinct string
    table = np.fromiter(map(trie.words.get, words, repeat(-1)), np.int64, len(column.strings))
    token, code = _codes(*trie.matches(table[column.ids], sentences.offsets))
    return _rows(len(column), token, code, resource.types)


def _codes(start: I64, end: I64, kind: I64) -> tuple[I64, I64]:
    """Matches -> tokens and codes 2 type (begins) or 2 type + 1 (goes on): the longest at each start, from left to
    right, none inside another of its type."""
    order = np.lexsort((-end, start, kind))
    start, end, kind = start[order], end[order], kind[order]
    at = np.flatnonzero(_taken(start, end, kind))
    start, length, kind = start[at], (end - start)[at], kind[at]
    inside = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
    return np.repeat(start, length) + inside, np.repeat(2 * kind, length) + (inside > 0)


def _taken(start: I64, end: I64, kind: I64) -> NDArray[np.bool_]:
    """Which of the matches, sorted by type, start and longest first, do not begin inside one taken before."""
    taken = np.zeros(len(start), bool)
    if worthwhile(len(start)):
        from trellis.features.kernels import take_matches

        take_matches(start, end, kind, taken)
        return taken
    before, free = -1, 0
    for k, (a, b, t) in enumerate(zip(start.tolist(), end.tolist(), kind.tolist(), strict=True)):
        if t != before or a >= free:
            taken[k] = True
            before, free = t, b
    return taken


def _rows(tokens: int, token: I64, code: I64, types: list[str]) -> Rows:
    """Numbers the different sets of codes that tokens have; row 0 is the empty one."""
    order = np.lexsort((code, token))
    token, code = token[order], code[order]
    covered, first, counts = np.unique(token, return_index=True, return_counts=True)
    sets = np.full((len(covered), int(counts.max(initial=1))), -1)
    sets[np.repeat(np.arange(len(covered)), counts), np.arange(len(token)) - np.repeat(first, counts)] = code
    distinct, which = np.unique(sets, axis=0, return_inverse=True)
    numbers = np.zeros(tokens, np.int32)
    numbers[covered] = 1 + which.ravel()
    values = [(f"{begins}-{kind}", 1.0) for kind in types for begins in "BI"]
    rows: list[Row] = [(), *(tuple(values[c] for c in codes if c >= 0) for codes in distinct.tolist())]
    return Rows(numbers, rows)


GAZETTEER = Function(
    "gazetteer",
    "B-type and I-type where a phrase of a list stands",
    _check,
    of_sentence=_of_sentence,
    load=_load,
    restore=_restore,
)
