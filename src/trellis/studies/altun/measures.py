"""Figures from outcomes: the best of several priors, what is lost to noise, points between methods."""

from __future__ import annotations

from collections.abc import Iterable

from trellis.studies.altun.cells import NONE, Cell, Moment, Outcome
from trellis.studies.altun.methods import LOSSES
from trellis.studies.altun.plan import COMPARED, GRIDS, NOISY, noisy_cells
from trellis.studies.altun.results import Study


def best(outcomes: Iterable[Outcome | None]) -> Outcome | None:
    """By the score on held-out data; of several the one with the strongest prior."""
    there = [outcome for outcome in outcomes if outcome is not None and outcome.dev is not None]
    return max(there, key=lambda outcome: (outcome.dev, outcome.cell.strength), default=None)


def with_prior(study: Study, task: str, prior: str, size: int | None) -> Outcome | None:
    """The log loss with the best strength of a kind of prior."""
    cells = [Cell(task, COMPARED[task], "log", prior, strength, size) for strength in GRIDS[prior]]
    return best(map(study.of, cells))


def under_noise(study: Study, method: str, noise: float) -> Outcome | None:
    """With the prior that was chosen without noise."""
    return study.result(*NOISY, method, noise=noise)


def under_noise_chosen(study: Study, method: str, noise: float) -> Outcome | None:
    """With the prior that is best at this noise."""
    if not study.tried(*NOISY, method):
        return None
    return best(map(study.of, noisy_cells(study.scope, method, noise, study.chosen)))


def spread(study: Study, task: str, features: str) -> float | None:
    """Points between the best and the worst loss."""
    scores = [100 * found.score for loss in LOSSES if (found := study.result(task, features, loss)) is not None]
    return max(scores) - min(scores) if len(scores) > 1 else None


def points(study: Study, task: str, better: tuple[str, str], worse: tuple[str, str]) -> float | None:
    """By how many points one (features, method) is above another."""
    first, second = study.result(task, *better), study.result(task, *worse)
    return None if first is None or second is None else 100 * (first.score - second.score)


def share(outcome: Outcome) -> float:
    """Percent of the weights that are not zero."""
    return 100 * outcome.active / outcome.weights


def with_share(run: Outcome, most: float) -> Moment | None:
    """The best moment of a run on held-out data while no more than so many percent of the weights were not zero."""
    there = [moment for moment in run.moments if 100 * moment.active <= most * run.weights]
    return max(there, key=lambda moment: moment.dev, default=None)


def along_the_way(study: Study, task: str, features: str, method: str) -> Outcome | None:
    """The run of a method that was scored on held-out data on its way."""
    runs = (study.of(Cell(task, features, method, NONE, held_out=apart)) for apart in (False, True))
    return next((run for run in runs if run is not None and run.moments), None)
