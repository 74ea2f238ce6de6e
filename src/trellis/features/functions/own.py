"""Functions of the user's own, for what the language does not have.

`apply(word, f)` calls `f("dogs")` once for each word type; `apply_sentence(word, f)` calls `f(["Two", "dogs"])` for
each sentence and expects something for every token (with further columns, `apply_sentence(word, f, pos)`, it gets a
list for each). What they return may be None or False (no attribute), text or True (one), a number (an attribute with
that value), a list or set of texts, or a dict, as for tokens given as dicts.

A model file never holds code: it keeps the function's name, and whoever loads the model gives the function again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np

from trellis.errors import DataError, SettingError
from trellis.features.functions.contract import Arguments, Function, Resource, Row, Rows, Sentences, UserFunction
from trellis.features.items import attributes_of


def _check(arguments: Arguments) -> None:
    if len(arguments) != 1 or not isinstance(arguments[0], str):
        raise ValueError("needs one function, and in a template its name in quotes")


def _check_sentence(arguments: Arguments) -> None:
    if not arguments or not all(isinstance(argument, str) for argument in arguments):
        raise ValueError("needs a function, and in a template its name in quotes, then names of further columns")


def _given(arguments: Arguments, functions: Mapping[str, Callable[..., Any]]) -> UserFunction:
    name = str(arguments[0])
    if name not in functions:
        raise SettingError(
            f"the features use a function of your own, '{name}', and text cannot hold one; in training write them in "
            f'Python, apply(word, {name}); when loading a model give it: load(path, functions={{"{name}": {name}}})'
        )
    return UserFunction(name, functions[name])


def _rows(strings: Sequence[str], resource: Resource | None, arguments: Arguments) -> list[Row]:
    assert isinstance(resource, UserFunction)
    return [row_of(_called(resource, string), resource.name) for string in strings]


def _of_sentence(sentences: Sentences, resource: Resource | None, arguments: Arguments) -> Rows:
    assert isinstance(resource, UserFunction)
    columns = [column.values() for column in sentences.columns]
    number: dict[Row, int] = {}
    which: list[int] = []
    for a, b in pairwise(sentences.offsets.tolist()):
        if a == b:
            continue
        answers = list(_called(resource, *(column[a:b] for column in columns)))
        if len(answers) != b - a:
            raise DataError(f"{resource.name} gave {len(answers)} values for a sentence of {b - a} tokens")
        which += [number.setdefault(row_of(answer, resource.name), len(number)) for answer in answers]
    return Rows(np.array(which, np.int32), list(number))


def _called(own: UserFunction, *given: Any) -> Any:
    try:
        return own.function(*given)
    except Exception as error:
        raise DataError(f"{own.name}{given!r:.200} raised {type(error).__name__}: {error}") from error


def row_of(answer: Any, name: str) -> Row:
    """What a user's function returned, as attribute values."""
    if answer is None or answer is False or (isinstance(answer, np.bool_) and not answer):
        return ()
    if isinstance(answer, str):
        return ((answer, 1.0),)
    if isinstance(answer, bool | np.bool_):
        return (("true", 1.0),)
    if isinstance(answer, Real):
        if not math.isfinite(answer):
            raise DataError(f"{name} returned {answer}; expected a finite number")
        return (("", float(answer)),)
    try:
        return tuple(attributes_of(answer))
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} returned what is no attribute: {error}") from None


APPLY = Function("apply", "a function of your own on word types", _check, rows=_rows, given=_given)
APPLY_SENTENCE = Function(
    "apply_sentence",
    "a function of your own on sentences",
    _check_sentence,
    of_sentence=_of_sentence,
    given=_given,
    other_columns=lambda arguments: [str(argument) for argument in arguments[1:]],
)
