"""The text of an expression on its way to Python's parser, and errors in terms of what the user wrote.

A backslash in quotes is a backslash, as in templates; but for that before the closing kind of quote, which is there for
the quote's sake. Brackets and quotes are looked at first, since the parser gets the text in brackets of its own, so
that it may go over several lines.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence
from pathlib import Path

from trellis.errors import TemplateError
from trellis.features.hints import is_plain

EXAMPLE = "expected e.g. word[-2:2] + suffix(word, 1, 2, 3)[0]"
BETWEEN = "put + or & between features"
_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"""|\'\'\'(?:[^\\]|\\.)*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|#[^\n]*|["\'()\[\]{}]',
    re.DOTALL,
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_CALLED = re.compile(r"(\w+)\s*\Z")


class Source:
    """An expression as text. Lines that begin with # are comments."""

    def __init__(self, text: str, columns: Sequence[str], path: str | Path):
        self.columns, self.path = columns, path
        self.lines = ["" if line.lstrip().startswith("#") else line for line in text.splitlines()]
        self.text = "\n".join(self.lines)
        # stands for a backslash until all is parsed; of one character, so that columns stay right
        self._stand_in = next(sign for sign in map(chr, range(0xE000, 0x110000)) if sign not in self.text)
        self._parsed = "(\n" + _TOKEN.sub(self._without_backslashes, self.text) + "\n)"

    def tree(self) -> ast.expr:
        """What the text says."""
        self._check_brackets()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of what may be a mistake in a program
                return ast.parse(self._parsed, mode="eval").body
        except (SyntaxError, ValueError, MemoryError) as error:
            raise self._syntax_error(error) from None

    def value(self, text: str) -> str:
        """A text in quotes after parsing. Backslashes that are left are those before a quote in r"..."."""
        return text.replace("\\", "").replace(self._stand_in, "\\")

    def segment(self, node: ast.expr) -> str:
        """What the user wrote there."""
        if node.lineno == 1:  # it begins with the bracket that is not the user's
            return self.text
        return (ast.get_source_segment(self._parsed, node) or "").replace(self._stand_in, "\\")

    def place(self, node: ast.expr) -> tuple[int, int]:
        """Line and column, from 1 on."""
        if node.lineno == 1:
            return 1, 1
        line = self._parsed.split("\n")[node.lineno - 1]
        return node.lineno - 1, len(line.encode()[: node.col_offset].decode()) + 1  # Python counts bytes

    def error(self, node: ast.expr, message: str) -> TemplateError:
        return self._error(self.segment(node), message, *self.place(node))

    def odd_column(self, text: str) -> str:
        """A hint, if there is a column in the text whose name Python takes for something else."""
        for name in self.columns:
            if is_plain(name) or name.isdigit() or len(name) < 2:
                continue
            if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
                return f'; for the column write column("{name}")'
        return ""

    def _error(self, found: str, message: str, line: int, column: int) -> TemplateError:
        found = " ".join(found.split())[:200].encode("utf-8", "replace").decode()
        return TemplateError(f"'{found}': {message}", self.path, line, column)

    def _error_at(self, offset: int, message: str) -> TemplateError:
        line = self.text.count("\n", 0, offset)
        column = offset - self.text.rfind("\n", 0, offset)
        return self._error(self.lines[line], message, line + 1, column)

    def _without_backslashes(self, token: re.Match[str]) -> str:
        quote = token[0][0]
        if quote not in "\"'":
            return token[0]
        return re.sub(rf"\\\\|\\(?!{quote})", lambda found: self._stand_in * len(found[0]), token[0])

    def _check_brackets(self) -> None:
        opened = self._opened(len(self.text))
        if opened:
            raise self._error_at(opened[-1], f"'{self.text[opened[-1]]}' was never closed")

    def _opened(self, end: int) -> list[int]:
        """Where the brackets begin that are open there."""
        opened: list[int] = []
        for token in _TOKEN.finditer(self.text, 0, end):
            sign, at = token[0], token.start()
            if sign in _CLOSING:
                opened.append(at)
            elif sign in _CLOSING.values():
                if not opened:
                    raise self._error_at(at, f"unmatched '{sign}'")
                last = self.text[opened.pop()]
                if _CLOSING[last] != sign:
                    raise self._error_at(at, f"'{sign}' does not match '{last}'")
            elif sign in ("'", '"') and end == len(self.text):
                raise self._error_at(at, f"the quote {sign} was never closed")
        return opened

    def _syntax_error(self, error: Exception) -> TemplateError:
        line, column = (getattr(error, "lineno", None) or 2) - 1, max(1, getattr(error, "offset", None) or 1)
        if line > len(self.lines):  # at the bracket that is not the user's
            offset, what = len(self.text.rstrip()), "something is missing at the end"
            return self._error_at(offset, f"{what}; {EXAMPLE}")
        if line < 1:
            line, column = 1, 1
        found = self.lines[line - 1] if self.lines else ""
        what = str(getattr(error, "msg", None) or "cannot be read").split(".")[0][:100]
        if "forgot a comma" in str(error):
            what = self._missing(sum(len(one) + 1 for one in self.lines[: line - 1]) + column - 1)
        return self._error(found, f"{what}{self.odd_column(found) or '; ' + EXAMPLE}", line, column)

    def _missing(self, offset: int) -> str:
        """What is missing between two things that stand beside each other."""
        opened = self._opened(offset)
        called = _CALLED.search(self.text[: opened[-1]]) if opened else None
        inside = opened and (self.text[opened[-1]] != "(" or (called and called[1] not in ("bag", "transitions")))
        return "a comma is missing" if inside else BETWEEN
