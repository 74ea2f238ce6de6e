"""`trellis bench memory`: how memory grows from phase to phase, beside CRFsuite's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from trellis.cli import options
from trellis.cli.bench_scaling import text_of
from trellis.cli.bench_training import print_table
from trellis.cli.console import print_json

if TYPE_CHECKING:
    from trellis.studies.phases import Phases


def add_to(bench: click.Group, measuring: Any) -> None:
    @bench.command("memory")
    @click.argument("files", nargs=-1)
    @click.option("--columns", default="word,pos", show_default=True, help="Names of FILES' columns; one is word.")
    @click.option("--target", default="pos", show_default=True, help="The column with labels.")
    @click.option("--tokens", type=int, help="Only so many of the text.")
    @click.option("--classes", default=22, show_default=True, help="Labels: the most frequent, and one for the others.")
    @click.option("--iterations", default=5, show_default=True, help="Of L-BFGS, by both.")
    @click.option("--threads", default=2, show_default=True, help="Threads for Trellis; CRFsuite has one.")
    @click.option("--against", help="crfsuite, to insist on it; else it is left out where it is not installed.")
    @options.as_json
    def memory(
        files: tuple[str, ...],
        columns: str,
        target: str,
        tokens: int | None,
        classes: int,
        iterations: int,
        threads: int,
        against: str | None,
        json: bool,
    ) -> None:
        """Measure the memory of each phase of training and tagging, in processes of their own.

        Without FILES, Brown is used where it is on this machine, or else CoNLL-2000. Features are words in a window.

        \b
        Example:
          trellis bench memory train.txt --columns word,pos --target pos --tokens 200000
        """
        from trellis.studies.bench_memory import bench_memory

        text = text_of(files, columns, target)
        with measuring() as say:
            result = bench_memory(text, tokens, classes, iterations, threads, against, say)
        click.echo(
            f"{result.sentences:,} sentences, {result.tokens:,} tokens, {result.labels} labels; "
            f"{iterations} iterations, {threads} thread{'s' * (threads > 1)}"
        )
        sides = {
            "Trellis by steps": result.steps,
            "Trellis training": result.fit,
            "Trellis tagging": result.tag,
            "CRFsuite training": result.crfsuite_train,
            "CRFsuite tagging": result.crfsuite_tag,
        }
        rows = [row for name, phases in sides.items() if phases is not None for row in _rows(name, phases)]
        print_table(("after", "held", "peak", "growth"), rows)
        if result.crfsuite_train is None:
            click.echo("python-crfsuite is not installed, to compare: pip install 'trellis[bench]'")
        else:
            ratios = (f"{what} {'-' if ratio is None else f'{ratio:.2f}x'}" for what, ratio in result.ratio.items())
            click.echo(f"growth, CRFsuite / Trellis: {', '.join(ratios)}")
        if json:
            print_json(result.as_json())


def _rows(name: str, phases: Phases) -> list[tuple[str, ...]]:
    return [
        (f"{name}: {phase.name}", *map(_megabytes, (phase.held, phase.peak, phases.grown(phase))))
        for phase in phases.phases
    ]


def _megabytes(count: int | None) -> str:
    return "-" if count is None else f"{count / 1e6:,.1f} MB"
