"""`trellis reproduce`: the papers' experiments once more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from trellis.cli import options
from trellis.cli.console import measuring, print_json, say


@click.group()
def reproduce() -> None:
    """Repeat the experiments of a paper and write a report with figures."""


@reproduce.command("tsuboi")
@click.option("--data", metavar="DIR", help="Folder with conll2000/ and conll2002-es/; $TRELLIS_DATA if not given.")
@click.option("--out", required=True, metavar="DIR", help="Where report.md, results.json and plots go.")
@click.option("--quick", is_flag=True, help="A few seconds on a little data (without --data on the sample corpus).")
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
@click.option("--docs", metavar="FILE", help="Also write the report there, its plots in a folder of the same name.")
@click.option("--resume", is_flag=True, help="Keep the cases that OUT/results.json has, and run only the others.")
@click.option("--report-only", is_flag=True, help="Make report and plots from OUT/results.json; nothing is run.")
@options.as_json
def tsuboi(
    data: str | None,
    out: str,
    quick: bool,
    clock: str,
    docs: str | None,
    resume: bool,
    report_only: bool,
    json: bool,
    **more: Any,
) -> None:
    """Newton-CG for CRFs (Tsuboi et al. 2011): Figure 2 and Table 2.

    Takes some two hours (an estimate) and 8 GB for weights of all pairs; plots need trellis[plot].

    \b
    Example:
      trellis reproduce tsuboi --out tsuboi --quick
    """
    from trellis.report.plots import require_matplotlib
    from trellis.studies.tsuboi import output
    from trellis.studies.tsuboi.study import run_study

    require_matplotlib()
    folder = output.make_folder(Path(out))
    if docs is not None:
        output.make_folder(Path(docs).parent)
    if report_only:
        study = output.read_results(folder)
    else:
        settings = _settings(quick, **more)
        earlier = output.read_results(folder) if resume and (folder / output.RESULTS).exists() else None
        with measuring() as tell:
            study = run_study(
                None if data is None else Path(data),
                settings,
                tell,
                lambda part: output.write_results(part, folder),
                earlier,
            )
    if clock == "cpu":
        study = study.by_processor()
    output.write_report(study, folder)
    if docs is not None:
        output.write_docs(study, folder, Path(docs))
    say(f"The report is in {folder / output.REPORT}")
    if json:
        print_json(output.summary(study))


def _settings(quick: bool, tasks: tuple[str, ...], weights: str, threads: int, repeat: int, max_passes: int) -> Any:
    from trellis.studies.tsuboi.study import Settings, quick_settings
    from trellis.studies.tsuboi.tasks import TITLES

    which = ("seen", "all") if weights == "both" else (weights,)
    given = Settings(tasks=tasks or tuple(TITLES), weights=which, threads=threads, repeat=repeat, max_passes=max_passes)
    return quick_settings(given) if quick else given
