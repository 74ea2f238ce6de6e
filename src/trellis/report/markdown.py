"""Pieces of Markdown pages."""

from __future__ import annotations

from collections.abc import Sequence


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """The first `left` columns are words, the others numbers."""
    rule = ["---" if k < left else "---:" for k in range(len(headings))]
    return "\n".join(_row(cells) for cells in [headings, rule, *rows])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "&#124;") for cell in cells) + " |"


def page(*parts: str) -> str:
    """Parts with an empty line between them."""
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"
