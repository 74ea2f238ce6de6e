"""What all commands share: how they print, show progress and fail."""

from __future__ import annotations

import json
import logging
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trellis.training import Progress

Report = Callable[["Progress"], None]

_TOO_LONG = 1e10  # for a number with all its digits


def say(text: str) -> None:
    """A line for the person at the terminal; standard output is kept for results."""
    print(text, file=sys.stderr, flush=True)


def say_if_first_run() -> None:
    """Tells why nothing seems to happen for a while after installation."""
    from trellis.jit import first_run

    if first_run():
        say("First run: compiling, about 15 seconds ...")


def print_json(values: dict[str, Any]) -> None:
    """One JSON object as the last line of standard output."""
    print(json.dumps(values, ensure_ascii=False), flush=True)


class _Saying(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


@contextmanager
def messages() -> Iterator[None]:
    """Says what the library logs: how long training will take, where it goes on from."""
    logger, handler = logging.getLogger("trellis"), _Saying()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


_interrupted = Event()


def interrupt(signum: int, frame: object) -> None:
    """Ctrl-C. The exception can get lost in a callback of the compiler, so it is also remembered."""
    _interrupted.set()
    raise KeyboardInterrupt


@contextmanager
def training_progress(label: str) -> Iterator[Report]:
    """A bar with iteration, objective, gradient, dev score and time left; none in a pipe."""
    if not sys.stderr.isatty():
        yield _stop_if_interrupted
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    with Bar(
        TextColumn("{task.description}"), BarColumn(bar_width=10), TextColumn("{task.fields[state]}"),
        console=Console(stderr=True), transient=True,
    ) as bar:  # fmt: skip
        task = bar.add_task(label, total=1.0, state="")

        def report(now: Progress) -> None:
            _stop_if_interrupted(now)
            dev = "" if now.dev_score is None else f"  dev {100 * now.dev_score:.2f}"
            state = f"#{now.iteration}  {amount(now.objective)}{_how_near(now)}{dev}"
            bar.update(
                task, completed=now.fraction, state=f"{state}  {now.seconds:.0f} s, {now.seconds_left:.0f} s left"
            )

        yield report


def _how_near(now: Progress) -> str:
    """The end is: by the duality gap or the gradient, where there is one."""
    for name, value in (("gap", now.more.get("gap", math.inf)), ("|g|", now.gradient_norm)):
        if math.isfinite(value):
            return f"  {name} {value:.2g}"
    return ""


def amount(value: float) -> str:
    """1,234.56, or 1.23e+15 where nobody would count the digits."""
    return f"{value:,.2f}" if abs(value) < _TOO_LONG else f"{value:.6g}"


def _stop_if_interrupted(now: Progress) -> None:
    if _interrupted.is_set():
        raise KeyboardInterrupt


@contextmanager
def measuring() -> Iterator[Callable[[str], None]]:
    """What is being measured, on a terminal; nothing in a pipe. A still line: a spinner would take processor time."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    yield lambda text: print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
    print("\r\x1b[K", end="", file=sys.stderr, flush=True)


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
