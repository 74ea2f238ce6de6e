"""Labeling functions in Python: decorators for functions of one sentence, or of one item.

    @spans    f(sentence) -> (start, end, type) of each span, tokens start up to but not including end
    @tokens   f(sentence) -> a label, or None, for each token
    @links    f(sentence) -> for each token True, False or None: does it belong with the token before it? (What is said
              of the first token of a sentence does not count: there is none before it.)
    @items    f(item) -> a label, or None; an item is any Python object

`None`, or no span, is to abstain; a function may also answer None in place of an empty list. Of spans that overlap the
leftmost stays, of these the longest, and the others are dropped. What is decorated can still be called as it was, and
so be tried on `Sentence.of(["one", "sentence"])`.
"""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any, overload

import numpy as np

from trellis.corpus import Corpus
from trellis.errors import SettingError, shown
from trellis.weak.functions.casts import Cast, LinkVotes, SpanVotes, TokenVotes
from trellis.weak.functions.contract import LabelingFunction, what_is_wrong
from trellis.weak.sentence import sentences_of
from trellis.weak.space import SILENCE
from trellis.weak.votes import ABSTAINS

Function = Callable[[Any], Any]
_EXPECTED = {
    "spans": "expected (start, end, label) of each span",
    "tokens": "expected a list, for each token a label, or None to abstain",
    "links": "expected a list, for each token True, False or None",
}
_LINKS = {True: 1, False: 0, None: ABSTAINS}


class Own(LabelingFunction):
    """A function of a user's own; calling it calls that."""

    python = True

    def __init__(self, function: Function, votes: str, name: str | None = None):
        if not callable(function):
            raise SettingError(f"@{votes} stands before {shown(function)}; expected a function")
        super().__init__(votes, name, getattr(function, "__name__", type(function).__name__))
        self.function = function
        self.named = True  # functions have names
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self.function(*given, **named)

    def __reduce__(self) -> str:
        # By its name, as Python's own functions are: under that name there is this object, no longer the function.
        return str(getattr(self, "__qualname__", self.name))

    def on(self, data: Any, first: int = 0) -> Cast:
        answers = []
        for at, one in enumerate(sentences_of(data, first) if isinstance(data, Corpus) else data):
            try:
                answer = self.function(one)
                if self.votes in _EXPECTED and isinstance(answer, Iterable) and not isinstance(answer, str):
                    answer = list(answer)  # here, as a generator may fail as well
            except (Exception, SystemExit) as error:
                said = " ".join(str(error).split())
                what = f"failed{_line_of(error, self.function)}: {type(error).__name__}: {said}"
                raise self.failed(what, data, first, at) from error
            if self.votes in _EXPECTED and not (answer is None or isinstance(answer, list)):
                raise self.failed(f"answers {shown(answer)}; {_EXPECTED[self.votes]}", data, first, at)
            answers.append(answer)
        return _READ[self.votes](self, answers, data, first)


def _read_spans(own: Own, answers: list[Any], corpus: Corpus, first: int) -> Cast:
    number: dict[str, int] = {}
    found: list[tuple[int, int, int]] = []
    lengths, begins = np.diff(corpus.offsets).tolist(), corpus.offsets.tolist()
    for s, answer in enumerate(answers):
        for one in answer or ():
            start, end, label = _span(own, one, corpus, first, s, lengths[s])
            found.append((begins[s] + start, begins[s] + end, number.setdefault(label, len(number))))
    return SpanVotes.of_list(found, tuple(number))


def _span(own: Own, one: Any, corpus: Corpus, first: int, s: int, length: int) -> tuple[int, int, str]:
    try:
        start, end, label = one
        start, end = start.__index__(), end.__index__()
    except (TypeError, ValueError, AttributeError):
        what = f"votes {shown(one)}; expected (start, end, label), two numbers of tokens and a text"
        raise own.failed(what, corpus, first, s) from None
    if not 0 <= start < end <= length:
        what = f"votes for the tokens {start} to {end} of a sentence of {length}; expected 0 <= start < end <= {length}"
        raise own.failed(what, corpus, first, s, start)
    wrong = what_is_wrong(label, "spans")
    if wrong:
        raise own.failed(f"votes {shown(label)}; {wrong}", corpus, first, s, start)
    return start, end, label


