"""`trellis eval`: a model against a file with gold labels."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from trellis.cli import options
from trellis.cli.choosing import tagger_from
from trellis.cli.console import print_json, say

if TYPE_CHECKING:
    from trellis.metrics import Report


@click.command("eval")
@click.argument("model")
@click.argument("file", metavar="DATA")
@click.option("--columns", metavar="NAMES", help="Names of the file's columns, if other than the training file's.")
@options.once
@options.penalties
@options.comments
@options.threads
@options.as_json
def evaluate(
    model: str,
    file: str,
    columns: str | None,
    at_most_once: str | None,
    penalties: str | None,
    comments: bool,
    threads: int | None,
    json: bool,
) -> None:
    """Evaluate a model on a file with gold labels; of a cascade all stages whose labels are there.

    \b
    Example:
      trellis eval chunk.trellis test.txt
    """
    from trellis.corpus import read_conll
    from trellis.errors import DataError

    crf = tagger_from(model).set_params(threads=threads)
    if not (columns or crf.columns_):
        raise DataError("this model was trained on lists of attributes; it cannot read a column file", model)
    asked = options.constraints_of(type(crf), at_most_once, penalties)
    began = time.perf_counter()
    corpus = read_conll(file, columns=options.names_of(columns) or crf.columns_, comments=comments)
    if not corpus.tokens:
        raise DataError("there is no token to evaluate on", file)
    answer = crf.evaluate(corpus, **asked)
    speed = corpus.tokens / (time.perf_counter() - began)
    if not isinstance(answer, dict):
        print(answer.as_text())
        found = {**answer.as_json(), "tokens_per_second": speed}
    else:
        found = {**_stages(crf.targets_, answer, file), "tokens_per_second": speed}
    if json:
        print_json(found)


def _stages(targets: Sequence[str], reports: dict[str, Report], file: str) -> dict[str, Any]:
    """Prints the reports of a cascade's stages; as JSON, with those of the last stage at the top."""
    for target, report in reports.items():
        print(f"{target}:\n{report.as_text()}")
    left_out = [target for target in targets if target not in reports]
    if left_out:
        say(f"{file}: no column for {', '.join(left_out)}; the scores are of {', '.join(reports)} alone")
    return {**report.as_json(), "targets": {target: one.as_json() for target, one in reports.items()}}
