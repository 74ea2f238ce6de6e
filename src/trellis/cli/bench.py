"""`trellis bench`: Trellis beside a peer, both on the same data and by the same clock."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trellis.cli.console import print_json
from trellis.errors import SettingError

if TYPE_CHECKING:
    from trellis.studies.table import Row
    from trellis.studies.task import Task

bench_app = typer.Typer(help="Compare speed and memory with another toolkit.", no_args_is_help=True)

Train = Annotated[
    Path | None, typer.Argument(metavar="[TRAIN]", help="A column file; CoNLL-2000's where it is on this machine.")
]
Against = Annotated[str, typer.Option(help="The peer: crfsuite (needs `pip install trellis[bench]`).")]
Columns = Annotated[str, typer.Option(help="Names of the columns from left to right.")]
Target = Annotated[str, typer.Option(help="The column to predict.")]
Features = Annotated[str, typer.Option(help="A preset or a template file, for both systems.")]
C2 = Annotated[float | None, typer.Option(help="CRFsuite's prior, c2 * |theta|^2; 1 if neither is given.")]
L2 = Annotated[float | None, typer.Option(help="The prior in Trellis' terms: l2 = 2 * c2.")]
Threads = Annotated[str, typer.Option(help="Numbers of threads for Trellis; CRFsuite has one.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]


@bench_app.command("train")
def train(
    train: Train = None,
    against: Against = "crfsuite",
    columns: Columns = "word,pos,chunk",
    target: Target = "chunk",
    features: Features = "chunking",
    c2: C2 = None,
    l2: L2 = None,
    threads: Threads = "1,2",
    repeat: Annotated[int, typer.Option(help="Rounds; the systems take turns.")] = 3,
    iterations: Annotated[int, typer.Option(help="L-BFGS iterations timed in each round.")] = 15,
    full: Annotated[bool, typer.Option("--full", help="Also train both to convergence.")] = False,
    optimizer: Annotated[str, typer.Option(help="Trellis' optimiser with --full.")] = "lbfgs",
    json: Json = False,
) -> None:
    """Time preparing data, one evaluation of objective and gradient, and memory, against CRFsuite.

    Example: trellis bench train train.txt --columns word,pos,chunk --target chunk --repeat 5
    """
    from trellis.studies.bench_train import NOTE, bench_train
    from trellis.studies.table import train_rows

    task = _task(train, against, columns, target, features, c2, l2)
    with _progress() as say:
        bench = bench_train(task, _numbers(threads), repeat, iterations, full, optimizer, say)
    parameters = bench.parameters
    _print(
        f"training: {task.train}, {bench.sentences:,} sentences, {bench.tokens:,} tokens; "
        f"{parameters['trellis']:,} weights (CRFsuite {parameters['crfsuite']:,}), l2={task.l2:g}",
        train_rows(bench),
        f"{NOTE} prepare: text file to features. setup: from there to the first evaluation.",
    )
    if json:
        print_json(bench.as_json())


@bench_app.command("tag")
def tag(
    train: Train = None,
    test: Annotated[Path | None, typer.Argument(metavar="[TEST]", help="The column file to tag.")] = None,
    against: Against = "crfsuite",
    columns: Columns = "word,pos,chunk",
    target: Target = "chunk",
    features: Features = "chunking",
    c2: C2 = None,
    l2: L2 = None,
    threads: Threads = "1,2",
    repeat: Annotated[int, typer.Option(help="Runs of each system, by turns.")] = 7,
    iterations: Annotated[int, typer.Option(help="L-BFGS iterations to train the models with.")] = 20,
    json: Json = False,
) -> None:
    """Time tagging from text to labels, features included, against CRFsuite.

    Example: trellis bench tag train.txt test.txt --columns word,pos,chunk --target chunk
    """
    from trellis.studies.bench_tag import bench_tag
    from trellis.studies.table import tag_rows
    from trellis.studies.task import default_file

    task = _task(train, against, columns, target, features, c2, l2)
    if train is not None and test is None:
        raise SettingError("a file to tag is missing: trellis bench tag TRAIN TEST")
    with _progress() as say:
        bench = bench_tag(task, test or default_file("test.txt"), _numbers(threads), repeat, iterations, say)
    _print(
        f"tagging: {bench.test}, {bench.sentences:,} sentences, {bench.tokens:,} tokens; "
        f"both give {100 * bench.agreement:.2f}% of the tokens the same label",
        tag_rows(bench),
        "From the file to labels as strings, features included; the model is loaded before.",
    )
    if json:
        print_json(bench.as_json())


def _task(
    train: Path | None, against: str, columns: str, target: str, features: str, c2: float | None, l2: float | None
) -> Task:
    from trellis.studies.task import Task, default_file

    if against != "crfsuite":
        raise SettingError(f"no peer '{against}'; there is: crfsuite")
    if c2 is not None and l2 is not None and l2 != 2 * c2:
        raise SettingError(f"l2={l2:g} and c2={c2:g} are different priors: l2 = 2 * c2; give one of them")
    if c2 is None:
        c2 = 1.0 if l2 is None else l2 / 2
    return Task(train or default_file("train.txt"), tuple(columns.split(",")), target, features, c2)


def _numbers(text: str) -> list[int]:
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise SettingError(f"threads are '{text}'; expected whole numbers apart by commas, e.g. 1,2") from None


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """What is being measured, on a terminal; nothing in a pipe. A still line: a spinner would take processor time."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    yield lambda text: print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
    print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _print(title: str, rows: Sequence[Row], note: str) -> None:
    from dataclasses import astuple

    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    from trellis.studies.table import HEADINGS

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for k, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="left" if k < 2 else "right")
    for row in rows:
        table.add_row(*astuple(row))
    console = Console(soft_wrap=False, highlight=False, markup=False)
    console.print(title)
    console.print(table)
    console.print(f"ratio: CRFsuite / Trellis, above 1 Trellis is better. {note}")