def _read_tokens(own: Own, answers: list[Any], corpus: Corpus, first: int) -> Cast:
    number: dict[str | None, int] = {None: ABSTAINS}
    ids: list[int] = []
    for s, answer in enumerate(_of_lengths(own, answers, corpus, first)):
        for t, label in enumerate(answer):
            known = label is None or (isinstance(label, str) and label in number)
            wrong = "" if known else what_is_wrong(label, "tokens")
            if wrong:
                raise own.failed(f"votes {shown(label)}; {wrong} (None abstains)", corpus, first, s, t)
            ids.append(number.setdefault(label, len(number) - 1))
    return TokenVotes(np.array(ids, np.int32), tuple(label for label in number if label is not None))


def _read_links(own: Own, answers: list[Any], corpus: Corpus, first: int) -> Cast:
    together: list[int] = []
    for s, answer in enumerate(_of_lengths(own, answers, corpus, first)):
        for t, value in enumerate(answer):
            if not (value is None or isinstance(value, bool | np.bool_)):
                raise own.failed(f"says {shown(value)}; expected True, False or None", corpus, first, s, t)
            together.append(_LINKS[None if value is None else bool(value)] if t else ABSTAINS)
    return LinkVotes(np.array(together, np.int8))


def _of_lengths(own: Own, answers: list[Any], corpus: Corpus, first: int) -> Iterable[Sequence[Any]]:
    """The answers, one value for each token, or an error."""
    for s, (answer, length) in enumerate(zip(answers, np.diff(corpus.offsets).tolist(), strict=True)):
        if answer is not None and len(answer) != length:
            what = f"answers {len(answer)} values for {length} tokens; expected one for each, None to abstain"
            raise own.failed(what, corpus, first, s, min(len(answer), length - 1))
        yield [None] * length if answer is None else answer


def _read_items(own: Own, answers: list[Any], items: Any, first: int) -> Cast:
    number: dict[str | None, int] = {None: ABSTAINS}
    ids: list[int] = []
    for i, label in enumerate(answers):
        if label is not None and (not isinstance(label, str) or label in ("", SILENCE)):
            raise own.failed(f"votes {shown(label)}; expected a label, a text, or None to abstain", items, first, i)
        ids.append(number.setdefault(label, len(number) - 1))
    return TokenVotes(np.array(ids, np.int32), tuple(label for label in number if label is not None))


def _line_of(error: BaseException, function: Function) -> str:
    """Where in the file of a function it failed, as far as that can be told."""
    file = getattr(getattr(function, "__code__", None), "co_filename", None)
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f" ({file}:{lines[-1]})" if lines and file and not file.startswith("<") else ""


_READ: dict[str, Callable[[Own, list[Any], Any, int], Cast]] = {
    "spans": _read_spans,
    "tokens": _read_tokens,
    "links": _read_links,
    "items": _read_items,
}


def _decorated(votes: str, function: Function | None, name: str | None) -> Any:
    if function is None:
        return lambda given: Own(given, votes, name)
    return Own(function, votes, name)


@overload
def spans(function: Function) -> Own: ...
@overload
def spans(function: None = None, *, name: str | None = None) -> Callable[[Function], Own]: ...
def spans(function: Function | None = None, *, name: str | None = None) -> Any:
    """A function that votes for spans; see the top of this file."""
    return _decorated("spans", function, name)


@overload
def tokens(function: Function) -> Own: ...
@overload
def tokens(function: None = None, *, name: str | None = None) -> Callable[[Function], Own]: ...
def tokens(function: Function | None = None, *, name: str | None = None) -> Any:
    """A function that votes for labels of tokens; see the top of this file."""
    return _decorated("tokens", function, name)


@overload
def links(function: Function) -> Own: ...
@overload
def links(function: None = None, *, name: str | None = None) -> Callable[[Function], Own]: ...
def links(function: Function | None = None, *, name: str | None = None) -> Any:
    """A function that says which neighbours belong together; see the top of this file."""
    return _decorated("links", function, name)


@overload
def items(function: Function) -> Own: ...
@overload
def items(function: None = None, *, name: str | None = None) -> Callable[[Function], Own]: ...
def items(function: Function | None = None, *, name: str | None = None) -> Any:
    """A function that votes on whole items; see the top of this file."""
    return _decorated("items", function, name)
