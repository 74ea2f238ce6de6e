"""What is found out about labeling functions, as numbers, as JSON, and as a table with Snorkel's headings."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.weak.conflicts import Conflict

I64 = NDArray[np.int64]

_SHOWN = 4  # labels of a function in a table
_SILENT = "never votes"


@dataclass(frozen=True)
class FunctionReport:
    """One function. Shares are of all tokens (items); accuracies are of its votes, of those with known gold labels or,
    learned, of all: the mean probability that a vote is right. None: not known, or nothing to divide by.

    polarity: what it votes for, by types where it is segments. spans: how many segments it votes for.
    """

    name: str
    polarity: tuple[str, ...]
    votes: int
    coverage: float
    overlaps: float
    conflicts: float
    spans: int | None = None
    correct: int | None = None
    incorrect: int | None = None
    accuracy: float | None = None
    learned_accuracy: float | None = None
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None


@dataclass(frozen=True)
class LinkerReport:
    """A function that says only whether a token belongs with the one before it. together: the share of its votes that
    say so; correct, incorrect, accuracy: of these, whether the token goes on with the gold segment of the one before
    (with labels that are no segments: has the same label)."""

    name: str
    votes: int
    coverage: float
    together: float | None
    correct: int | None = None
    incorrect: int | None = None
    accuracy: float | None = None


@dataclass(frozen=True)
class Analysis:
    """All functions, and over all of them the shares of tokens with a vote (coverage), with two or more (overlaps), and
    with two that contradict each other (conflicts). `pairs I64[functions, functions]`: on how many tokens two do.

    silent: functions that never vote; alone: those that vote, but never where another one does.
    """

    functions: tuple[FunctionReport, ...]
    linkers: tuple[LinkerReport, ...]
    tokens: int
    sentences: int
    coverage: float
    overlaps: float
    conflicts: float
    pairs: I64
    examples: tuple[Conflict, ...] = ()
    unit: str = "token"

    @property
    def silent(self) -> list[str]:
        return [one.name for one in self._every() if not one.votes]

    @property
    def alone(self) -> list[str]:
        return [one.name for one in self.functions if one.votes and not one.overlaps]

    def as_json(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers; shares and scores are fractions from 0 to 1."""
        return {
            "tokens": self.tokens,
            "sentences": self.sentences,
            "coverage": self.coverage,
            "overlaps": self.overlaps,
            "conflicts": self.conflicts,
            "functions": [{**asdict(one), "polarity": list(one.polarity)} for one in self.functions],
            "linkers": [asdict(one) for one in self.linkers],
            "pairs": self.pairs.tolist(),
            "silent": self.silent,
            "alone": self.alone,
            "examples": [one.as_json() for one in self.examples],
        }

    def headings(self) -> list[str]:
        """Those of the table: Snorkel's, and after them what else is known."""
        return ["Function", *(heading for heading, _ in self._shown())]

    def rows(self) -> list[list[str]]:
        """The cells of the table, a row for each function, then for each linker; shares and scores in percent."""
        names = [name for _, name in self._shown()]
        return [[one.name, *(_cell(name, getattr(one, name, None), one) for name in names)] for one in self._every()]

    def as_text(self) -> str:
        """The table and what is said of all functions together; no final line break."""
        table = [self.headings(), *self.rows()]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["  ".join(_aligned(k, cell, widths[k]) for k, cell in enumerate(row)).rstrip() for row in table]
        counted = f"{self.tokens:,} {self.unit}{'' if self.tokens == 1 else 's'}"
        lines += [
            "",
            f"of {counted}, {100 * self.coverage:.2f}% have a vote, {100 * self.overlaps:.2f}% have several, "
            f"{100 * self.conflicts:.2f}% have votes that contradict each other",
        ]
        lines += [f"never vote: {', '.join(self.silent)}"] if self.silent else []
        lines += [f"vote only where no other does: {', '.join(self.alone)}"] if self.alone else []
        lines += ["", "conflicts, the most frequent first:"] if self.examples else []
        return "\n".join([*lines, *(one.as_text() for one in self.examples)])

    def _every(self) -> list[FunctionReport | LinkerReport]:
        return [*self.functions, *self.linkers]

    def _shown(self) -> list[tuple[str, str]]:
        """Headings and the fields below them; the optional ones where any function has them."""
        known = {name for one in self._every() for name, value in vars(one).items() if value is not None}
        return [(heading, name) for heading, name in _COLUMNS if name in known or name in _ALWAYS]


_COLUMNS = [
    ("Polarity", "polarity"),
    ("Coverage", "coverage"),
    ("Overlaps", "overlaps"),
    ("Conflicts", "conflicts"),
    ("Correct", "correct"),
    ("Incorrect", "incorrect"),
    ("Emp. Acc.", "accuracy"),
    ("Learned Acc.", "learned_accuracy"),
    ("Spans", "spans"),
    ("Prec.", "precision"),
    ("Rec.", "recall"),
    ("F1", "f1"),
]
_ALWAYS = ("polarity", "coverage", "overlaps", "conflicts")


def _cell(name: str, value: Any, one: FunctionReport | LinkerReport) -> str:
    if name == "polarity":
        return _polarity(one)
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{100 * value:.2f}"


def _polarity(one: FunctionReport | LinkerReport) -> str:
    if not one.votes:
        return _SILENT
    if isinstance(one, LinkerReport):
        return f"link, {100 * (one.together or 0.0):.0f}% together"
    more = len(one.polarity) - _SHOWN
    return ", ".join(one.polarity[:_SHOWN]) + (f" +{more}" if more > 0 else "")


def _aligned(column: int, cell: str, width: int) -> str:
    """Words to the left, numbers to the right."""
    return cell.ljust(width) if column < 2 else cell.rjust(width)
