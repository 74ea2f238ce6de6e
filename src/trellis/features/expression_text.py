"""Features written as text, e.g. in a file or on the command line: the same as in Python, without running Python.

The text is taken apart by Python's own parser and put together by hand; names are columns, and only the functions of
the feature language can be called.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from trellis.errors import SettingError, TemplateError, TrellisError
from trellis.features.expression import Columnar, Features, bag, call, column, transitions
from trellis.features.functions import FUNCTIONS

_Value = Columnar | Features | str | int


_LARGEST = 10**9  # no number in a feature is larger; templates hold nine digits


class _Reader:
    """`text`: the expression in brackets that stand on lines of their own, so that it may go over several lines."""

    def __init__(
        self, text: str, columns: Sequence[str], target: str, path: str | Path, preset: Callable[[str], Features]
    ):
        self.text, self.columns, self.target, self.path, self.preset = text, columns, target, path, preset

    def error(self, node: ast.expr, message: str) -> TemplateError:
        found = self.text[1:-1] if node.lineno == 1 else ast.get_source_segment(self.text, node) or ""
        return self.error_at(found, message, *self.place(node))

    def place(self, node: ast.expr) -> tuple[int, int]:
        """Line and column, from 1 on, without the brackets around it all."""
        if node.lineno == 1:
            return 1, 1
        line = self.text.split("\n")[node.lineno - 1]
        return node.lineno - 1, len(line.encode()[: node.col_offset].decode()) + 1  # Python counts bytes

    def error_at(self, found: str, message: str, line: int, column: int) -> TemplateError:
        return TemplateError(f"'{' '.join(found.split())[:200]}': {message}", self.path, line, column)

    def value(self, node: ast.expr) -> _Value:
        try:
            return self._value(node)
        except SettingError as error:
            raise self.error(node, str(error)) from None

    def _value(self, node: ast.expr) -> _Value:
        if isinstance(node, ast.Constant) and isinstance(node.value, str | int) and not isinstance(node.value, bool):
            if isinstance(node.value, int) and node.value >= _LARGEST:
                raise self.error(node, f"is too large a number; expected one below {_LARGEST:,}")
            return node.value
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
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            return self._called(node, node.func.id)
        raise self.error(node, "not part of the feature language; expected e.g. word[-2:2] + (word[-1] & word[0])")

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
        if not isinstance(value, Features):
            raise self.error(node, "has no place yet; write [0] after it, or a window such as [-2:2]")
        return value

    def _column(self, node: ast.expr, name: str) -> Columnar:
        if name not in self.columns:
            raise self.error(node, f"no column {name}; the columns are: {', '.join(self.columns)}")
        if name == self.target:
            raise self.error(node, f"reads the target column '{name}', which is to be predicted; read another")
        return column(name)

    def _placed(self, node: ast.Subscript) -> Features:
        inner = self.value(node.value)
        if not isinstance(inner, Columnar):
            raise self.error(node, "only a column or a function of one can have a place")
        if not isinstance(node.slice, ast.Slice):
            return inner[self._number(node.slice)]
        low, high = node.slice.lower, node.slice.upper
        if low is None or high is None or node.slice.step is not None:
            raise self.error(node, "a window needs both ends, e.g. [-2:2]")
        return inner[self._number(low) : self._number(high)]

    def _number(self, node: ast.expr) -> int:
        value = self.value(node)
        if not isinstance(value, int):
            raise self.error(node, "is no place; expected a whole number, e.g. [-1] or [-2:2]")
        return value

    def _called(self, node: ast.Call, name: str) -> _Value:
        if name in ("bag", "transitions"):
            if len(node.args) != 1:
                raise self.error(node, f"{name} needs features, e.g. {name}(word[-2:2])")
            return (bag if name == "bag" else transitions)(self.features(node.args[0]))
        arguments = [self.value(argument) for argument in node.args]
        if name in ("column", "preset"):
            if len(arguments) != 1 or not isinstance(arguments[0], str):
                raise self.error(
                    node, f'{name} needs a name in quotes, e.g. {name}("{"word" if name == "column" else "ner"}")'
                )
            return self._column(node, arguments[0]) if name == "column" else self.preset(arguments[0])
        if name not in FUNCTIONS:
            known = [*FUNCTIONS, "bag", "transitions", "column", "preset"]
            raise self.error(node, f"no function '{name}'; the functions are: {', '.join(known)}")
        if FUNCTIONS[name].given is not None:
            raise self.error(node, f"{name} takes a function of your own and is for Python; see docs/features.md")
        if any(isinstance(argument, Features) for argument in arguments):
            raise self.error(node, f"{name} is applied to a column and then given a place: {name}(word)[-1]")
        made = call(name, *(a for a in arguments if not isinstance(a, Features)))
        line, at = self.place(node)
        return replace(made, views=tuple(replace(view, place=f"{self.path}:{line}:{at}") for view in made.views))


def parse_features(
    text: str, columns: Sequence[str], target: str, path: str | Path, preset: Callable[[str], Features]
) -> Features:
    """Reads an expression. `preset`: a preset's features by name. Lines that begin with # are comments."""
    lines = ["" if line.lstrip().startswith("#") else line for line in text.splitlines()]
    reader = _Reader("(\n" + "\n".join(lines) + "\n)", columns, target, path, preset)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\\d" and its like are what they are
            node = ast.parse(reader.text, mode="eval").body
        return reader.features(node)
    except RecursionError:
        raise TemplateError("too deeply nested; expected e.g. word[-2:2] + suffix(word, 1, 2, 3)[0]", path) from None
    except TrellisError:
        raise
    except (SyntaxError, ValueError, MemoryError) as error:
        line, at = (getattr(error, "lineno", None) or 2) - 1, getattr(error, "offset", None) or 1
        if not 1 <= line <= len(lines):  # at the bracket that is not the user's
            line, at = max(1, len(lines)), len(lines[-1]) + 1 if lines else 1
        found = lines[line - 1].encode("utf-8", "replace").decode() if lines else ""
        what = getattr(error, "msg", None) or "cannot be read"
        raise reader.error_at(
            found, f"{what}; expected e.g. word[-2:2] + suffix(word, 1, 2, 3)[0]", line, max(1, at)
        ) from None
