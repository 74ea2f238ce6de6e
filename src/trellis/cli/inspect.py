"""`trellis inspect`: what a model consists of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trellis.cli import options
from trellis.cli.console import print_json

if TYPE_CHECKING:
    from trellis.models import CRF
    from trellis.report import Inspection


@click.command("inspect")
@click.argument("model")
@click.argument("file", metavar="[DATA]", required=False)
@click.option("--top", type=click.IntRange(min=0), default=10, show_default=True, help="Strongest weights to show.")
@options.as_json
def inspect(model: str, file: str | None, top: int, json: bool) -> None:
    """Show how many features each template made, what they cost, and the strongest weights.

    With DATA, a column file, also how often each template says something about its tokens.

    \b
    Example:
      trellis inspect chunk.trellis test.txt --top 20
    """
    from trellis.corpus import read_conll
    from trellis.errors import DataError
    from trellis.models import load
    from trellis.report import inspect as look

    crf = load(model)
    data = None
    if file is not None:
        if not crf.columns_:
            raise DataError("this model was trained on lists of attributes; it cannot read a column file", model)
        data = read_conll(file, columns=crf.columns_)
    found = look(crf, data, top)
    _show(crf, found, data is not None)
    if json:
        print_json(found.as_json())


def _show(crf: CRF, found: Inspection, with_data: bool) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print(f"{crf!r}")
    ended = "converged" if crf.converged_ else "stopped early" if crf.stopped_early_ else "not converged"
    console.print(
        f"objective {crf.objective_:,.2f} after {crf.iterations_} iterations, {ended}; {len(found.labels)} labels, "
        f"{found.attributes:,} attributes, {found.weights:,} weights\n"
    )
    costs = Table(box=SIMPLE_HEAD, pad_edge=False)
    headings = ["template", "attributes", "weights", "not 0", "largest", "size"]
    for k, heading in enumerate([*headings, "a token"] if with_data else headings):
        costs.add_column(heading, justify="left" if k == 0 else "right", overflow="fold")
    for cost in found.templates:
        row = [cost.template, f"{cost.attributes:,}", f"{cost.weights:,}", f"{cost.active:,}", f"{cost.largest:.2f}"]
        row.append(f"{cost.size / 1e6:.1f} MB")
        if with_data:
            row.append("" if cost.per_token is None else f"{cost.per_token:.2f}")
        costs.add_row(*row)
    console.print(costs)
    if not found.strongest:
        return
    strongest = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("strongest attributes", "label", "weight"):
        strongest.add_column(heading, justify="right" if heading == "weight" else "left", overflow="fold")
    for strong in found.strongest:
        strongest.add_row(strong.feature, strong.label, f"{strong.weight:+.3f}")
    strongest.add_section()
    for strong in found.transitions:
        strongest.add_row(f"{strong.feature} ->", strong.label, f"{strong.weight:+.3f}")
    console.print(strongest)
