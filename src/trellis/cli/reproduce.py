"""`trellis reproduce`: the papers' experiments once more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from trellis.cli import options
from trellis.cli.console import measuring, print_json, say

Command = Callable[..., None]


@click.group()
def reproduce() -> None:
    """Repeat the experiments of a paper and write a report with figures."""


def _of_every_study(corpora: str, parts: str) -> Callable[[Command], Command]:
    """The options that all studies have: `corpora` they need, and `parts` that are run one by one."""
    each = (
        click.option("--data", metavar="DIR", help=f"Folder with {corpora}; $TRELLIS_DATA if not given."),
        click.option("--out", required=True, metavar="DIR", help="Where report.md, results.json and plots go."),
        click.option(
            "--quick", is_flag=True, help="A few seconds on a little data (without --data on the sample corpus)."
        ),
        click.option(
            "--docs", metavar="FILE", help="Also write the report there, its plots in a folder of the same name."
        ),
        click.option(
            "--resume", is_flag=True, help=f"Keep the {parts} that OUT/results.json has, run only the others."
        ),
        click.option(
            "--report-only", is_flag=True, help="Make report and plots from OUT/results.json; nothing is run."
        ),
        options.as_json,
    )

    def add(command: Command) -> Command:
        for option in reversed(each):
            command = option(command)
        return command

    return add


@reproduce.command("tsuboi")
@_of_every_study("conll2000/ and conll2002-es/", "cases")
@click.option("--task", "tasks", multiple=True, help="ner, chunking or quarter; all if not given.")
@click.option(
    "--weights", type=click.Choice(["seen", "all", "both"]), default="both", show_default=True,
    help="Weights for pairs seen in training, or for all pairs (as the paper's, it seems).",
)  # fmt: skip
@click.option("--threads", default=1, show_default=True, help="The paper does not say how many it used.")
@click.option("--repeat", default=1, show_default=True, help="Rounds, in which methods take turns; medians are shown.")
@click.option("--max-passes", default=3000, show_default=True, help="Over the data, after which a method is stopped.")
@click.option(
    "--clock", type=click.Choice(["wall", "cpu"]), default="wall", show_default=True,
    help="Times in the report; the processor's own is steadier on a busy machine.",
)  # fmt: skip
def tsuboi(quick: bool, tasks: tuple[str, ...], weights: str, clock: str, **more: Any) -> None:
    """Newton-CG for CRFs (Tsuboi et al. 2011): Figure 2 and Table 2.

    Takes some two hours (an estimate) and 8 GB for weights of all pairs; plots need trellis[plot].

    \b
    Example:
      trellis reproduce tsuboi --out tsuboi --quick
    """
    from trellis.studies.tsuboi import output, study
    from trellis.studies.tsuboi.tasks import TITLES

    which = ("seen", "all") if weights == "both" else (weights,)
    own = {name: more.pop(name) for name in ("threads", "repeat", "max_passes")}

    def settings() -> Any:
        given = study.Settings(tasks=tasks or tuple(TITLES), weights=which, **own)
        return study.quick_settings(given) if quick else given

    _reproduce(output, study.run_study, settings, _by_processor if clock == "cpu" else None, **more)


def _by_processor(study: Any) -> Any:
    return study.by_processor()


@reproduce.command("altun")
@_of_every_study("conll2000/ and conll2002-es/, and ptb-sample/ if there is one", "cells")
@click.option("--only", "parts", multiple=True, help="losses, sizes, priors, noise or methods; all if not given.")
@click.option("--task", "tasks", multiple=True, help="ner, pos or ptb; all if not given.")
@click.option("--threads", type=int, help="All if not given.")
@click.option("--max-iter", default=300, show_default=True, help="Iterations after which a training is stopped.")
@click.option("--tol", default=1e-3, show_default=True, help="Gain in ten iterations below which a training stops.")
def altun(
    quick: bool,
    parts: tuple[str, ...],
    tasks: tuple[str, ...],
    threads: int | None,
    max_iter: int,
    tol: float,
    **more: Any,
) -> None:
    """Losses and optimisers for label sequences (Altun et al. 2003): Tables 1 to 3.

    Takes some two hours on two cores; plots need trellis[plot].

    \b
    Example:
      trellis reproduce altun --out altun --quick
    """
    from trellis.studies.altun import output, study
    from trellis.studies.altun.methods import METHODS
    from trellis.studies.altun.plan import PARTS
    from trellis.studies.altun.tasks import KINDS

    def settings() -> Any:
        given = study.Settings(False, parts or tuple(PARTS), tasks or tuple(KINDS), threads, tol, max_iter)
        return study.quick_settings(given) if quick else given

    for method in METHODS.values():
        if not method.is_there:
            say(f"{method.name} is left out: this version has no optimizer '{method.optimizer}'")
    _reproduce(output, study.run_study, settings, None, **more)


@reproduce.command("azuma")
@_of_every_study("conll2000/, and ud-en-ewt/ if there is one", "cases")
@click.option(
    "--only",
    "parts",
    multiple=True,
    help="table, pairs, folds, held-out, margin, ends, wires, sizes, layers, product, presets, ud or cost, "
    "once for each; all if not given.",
)
@click.option("--threads", type=int, help="All if not given.")
@click.option("--tol", default=1e-4, show_default=True, help="Gain in ten iterations below which a training stops.")
def azuma(quick: bool, parts: tuple[str, ...], threads: int | None, tol: float, **more: Any) -> None:
    """Multilayer sequence labeling (Azuma & Matsumoto 2011): Table 2 and more.

    The table (--only table) takes some 15 minutes on two cores, all of it some hours; plots need trellis[plot].

    \b
    Example:
      trellis reproduce azuma --out azuma --quick
    """
    from trellis.studies.azuma import output, study
    from trellis.studies.azuma.plan import PARTS

    def settings() -> Any:
        given = study.Settings(False, parts or tuple(PARTS), threads, tol)
        return study.quick_settings(given) if quick else given

    folder = Path(more["out"])

    def run(data: Path | None, given: Any, say: Any, keep: Any, earlier: Any) -> Any:
        return study.run_study(data, given, folder, say, keep, earlier)

    _reproduce(output, run, settings, None, **more)


def _reproduce(
    output: Any,
    run_study: Callable[..., Any],
    settings: Callable[[], Any],
    change: Callable[[Any], Any] | None,
    data: str | None,
    out: str,
    docs: str | None,
    resume: bool,
    report_only: bool,
    json: bool,
) -> None:
    """Runs a study, or reads its results, and writes what its room `output` makes of them; `change`: of results before
    they are reported."""
    from trellis.report.plots import require_matplotlib
    from trellis.studies.folder import REPORT, RESULTS, make_folder, put_aside

    require_matplotlib()
    folder = make_folder(Path(out))
    if docs is not None:
        make_folder(Path(docs).parent)
    if report_only:
        study = output.read_results(folder)
    else:
        earlier = output.read_results(folder) if resume and (folder / RESULTS).exists() else None
        given, where = settings(), None if data is None else Path(data)
        aside = None if resume else put_aside(folder)
        if aside is not None:
            say(f"{folder / RESULTS} is of an earlier run, and kept as {aside.name}; --resume would go on from it")
        with measuring() as tell:
            study = run_study(where, given, tell, lambda part: output.write_results(part, folder), earlier)
    study = study if change is None else change(study)
    output.write_report(study, folder, None if docs is None else Path(docs))
    say(f"The report is in {folder / REPORT}")
    if json:
        print_json(output.summary(study))
