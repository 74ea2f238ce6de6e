"""The parts of the page that say how things were done: clock, methods, data, prior."""

from __future__ import annotations

from trellis.report.markdown import page, table
from trellis.studies.tsuboi.methods import ONLINE_PASSES
from trellis.studies.tsuboi.results import Study
from trellis.studies.tsuboi.tasks import PAPER


def about_method(study: Study) -> str:
    settings, here = study.settings, study.machine
    threads, rounds = settings["threads"], settings["repeat"]
    clock = "processor" if settings.get("clock") == "cpu" else "wall-clock"
    load = "" if here["load"] is None else f", load {here['load']:.1f} before the start"
    return page(
        f"Times are {clock} seconds of the optimisation alone on {threads} thread{'s' * (threads > 1)} (the paper "
        "does not say how many it used; Trellis by itself uses all): reading, features and scoring are not in them. "
        + (
            "Every method ran once."
            if rounds == 1
            else f"Every method ran {rounds} times, by turns; times are medians."
        )
        + f" {_noise(study)} The machine: {here['cores']} cores{load}; Python {here['python']}, NumPy {here['numpy']}, "
        f"Numba {here['numba']}. A pass over the data is an evaluation of objective and gradient, a Hessian-vector "
        "product, or an epoch of descent.",
        f"All methods start from zero and stop when no part of the gradient is above {settings['gradient_tol']:g}, as "
        f"in the paper, or after {settings['max_passes']:,} passes; online methods, which look at no gradient of the "
        f"whole, after {min(ONLINE_PASSES, settings['max_passes'])}. f* is the lowest value that any of them found, or "
        "one more method that went on from there until no part of the gradient was above 1e-3. Newton-CG has a trust "
        "region and solves each Newton equation to a tenth of the gradient's norm or better (as Lin et al. 2008), "
        "because the paper does not give its own settings. L-BFGS has a line search with the strong Wolfe conditions.",
    )


def _noise(study: Study) -> str:
    """How much of the wall time other processes took, where one thread shows it."""
    if study.settings["threads"] != 1 or study.settings.get("clock") == "cpu":
        return ""
    runs = [run for case in study.cases for run in case.runs]
    wall, cpu = sum(run.last.seconds for run in runs), sum(run.last.cpu_seconds for run in runs)
    worst = max(run.last.seconds / max(run.last.cpu_seconds, 1e-9) for run in runs)
    return (
        f"Wall time was {wall / max(cpu, 1e-9):.2f} times processor time over all runs, and {worst:.2f} times in the "
        "one that other processes disturbed most."
    )


def about_data(study: Study) -> str:
    rows, seen = [], set()
    for case in study.cases:
        if case.task in seen:
            continue
        seen.add(case.task)
        sizes, paper = case.sizes, PAPER.get(case.task)
        theirs = ("-", "-", "-", "-", "-")
        if paper is not None:
            dev = "-" if paper.dev is None else f"{paper.dev:,}"
            theirs = (f"{paper.train:,}", dev, f"{paper.test:,}", f"{paper.attributes:,}", str(paper.labels))
        ours = (f"{sizes.train:,}", f"{sizes.dev:,}", f"{sizes.test:,}", f"{sizes.attributes:,}", str(sizes.labels))
        rows.append([case.title, f"`{case.features}`", *(f"{a} / {b}" for a, b in zip(theirs, ours, strict=True))])
    weights = "; ".join(f"{case.title}, {case.weights}: {case.sizes.weights:,}" for case in study.cases)
    return page(
        "Paper / here.",
        table(["task", "features", "train", "dev", "test", "attributes", "labels"], rows, 2),
        "Spanish files have one sentence more each here, and chunking one label fewer, which occurs in the test data "
        "alone; why the numbers of attributes differ is not known. A quarter is the first quarter of the sentences; "
        "NCG(c=4000) is left out there, as in the paper. "
        f"Weights: {weights}.",
    )


def about_prior(study: Study) -> str:
    rows, seen = [], set()
    for case in study.cases:
        if case.task in seen:
            continue
        seen.add(case.task)
        scores = [f"{100 * score:.2f}" for score in case.tried.values()]
        rows.append([case.title, case.held_out, *scores, f"{case.l2:g}"])
    grid = list(study.cases[0].tried)
    return page(
        "F1 on held-out data for l2 = 1/sigma^2, with weights for pairs seen in training; what was chosen serves both "
        "kinds of weights. The paper does not say what it chose.",
        table(["task", "held out", *grid, "chosen"], rows, 2),
    )
