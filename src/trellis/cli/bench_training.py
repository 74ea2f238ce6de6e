"""`trellis bench optimum` and `trellis bench products`: how training gets to the optimum, and what its steps cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from trellis.cli import options
from trellis.cli.console import print_json

OPTIMIZERS = "auto lbfgs lbfgs:memory=50 newton-cg cg"


def add_to(
    bench: click.Group,
    task_options: Callable[[Any], Any],
    task_of: Callable[..., Any],
    progress: Callable[[], Any],
) -> None:
    """Adds both commands to the group, with the options and helpers that its commands share."""

    @bench.command("optimum")
    @click.argument("train", required=False)
    @task_options
    @click.option("--threads", default=2, show_default=True, help="Threads for Trellis; CRFsuite has one.")
    @click.option("--repeat", default=3, show_default=True, help="Runs of each optimizer, by turns.")
    @click.option("--optimizers", default=OPTIMIZERS, show_default=True, help="Names, with options after a colon.")
    @click.option("--alone", is_flag=True, help="Without CRFsuite, which takes by far the longest.")
    @options.as_json
    def optimum(
        train: str | None, threads: int, repeat: int, optimizers: str, alone: bool, json: bool, **task: Any
    ) -> None:
        """Time from a text file to objectives near the optimum, for several optimizers.

        Without TRAIN, CoNLL-2000 is used where it is on this machine.

        \b
        Example:
          trellis bench optimum train.txt --l2 2 --optimizers "auto lbfgs:memory=50"
        """
        from trellis.studies.bench_optimum import GAPS, bench_optimum

        given = task_of(train, **task)
        with progress() as say:
            result = bench_optimum(given, entrants_of(optimizers), threads, repeat, not alone, say)
        click.echo(
            f"{given.train}, '{given.features}', l2={given.l2:g}, {threads} threads: optimum {result.optimum:,.4f}"
        )
        rows = []
        for name, runs in result.runs.items():
            for gap in GAPS:
                made = [run.evaluations[gap] for run in runs], [run.products[gap] for run in runs]
                rows.append((name, f"{gap:g}", _shown(result.seconds(name, gap)), *map(_counts, made),
                             _times(result.ratio(name, gap))))  # fmt: skip
        print_table(("", "gap", "seconds (median)", "evaluations", "products", "CRFsuite /"), rows)
        if json:
            print_json(result.as_json())

    @bench.command("products")
    @click.argument("train", required=False)
    @task_options
    @click.option("--threads", default=1, show_default=True, help="Threads.")
    @click.option("--repeat", default=7, show_default=True, help="Rounds, by turns.")
    @options.as_json
    def products(train: str | None, threads: int, repeat: int, json: bool, **task: Any) -> None:
        """Time Hessian-vector products: from kept lattices, solved again, by differentiation.

        Without TRAIN, CoNLL-2000 is used where it is on this machine.

        \b
        Example:
          trellis bench products train.txt --columns word,pos,chunk --target chunk
        """
        from trellis.studies.bench_products import bench_products

        given = task_of(train, **task)
        with progress() as say:
            result = bench_products(given, threads, repeat, say)
        click.echo(f"{given.train}, '{given.features}', {threads} thread{'s' * (threads > 1)}")
        print_table(
            ("", "best", "median"),
            [(name, f"{1e3 * t.best:.1f} ms", f"{1e3 * t.median:.1f} ms") for name, t in result.times.items()],
        )
        print_table(("ratio of best times", ""), [(name, f"{ratio:.3f}") for name, ratio in result.ratios().items()])
        if json:
            print_json(result.as_json())


def entrants_of(text: str) -> dict[str, tuple[str, dict[str, object]]]:
    """`auto lbfgs:memory=50` -> by these words, the name of an optimizer and its options."""
    found = {}
    for word in text.split():
        name, colon, rest = word.partition(":")
        found[word] = name, (options.table_of(rest if colon else None, f"--optimizers {name} with") or {})
    return found


def _shown(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.2f}"


def _counts(counts: Sequence[int | None]) -> str:
    known = [count for count in counts if count is not None]
    return "-" if not known else str(known[0]) if len(set(known)) == 1 else f"{min(known)}-{max(known)}"


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.1f}x"


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for k, heading in enumerate(headings):
        table.add_column(heading, justify="left" if k == 0 else "right")
    for row in rows:
        table.add_row(*row)
    Console(soft_wrap=False, highlight=False, markup=False).print(table)
