"""`trellis bench`: Trellis beside a peer, both on the same data and by the same clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from trellis.cli import options
from trellis.cli.bench_cascade import add_to as add_cascade
from trellis.cli.bench_lattices import add_to as add_lattices
from trellis.cli.bench_memory import add_to as add_memory
from trellis.cli.bench_neural import add_to as add_neural
from trellis.cli.bench_online import add_to as add_online
from trellis.cli.bench_page import add_to as add_page
from trellis.cli.bench_peers import add_to as add_peers
from trellis.cli.bench_roofline import add_to as add_roofline
from trellis.cli.bench_scaling import add_to as add_scaling
from trellis.cli.bench_score import add_to as add_score
from trellis.cli.bench_startup import add_to as add_startup
from trellis.cli.bench_training import add_to
from trellis.cli.bench_weak import add_to as add_weak
from trellis.cli.console import measuring, print_json
from trellis.errors import SettingError

if TYPE_CHECKING:
    from trellis.studies.table import Row
    from trellis.studies.task import Task

Command = TypeVar("Command", bound=Callable[..., Any])

# what both commands are told about the task; handed on to `_task` by name
_TASK = (
    click.option("--against", default="crfsuite", show_default=True, help="The peer; needs trellis[bench]."),
    click.option("--columns", default="word,pos,chunk", show_default=True, help="Names from left to right."),
    click.option("--target", default="chunk", show_default=True, help="The column to predict."),
    click.option("--features", default="chunking", show_default=True, help="A preset or a template file."),
    click.option("--c2", type=float, help="CRFsuite's prior, c2 * |theta|^2; 1 if none is given."),
    click.option("--l2", type=float, help="The prior in Trellis' terms: l2 = 2 * c2."),
)
_threads = click.option(
    "--threads", default="1,2", show_default=True, help="Numbers of threads for Trellis; CRFsuite has one."
)


def _task_options(command: Command) -> Command:
    for option in reversed(_TASK):
        command = option(command)
    return command


@click.group()
def bench() -> None:
    """Compare speed and memory with another toolkit, by turns and by one clock."""


@bench.command("train")
@click.argument("train", required=False)
@_task_options
@_threads
@click.option("--repeat", default=3, show_default=True, help="Rounds; the systems take turns.")
@click.option("--iterations", default=15, show_default=True, help="L-BFGS iterations timed in each round.")
@click.option("--full", is_flag=True, help="Also train both to convergence.")
@click.option("--optimizer", default="lbfgs", show_default=True, help="Trellis' optimiser with --full.")
@options.as_json
def train(
    train: str | None, threads: str, repeat: int, iterations: int, full: bool, optimizer: str, json: bool, **task: Any
) -> None:
    """Time preparing data, one evaluation of objective and gradient, and memory.

    Without TRAIN, CoNLL-2000 is used where it is on this machine.

    \b
    Example:
      trellis bench train train.txt --columns word,pos,chunk --target chunk
    """
    from trellis.studies.bench_train import NOTE, bench_train
    from trellis.studies.table import train_rows

    given = _task(train, **task)
    with measuring() as say:
        result = bench_train(given, _numbers(threads), repeat, iterations, full, optimizer, say)
    parameters = result.parameters
    _print(
        f"training: {given.train}, {result.sentences:,} sentences, {result.tokens:,} tokens; "
        f"{parameters['trellis']:,} weights (CRFsuite {parameters['crfsuite']:,}), l2={given.l2:g}",
        result.machine,
        train_rows(result),
        f"* {NOTE} prepare: text file to features. setup: from there to the first evaluation.",
    )
    if json:
        print_json(result.as_json())


@bench.command("tag")
@click.argument("train", required=False)
@click.argument("test", required=False)
@_task_options
@_threads
@click.option("--repeat", default=7, show_default=True, help="Runs of each system, by turns.")
@click.option("--iterations", default=20, show_default=True, help="L-BFGS iterations to train the models with.")
@options.as_json
def tag(
    train: str | None, test: str | None, threads: str, repeat: int, iterations: int, json: bool, **task: Any
) -> None:
    """Time tagging from text to labels, features included.

    Without files, CoNLL-2000 is used where it is on this machine.

    \b
    Example:
      trellis bench tag train.txt test.txt --columns word,pos,chunk --target chunk
    """
    from trellis.studies.bench_tag import bench_tag
    from trellis.studies.table import tag_rows
    from trellis.studies.task import default_file

    if train is not None and test is None:
        raise SettingError("a file to tag is missing: trellis bench tag TRAIN TEST")
    given = _task(train, **task)
    file = default_file("test.txt") if test is None else Path(test)
    with measuring() as say:
        result = bench_tag(given, file, _numbers(threads), repeat, iterations, say)
    _print(
        f"tagging: {result.test}, {result.sentences:,} sentences, {result.tokens:,} tokens; "
        f"both give {100 * result.agreement:.2f}% of the tokens the same label",
        result.machine,
        tag_rows(result),
        "From the file to labels as strings, features included; the model is loaded before.",
    )
    if json:
        print_json(result.as_json())


@bench.command("features")
@click.argument("train", required=False)
@_task_options
@click.option("--repeat", default=5, show_default=True, help="Rounds; the systems take turns.")
@options.as_json
def features(train: str | None, repeat: int, json: bool, **task: Any) -> None:
    """Time making features: file to attribute numbers, and the preset `ner` against strings made in Python.

    Without TRAIN, CoNLL-2000 is used where it is on this machine.

    \b
    Example:
      trellis bench features train.txt --columns word,pos,chunk --target chunk
    """
    from trellis.studies.bench_features import bench_features
    from trellis.studies.table import feature_rows

    given = _task(train, **task)
    with measuring() as say:
        result = bench_features(given, repeat, say)
    _print(
        f"features: {given.train}, {result.sentences:,} sentences, {result.tokens:,} tokens; "
        f"'{given.features}' makes {result.attributes:,} attributes, 'ner' {result.ner_attributes:,}",
        result.machine,
        feature_rows(result),
        "First: from the file to features, CRFsuite's strings and append included. Then from a corpus in memory.",
        peer="peer",
    )
    if json:
        print_json(result.as_json())


def _task(
    train: str | None, against: str, columns: str, target: str, features: str, c2: float | None, l2: float | None
) -> Task:
    from trellis.studies.task import Task, default_file

    if against != "crfsuite":
        raise SettingError(f"no peer '{against}'; there is: crfsuite")
    if c2 is not None and l2 is not None and l2 != 2 * c2:
        raise SettingError(f"l2={l2:g} and c2={c2:g} are different priors: l2 = 2 * c2; give one of them")
    if c2 is None:
        c2 = 1.0 if l2 is None else l2 / 2
    file = default_file("train.txt") if train is None else Path(train)
    return Task(file, tuple(columns.split(",")), target, features, c2)


def _numbers(text: str, what: str = "threads") -> list[int]:
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise SettingError(f"{what} are '{text}'; expected whole numbers apart by commas, e.g. 1,2") from None


def _print(title: str, machine: dict[str, Any], rows: Sequence[Row], note: str, peer: str = "CRFsuite") -> None:
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
    load = "" if machine["load"] is None else f"; load before the start {machine['load']:.1f}"
    console.print(f"on {machine['cores']} cores{load}")
    console.print(table)
    console.print(f"ratio: {peer} / Trellis, above 1 Trellis is better. {note}")


add_to(bench, _task_options, _task, measuring)
add_online(bench, _task_options, _task, measuring)
add_lattices(bench, _task_options, _task, _numbers, measuring)
add_cascade(bench, measuring)
add_score(bench, measuring)
add_neural(bench, measuring)
add_weak(bench, measuring)
add_scaling(bench, _numbers, measuring)
add_memory(bench, measuring)
add_startup(bench, measuring)
add_peers(bench, _task, measuring)
add_roofline(bench, _task, _numbers, measuring)
add_page(bench)
