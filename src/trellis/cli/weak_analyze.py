"""`trellis weak analyze`: how labeling functions do, and where they contradict each other."""

from __future__ import annotations

from typing import Any

import click

from trellis.cli import options
from trellis.cli.console import print_json
from trellis.cli.output import saying_warnings
from trellis.cli.weak_votes import read_votes, vote_options


@click.command("analyze")
@click.argument("files", metavar="VOTES...", nargs=-1, required=True)
@vote_options
@click.option("--model", metavar="FILE", help="A label model, for what it learnt of each function.")
@click.option(
    "--examples", default=3, show_default=True, type=click.IntRange(min=0), help="Kinds of conflicts to show."
)
@options.as_json
def analyze_(files: tuple[str, ...], model: str | None, examples: int, json: bool, **how: Any) -> None:
    """Show for each labeling function what it votes for, how often, and how often others agree.

    With gold labels, how often it is right, and precision, recall and F1 of its segments; with --model, how often a
    label model takes it to be right.

    \b
    Example:
      trellis weak analyze votes.txt
      trellis weak analyze votes.txt --gold chunk --model believed.trellis --examples 5
    """
    from trellis.weak import analyze, conflict_examples, load

    with saying_warnings():
        voted = read_votes(files, **how)
        believed = None if model is None else load(model)
        chances = None if believed is None else believed.probabilities_of_types(voted.votes)
        shown = conflict_examples(voted.votes, voted.words, voted.gold, examples) if examples else []
        found = analyze(voted.votes, voted.gold, chances, shown, None if believed is None else believed.functions_)
    print(found.as_text())
    if json:
        print_json(found.as_json())
