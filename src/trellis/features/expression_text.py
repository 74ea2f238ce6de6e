"""Features written as text, e.g. in a file or on the command line: the same as in Python, without running Python.

The text is taken apart by Python's own parser and put together by hand; names are columns, and only the functions of
the feature language can be called.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from trellis.errors import SettingError, TemplateError
from trellis.features.expression import Columnar, Features, bag, call, column, transitions
from trellis.features.expression_source import BETWEEN, EXAMPLE, Source
from trellis.features.functions import FUNCTIONS
from trellis.features.hints import instead

_Value = Columnar | Features | str | int

_LARGEST = 10**9  # no number in a feature is larger; templates hold nine digits
_KNOWN = [*FUNCTIONS, "bag", "transitions", "column", "preset"]


class _Reader:
    def __init__(self, source: Source, columns: Sequence[str], target: str, preset: Callable[[str], Features]):
        self.source, self.columns, self.target, self.preset = source, columns, target, preset
        self.error = source.error

    def value(self, node: ast.expr) -> _Value:
        try:
            return self._value(node)
        except SettingError as error:
            raise self.error(node, str(error)) from None

    def _value(self, node: ast.expr) -> _Value:
        if isinstance(node, ast.Constant) and isinstance(node.value, str | int) and not isinstance(node.value, bool):
            if isinstance(node.value, int) and node.value >= _LARGEST:
                raise self.error(node, f"is too large a number; expected one below {_LARGEST:,}")
            return self.source.value(node.value) if isinstance(node.value, str) else node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            inner = self.value(node.operand)
            if isinstance(inner, int):
                return -inner if isinstance(node.op, ast.USub) else inner
        if isinstance(node, ast.Name):
            return self._column(node, node.id)
        if isinstance(node, ast.Subscript):
            return self._placed(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._sum(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd):
            return self.features(node.left) & self.features(node.right)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._called(node, node.func.id)
        raise self.error(node, f"not part of the feature language{self._hint(node)}")

    def _hint(self, node: ast.expr) -> str:
        odd = self.source.odd_column(self.source.segment(node))
        if isinstance(node, ast.BoolOp):
            return f"; write {'&, not and' if isinstance(node.op, ast.And) else '+, not or'}"
        if isinstance(node, ast.Tuple):
            return f"; {BETWEEN}"
        return odd or "; expected e.g. word[-2:2] + (word[-1] & word[0])"

    def _sum(self, node: ast.expr) -> Features:
        """a + b + c + ... in a loop, as there may be hundreds."""
        terms = []
        while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            terms.append(node.right)
            node = node.left
        found = self.features(node)
        for term in reversed(terms):
            found += self.features(term)
        return found

    def features(self, node: ast.expr) -> Features:
        value = self.value(node)
        if isinstance(value, Features):
            return value
        if isinstance(value, Columnar):
            shown = " ".join(self.source.segment(node).split())
            raise self.error(node, f"has no place yet; write {shown}[0] or a window such as {shown}[-1:1]")
        raise self.error(node, "is no feature; expected a column or a function of one with a place, e.g. word[0]")

    def _column(self, node: ast.expr, name: str) -> Columnar:
        if name not in self.columns:
            if name in _KNOWN and isinstance(node, ast.Name):
                raise self.error(node, f"is a function, and there is no column of that name; write {name}(...)")
            hint = instead(name, "columns", self.columns)
            raise self.error(node, f"no column {name}; {hint}")
        if name == self.target:
            raise self.error(node, f"reads the target column '{name}', which is to be predicted; read another")
        return column(name)

    def _placed(self, node: ast.Subscript) -> Features:
        inner = self.value(node.value)
        if not isinstance(inner, Columnar):
            raise self.error(node, "only a column or a function of one can have a place")
        place = node.slice
        if isinstance(place, ast.Tuple) and len(place.elts) == 2:
            first, last = map(self.source.segment, place.elts)
            raise self.error(node, f"is no place; for a window write [{first}:{last}]")
        if not isinstance(place, ast.Slice):
            return inner[self._number(place)]
        if place.lower is None or place.upper is None or place.step is not None:
            raise self.error(node, "a window needs both ends, e.g. [-2:2]")
        return inner[self._number(place.lower) : self._number(place.upper)]

    def _number(self, node: ast.expr) -> int:
        value = self.value(node) if isinstance(node, ast.Constant | ast.UnaryOp) else None
        if not isinstance(value, int):
            raise self.error(node, "is no place; a place is a whole number, e.g. [-1] or [-2:2]")
        return value

    def _called(self, node: ast.Call, name: str) -> _Value:
        if name not in _KNOWN:
            if name in self.columns:
                raise self.error(node, f"{name} is a column; a place is in square brackets, e.g. {name}[0]")
            raise self.error(node, f"no function '{name}'; {instead(name, 'functions', _KNOWN)}")
        if name in FUNCTIONS and FUNCTIONS[name].given is not None:
            raise self.error(node, f"{name} takes a function of your own and is for Python; see docs/features.md")
        if node.keywords:
            values = [self.source.segment(value) for value in [*node.args, *(k.value for k in node.keywords)]]
            raise self.error(node, f"{name} takes its arguments without names; write {name}({', '.join(values)})")
        if name in ("bag", "transitions"):
            if len(node.args) != 1:
                raise self.error(node, f"{name} needs features, e.g. {name}(word[-2:2])")
            return (bag if name == "bag" else transitions)(self.features(node.args[0]))
        if name in ("column", "preset"):
            quoted = self._in_quotes(node, name)
            return self._column(node, quoted) if name == "column" else self.preset(quoted)
        given = [self._argument(argument, n > 0) for n, argument in enumerate(node.args)]
        if any(isinstance(one, Features) for one in given):
            raise self.error(node, f"{name} is applied to a column and then given a place: {name}(word)[-1]")
        made = call(name, *(one for one in given if not isinstance(one, Features)))
        line, at = self.source.place(node)
        where = f"{self.source.path}:{line}:{at}"
        return replace(made, views=tuple(replace(view, place=where) for view in made.views))

    def _in_quotes(self, node: ast.Call, name: str) -> str:
        value = self.value(node.args[0]) if len(node.args) == 1 and isinstance(node.args[0], ast.Constant) else None
        if isinstance(value, str):
            return value
        unquoted = len(node.args) == 1 and not isinstance(node.args[0], ast.Constant)
        example = self.source.segment(node.args[0]) if unquoted else "word" if name == "column" else "ner"
        raise self.error(node, f'{name} needs a name in quotes, e.g. {name}("{example[:40]}")')

    def _argument(self, node: ast.expr, behind: bool) -> _Value:
        """`behind`: behind the column, where texts are."""
        known = isinstance(node, ast.Constant | ast.UnaryOp | ast.Call | ast.Subscript) or (
            isinstance(node, ast.Name) and node.id in self.columns
        )
        if behind and not known:
            found = self.source.segment(node)
            what = f"no column {found}" if isinstance(node, ast.Name) else "is neither a number nor text"
            raise self.error(node, f'{what}; text is in quotes: "{found[:40]}"')
        return self.value(node)


def parse_features(
    text: str, columns: Sequence[str], target: str, path: str | Path, preset: Callable[[str], Features]
) -> Features:
    """Reads an expression. `preset`: a preset's features by name. Lines that begin with # are comments."""
    source = Source(text, columns, path)
    if not source.text.strip():
        raise TemplateError(f"no features given; {EXAMPLE}", path)
    try:
        return _Reader(source, columns, target, preset).features(source.tree())
    except RecursionError:
        raise TemplateError(f"too deeply nested; {EXAMPLE}", path) from None
