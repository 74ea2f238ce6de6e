"""What all commands share: how they print, show progress and fail."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trellis.training import Progress

Report = Callable[["Progress"], None]


def say(text: str) -> None:
    """A line for the person at the terminal; standard output is kept for results."""
    print(text, file=sys.stderr, flush=True)


def print_json(values: dict[str, Any]) -> None:
    """One JSON object as the last line of standard output."""
    print(json.dumps(values, ensure_ascii=False), flush=True)


@contextmanager
def training_progress(label: str) -> Iterator[Report | None]:
    """A bar with iteration, objective, gradient, dev score and time left; none in a pipe."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("iteration {task.fields[iteration]}  objective {task.fields[objective]}"),
        TextColumn("|g| {task.fields[gradient]}{task.fields[dev]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=1.0, iteration=0, objective="-", gradient="-", dev="")

        def report(now: Progress) -> None:
            dev = "" if now.dev_score is None else f"  dev {100 * now.dev_score:.2f}"
            bar.update(
                task, completed=now.fraction, iteration=now.iteration, dev=dev,
                objective=f"{now.objective:,.2f}", gradient=f"{now.gradient_norm:.3g}",
            )  # fmt: skip

        yield report


@contextmanager
def download_progress() -> Iterator[Callable[[int, int | None, str], None] | None]:
    """A bar for bytes; none in a pipe."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TransferSpeedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def report(done: int, total: int | None, label: str) -> None:
            if label not in tasks:
                tasks[label] = bar.add_task(label, total=total)
            bar.update(tasks[label], completed=done, total=total)

        yield report
