"""The tables of the page: the paper's figures beside ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trellis.report.markdown import page, table
from trellis.studies.altun.cells import PRIORS, Outcome
from trellis.studies.altun.measures import along_the_way, share, under_noise, under_noise_chosen, with_prior, with_share
from trellis.studies.altun.methods import LOSSES, METHODS
from trellis.studies.altun.paper import of_paper
from trellis.studies.altun.plan import COMPARED
from trellis.studies.altun.results import Study
from trellis.studies.altun.tasks import KINDS

_SHARES = 5.0, 10.0, 25.0  # percent of the weights
OPEN = "*"  # behind the score of a training that was stopped before it converged


def percent(found: Outcome | None) -> str:
    if found is None:
        return "-"
    own_end = METHODS[found.cell.method].follows  # its number of iterations is a choice
    return f"{100 * found.score:.2f}{'' if found.converged or own_end else OPEN}"


def of_losses(study: Study, tasks: Sequence[str]) -> str:
    """Tables 1 and 2."""
    return _beside_paper(study, tasks, LOSSES)


def of_methods(study: Study, tasks: Sequence[str]) -> str:
    """Table 3."""
    return _beside_paper(study, tasks, ("log", "perceptron", "exp", "boosting"))


def _beside_paper(study: Study, tasks: Sequence[str], methods: Sequence[str]) -> str:
    rows = []
    for task in tasks:
        for features in KINDS[task].features:
            cells = []
            for method in methods:
                theirs = of_paper(task, features, method)
                ours = percent(study.result(task, features, method))
                cells.append(f"{'-' if theirs is None else f'{theirs:.2f}'} / {ours}")
            rows.append([KINDS[task].title, features.upper(), *cells])
    return table(["task", "features", *(METHODS[method].name for method in methods)], rows, 2)


def of_sizes(study: Study, task: str) -> str:
    rows = []
    for size in [*study.scope.smaller(task), None]:
        for features in KINDS[task].features:
            scores = [percent(study.result(task, features, loss, size)) for loss in LOSSES]
            rows.append(["all" if size is None else f"{size:,}", features.upper(), *scores])
    return table(["sentences", "features", *(METHODS[loss].name for loss in LOSSES)], rows, 2)


def of_priors(study: Study, task: str) -> str:
    rows = []
    for size in [*study.scope.smaller(task), None]:
        found = [with_prior(study, task, prior, size) for prior in PRIORS]
        strengths = [f" ({each.cell.strength:g})" if each is not None and each.cell.strength else "" for each in found]
        scores = [percent(each) + strength for each, strength in zip(found, strengths, strict=True)]
        rows.append(["all" if size is None else f"{size:,}", *scores])
    title = f"{KINDS[task].title}, {COMPARED[task].upper()}, {KINDS[task].measure} (strength):"
    return page(title[0].upper() + title[1:], table(["sentences", *PRIORS.values()], rows))


def of_chosen(study: Study) -> str:
    """Scores on held-out data for every strength that was tried, and the one that was chosen."""
    rows = []
    for task, features in study.scope.feature_sets():
        for loss in LOSSES:
            scores = study.tried(task, features, loss)
            if scores:
                chosen = study.chosen(task, features, loss)
                tried = ", ".join(f"{strength:g}: {100 * score:.2f}" for strength, score in scores.items())
                rows.append([KINDS[task].title, features.upper(), METHODS[loss].name, tried, f"{chosen:g}"])
    return table(["task", "features", "loss", "l2: score on held-out data", "chosen"], rows, 5)


def of_noise(study: Study) -> str:
    at: tuple[Callable[[Study, str, float], Outcome | None], ...] = (under_noise, under_noise_chosen)
    rows = []
    for noise in study.scope.noise:
        cells = [" / ".join(percent(each(study, loss, noise)) for each in at) for loss in LOSSES]
        rows.append([f"{100 * noise:g}%", *cells])
    return table(["wrong labels", *(METHODS[loss].name for loss in LOSSES)], rows)


def of_costs(study: Study, tasks: Sequence[str]) -> str:
    """Training time and active features of every method."""
    rows = []
    for task in tasks:
        for features in KINDS[task].features:
            for method in METHODS.values():
                found = study.result(task, features, method.key)
                if found is not None:
                    rows.append([KINDS[task].title, features.upper(), method.name, *_cost(found)])
    headings = [
        "task",
        "features",
        "method",
        "seconds",
        "iterations",
        "evaluations",
        "weights",
        "not zero",
        "%",
    ]
    return table(headings, rows, 3)


def _cost(found: Outcome) -> list[str]:
    return [
        f"{found.cpu_seconds:.1f}",
        str(found.iterations),
        str(found.evaluations),
        f"{found.weights:,}",
        f"{found.active:,}",
        f"{share(found):.1f}",
    ]


def of_sparseness(study: Study, tasks: Sequence[str]) -> str:
    """Boosting's best scores on held-out data with a few of its weights, with more, and with any number."""
    rows = []
    for task in tasks:
        for features in KINDS[task].features:
            run = along_the_way(study, task, features, "boosting")
            if run is not None:
                at = [with_share(run, most) for most in (*_SHARES, 100.0)]
                scores = ["-" if each is None else f"{100 * each.dev:.2f}" for each in at]
                last = "-" if at[-1] is None else f"{100 * at[-1].active / run.weights:.1f}"
                rows.append([KINDS[task].title, features.upper(), *scores, last])
    headings = [*(f"up to {most:g}%" for most in _SHARES), "any", "% then"]
    return table(["task", "features", *headings], rows, 2)


def of_data(study: Study) -> str:
    rows = []
    for task, sentences in study.scope.tasks:
        for features in KINDS[task].features:
            found = study.result(task, features, "log")
            if found is not None:
                counts = (sentences, found.tokens, found.labels, found.attributes, found.weights)
                rows.append([KINDS[task].title, f"`altun-{features}`", *(f"{count:,}" for count in counts)])
    return table(["task", "features", "sentences", "tokens", "labels", "attributes", "weights"], rows, 2)
