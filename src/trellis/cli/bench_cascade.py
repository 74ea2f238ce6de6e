"""`trellis bench cascade`: what it costs to train stages as one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from trellis.cli import options
from trellis.cli.bench_training import print_table
from trellis.cli.console import print_json


def add_to(bench: click.Group, progress: Callable[[], Any]) -> None:
    """Adds the command to the group."""

    @bench.command("cascade")
    @click.argument("train", required=False)
    @click.option("--columns", default="word,pos,chunk", show_default=True, help="Names of the columns.")
    @click.option("--lower", default="pos:azuma-pos", show_default=True, help="Target and features of the lower stage.")
    @click.option("--upper", default="chunk:azuma-chunk", show_default=True, help="Of the stage that reads it.")
    @click.option("--repeat", default=5, show_default=True, help="Rounds, by turns.")
    @click.option("--iterations", default=30, show_default=True, help="Of training before anything is timed.")
    @click.option("--sentences", type=click.IntRange(min=1), help="Only so many of the training data.")
    @click.option("--no-memory", is_flag=True, help="Leave the measuring of memory out.")
    @options.as_json
    def cascade(
        train: str | None,
        columns: str,
        lower: str,
        upper: str,
        repeat: int,
        iterations: int,
        sentences: int | None,
        no_memory: bool,
        json: bool,
    ) -> None:
        """Time the joint objective of two stages against their own.

        Without TRAIN, CoNLL-2000 is used where it is on this machine. One thread; best of several rounds.

        \b
        Example:
          trellis bench cascade train.txt --columns word,pos,chunk
        """
        from trellis.cascade import Stage
        from trellis.studies.bench_cascade import bench_cascade
        from trellis.studies.corpora import file_of

        (low, low_features), (high, high_features) = (_stage(text) for text in (lower, upper))
        stages = [Stage(low, low_features), Stage(high, high_features, reads=[low])]
        file = Path(train) if train else file_of("conll2000", "train.txt", None)
        with progress() as say:
            result = bench_cascade(file, columns.split(","), stages, repeat, sentences, iterations, not no_memory, say)
        click.echo(f"{file}, {result.tokens:,} tokens, one thread: a value with its gradient")
        rows = [(f"stage {name}", _ms(times)) for name, times in result.stages.items()]
        print_table(
            ("", "best"), [*rows, ("all as one", _ms(result.joint)), ("a Hessian product", _ms(result.product))]
        )
        click.echo(f"all as one take {result.ratio:.2f} times what the stages take by themselves")
        nodes, arcs = result.listed
        click.echo(f"{nodes:.2f} labels and {arcs:.2f} transitions of '{low}' are read for each token")
        if result.memory_ratio is not None and result.together is not None and result.together.peak_bytes:
            peak = result.together.peak_bytes / 2**20
            click.echo(f"and {result.memory_ratio:.2f} times the memory ({peak:.0f} MB at most)")
        if json:
            print_json(result.as_json())


def _stage(text: str) -> tuple[str, str]:
    target, colon, features = text.partition(":")
    if not (target and colon and features):
        raise click.BadParameter(f"'{text}'; expected TARGET:FEATURES")
    return target, features


def _ms(times: Any) -> str:
    return f"{1e3 * times.best:.0f} ms"
