"""Feature templates in CRF++'s notation: `U05:%x[-1,0]/%x[0,0]` reads two columns at two offsets.

A column is given by its position in the file or by its name (`%x[0,word]`). A line `B` stands for label
transitions, which every CRF here has; `#` begins a comment.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trellis.errors import TemplateError

_MACRO = re.compile(r"%x\[\s*([+-]?[0-9]+)\s*,\s*([^\],\s]+)\s*\]")
_NUMBER = re.compile(r"[0-9]{1,6}")
_MAX_REACH = 1000  # an offset beyond this is a typing mistake


@dataclass(frozen=True)
class Part:
    """One `%x[row, column]`: the value of a column `row` tokens away."""

    row: int
    column: str


@dataclass(frozen=True)
class Template:
    """A line of a template file, e.g. text `U05:%x[-1,word]/%x[0,word]` and its two parts."""

    text: str
    parts: tuple[Part, ...]

    def name(self, values: Sequence[str]) -> str:
        """The attribute's name when the parts have these values: `U05:the/dog`."""
        return _fill(self.text, values)


def parse_templates(
    text: str,
    columns: Sequence[str],
    target: str,
    path: str | Path | None = None,
    positions: Sequence[str] | None = None,
) -> tuple[Template, ...]:
    """Reads a template file for a corpus with these columns, of which `target` is to be predicted. `positions` are
    the columns of the file, also those left out, where that differs."""
    positions = columns if positions is None else positions
    templates: dict[str, Template] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        kind, macros = line[0], _MACRO.findall(line)
        if kind not in "UB" or line.count("%") != len(macros):
            raise TemplateError(f"'{line}' is not a template; expected e.g. U01:%x[-1,0]", path, number)
        if kind == "B":
            if macros:
                raise TemplateError(
                    f"'{line}': transitions that read columns are not available; use a U line, or B alone",
                    path,
                    number,
                )
            continue
        parts = tuple(_part(row, name, columns, positions, target, line, path, number) for row, name in macros)
        # columns by name, so that the model does not depend on where a file keeps them
        resolved = _fill(line, [f"%x[{part.row},{part.column}]" for part in parts])
        templates[resolved] = Template(resolved, parts)
    if not templates:
        raise TemplateError("no U line; a template file needs at least one, e.g. U01:%x[0,0]", path)
    return tuple(templates.values())


def _fill(text: str, values: Sequence[str]) -> str:
    """Puts one value in the place of each `%x[row,column]`."""
    replacements = iter(values)
    return _MACRO.sub(lambda _: next(replacements), text)


def _part(
    row: str,
    column: str,
    columns: Sequence[str],
    positions: Sequence[str],
    target: str,
    line: str,
    path: str | Path | None,
    number: int,
) -> Part:
    name = column
    if column not in columns and _NUMBER.fullmatch(column) and int(column) < len(positions):
        name = positions[int(column)]
    if name not in columns:
        raise TemplateError(f"'{line}': no column {column}; the columns are: {', '.join(columns)}", path, number)
    if name == target:
        raise TemplateError(f"'{line}' reads the target column '{target}'", path, number)
    if not _NUMBER.fullmatch(row.lstrip("+-")) or abs(int(row)) > _MAX_REACH:
        raise TemplateError(f"'{line}': row {row} is too far away (at most {_MAX_REACH})", path, number)
    return Part(int(row), name)
