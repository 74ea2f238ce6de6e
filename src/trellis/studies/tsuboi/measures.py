"""Figures from curves: how long a method took to come so near, and how two of them compare."""

from __future__ import annotations

from trellis.studies.tsuboi.results import Case, Moment, Run

NEAR = 0.001  # of F1: a tenth of a point
MEASURES = {"1e-2": "gap 1e-2", "1e-3": "gap 1e-3", "1e-4": "gap 1e-4", "f1": "test F1"}


def gap(moment: Moment, case: Case) -> float:
    """Of the objective: (f - f*) / f*."""
    return max(0.0, moment.objective / case.f_star - 1.0)


def reached(run: Run, case: Case, measure: str) -> Moment | None:
    """The first moment at which a gap is reached; for F1, from which on it stays at most a tenth of a point below that
    of the optimum."""
    if measure == "f1":
        low = [k for k, moment in enumerate(run.moments) if moment.f1 < case.f1_star - NEAR]
        first = low[-1] + 1 if low else 0
        return run.moments[first] if first < len(run.moments) else None
    return next((moment for moment in run.moments if gap(moment, case) <= float(measure)), None)


def ratio(case: Case, slow: str, fast: str, measure: str) -> float | None:
    """How many times as long `slow` took as `fast` did; None where one of them did not run or never came there."""
    runs = case.run(slow), case.run(fast)
    ends = [None if run is None else reached(run, case, measure) for run in runs]
    return None if ends[0] is None or ends[1] is None else ends[0].seconds / ends[1].seconds


def fastest(case: Case, measure: str, batch: bool = True) -> Run | None:
    """Of the paper's batch methods, or of its online ones."""
    there = [(reached(run, case, measure), run) for run in case.runs if run.paper and run.batch == batch]
    timed = [(moment.seconds, k, run) for k, (moment, run) in enumerate(there) if moment is not None]
    return min(timed)[2] if timed else None


def predicted(case: Case, key: str) -> float:
    """Seconds that a run's evaluations and products should take by their costs, without its vectors."""
    run, cost = case.run(key), case.costs
    assert run is not None
    evaluation, product = {
        "ncg-all": ("evaluation_keeping", "product_kept"),
        "ncg-ad": ("evaluation", "product_ad"),
    }.get(key, ("evaluation", "product_anew"))
    return (run.last.evaluations * cost[evaluation] + run.last.products * cost[product]) / 1e3
