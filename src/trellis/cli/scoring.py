"""What `score` and `eval` share: how segments are counted, and what can be said beside the scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import click

from trellis.cli.console import say
from trellis.errors import DataError, SettingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from trellis.corpus import Column
    from trellis.metrics import Report

_TOP = 10
_OPTIONS = (
    click.option(
        "--scheme", type=click.Choice(["conlleval", "strict"]), default="conlleval", show_default=True,
        help="How segments are read: in all sequences, or only where they are well-formed, as seqeval's strict mode.",
    ),
    click.option(
        "--encoding", metavar="NAME", help="For --scheme strict: iob2, bioes ...; that of the gold labels if not given."
    ),
    click.option("--modes", is_flag=True, help="Also match segments strictly, by bounds, in part and by type."),
    click.option(
        "--known", multiple=True, metavar="TRAIN",
        help="Also the scores on words that this training file has, and on others; may be given more than once.",
    ),
    click.option("--known-column", metavar="N|NAME", help="The column of words, in all files; by default the first."),
    click.option(
        "--confusion", type=click.IntRange(min=1), metavar="[N]",
        help=f"Also the N most frequent confusions of labels; {_TOP} if no number is given.",
    ),
    click.option("--intervals", is_flag=True, help="Also 95% intervals of the scores (bootstrap)."),
    click.option(
        "--draws", type=click.IntRange(1, 1_000_000), default=10_000, show_default=True, metavar="N",
        help="How often sentences are drawn.",
    ),
    click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="N", help="Of the draws."),
)  # fmt: skip


def scoring_options(command: Any) -> Any:
    """Options whose values make a `Scoring`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


class ScoringCommand(click.Command):
    """`--confusion` may stand alone, also before the name of a file."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        filled = []
        for arg, after in zip(args, [*args[1:], ""], strict=False):
            filled += [arg, str(_TOP)] if arg == "--confusion" and not after.lstrip("-").isdigit() else [arg]
        return super().parse_args(ctx, filled)


@dataclass(frozen=True)
class Scoring:
    """What was asked for."""

    scheme: str
    encoding: str | None
    modes: bool
    known: tuple[str, ...]
    known_column: str | None
    confusion: int | None
    intervals: bool
    draws: int
    seed: int
    comments: bool

    @classmethod
    def of(cls, values: dict[str, Any], comments: bool, *files: str | None) -> Scoring:
        """From the options' values; `files` are those that the command reads beside them."""
        asked = cls(**{each.name: values[each.name] for each in fields(cls) if each.name in values}, comments=comments)
        if asked.encoding is not None and asked.scheme != "strict":
            raise SettingError(f"--encoding {asked.encoding} is for --scheme strict; give both, or neither")
        if asked.known_column is not None and not asked.known:
            raise SettingError("--known-column is for --known; give both, or neither")
        if [*files, *asked.known].count("-") > 1:
            raise SettingError("standard input (-) can be read only once")
        return asked

    @property
    def more(self) -> bool:
        """Whether anything is to be said beside the scores."""
        return bool(self.modes or self.known or self.confusion or self.intervals)

    def report(self, gold: Column, predicted: Column, offsets: NDArray[np.int64]) -> Report:
        """The scores; a warning where gold labels are not well-formed in the encoding that was named."""
        from trellis.labels import illegal
        from trellis.metrics import compare

        encoding, right = self.encoding_of(gold, predicted), gold.compact()
        report = compare(gold, predicted, offsets, self.scheme, encoding)
        bad = 0 if encoding is None else len(illegal(right.strings, right.ids, offsets, encoding))
        if bad:
            say(f"trellis: warning: {bad:,} gold labels are not well-formed in {encoding}; is it theirs?")
        return report

    def encoding_of(self, *columns: Column) -> str | None:
        """The encoding that was named, for labels of segments; others, such as those of a lower stage, have none."""
        from trellis.labels import detect

        return self.encoding if detect([name for column in columns for name in column.strings]) is not None else None

    def column_of(self, names: Sequence[str], file: str) -> int:
        """Which column of a file the words are in, from 0; `names` are those of its columns that may be."""
        asked = self.known_column or "1"
        if asked in names:
            return list(names).index(asked)
        if not (asked.isascii() and asked.isdigit() and 0 < int(asked) <= len(names)):
            where = f"the column of words is {asked}, expected"
            if not names:
                raise SettingError(f"--known: {where} one beside those of the labels, but {file} has no others")
            raise SettingError(f"--known: {where} 1 to {len(names)} in {file}; say which with --known-column")
        return int(asked) - 1

    def training_words(self, column: int) -> set[str]:
        """The words of the training files, in that column."""
        from trellis.corpus import read_conll

        words: set[str] = set()
        for path in self.known:
            corpus = read_conll(path, comments=self.comments)
            if not corpus.tokens:
                raise DataError("there is no token in the file", path)
            columns = list(corpus.columns.values())
            if column >= len(columns):
                raise DataError(f"{len(columns)} columns; the words were expected in column {column + 1}", path)
            words |= set(columns[column].strings)
        return words

    def beside(
        self,
        gold: Column,
        predicted: Column,
        offsets: NDArray[np.int64],
        report: Report,
        known: NDArray[np.bool_] | None,
    ) -> tuple[list[str], dict[str, Any]]:
        """What else was asked for, as texts and as JSON; `known`: BOOL[tokens], words of the training files."""
        from trellis import metrics
        from trellis.labels import ENCODINGS, detect
        from trellis.metrics.compare import same_table

        (right, guess), names = same_table(gold, predicted)
        how = (self.scheme, report.encoding if report.encoding in ENCODINGS else None)
        texts: list[str] = []
        found: dict[str, Any] = {}
        if self.intervals:
            wanted = metrics.METRICS if report.f1 is not None else metrics.METRICS[:1]
            tallies = metrics.tallies(right, guess, names, offsets, *how)
            ranges = metrics.intervals(tallies, wanted, self.draws, self.seed)
            texts.append(_ranges_text(ranges, self.draws))
            found["intervals"] = {metric: {"low": one.low, "high": one.high} for metric, one in ranges.items()}
        if self.modes:
            matching = None if detect(names) is None else metrics.match_segments(right, guess, names, offsets, *how)
            texts += (
                ["no matching modes: the labels are no segment encoding"] if matching is None else [matching.as_text()]
            )
            found["modes"] = None if matching is None else matching.as_json()
        if known is not None:
            scores = metrics.by_knowledge(right, guess, known, names, offsets, *how)
            texts.append(scores.as_text())
            found |= scores.as_json()
        if self.confusion is not None:
            confused = metrics.confusion(right, guess, names)
            texts.append(confused.as_text(self.confusion))
            found["confusion"] = confused.as_json(self.confusion)
        return texts, found


def _ranges_text(ranges: dict[str, Any], draws: int) -> str:
    shown = {"f1": "FB1"}
    parts = [
        f"{shown.get(metric, metric)}: {100 * one.low:.2f} to {100 * one.high:.2f}" for metric, one in ranges.items()
    ]
    return f"95% intervals (bootstrap, {draws} draws): {'; '.join(parts)}"
