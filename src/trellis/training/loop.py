"""The loop around an optimiser: iterations, development score, early stop, progress, and where a run may go on."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trellis.optim import Objective, Optimizer, is_over
from trellis.training.estimate import refined

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class Progress:
    """What is known after an iteration; `fraction` (from 0 to 1, of what is done) and `seconds_left` are guesses,
    `active` counts the weights that are not zero, `products` Hessian-vector products; `more` is what else the
    optimiser's state has to say, by name."""

    iteration: int
    objective: float
    gradient_norm: float
    dev_score: float | None
    seconds: float
    evaluations: int
    fraction: float
    products: int = 0
    active: int = 0
    seconds_left: float = 0.0
    more: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Best:
    """The weights of the best development score so far, the objective there (inf: not known), the score and the
    iteration."""

    theta: F64
    value: float
    score: float
    iteration: int


@dataclass(frozen=True)
class Run:
    """A training between two iterations: the rest depends on nothing else, but for `seconds`, which have passed."""

    state: Any
    best: Best | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """The trained weights and how training went; `missed`: how many of the last iterations led too far, see
    `optim.online.OnlineState`."""

    theta: F64
    objective: float
    iterations: int
    evaluations: int
    converged: bool
    stopped_early: bool
    stuck: bool
    seconds: float
    dev_score: float | None
    products: int = 0
    missed: int = 0


class Keeper(Protocol):
    """Who writes a run down so that it can go on another day."""

    def after_iteration(self, run: Run) -> None:
        """May write, if it is time again."""
        ...

    def at_end(self, run: Run, finished: bool) -> None:
        """Writes; not `finished` when the run was interrupted."""
        ...


def train(
    objective: Objective,
    optimizer: Optimizer,
    theta: F64,
    max_iter: int,
    dev_score: Callable[[F64], float] | None = None,
    patience: int = 10,
    report: Callable[[Progress], None] | None = None,
    keeper: Keeper | None = None,
    resumed: Run | None = None,
    warm: bool = False,
) -> Outcome:
    """Runs from `theta`, or goes on with a `resumed` run, until the optimiser has converged, `max_iter` is reached, or
    the development score has not risen for `patience` iterations; then the weights of the best development score are
    returned, among which are those of the start if it is `warm`."""
    began = time.perf_counter() - (0.0 if resumed is None else resumed.seconds)
    run = Run(optimizer.start(objective, theta)) if resumed is None else resumed
    if dev_score is not None and warm and resumed is None:
        run = replace(run, best=_scored(run.state, dev_score))
    try:
        while not has_ended(run, max_iter, patience):
            state = optimizer.step(objective, run.state)
            score = None if dev_score is None else dev_score(state.theta)
            best = run.best
            if score is not None and (best is None or score > best.score):
                best = Best(state.theta, _known_value(state), score, state.iteration)
            # in one assignment: an interrupt finds this run or the one before
            run = Run(state, best, time.perf_counter() - began)
            if report is not None:
                report(_progress(run, score, max(optimizer.fraction_done(state), state.iteration / max_iter)))
            if keeper is not None:
                keeper.after_iteration(run)
    except KeyboardInterrupt:
        if keeper is not None:
            keeper.at_end(run, finished=False)
        raise
    if dev_score is not None and run.best is None:  # there was nothing to do
        run = replace(run, best=_scored(run.state, dev_score))
    if keeper is not None:
        keeper.at_end(run, finished=True)
    return _outcome(objective, run, _stopped_early(run, patience), began)


def _scored(state: Any, dev_score: Callable[[F64], float]) -> Best:
    return Best(state.theta, _known_value(state), dev_score(state.theta), state.iteration)


def _known_value(state: Any) -> float:
    """inf where the optimiser has only a guess."""
    return float(state.value) if state.evaluations else math.inf


def has_ended(run: Run, max_iter: int, patience: int) -> bool:
    """Whether there is nothing more to do."""
    state = run.state
    return is_over(state) or bool(state.iteration >= max_iter) or _stopped_early(run, patience)


def _stopped_early(run: Run, patience: int) -> bool:
    return run.best is not None and run.state.iteration - run.best.iteration >= patience


def _progress(run: Run, score: float | None, fraction: float) -> Progress:
    state = run.state
    return Progress(
        state.iteration, state.value, state.gradient_norm, score, run.seconds, state.evaluations, fraction,
        state.products, _active(state), refined(run.seconds, fraction), getattr(state, "more", {}),
    )  # fmt: skip


def _active(state: Any) -> int:
    """Weights that are not 0; a state whose theta has more in it than weights counts for itself."""
    return int(state.active) if hasattr(state, "active") else int(np.count_nonzero(state.theta))


def _outcome(objective: Objective, run: Run, stopped_early: bool, began: float) -> Outcome:
    state, best = run.state, run.best
    theta, value = (state.theta, _known_value(state)) if best is None else (best.theta, best.value)
    if value == math.inf:
        value = objective.value_and_gradient(theta)[0] + objective.l1 * float(np.abs(theta).sum())
    return Outcome(
        theta,
        value,
        state.iteration,
        state.evaluations,
        state.converged,
        stopped_early,
        state.stuck,
        time.perf_counter() - began,
        None if best is None else float(best.score),
        state.products,
        getattr(state, "missed", 0),
    )
