"""A corpus as templates see it: every view's values by word type, every token's type.

Functions run once per distinct string. From there on all is integers: the value of a view at a token is a look-up by
the token's type, a window is a shifted look-up, positions outside the sentence are types of their own behind the
real ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import DataError
from trellis.features.functions import FUNCTIONS, Resource, Row, Rows, Sentences, Values
from trellis.features.functions.contract import BadSentence, BadString
from trellis.features.inputs import Inputs
from trellis.features.template import Part, Template, View
from trellis.labels import runs
from trellis.lattice import Allowed
from trellis.lattice.segments import SpanAttributes

if TYPE_CHECKING:
    from trellis.features.quick import Quick

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]

Resources = Mapping[View, Resource]


@dataclass(frozen=True)
class Evaluated:
    """A view of a corpus in words. `source` names the types it is a function of. Either `single`, at most one value
    for each type, or `several`, any number of values with numbers; both with the outside positions at the end."""

    source: str
    single: list[str | None] | None
    several: Values | None = None

    def strings(self) -> dict[str, None]:
        """All distinct values, in order of appearance."""
        values = dict.fromkeys(self.single or ())
        values.pop(None, None)
        if self.several is not None and len(self.several.value):
            values = dict.fromkeys(self.several.names)
        return cast(dict[str, None], values)


@dataclass(frozen=True)
class Single:
    """Value numbers I64[types]; negative where there is none."""

    source: str
    value: I64


@dataclass(frozen=True)
class Several:
    """Type i has the values `value[start[i]:start[i + 1]]` with the numbers `weight`."""

    source: str
    start: I64
    value: I64
    weight: F64


Table = Single | Several


@dataclass(frozen=True)
class Prepared:
    """What finding attributes in all parts of a corpus has in common. `by_type`: for templates of one part with one
    value, the attribute number of each type, `I32[types]`; `quick`: what the compiled way reads."""

    by_type: Mapping[int, I32]
    quick: Quick | None = None


@dataclass(frozen=True)
class Reading:
    """`types[source]: I32[tokens]`, the type of every token; `known[source]`, how many types there are (those from
    `known` on are the outside positions); one table for each view; what was
    prepared to find attributes of labels and of transitions; the labels each token may have, if not all."""

    offsets: I64
    types: Mapping[str, I32]
    known: Mapping[str, int]
    reach: int
    tables: Mapping[View, Table]
    labels: Prepared | None = None
    transitions: Prepared | None = None
    allowed: Allowed | None = None
    spans: SpanAttributes | None = None
    inputs: Inputs | None = None

    @property
    def tokens(self) -> int:
        return int(self.offsets[-1])

    def slice(self, first: int, last: int) -> Reading:
        """Sentences first..last; tables are shared."""
        cuts = self.offsets[first : last + 1]
        a, b = int(cuts[0]), int(cuts[-1])
        types = {name: ids[a:b] for name, ids in self.types.items()}
        allowed = None if self.allowed is None else self.allowed.part(a, b)
        spans = None if self.spans is None else self.spans.part(a, b)
        inputs = None if self.inputs is None else self.inputs.part(a, b)
        return replace(self, offsets=cuts - a, types=types, allowed=allowed, spans=spans, inputs=inputs)

    def batches(self, tokens: int) -> Iterator[Reading]:
        """Consecutive slices of about `tokens` tokens, whole sentences each."""
        for first, last in runs(self.offsets, tokens):
            yield self.slice(first, last)


class Positions:
    """The type found at each token's part, I32[tokens]; every distinct (source, row) is looked up once."""

    def __init__(self, reading: Reading):
        self.reading = reading
        self._found: dict[tuple[str, int, bool], I32] = {}
        self._counts: dict[tuple[str, int, bool], I64] = {}

    def prepare(self, templates: Sequence[Template]) -> None:
        """Looks everything up at once, before threads ask for it."""
        for template in templates:
            for part in template.parts:
                self.of(part)
            if len(template.parts) == 1:
                self.counts(template.parts[0])

    def of(self, part: Part) -> I32:
        source = self.reading.tables[part.view].source
        key = (source, part.row, part.absolute)
        if key not in self._found:
            self._found[key] = self._look(source, part.row, part.absolute)
        return self._found[key]

    def counts(self, part: Part) -> I64:
        """How often each type is found there, I64[types]."""
        source = self.reading.tables[part.view].source
        key = (source, part.row, part.absolute)
        if key not in self._counts:
            types = self.reading.known[source] + 2 * self.reading.reach
            self._counts[key] = np.bincount(self.of(part), minlength=types)
        return self._counts[key]

    @cached_property
    def _first(self) -> I64:
        """The first token of each token's sentence."""
        return np.repeat(self.reading.offsets[:-1], np.diff(self.reading.offsets))

    @cached_property
    def _length(self) -> I64:
        """The length of each token's sentence."""
        lengths = np.diff(self.reading.offsets)
        return np.repeat(lengths, lengths)

    def _look(self, source: str, row: int, absolute: bool) -> I32:
        types, known, reach = self.reading.types[source], self.reading.known[source], self.reading.reach
        if row == 0:
            return types
        tokens = self.reading.tokens
        if absolute:
            here = self._length + row if row < 0 else np.full(tokens, row - 1)
        else:
            here = np.arange(tokens) - self._first + row
        found: I32 = types.take(self._first + here, mode="clip")
        if absolute or row < 0:
            np.copyto(found, known - 1 - here, where=here < 0, casting="unsafe")
        if absolute or row > 0:
            over = here - self._length
            np.copyto(found, known + reach + over, where=over >= 0, casting="unsafe")
        return found


