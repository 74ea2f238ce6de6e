"""`trellis simulate`: active learning rehearsed on data that has all its labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from trellis.cli import options
from trellis.cli.console import measuring, print_json, say_if_first_run
from trellis.cli.curve import check_plot
from trellis.cli.output import announced, counted, saying_warnings
from trellis.cli.trainable import metric_of, model_options, read_both, trainable_of


@click.command()
@click.argument("pool", metavar="POOL")
@click.argument("test", metavar="TEST")
@click.option("--by", default="entropy,random", show_default=True, help="Rankings: see trellis select.")
@click.option("--start", type=int, default=500, show_default=True, help="Tokens to begin with, drawn at random.")
@click.option("--batch", type=int, default=500, show_default=True, help="Tokens that are bought in each round.")
@click.option("--rounds", type=int, default=10, show_default=True, help="How often.")
@click.option("--repeats", type=int, default=6, show_default=True, help="How often all of it, from other beginnings.")
@click.option("--per-token/--per-sentence", default=None, help="As in trellis select.")
@click.option("--plot", metavar="FILE", help="Draw scores by annotated tokens (PNG).")
@click.option("--title", metavar="TEXT", help="What to write above the plot.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of whatever is drawn at random.")
@model_options
@options.comments
@options.as_json
def simulate(
    pool: str,
    test: str,
    by: str,
    start: int,
    batch: int,
    rounds: int,
    repeats: int,
    per_token: bool | None,
    plot: str | None,
    title: str | None,
    seed: int,
    comments: bool,
    json: bool,
    **settings: Any,
) -> None:
    """See what choosing sentences to annotate would have saved, on POOL, whose labels are there already.

    Round after round a model learns from the labels that are paid for, ranks the rest, which it sees without labels,
    and the first sentences of the ranking are bought; TEST says how good it is. Labels cost by the token. Options of
    the model are those of `trellis train`.

    \b
    Example:
      trellis simulate train.txt test.txt --columns word,pos,chunk --l2 0.5 --by entropy,margin,random --plot al.png
    """
    from trellis.fewlabels.simulation import models_to_train
    from trellis.fewlabels.simulation import simulate as rehearse

    check_plot(plot, title, [pool, test])
    tagger, columns, target = trainable_of(settings, seed)
    names = [name.strip() for name in by.split(",")]
    say_if_first_run()
    learn, held_out = read_both(tagger, pool, test, columns, target, comments)
    many = f"up to {counted(models_to_train(names, rounds, repeats), 'model')} to train"
    with measuring() as tell, saying_warnings():
        told = announced(many, tell)
        found = rehearse(tagger, learn, held_out, names, start, batch, rounds, repeats, seed, per_token, told)
    what = metric_of(held_out, tagger.target)
    print(found.as_text(what))
    if plot is not None:
        from trellis.report.curves import draw_simulation

        usual = f"'{tagger.target}' of {Path(test).name}, learnt from {Path(pool).name}"
        draw_simulation(found, what, title or usual, plot)
    if json:
        print_json({"metric": what.lower(), **found.as_json()})
