"""`trellis score`: gold and predicted labels in one file."""

from __future__ import annotations

import click

from trellis.cli import options
from trellis.cli.console import print_json, say


@click.command()
@click.argument("file", default="-")
@options.comments
@options.as_json
def score(file: str, comments: bool, json: bool) -> None:
    """Score a file whose last two columns are gold and predicted labels, as conlleval counts.

    \b
    Example:
      trellis tag chunk.trellis test.txt | trellis score
    """
    from trellis.corpus import read_conll
    from trellis.errors import DataError
    from trellis.metrics import compare

    corpus = read_conll(file, comments=comments)
    columns = list(corpus.columns.values())
    if not corpus.tokens:
        raise DataError("there is no token to score", file)
    if len(columns) < 2:
        raise DataError("one column; the last two must be gold and predicted labels", file)
    if not set(columns[-2].strings) & set(columns[-1].strings):
        say("trellis: warning: the last two columns have no label in common; are they gold and predicted?")
    report = compare(columns[-2], columns[-1], corpus.offsets)
    print(report.as_text())
    if json:
        print_json(report.as_json())
