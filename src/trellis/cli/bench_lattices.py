"""`trellis bench segments` and `trellis bench pruning`: what lattices beyond the chain of first order cost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from trellis.cli import options
from trellis.cli.bench_training import print_table
from trellis.cli.console import print_json


def add_to(
    bench: click.Group,
    task_options: Callable[[Any], Any],
    task_of: Callable[..., Any],
    numbers_of: Callable[[str, str], list[int]],
    progress: Callable[[], Any],
) -> None:
    """Adds both commands to the group, with the options and helpers that its commands share."""
    _add_segments(bench, task_options, task_of, numbers_of, progress)
    _add_pruning(bench, task_options, task_of, progress)


def _add_segments(
    bench: click.Group,
    task_options: Callable[[Any], Any],
    task_of: Callable[..., Any],
    numbers_of: Callable[[str, str], list[int]],
    progress: Callable[[], Any],
) -> None:
    @bench.command("segments")
    @click.argument("train", required=False)
    @task_options
    @click.option("--lengths", default="4,8,12,16,24,32", show_default=True, help="Longest segments, in tokens.")
    @click.option("--threads", default=1, show_default=True, help="Threads.")
    @click.option("--repeat", default=3, show_default=True, help="Rounds, by turns.")
    @click.option("--evaluations", default=10, show_default=True, help="L-BFGS iterations timed in each round.")
    @click.option("--sentences", type=click.IntRange(min=1), help="Only so many of the training data.")
    @options.as_json
    def segments(
        train: str | None,
        lengths: str,
        threads: int,
        repeat: int,
        evaluations: int,
        sentences: int | None,
        json: bool,
        **task: Any,
    ) -> None:
        """Time evaluations of a SemiCRF, by how long segments may be.

        Without TRAIN, CoNLL-2000 is used where it is on this machine.

        \b
        Example:
          trellis bench segments train.txt --columns word,pos,chunk --target chunk --lengths 4,8,16
        """
        from trellis.studies.bench_segments import bench_segments

        given = task_of(train, **task)
        with progress() as say:
            result = bench_segments(given, numbers_of(lengths, "lengths"), threads, repeat, evaluations, sentences, say)
        click.echo(f"{given.train}, '{given.features}', {threads} thread{'s' * (threads > 1)}: one evaluation")
        fixed, slope, off = result.line()
        print_table(
            ("longest", "best", "median", "on a line"),
            [
                (str(n), f"{1e3 * t.best:.1f} ms", f"{1e3 * t.median:.1f} ms", f"{1e3 * (fixed + slope * n):.1f} ms")
                for n, t in result.times.items()
            ],
        )
        click.echo(f"{1e3 * fixed:.1f} ms + {1e3 * slope:.2f} ms for each token; {100 * off:.0f}% off at most")
        if json:
            print_json(result.as_json())


def _add_pruning(
    bench: click.Group, task_options: Callable[[Any], Any], task_of: Callable[..., Any], progress: Callable[[], Any]
) -> None:
    @bench.command("pruning")
    @click.argument("train")
    @click.argument("test")
    @task_options
    @click.option("--order", default=1, show_default=True, help="Of the chain.")
    @click.option("--prune", default=0.001, show_default=True, help="Labels below that probability are left out.")
    @click.option("--tol", default=1e-3, show_default=True, help="Of both trainings.")
    @click.option("--threads", default=2, show_default=True, help="Threads.")
    @click.option("--sentences", type=click.IntRange(min=1), help="Only so many of the training data.")
    @options.as_json
    def pruning(
        train: str,
        test: str,
        order: int,
        prune: float,
        tol: float,
        threads: int,
        sentences: int | None,
        json: bool,
        **task: Any,
    ) -> None:
        """Train with coarse-to-fine pruning and without; time and accuracy of both.

        \b
        Example:
          trellis bench pruning train.txt test.txt --columns word,pos --target pos --features pos --order 2
        """
        from trellis.studies.bench_pruning import bench_pruning

        given = task_of(train, **task)
        with progress() as say:
            result = bench_pruning(given, Path(test), order, prune, tol, threads, sentences, say)
        click.echo(
            f"{given.train}, {result.sentences:,} sentences, {result.tokens:,} tokens, '{given.features}', order "
            f"{order}, l2={given.l2:g}, tol={tol:g}, {threads} thread{'s' * (threads > 1)}"
        )
        print_table(
            ("", "seconds", "score", "evaluations", "labels a token", "lost"),
            [
                (
                    name,
                    f"{run.seconds:.1f}",
                    f"{100 * run.score:.2f}",
                    str(run.evaluations),
                    f"{run.labels:.1f}",
                    f"{100 * run.lost:.2f}%",
                )
                for name, run in ((f"pruned at {prune:g}", result.pruned), ("not pruned", result.whole))
            ],
        )
        click.echo(f"{result.ratio:.1f} times as fast with pruning")
        if json:
            print_json(result.as_json())
