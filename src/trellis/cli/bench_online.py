"""`trellis bench online`: learners that go over the sentences one by one, beside CRFsuite's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import click

from trellis.cli import options
from trellis.cli.bench_training import entrants_of, print_table
from trellis.cli.console import print_json
from trellis.errors import SettingError

OPTIMIZERS = "perceptron pa arow mira"
PEERS = "ap pa arow l2sgd"


def add_to(
    bench: click.Group,
    task_options: Callable[[Any], Any],
    task_of: Callable[..., Any],
    progress: Callable[[], Any],
) -> None:
    """Adds the command to the group, with the options and helpers that its commands share."""

    @bench.command("online")
    @click.argument("train", required=False)
    @click.argument("test", required=False)
    @task_options
    @click.option("--epochs", default=20, show_default=True, help="Of every learner.")
    @click.option("--repeat", default=3, show_default=True, help="Runs of each learner, by turns.")
    @click.option("--optimizers", default=OPTIMIZERS, show_default=True, help="Names, with options after a colon.")
    @click.option("--peers", default=PEERS, show_default=True, help="CRFsuite's algorithms; '' for none.")
    @options.as_json
    def online(
        train: str | None, test: str | None, epochs: int, repeat: int, optimizers: str, peers: str, json: bool,
        **task: Any,
    ) -> None:  # fmt: skip
        """Time learners that go by single sentences, for as many epochs each, and score them.

        Without files, CoNLL-2000 is used where it is on this machine.

        \b
        Example:
          trellis bench online train.txt test.txt --epochs 20 --optimizers "perceptron arow:gamma=10"
        """
        from trellis.studies.bench_online import COUNTERPARTS, bench_online
        from trellis.studies.task import default_file

        if train is not None and test is None:
            raise SettingError("a file to score on is missing: trellis bench online TRAIN TEST")
        given = task_of(train, **task)
        file = default_file("test.txt") if test is None else Path(test)
        with progress() as say:
            result = bench_online(given, file, entrants_of(optimizers), peers.split(), epochs, repeat, say)
        rows = [(f"CRFsuite {name}", *_cells(runs), "", "") for name, runs in result.peers.items()]
        for name, runs in result.own.items():
            ratios = (_times(result.ratio(name, what)) for what in ("train", "text"))
            rows.append((name, *_cells(runs), *ratios))
        load = "" if result.machine["load"] is None else f"; load before the start {result.machine['load']:.1f}"
        click.echo(f"{given.train}, '{given.features}', on {result.machine['cores']} cores{load}")
        print_table(("", "epochs", "train", "text", "score", "active", "ratio", "(text)"), rows)
        pairs = ", ".join(f"{own} with {peer}" for own, peer in COUNTERPARTS.items())
        click.echo(
            "train: seconds of the processor, median; text: from the text file. score: on the test file, in percent."
        )
        click.echo(f"ratio: CRFsuite's time over ours, above 1 ours is faster; {pairs}.")
        if json:
            print_json(result.as_json())


def _cells(runs: Any) -> tuple[str, ...]:
    last = runs[-1]
    return (
        str(last.epochs),
        f"{median(run.train for run in runs):.2f}",
        f"{median(run.text for run in runs):.2f}",
        f"{100 * last.score:.2f}",
        "" if last.active is None else f"{last.active:,}",
    )


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.1f}x"
