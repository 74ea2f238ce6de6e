"""Features written in Python:

    word[-2:2] + suffix(word, 1, 2, 3)[0] + shape(word)[-1:1] + (word[-1] & word[0])

A column, or a function of one, becomes features when it is given a place: `[0]` here, `[-1]` the token before,
`[-2:2]` each of the five from two before to two after. `+` puts features beside each other, `&` makes conjunctions
(of every feature on the left with every one on the right). Printed, features are a template file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from trellis.errors import SettingError
from trellis.features.functions import FUNCTIONS, Argument
from trellis.features.hints import written
from trellis.features.template import CRFPP_HEADER, Part, Template, View, can_be_written, quoted

Callables = Mapping[str, Callable[..., Any]]

_FARTHEST = 1000
_WIDE_PERCENT = "\uff05"
_NO_TRUTH = "features are neither true nor false; for a conjunction write &, not and; to put them together write +"


@dataclass(frozen=True)
class Term:
    """One feature: parts, the name in front of their values, and U or B. `optional`: left out where the corpus has not
    the columns, or they are to be predicted."""

    parts: tuple[Part, ...]
    label: str
    kind: str = "U"
    optional: bool = False

    @property
    def template(self) -> Template:
        # a % would begin a command when the template is read again; its wide twin hardly occurs by itself
        label = f"{self.kind}:{self.label.replace('%', _WIDE_PERCENT)}"
        if not self.parts:
            return Template((label,), ())
        return Template((label + "=", *["/"] * (len(self.parts) - 1), ""), self.parts)


@dataclass(frozen=True)
class Features:
    """Some features, in order. `functions`: the callables they use, by name."""

    terms: tuple[Term, ...]
    functions: Callables = field(default_factory=dict)

    @classmethod
    def of(cls, templates: Iterable[Template], functions: Callables | None = None, optional: bool = False) -> Features:
        """Templates as features, to build on."""
        heads = ((template.literals[0], template.parts) for template in templates)
        terms = (Term(parts, head[1:].strip("=:"), head[0], optional) for head, parts in heads)
        return cls(tuple(terms), functions or {})

    def __add__(self, other: Features) -> Features:
        other = _features(other)
        return Features((*self.terms, *other.terms), _together(self.functions, other.functions))

    def __and__(self, other: Features) -> Features:
        other = _features(other)
        terms = tuple(
            Term(
                (*a.parts, *b.parts),
                f"{a.label}&{b.label}",
                "B" if "B" in (a.kind, b.kind) else a.kind,
                a.optional or b.optional,
            )
            for a in self.terms
            for b in other.terms
        )
        return Features(terms, _together(self.functions, other.functions))

    def __radd__(self, other: object) -> Features:
        return _features(other) + self

    def __rand__(self, other: object) -> Features:
        return _features(other) & self

    def __bool__(self) -> bool:
        raise SettingError(_NO_TRUTH)

    def __getitem__(self, place: object) -> Features:
        raise SettingError(f"{self!r} have a place already; a place is given once, e.g. word[-1]")

    def templates(self, columns: Sequence[str] | None = None) -> tuple[Template, ...]:
        """One template a feature; the same feature twice is one. With the columns there are, without those that are
        optional and read others."""
        terms = [
            term
            for term in self.terms
            if columns is None or not term.optional or all(part.view.column in columns for part in term.parts)
        ]
        return tuple({term.template.text: term.template for term in terms}.values())

    def __repr__(self) -> str:
        labels = " + ".join(f"transitions({t.label})" if t.kind == "B" else t.label for t in self.terms)
        return f"<Features: {labels if len(labels) < 80 else labels[:76] + ' ...'}>"

    def __str__(self) -> str:
        lines = [template.text for template in self.templates()]
        if any(part.view.function in ("t", "m") for term in self.terms for part in term.parts):
            lines.insert(0, CRFPP_HEADER)  # or they would make it a file of Wapiti's
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Columnar:
    """Views of columns that have no place yet: `word`, or `suffix(word, 1, 2, 3)`, which is three."""

    views: tuple[View, ...]
    functions: Callables = field(default_factory=dict)

    def __getitem__(self, place: int | slice) -> Features:
        return Features(
            tuple(Term((Part(view, row),), f"{_named(view)}[{row}]") for view in self.views for row in _rows(place)),
            self.functions,
        )

    def __add__(self, other: object) -> Features:
        raise SettingError(self.no_place())

    __radd__ = __and__ = __rand__ = __add__

    def __bool__(self) -> bool:
        raise SettingError(_NO_TRUTH)

    def __repr__(self) -> str:
        plain = len(self.views) == 1 and self.views[0] == View("x", self.views[0].column)
        return f"<column {self.views[0].column}>" if plain else f"<{', '.join(map(_shown, self.views))}, no place yet>"

    def no_place(self) -> str:
        """What to say where features are needed."""
        shown = _shown(self.views[0])
        return f"{shown} has no place yet; write {shown}[0] or a window such as {shown}[-1:1]"


def column(name: str) -> Columnar:
    """A column of the corpus by its name."""
    if not isinstance(name, str):
        raise SettingError(f'{name!r:.40} is no name of a column; expected text, e.g. column("word")')
    if not re.fullmatch(r"[^\],\s]+", name):
        raise SettingError(f"'{name}' cannot be written in a template; rename the column, without spaces, ',' and ']'")
    return Columnar((View("x", name),))


def columns(*names: str) -> tuple[Columnar, ...]:
    """Several columns: `word, pos = columns("word", "pos")`."""
    for name in names:
        if isinstance(name, list | tuple | set):
            raise SettingError(f'{name!r:.40}: the names are given one by one, e.g. columns("word", "pos")')
    return tuple(column(name) for name in names)


def call(name: str, *given: Columnar | Argument | Callable[..., Any], **keywords: object) -> Columnar:
    """A function of a column: `call("suffix", word, 1, 2, 3)`. Where a function takes one number, several stand for
    as many features."""
    if keywords:
        values = ", ".join(["word", *map(repr, keywords.values())])
        raise SettingError(f"{name} takes its arguments without names; write {name}({values})")
    if given and isinstance(given[0], Features):
        raise SettingError(f"{name} is applied to a column and then given a place: {name}(word)[-1]")
    if not given or not isinstance(given[0], Columnar):
        hint = f'; write column("{given[0]}")' if given and isinstance(given[0], str) else ""
        raise SettingError(f"{name} needs a column first, e.g. {name}(word){hint}")
    first, functions = given[0], {}
    if len(first.views) != 1 or first.views[0].folded or first.views[0].function != "x":
        if name == "lower" and len(given) == 1:  # an upper-case command in templates
            return replace(first, views=tuple(map(_folded, first.views)))
        raise SettingError(
            f"{name} needs a column, not {_shown(first.views[0])}; functions do not nest, but for lower around others"
        )
    arguments: list[Argument] = []
    for one in given[1:]:
        if isinstance(one, Columnar):
            arguments += [view.column for view in one.views]
        elif callable(one):
            own = getattr(one, "__name__", type(one).__name__)
            functions[own] = one
            arguments.append(own)
        elif isinstance(one, str | int) and not isinstance(one, bool):
            arguments.append(one)
        else:
            raise SettingError(f"{name}: {one!r} is no argument of a function; expected text or a whole number")
    for argument in arguments:
        if not can_be_written(argument):
            raise SettingError(
                f"{name}: {argument!r:.40} cannot be written in a template, which has one line, whole numbers of up to "
                "nine digits, and no backslash before a quote or at the end of a text"
            )
    function = FUNCTIONS[name]
    if function.given is not None and not functions:
        raise SettingError(f"{name} needs a function of your own behind the column, e.g. {name}(word, f)")
    numbers = [a for a in arguments if isinstance(a, int)]
    lists: list[tuple[Argument, ...]]
    if function.many and len(numbers) > 1:
        rest = [a for a in arguments if not isinstance(a, int)]
        lists = [(*rest, n) for n in numbers]
    else:
        lists = [tuple(arguments)]
    views = []
    for one_list in lists:
        try:
            function.check(one_list)
        except ValueError as error:
            raise SettingError(f"{name} {error}") from None
        views.append(View(name, first.views[0].column, one_list))
    return Columnar(tuple(views), functions)


def bag(features: Features) -> Features:
    """The same attribute wherever in the window the value is: `bag(word[-3:-1])`."""
    features = _features(features)
    names = dict.fromkeys("&".join(_named(part.view) for part in term.parts) for term in features.terms)
    label = f"bag({'+'.join(names)})"
    return replace(features, terms=tuple(replace(term, label=label) for term in features.terms))


def transitions(features: Features) -> Features:
    """Features of the transition into a token rather than of its label: `transitions(pos[0])`."""
    features = _features(features)
    return replace(features, terms=tuple(replace(term, kind="B") for term in features.terms))


def _features(value: object) -> Features:
    if isinstance(value, Features):
        return value
    if isinstance(value, Columnar):
        raise SettingError(value.no_place())
    hint = f'; for a column write column("{value}")[0]' if isinstance(value, str) else ""
    raise SettingError(f"features are needed, not {value!r:.40}{hint}")


def _folded(view: View) -> View:
    if view.function == "lower":
        return view
    if FUNCTIONS[view.function].of_type is None:
        raise SettingError(f"lower needs a function with one value for each string, not {_shown(view)}")
    return replace(view, folded=True)


def _named(view: View) -> str:
    """In the names of attributes."""
    name = view.column
    if view.function != "x":
        name = f"{view.function}({','.join([name, *map(str, view.arguments)])})"
    return f"lower({name})" if view.folded else name


def _shown(view: View) -> str:
    """As it is written."""
    shown = written(view.column)
    if view.function != "x":
        shown = f"{view.function}({', '.join([shown, *map(quoted, view.arguments)])})"
    return f"lower({shown})" if view.folded else shown


def _rows(place: int | slice) -> range:
    window = isinstance(place, slice)
    first, last = (place.start, place.stop) if isinstance(place, slice) else (place, place)
    if isinstance(place, slice) and (first is None or last is None or place.step is not None):
        raise SettingError("no window; both ends are needed, e.g. [-2:2]")
    if isinstance(place, tuple) and len(place) == 2:
        raise SettingError(f"no place: {place!r:.40}; for a window write [{place[0]!r:.20}:{place[1]!r:.20}]")
    if not all(isinstance(end, int) and not isinstance(end, bool) for end in (first, last)):
        found = f"[{first!r:.20}:{last!r:.20}]" if window else f"{place!r:.40}"
        raise SettingError(f"no place: {found}; a place is a whole number, e.g. [-1], or a window, e.g. [-2:2]")
    if max(abs(first), abs(last)) > _FARTHEST:
        raise SettingError(f"a place is too far away (at most {_FARTHEST})")
    if first > last:
        raise SettingError(f"[{first}:{last}] is no window; expected e.g. [-2:2], from two before to two after")
    return range(first, last + 1)


def _together(a: Callables, b: Callables) -> Callables:
    for name in set(a) & set(b):
        if a[name] is not b[name]:
            remedy = "give them names with def" if name == "<lambda>" else "rename one"
            raise SettingError(f"two different functions are called '{name}'; {remedy}")
    return {**a, **b}
