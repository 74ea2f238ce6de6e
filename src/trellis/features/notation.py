"""Template files: the notations of CRF++ and of Wapiti, and functions by name in either.

    U05:%x[-1,0]/%x[0,0]            two columns at two offsets (CRF++, Wapiti)
    *:Suf-3 X=%m[ 0,0,".?.?.?$"]    a match of Wapiti's small regular expressions; * is for labels and transitions
    U:%suffix[0,word,3]             a function of Trellis; columns by position or by name
    U:%SUFFIX[0,word,3]             a command in upper case: what it gives, in lower case

A line `B` alone stands for label transitions, which every CRF here has. A file whose first line is `# notation: CRF++`
or `# notation: Wapiti` is in that notation; else it is Wapiti's if it has anything that CRF++ does not know.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trellis.errors import TemplateError
from trellis.features.functions import FUNCTIONS, Argument
from trellis.features.hints import instead
from trellis.features.template import (
    CRFPP,
    WAPITI,
    Part,
    Template,
    View,
    unquoted,
)

_ROW = re.compile(r"(@?)\s*([+-]?[0-9]+)\s*(?=,)")
_COLUMN = re.compile(r"([^\],\s]+)\s*")
_ARGUMENT = re.compile(r'(?:([+-]?[0-9]{1,9})(?![0-9])|"((?:[^"\\]|\\.)*)")\s*')
_COMMA_OR_END = re.compile(r"[,\]]")
_SPACES = re.compile(r"\s*")
_NUMBER = re.compile(r"[0-9]{1,6}")
_COMMAND = re.compile(r"%([A-Za-z_]+)\[")
# what only Wapiti's files have: kinds in lower case or *, other commands than %x, offsets from the sentence's ends
_WAPITI_LINE = re.compile(r"[ub*]|[^#]*%(?:[XtTmM]\[|x\[\s*@)")
# a # in the quotes of a command begins no comment
_WAPITI_TEXT = re.compile(r'(?:%[A-Za-z_]+\[[^"#\]]*(?:"(?:[^"\\]|\\.)*"[^"#\]]*)*|[^#])*')
_MAX_REACH = 1000  # an offset beyond this is a typing mistake


@dataclass(frozen=True)
class Place:
    """Where templates come from, and the columns they may read."""

    columns: Sequence[str]
    target: str
    path: str | Path | None = None
    positions: Sequence[str] | None = None


def parse_templates(
    text: str,
    columns: Sequence[str],
    target: str,
    path: str | Path | None = None,
    positions: Sequence[str] | None = None,
) -> tuple[Template, ...]:
    """Reads a template file for a corpus with these columns, of which `target` is to be predicted. `positions` are
    the columns of the file, also those left out, where that differs."""
    place = Place(columns, target, path, columns if positions is None else positions)
    lines = text.splitlines()
    wapiti = _is_wapiti(lines, path)
    templates: dict[str, Template] = {}
    for number, raw in enumerate(lines, 1):
        line = _without_comment(raw, wapiti)
        if not line.strip():
            continue
        template = parse_line(line, place, number, WAPITI if wapiti else CRFPP)
        if template.parts or template.on_labels:
            templates[template.text] = template
    if not any(template.on_labels for template in templates.values()):
        raise TemplateError("no U line; a template file needs at least one, e.g. U01:%x[0,0]", path)
    return tuple(templates.values())


def parse_line(line: str, place: Place, number: int = 1, padding: str = CRFPP) -> Template:
    """One template. Columns are put down by name, so that the model does not depend on where a file keeps them."""
    cursor = _Cursor(line, place, number)
    cursor.at = len(line) - len(line.lstrip())
    line = line.rstrip()
    kind = line[cursor.at]
    if kind not in ("UBub*" if padding == WAPITI else "UB"):
        raise cursor.error(
            f"'{kind}' is no kind of template; expected a line that begins with U or B, e.g. U01:%x[0,0]"
        )
    literals: list[str] = []
    parts: list[Part] = []
    while True:
        end = line.find("%", cursor.at)
        literals.append(line[cursor.at : end if end >= 0 else len(line)])
        if end < 0:
            break
        cursor.at = end
        parts.append(_part(cursor, padding))
    if padding == WAPITI:
        literals[0] = kind.lower() + literals[0][1:]
    return Template(tuple(literals), tuple(parts))


def _is_wapiti(lines: Sequence[str], path: str | Path | None) -> bool:
    """By the first line, if it says so; else by what only Wapiti's files have."""
    first = lines[0].strip() if lines else ""
    said = re.fullmatch(r"#\s*notation:\s*(.*)", first, re.IGNORECASE)
    if said:
        if said[1].lower() not in ("crf++", "wapiti"):
            raise TemplateError(f"'{first}': no such notation; there are: CRF++, Wapiti", path or "features", 1, 1)
        return said[1].lower() == "wapiti"
    return any(_WAPITI_LINE.match(line.lstrip()) for line in lines)