def views_of(templates: Sequence[Template]) -> list[View]:
    """All views, in order of appearance."""
    return list(dict.fromkeys(part.view for template in templates for part in template.parts))


def reach_of(templates: Sequence[Template]) -> int:
    """How far beyond a sentence's ends a template can look."""
    return max((abs(part.row) for template in templates for part in template.parts), default=0)


def columns_of(views: Sequence[View]) -> list[str]:
    """The columns an input must have."""
    return list(dict.fromkeys(column for view in views for column in _read_by(view)))


def types_of(
    corpus: Corpus, views: Sequence[View], reach: int, resources: Resources, learning: str | None = None
) -> tuple[dict[str, I32], dict[str, int], dict[View, Evaluated]]:
    """Every token's type by source, the number of types, and every view in words. `learning`: the target, where these
    are the data that features are learnt from."""
    types: dict[str, I32] = {}
    known: dict[str, int] = {}
    evaluated = {}
    for view in views:
        try:
            source, which, count, evaluated[view] = _evaluate(view, corpus, reach, resources.get(view), learning)
        except DataError:
            raise
        except ValueError as error:
            raise _refused(error, view, corpus) from error.__cause__
        types[source], known[source] = which, count
    return types, known, evaluated


def _refused(error: ValueError, view: View, corpus: Corpus) -> DataError:
    """A function's error with the places of the data, where known, and of the template."""
    token = error.token if isinstance(error, BadSentence) else None
    if isinstance(error, BadString):
        column = corpus[view.column]
        found = np.flatnonzero(column.ids == column.index.get(error.string, -1))
        token = int(found[0]) if len(found) else None  # a slice has strings that are none of its own
    if token is None:
        return DataError(f"{view.described()}: {error}", corpus.path)
    what = f"{error} ({view.described()})"
    if corpus.path is not None and corpus.lines is not None:
        return DataError(what, corpus.path, int(corpus.lines[token]))
    return DataError(f"{corpus.place(token)}: {what}")


def _read_by(view: View) -> list[str]:
    others = FUNCTIONS[view.function].other_columns
    return [view.column, *(map(str, others(view.arguments)) if others else ())]


def _evaluate(
    view: View, corpus: Corpus, reach: int, resource: Resource | None, learning: str | None
) -> tuple[str, I32, int, Evaluated]:
    function, column = FUNCTIONS[view.function], corpus[view.column]
    answer: Rows | None = None
    if function.of_sentence is not None:
        columns = tuple(corpus[name] for name in _read_by(view))
        answer = function.of_sentence(Sentences(columns, corpus.offsets), resource, view.arguments)
    elif function.of_training is not None and learning is not None and resource is not None:
        beside = function.beside(view.arguments) if function.beside else None
        answer = function.of_training(column, corpus[beside or learning], resource, view.arguments)
    if answer is not None:
        source, values = Part(view, 0).text, _from_rows(answer.rows)
        return source, answer.which, len(answer.rows), Evaluated(source, None, _lengthened(values, 2 * reach))
    strings = column.strings
    outside = view.outside(reach) if function.padded else []
    missing = 2 * reach - len(outside)
    source, count = view.column, len(strings)
    asked = [*strings, *outside]
    if function.of_type is not None:
        single = [*function.of_type(asked, resource, view.arguments), *([None] * missing)]
        if view.folded:
            single = [None if value is None else value.lower() for value in single]
        return source, column.ids, count, Evaluated(source, single)
    if function.values is not None:
        several = function.values(asked, resource, view.arguments)
    else:
        assert function.rows is not None
        several = _from_rows(function.rows(asked, resource, view.arguments))
    return source, column.ids, count, Evaluated(source, None, _lengthened(several, missing))


def _from_rows(rows: Sequence[Row]) -> Values:
    start = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    index: dict[str, int] = {}
    value = np.array([index.setdefault(name, len(index)) for row in rows for name, _ in row], np.int64)
    return Values(list(index), start, value, np.array([number for row in rows for _, number in row], np.float64))


def _lengthened(values: Values, types: int) -> Values:
    """With so many types more, which have no value."""
    return replace(values, start=np.concatenate([values.start, np.full(types, values.start[-1])]))


def table_of(evaluated: Evaluated, numbers: Mapping[str, int]) -> Table:
    """Words -> numbers; -1 for what has none."""
    if evaluated.several is None:
        single = evaluated.single or []
        found = map(numbers.get, single, repeat(-1))  # type: ignore[arg-type]  # None has no number
        return Single(evaluated.source, np.fromiter(found, np.int64, len(single)))
    several = evaluated.several
    number = np.fromiter(map(numbers.get, several.names, repeat(-1)), np.int64, len(several.names))
    return Several(evaluated.source, several.start, number[several.value], several.weight)
