"""`trellis bench peers`: toolkits that install from PyPI, each on what it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from trellis.cli import options
from trellis.cli.bench_training import print_table
from trellis.cli.console import print_json

if TYPE_CHECKING:
    from trellis.studies.clock import Times
    from trellis.studies.contest import Contest


def add_to(bench: click.Group, task_of: Callable[..., Any], measuring: Callable[[], Any]) -> None:
    @bench.command("peers")
    @click.argument("train", required=False)
    @click.option("--columns", default="word,pos,chunk", show_default=True, help="Names from left to right.")
    @click.option("--target", default="chunk", show_default=True, help="The column to predict.")
    @click.option("--features", default="chunking", show_default=True, help="A preset or a template file (toolkits).")
    @click.option("--c2", default=1.0, show_default=True, help="CRFsuite's prior, c2 * |theta|^2 (toolkits).")
    @click.option("--against", help="One peer that has to be there, and its part alone: hmmlearn, say.")
    @click.option("--only", default="toolkits,hmm,chains", show_default=True, help="Parts, with commas between them.")
    @click.option("--sentences", default=1000, show_default=True, help="Of the file, for toolkits and hmm.")
    @click.option("--iterations", default=15, show_default=True, help="Of L-BFGS (toolkits).")
    @click.option("--states", default=10, show_default=True, help="Of a hidden Markov model (hmm).")
    @click.option("--steps", default=5, show_default=True, help="Of EM (hmm).")
    @click.option("--batch", default=16, show_default=True, help="Sentences whose scores are drawn (chains).")
    @click.option("--length", default=40, show_default=True, help="Tokens of each of them (chains).")
    @click.option("--labels", default=22, show_default=True, help="Labels of each token (chains).")
    @click.option("--repeat", default=5, show_default=True, help="Rounds, by turns.")
    @options.as_json
    def peers(
        train: str | None,
        columns: str,
        target: str,
        features: str,
        c2: float,
        against: str | None,
        only: str,
        sentences: int,
        iterations: int,
        states: int,
        steps: int,
        batch: int,
        length: int,
        labels: int,
        repeat: int,
        json: bool,
    ) -> None:
        """Compare with sklearn-crfsuite and chaine (training, tagging), hmmlearn (EM) and torch-struct (marginals).

        Without TRAIN, CoNLL-2000 is used where it is on this machine. One thread each.

        \b
        Example:
          trellis bench peers train.txt --columns word,pos,chunk --target chunk --only toolkits
        """
        from trellis.studies.bench_peers import INSTALL, Sizes, bench_peers

        given = task_of(train, "crfsuite", columns, target, features, c2, None)
        sizes = Sizes(sentences, iterations, states, steps, batch, length, labels)
        with measuring() as say:
            result = bench_peers(given, only.split(","), sizes, repeat, against, say)
        rows = [row for contests in result.contests.values() for one in contests for row in _rows(one)]
        print_table(("", "best", "median", "ratio", "to the second"), rows)
        if result.missing:
            click.echo(f"not installed: {', '.join(result.missing)}; to compare with all: {INSTALL}")
        if json:
            print_json(result.as_json())


def _rows(one: Contest) -> list[tuple[str, ...]]:
    """Of Trellis, once or in two ways, and then of peers, with how many times as long they take."""
    rows: list[tuple[str, ...]] = []
    for way, times in one.own.items():
        rows.append((f"{one.what}: Trellis" + ("" if way == "trellis" else f", {way}"), *_ms(times)))
    for peer, times in one.peers.items():
        ratios = [f"{one.ratio(peer, way):.2f}x" for way in one.own]
        rows.append((f"{one.what}: {peer}", *_ms(times), *ratios))
    return rows


def _ms(times: Times) -> tuple[str, str]:
    return f"{1e3 * times.best:.2f} ms", f"{1e3 * times.median:.2f} ms"