def _without_comment(line: str, wapiti: bool) -> str:
    """CRF++ has whole lines of comment, Wapiti also ends of lines."""
    if not wapiti:
        return "" if line.lstrip().startswith("#") else line
    match = _WAPITI_TEXT.match(line)
    return match[0].rstrip() if match else line


@dataclass
class _Cursor:
    """A place in a line."""

    line: str
    place: Place
    number: int
    at: int = 0

    def error(self, message: str, at: int | None = None) -> TemplateError:
        column = (self.at if at is None else at) + 1
        return TemplateError(f"'{self.line.strip()}': {message}", self.path, self.number, column)

    @property
    def path(self) -> str | Path:
        return "features" if self.place.path is None else self.place.path

    def skip_spaces(self) -> int:
        """Where the next sign is."""
        match = _SPACES.match(self.line, self.at)
        self.at = match.end() if match else self.at
        return self.at

    def take(self, pattern: re.Pattern[str], expected: str, why: str = "") -> re.Match[str]:
        match = pattern.match(self.line, self.at)
        if match is None:
            rest = self.line[self.at : self.at + 20].strip()
            raise self.error(f"expected {expected}, found {repr(rest) if rest else 'the end of the line'}{why}")
        self.at = match.end()
        return match


def _part(cursor: _Cursor, padding: str) -> Part:
    began = cursor.at
    why = "; % begins a command, and a % itself cannot be written"
    command = cursor.take(_COMMAND, "a command such as %x[-1,0]", why)[1]
    folded = command.isupper()
    name = command.lower() if folded else command
    if name not in FUNCTIONS:
        raise cursor.error(f"no function '{command}'; {instead(command, 'functions', FUNCTIONS)}", began + 1)
    if folded and FUNCTIONS[name].of_type is None:
        raise cursor.error(f"{name} has no one value for each string to make lower case; write %{name}", began + 1)
    row_at = cursor.skip_spaces()
    if cursor.line[row_at : row_at + 1] == "*":
        raise cursor.error("offsets read from a column (*) are not available; give a number")
    at_sign, row = cursor.take(_ROW, "an offset and a column, e.g. [-1,0]").groups()
    if len(row) > 7 or abs(int(row)) > _MAX_REACH:
        raise cursor.error(f"row {row} is too far away (at most {_MAX_REACH})", row_at)
    if at_sign and int(row) == 0:
        raise cursor.error("@0 is no place in a sentence; @1 is its first token, @-1 its last", row_at)
    cursor.at += 1
    column_at = cursor.skip_spaces()
    column = _column(cursor, cursor.take(_COLUMN, "a column by position or name")[1], column_at)
    arguments: list[Argument] = []
    arguments_at = cursor.at
    while cursor.take(_COMMA_OR_END, "a comma or ]")[0] == ",":
        at = cursor.skip_spaces()
        arguments_at = arguments_at if arguments else at
        number, text = cursor.take(_ARGUMENT, 'a number or text in "quotes"').groups()
        arguments.append(int(number) if number is not None else unquoted(text))
    try:
        FUNCTIONS[name].check(tuple(arguments))
    except ValueError as error:
        raise cursor.error(f"{command} {error}", arguments_at) from None
    where = f"{cursor.path}:{cursor.number}:{began + 1}" if cursor.path else ""
    return Part(View(name, column, tuple(arguments), folded, padding, where), int(row), bool(at_sign))


def _column(cursor: _Cursor, column: str, at: int) -> str:
    place, name = cursor.place, column
    positions = place.positions or place.columns
    if column not in place.columns and _NUMBER.fullmatch(column) and int(column) < len(positions):
        name = positions[int(column)]
    if name not in place.columns:
        raise cursor.error(f"no column {column}; {instead(column, 'columns', place.columns)}", at)
    if name == place.target:
        raise cursor.error(f"reads the target column '{place.target}', which is to be predicted; read another", at)
    return name
