"""What a feature function is.

A function turns the distinct strings of a column (word types) into values, once per type, never per token. What it
gives for a string is a *row*: the attribute values that a token with this string has, each with a number.

    Row = () no attribute        (("ing", 1.0),) one        (("NN", 1.0), ("VB", 1.0)) several        (("", 0.37),) real

Most functions give one value or none and only say so as text or None (`of_type`); the rest give rows (`rows`). A
function that has to see the sentence (gazetteers) gives a row to every token (`of_sentence`).

Whatever a function knows beyond its arguments (clusters, gazetteers, vectors, words seen with a label) is a
`Resource`. It is read or learnt once, when training begins, and travels in the model file.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column
from trellis.errors import SettingError

Argument = str | int
Arguments = tuple[Argument, ...]
Row = tuple[tuple[str, float], ...]
Tables = Mapping[str, Sequence[str] | NDArray[np.float64] | NDArray[np.int64]]


class BadString(ValueError):
    """A function cannot make anything of a string of the column; whoever has the corpus says where that stands."""

    def __init__(self, message: str, string: str):
        super().__init__(message)
        self.string = string


class BadSentence(ValueError):
    """A function on sentences cannot make anything of one; `token` is its first, or the one at fault."""

    def __init__(self, message: str, token: int):
        super().__init__(message)
        self.token = token


class Resource(Protocol):
    """What a function looks things up in."""

    def tables(self) -> Tables:
        """Everything it holds, as lists of strings (all different) and arrays, for the model file."""
        ...


@dataclass(frozen=True)
class UserFunction:
    """A callable of the user's own and its name; the model file holds nothing of it but the name."""

    name: str
    function: Callable[..., Any]

    def tables(self) -> Tables:
        return {}


def check_functions(functions: object) -> None:
    """Whether these are callables by name, as a user should give them."""
    usage = 'functions= takes a dict of names and functions, such as {"vowels": vowels}'
    if not isinstance(functions, Mapping):
        raise SettingError(f"{usage}; found {reprlib.repr(functions)}")
    for name, function in functions.items():
        if not callable(function):
            raise SettingError(f"{usage}; found {name!r}: {reprlib.repr(function)}, which cannot be called")


@dataclass(frozen=True)
class Sentences:
    """What a function on sentences sees: columns over tokens (the first is the one the template names), and where
    each sentence begins, I64[sentences + 1]."""

    columns: tuple[Column, ...]
    offsets: NDArray[np.int64]


@dataclass(frozen=True)
class Rows:
    """Token t has row `rows[which[t]]` (I32[tokens])."""

    which: NDArray[np.int32]
    rows: Sequence[Row]


@dataclass(frozen=True)
class Values:
    """The rows of many types as arrays, for functions with many numbers: type i has the values
    `names[value[start[i]:start[i + 1]]]` with the numbers `weight`."""

    names: Sequence[str]
    start: NDArray[np.int64]
    value: NDArray[np.int64]
    weight: NDArray[np.float64]


@dataclass(frozen=True)
class Function:
    """One function of the feature language.

    `check` looks at the arguments behind the column: it raises ValueError, worded to follow "suffix: ", for what
    does not fit. Exactly one of `of_type`, `rows`, `values`, `of_sentence` is given; each takes the resource (None
    where there is none) and the arguments. `padded`: positions before and after the sentence are strings too (`_B-1`),
    and go through the function; else they have no value. `many`: the last argument is a whole number that may be given
    several times in an expression, as in suffix(word, 1, 2, 3), which stands for three features; `check` and all others
    see one of them at a time, behind the arguments that are no numbers. What a function
    cannot use it refuses with `BadString` or `BadSentence`.
    """

    name: str
    summary: str
    check: Callable[[Arguments], None]
    of_type: Callable[[Sequence[str], Resource | None, Arguments], list[str | None]] | None = None
    rows: Callable[[Sequence[str], Resource | None, Arguments], list[Row]] | None = None
    values: Callable[[Sequence[str], Resource | None, Arguments], Values] | None = None
    of_sentence: Callable[[Sentences, Resource | None, Arguments], Rows] | None = None
    padded: bool = False
    many: bool = False
    # beside `of_sentence`: the rows of pairs (string before, None for the first token of a sentence; string), for
    # functions of two neighbours, where a column is not what it is but what it may be
    pairs: Callable[[Sequence[tuple[str | None, str]], Resource | None, Arguments], list[Row]] | None = None
    # columns beside the first that a function on sentences reads, as its arguments name them
    other_columns: Callable[[Arguments], Sequence[str]] | None = None
    # a resource from the files that arguments name; DataError / FileAccessError with file:line for what is wrong
    load: Callable[[Arguments], Resource] | None = None
    # a resource from training data: words, and the column the words are counted with (the target, if no other is named)
    learn: Callable[[Column, Column, Arguments], Resource] | None = None
    # what a learnt resource says of the training data themselves, token by token, where that is something else than
    # what it says of other data: words and labels as `learn` has them
    of_training: Callable[[Column, Column, Resource, Arguments], Rows] | None = None
    # the name of the column that `learn` counts with, if it is not the target
    beside: Callable[[Arguments], str | None] | None = None
    # a resource from what a user gives beside the templates: callables by name
    given: Callable[[Arguments, Mapping[str, Callable[..., Any]]], Resource] | None = None
    # a resource from the tables of a model file; ValueError for what does not fit
    restore: Callable[[Tables], Resource] | None = None
    # the arguments that the resource depends on, where not on all: features that agree in them can share one
    depends: Callable[[Arguments], Arguments] | None = None


def no_arguments(arguments: Arguments) -> None:
    """A `check` for functions of the column alone."""
    if arguments:
        raise ValueError(f"takes no argument but the column; found {', '.join(map(repr, arguments))}")


def one_count(arguments: Arguments) -> None:
    """A `check` for functions with one whole number from 1 on."""
    if len(arguments) != 1 or not isinstance(arguments[0], int) or not 1 <= arguments[0] <= 100:
        raise ValueError(f"needs one whole number from 1 to 100; found {', '.join(map(repr, arguments)) or 'none'}")
