"""Functions of the user's own, for what the language does not have.

`apply(word, f)` calls `f("dogs")` once for each word type; `apply_sentence(word, f)` calls `f(["Two", "dogs"])` for
each sentence and expects something for every token (with further columns, `apply_sentence(word, f, pos)`, it gets a
list for each); `apply_pair(pos, f)` calls `f("DT", "NN")` once for each pair of neighbours, with None before the first
token. What they return may be None or False (no attribute), text or True (one), a number (an attribute with
that value), a list or set of texts, or a dict, as for tokens given as dicts.

A model file never holds code: it keeps the function's name, and whoever loads the model gives the function again.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np

from trellis.errors import SettingError
from trellis.features.functions.contract import (
    Arguments,
    BadSentence,
    BadString,
    Function,
    Resource,
    Row,
    Rows,
    Sentences,
    UserFunction,
    check_functions,
)
from trellis.features.items import attributes_of
from trellis.labels import first_tokens

_MAY_RETURN = "None, text, True or False, a finite number, a list or set of texts, or a dict"
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60


def _check(arguments: Arguments) -> None:
    if len(arguments) != 1 or not isinstance(arguments[0], str):
        raise ValueError("needs one function, and in a template its name in quotes")


def _check_sentence(arguments: Arguments) -> None:
    if not arguments or not all(isinstance(argument, str) for argument in arguments):
        raise ValueError("needs a function, and in a template its name in quotes, then names of further columns")


def _given(arguments: Arguments, functions: Mapping[str, Callable[..., Any]]) -> UserFunction:
    name = str(arguments[0])
    check_functions(functions)
    if name not in functions:
        raise SettingError(
            f"the features use a function of your own, '{name}', and text cannot hold one; in training write them in "
            f'Python, apply(word, {name}); when loading a model give it: load(path, functions={{"{name}": {name}}})'
        )
    return UserFunction(name, functions[name])


def _rows(strings: Sequence[str], resource: Resource | None, arguments: Arguments) -> list[Row]:
    assert isinstance(resource, UserFunction)
    rows = []
    for string in strings:
        try:
            rows.append(row_of(_called(resource, string)))
        except ValueError as error:
            raise BadString(f"{_call(resource, string)} {error}", string) from error.__cause__
    return rows


def _of_sentence(sentences: Sentences, resource: Resource | None, arguments: Arguments) -> Rows:
    assert isinstance(resource, UserFunction)
    columns = [column.values() for column in sentences.columns]
    number: dict[Row, int] = {}
    which: list[int] = []
    for a, b in pairwise(sentences.offsets.tolist()):
        if a == b:
            continue
        given = [column[a:b] for column in columns]
        answers = None
        try:
            answers = _answers(resource, given)
            for answer in answers:
                which.append(number.setdefault(row_of(answer), len(number)))
        except ValueError as error:
            whose = "" if answers is None else f" for token {len(which) - a + 1}"
            raise BadSentence(f"{_call(resource, *given)}{whose} {error}", len(which)) from error.__cause__
    return Rows(np.array(which, np.int32), list(number))


def _pairs(pairs: Sequence[tuple[str | None, str]], resource: Resource | None, arguments: Arguments) -> list[Row]:
    assert isinstance(resource, UserFunction)
    rows = []
    for before, here in pairs:
        try:
            rows.append(row_of(_called(resource, before, here)))
        except ValueError as error:
            raise BadString(f"{_call(resource, before, here)} {error}", here) from error.__cause__
    return rows


def _of_neighbours(sentences: Sentences, resource: Resource | None, arguments: Arguments) -> Rows:
    """Each pair of neighbours once."""
    column = sentences.columns[0]
    before = np.concatenate([[-1], column.ids[:-1]]).astype(np.int64)[: len(column.ids)]
    before[first_tokens(sentences.offsets)] = -1
    keys, which = np.unique((before + 1) * max(1, len(column.strings)) + column.ids, return_inverse=True)
    sides = np.divmod(keys, max(1, len(column.strings)))
    pairs = [(column.strings[i - 1] if i else None, column.strings[j]) for i, j in zip(*map(list, sides), strict=True)]
    return Rows(which.astype(np.int32), _pairs(pairs, resource, arguments))


def _answers(own: UserFunction, given: Sequence[Sequence[str]]) -> list[Any]:
    """What a function on sentences says of each token."""
    answer = _called(own, *given, read=_listed)
    wanted = f"expected a list with something for each of the {len(given[0])} tokens"
    if not isinstance(answer, list):
        raise ValueError(f"returned {_shown(answer)}; {wanted}")
    if len(answer) != len(given[0]):
        raise ValueError(f"returned {_shown(answer)}, {len(answer)} in all; {wanted}")
    return answer


def _listed(answer: Any) -> Any:
    """Whatever is one after another; what a text, a set or a dict holds is not for the tokens in turn."""
    in_turn = isinstance(answer, Iterable) and not isinstance(answer, str | bytes | Set | Mapping)
    return list(answer) if in_turn else answer


def _called(own: UserFunction, *given: Any, read: Callable[[Any], Any] = lambda answer: answer) -> Any:
    try:
        return read(own.function(*given))  # a generator runs while it is read
    except Exception as error:
        raise ValueError(f"raised {type(error).__name__}: {error}") from error


def _call(own: UserFunction, *given: Any) -> str:
    """`vowels('LISBON')`, for errors."""
    return f"{own.name}({', '.join(map(_shown, given))})"


def row_of(answer: Any) -> Row:
    """What a user's function returned, as attribute values; ValueError, worded to follow the call."""
    if answer is None or answer is False or (isinstance(answer, np.bool_) and not answer):
        return ()
    if isinstance(answer, str):
        return ((answer, 1.0),)
    if isinstance(answer, bool | np.bool_):
        return (("true", 1.0),)
    try:
        if not isinstance(answer, Real):
            return tuple(attributes_of(answer))
        if math.isfinite(answer):
            return (("", float(answer)),)
        why = ""
    except OverflowError:
        why = " (the number is too large)"
    except (TypeError, ValueError) as error:
        why = f" ({error})" if isinstance(answer, Collection) else ""
    raise ValueError(f"returned {_shown(answer)}; expected {_MAY_RETURN}{why}")


def _shown(value: Any) -> str:
    try:
        return _SHORT.repr(value)
    except Exception:  # numbers of too many digits have no text
        return f"what is of type {type(value).__name__}"


APPLY = Function("apply", "a function of your own on word types", _check, rows=_rows, given=_given)
APPLY_SENTENCE = Function(
    "apply_sentence",
    "a function of your own on sentences",
    _check_sentence,
    of_sentence=_of_sentence,
    given=_given,
    other_columns=lambda arguments: [str(argument) for argument in arguments[1:]],
)
APPLY_PAIR = Function(
    "apply_pair",
    "a function of your own on two neighbours",
    _check,
    of_sentence=_of_neighbours,
    pairs=_pairs,
    given=_given,
)
