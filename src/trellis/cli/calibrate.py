"""`trellis calibrate`: how far a model's probabilities can be trusted, and which threshold gives a wanted precision."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trellis.cli import options
from trellis.cli.choosing import is_cascade, tagger_from
from trellis.cli.console import print_json

if TYPE_CHECKING:
    from trellis.metrics.calibration import Threshold


@click.command()
@click.argument("model")
@click.argument("file", metavar="DATA")
@click.option("--columns", metavar="NAMES", help="Names of the file's columns, if other than the training file's.")
@click.option("--of", type=click.Choice(["auto", "spans", "tokens"]), default="auto", show_default=True, help="What.")
@click.option("--bins", type=click.IntRange(1, 1000), default=10, show_default=True, help="Bins of the diagram.")
@click.option("--equal", type=click.Choice(["width", "mass"]), default="width", show_default=True, help="Kind of bins.")
@click.option(
    "--precision", type=click.FloatRange(0.0, 1.0), metavar="P", help="Find the threshold for this precision."
)
@click.option("--plot", metavar="FILE", help="Draw the reliability diagram (PNG).")
@options.once
@options.penalties
@options.comments
@options.threads
@options.as_json
def calibrate(
    model: str,
    file: str,
    columns: str | None,
    of: str,
    bins: int,
    equal: str,
    precision: float | None,
    plot: str | None,
    at_most_once: str | None,
    penalties: str | None,
    comments: bool,
    threads: int | None,
    json: bool,
) -> None:
    """Compare a model's probabilities with how often it is right, on a file with gold labels.

    With --precision, also the lowest confidence from which on predicted spans (or labels) are right so often: give it
    to `trellis tag --spans --min-confidence`. Choose it on development data, not on what you report on.

    \b
    Example:
      trellis calibrate chunk.trellis dev.txt --precision 0.97 --plot reliability.png
    """
    from trellis.corpus import read_conll
    from trellis.errors import DataError, SettingError
    from trellis.metrics.calibration import reliability, threshold_for
    from trellis.models.calibration import predictions

    crf = tagger_from(model).set_params(threads=threads)
    if is_cascade(crf):
        raise SettingError("calibrate does not know cascades yet; in Python predict_marginals has all probabilities")
    if not (columns or crf.columns_):
        raise DataError("this model was trained on lists of attributes; it cannot read a column file", model)
    asked = options.constraints_of(type(crf), at_most_once, penalties)
    if plot is not None:
        from trellis.files import check_writable
        from trellis.report.plots import require_matplotlib

        require_matplotlib()
        check_writable(plot)
    corpus = read_conll(file, columns=options.names_of(columns) or crf.columns_, comments=comments)
    if not corpus.tokens:
        raise DataError("there is no token to compare with", file)
    answers = predictions(crf, corpus, of, **asked)
    found = reliability(answers.confidence, answers.correct, bins, equal)
    print(f"{len(answers.correct):,} predicted {answers.of}, {answers.gold:,} in {file}")
    print(found.as_text())
    report: dict[str, Any] = {"of": answers.of, "gold": answers.gold, **found.as_json()}
    if precision is not None:
        threshold = threshold_for(answers.confidence, answers.correct, precision, answers.gold)
        print(_threshold_text(threshold, precision))
        report["threshold"] = None if threshold is None else _as_json(threshold)
    if plot is not None:
        from trellis.report.calibration import draw_reliability

        draw_reliability(found, plot, f"{answers.of} of {Path(file).name}")
    if json:
        print_json(report)


def _threshold_text(threshold: Threshold | None, precision: float) -> str:
    if threshold is None:
        return f"no threshold reaches a precision of {100 * precision:.2f}%"
    return (
        f"--min-confidence {_rounded_down(threshold.threshold)}: precision {100 * threshold.precision:.2f}%, recall "
        f"{100 * threshold.recall:.2f}%, FB1 {100 * threshold.f1:.2f}; keeps {threshold.kept:,}"
    )


def _rounded_down(p: float) -> str:
    """With six digits; rounded up it would leave out what it stands for."""
    return f"{math.floor(p * 1e6) / 1e6:.6f}"


def _as_json(threshold: Threshold) -> dict[str, float]:
    return {
        "min_confidence": threshold.threshold,
        "precision": threshold.precision,
        "recall": threshold.recall,
        "f1": threshold.f1,
        "kept": threshold.kept,
    }
