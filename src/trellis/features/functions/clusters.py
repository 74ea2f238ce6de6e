"""Word clusters: `cluster(word, "paths")` is a word's cluster, `cluster(word, "paths", 4)` the first 4 of its signs.

Two kinds of file are recognised: Brown's `paths`, with a path of 0 and 1, a word and maybe a count on each line,
separated by tabs; and any other with a word and the name of its cluster on each line. A word that is not in the file
has the cluster of its lower-case form, else none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError
from trellis.features.functions.checks import MOST_COUNT, file_first, is_count, listed
from trellis.features.functions.contract import Arguments, Function, Resource, Tables
from trellis.features.functions.reading import decoded, numbered_lines
from trellis.features.functions.tables import expect, indices, strings

_PATH = re.compile("[01]+")
_USAGE = 'a file of clusters in quotes, and maybe the length of prefixes, e.g. "paths", 4'


@dataclass(frozen=True)
class Clusters:
    """Word i is in the cluster `names[which[i]]`, `which: I64[words]`."""

    words: list[str]
    names: list[str]
    which: NDArray[np.int64]

    @cached_property
    def index(self) -> dict[str, int]:
        return dict(zip(self.words, self.which.tolist(), strict=True))

    def tables(self) -> Tables:
        return {"words": self.words, "names": self.names, "which": self.which}


def _check(arguments: Arguments) -> None:
    file_first(arguments, 2, _USAGE)
    if len(arguments) == 2 and not is_count(arguments[1]):
        raise ValueError(f"needs {_USAGE}, a whole number from 1 to {MOST_COUNT}; found {listed(arguments)}")


def _load(arguments: Arguments) -> Clusters:
    path = file_first(arguments, 2, _USAGE)
    names: dict[str, int] = {}
    clusters: dict[str, int] = {}
    for line, word, name in _entries(path):
        number = names.setdefault(name, len(names))
        if clusters.setdefault(word, number) != number:
            raise DataError(f"'{word}' has a second cluster, {name}; every word needs just one", path, line)
    return Clusters(list(clusters), list(names), np.fromiter(clusters.values(), np.int64, len(clusters)))


def _entries(path: str) -> list[tuple[int, str, str]]:
    """(line, word, cluster) of every line."""
    lines = []
    for number, raw in numbered_lines(path):
        # cut as bytes: of the Unicode spaces some occur in words; between tabs even plain ones may
        cut = raw.strip(b" \r\n").split(b"\t") if b"\t" in raw.strip() else raw.split()
        fields = [decoded(field, path, number) for field in cut]
        if not 2 <= len(fields) <= 3 or not all(fields):
            what = f"{len(fields)} columns; expected a word and its cluster, or a path of 0 and 1, a word and a count"
            raise DataError(what, path, number)
        lines.append((number, fields))
    if not lines:
        raise DataError("no cluster here; expected a word and its cluster on each line", path)
    other = next((place for place in lines if not _PATH.fullmatch(place[1][0])), None)
    if other is None:
        return [(number, fields[1], fields[0]) for number, fields in lines]
    if any(len(fields) == 3 for _, fields in lines):  # only Brown's files have counts
        raise DataError(f"'{other[1][0]}' is no path; expected signs 0 and 1, a word and a count", path, other[0])
    return [(number, fields[0], fields[1]) for number, fields in lines]


def _restore(tables: Tables) -> Clusters:
    expect(tables, "words", "names", "which")
    words, names = strings(tables, "words"), strings(tables, "names")
    return Clusters(words, names, indices(tables, "which", len(words), len(names)))


def _cluster(words: Sequence[str], resource: Resource | None, arguments: Arguments) -> list[str | None]:
    assert isinstance(resource, Clusters)
    n = int(arguments[1]) if len(arguments) > 1 else None
    values = [name[:n] for name in resource.names]
    get = resource.index.get
    return [None if i < 0 else values[i] for i in (get(w, get(w.lower(), -1)) for w in words)]


CLUSTER = Function(
    "cluster",
    "a word's cluster, or the first n signs of its path",
    _check,
    of_type=_cluster,
    many=True,
    load=_load,
    restore=_restore,
    depends=lambda arguments: arguments[:1],
)
