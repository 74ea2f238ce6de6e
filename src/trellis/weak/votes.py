"""The vote matrix: what every labeling function says of every token, or of every item.

    values    I32[tokens, functions]  index into `names`; -1: the function abstains
    links     I8[tokens, linkers]     1: the token belongs with the one before it, 0: it does not, -1: abstains
    offsets   I64[sentences + 1]      sentence s is tokens offsets[s]:offsets[s + 1]; an item is a sentence of one token

`labels` are what the truth can be: for segments O, then B-X and I-X of each type (IOB2, whatever encoding functions
vote in), else the labels as they are. `names` are these, and behind them the coarse ones: a function that knows only
that there is an entity may vote ENT, where `coarse` says which labels that may be. So `admits BOOL[names, labels]` is
the identity, and below it a row of several for each coarse name. `abstain` is what stood for no vote where votes were
read; a model that was fitted to votes reads others in the same way. `first` is the number of tokens that there are
before these, where they are a part of more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError, SettingError
from trellis.labels.packed import check_offsets, ranges
from trellis.weak.patterns import Patterns
from trellis.weak.space import SILENCE, Space, as_io, in_io

BOOL = NDArray[np.bool_]
I8 = NDArray[np.int8]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

ABSTAINS = -1


@dataclass(frozen=True)
class Votes:
    """As at the top of this file."""

    values: I32
    functions: tuple[str, ...]
    space: Space
    offsets: I64
    links: I8 = field(default_factory=lambda: np.zeros((0, 0), np.int8))
    linkers: tuple[str, ...] = ()
    abstain: tuple[str, ...] = (SILENCE,)
    first: int = 0

    def __post_init__(self) -> None:
        tokens = int(check_offsets(self.offsets)[-1])
        object.__setattr__(self, "values", _whole("votes", self.values, np.int32))
        object.__setattr__(self, "links", _whole("links", self.links, np.int8))
        if not self.linkers and self.links.shape != (tokens, 0):
            object.__setattr__(self, "links", np.zeros((tokens, 0), np.int8))
        for what, array, names in (("votes", self.values, self.functions), ("links", self.links, self.linkers)):
            if array.shape != (tokens, len(names)):
                raise DataError(
                    f"{what} of the shape {array.shape}; expected {tokens} tokens by {len(names)} functions"
                )
        every = [*self.functions, *self.linkers]
        if len(set(every)) < len(every):
            twice = next(name for name in every if every.count(name) > 1)
            raise SettingError(f"two functions are called {twice!r}; give each a name of its own")
        for what, array, most in (("votes", self.values, len(self.space.names)), ("links", self.links, 2)):
            if array.size and (array.min() < ABSTAINS or array.max() >= most):
                raise DataError(
                    f"{what} go from {array.min()} to {array.max()}; expected numbers from 0 to {most - 1}, or -1"
                )

    @classmethod
    def of_items(
        cls,
        votes: NDArray[np.integer] | Sequence[Sequence[str | int | None]],
        labels: Sequence[str],
        functions: Sequence[str] | None = None,
        coarse: Mapping[str, Sequence[str]] | None = None,
    ) -> Votes:
        """Votes on whole items: a matrix [items, functions] of numbers of `labels`, -1 for abstaining, or of labels
        themselves, None for abstaining."""
        space = Space.of_labels(labels, coarse)
        given = [*labels, *(name for name in coarse or {} if name not in labels)]
        number = {label: space.index[label] for label in given}
        rows = np.asarray(votes, dtype=None if isinstance(votes, np.ndarray) else object)
        if rows.ndim != 2:
            raise DataError(
                f"votes of the shape {rows.shape}; expected a row for each item, a column for each function"
            )
        names = tuple(functions or (f"f{j}" for j in range(rows.shape[1])))
        values = np.full(rows.shape, ABSTAINS, np.int32)
        for i, j in np.ndindex(*rows.shape) if rows.dtype == object else ():
            values[i, j] = _number(rows[i, j], number, given, i, names[j] if j < len(names) else f"f{j}")
        if rows.dtype != object:
            if rows.dtype.kind not in "iu" or (rows.size and (rows.min() < -1 or rows.max() >= len(given))):
                raise DataError(
                    f"votes are of the type {rows.dtype} and go from {rows.min(initial=0)} to {rows.max(initial=0)}; "
                    f"expected whole numbers from 0 to {len(given) - 1}, the number of a label, or -1"
                )
            table = np.array([*(number[label] for label in given), ABSTAINS], np.int32)
            values = table[rows]
        return cls(values, names, space, np.arange(len(values) + 1, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def tokens(self) -> int:
        return len(self.values)

    @property
    def labels(self) -> tuple[str, ...]:
        return self.space.labels

    @property
    def names(self) -> tuple[str, ...]:
        return self.space.names

    @cached_property
    def voted(self) -> BOOL:
        """BOOL[tokens, functions]."""
        return np.asarray(self.values != ABSTAINS)

    @cached_property
    def fired(self) -> BOOL:
        """BOOL[tokens]: whether any function votes."""
        return np.asarray(self.voted.any(axis=1))

    @cached_property
    def patterns(self) -> Patterns:
        """The different rows of votes."""
        return Patterns.of_votes(self.values)

    def picked(self, sentences: I64) -> Votes:
        """Of the sentences of these numbers only."""
        lengths = np.diff(self.offsets)[sentences]
        at = ranges(self.offsets[sentences], lengths)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return replace(self, values=self.values[at], links=self.links[at], offsets=offsets, first=0)

    def only(self, functions: Sequence[str]) -> Votes:
        """Of the functions of these names only, in their order."""
        unknown = [name for name in functions if name not in self.functions]
        if unknown:
            raise SettingError(f"there is no function {unknown[0]!r}; there are: {', '.join(self.functions)}")
        if tuple(functions) == self.functions:
            return self
        at = [self.functions.index(name) for name in functions]
        return replace(self, values=self.values[:, at], functions=tuple(functions))

    def in_io(self) -> Votes:
        """The same votes where only types count: B-X and I-X are both I-X. Votes on other labels are as they are."""
        return self if self.space.encoding in (None, "io") else self._in_io

    @cached_property
    def _in_io(self) -> Votes:
        space = in_io(self.space)
        table = [space.index[as_io(name)] for name in self.names]
        return replace(self, values=np.array([*table, ABSTAINS], np.int32)[self.values], space=space)


def _whole(what: str, values: NDArray[Any], dtype: type[np.signedinteger[Any]]) -> NDArray[Any]:
    """Whole numbers as an array of that type."""
    found = np.asarray(values)
    if found.size and found.dtype.kind not in "iu":
        raise DataError(f"{what} are of the type {found.dtype}; expected whole numbers, -1 for an abstention")
    if found.size and (found.min() < ABSTAINS or found.max() > np.iinfo(dtype).max):
        raise DataError(f"{what} go from {found.min()} to {found.max()}; expected numbers from 0 on, or -1")
    return found.astype(dtype, copy=False)


def _number(value: object, number: Mapping[str, int], given: Sequence[str], item: int, function: str) -> int:
    if value is None:
        return ABSTAINS
    if isinstance(value, str) and value in number:
        return number[value]
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and -1 <= value < len(given):
        return ABSTAINS if value == -1 else number[given[int(value)]]
    raise DataError(
        f"item {item + 1}: {function} votes {value!r}; expected one of {', '.join(given)}, or None to abstain"
    )
