"""The loop around an optimiser: iterations, development score, early stop, progress."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.optim import Objective, Optimizer

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class Progress:
    """What is known after an iteration; `fraction` is a guess from 0 to 1 of how much is done."""

    iteration: int
    objective: float
    gradient_norm: float
    dev_score: float | None
    seconds: float
    evaluations: int
    fraction: float


@dataclass(frozen=True)
class Outcome:
    """The trained weights and how training went."""

    theta: F64
    objective: float
    iterations: int
    evaluations: int
    converged: bool
    stopped_early: bool
    stuck: bool
    seconds: float
    dev_score: float | None


def train(
    objective: Objective,
    optimizer: Optimizer,
    theta: F64,
    max_iter: int,
    dev_score: Callable[[F64], float] | None = None,
    patience: int = 10,
    report: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Runs until the optimiser has converged, `max_iter` is reached, or the development score has not risen for
    `patience` iterations; then the weights of the best development score are returned."""
    began = time.perf_counter()
    state = optimizer.start(objective, theta)
    best, best_score, best_iteration = state, -np.inf, 0
    stopped_early = False
    while not (state.converged or state.stuck or state.iteration >= max_iter):
        state = optimizer.step(objective, state)
        score = None
        if dev_score is not None:
            score = dev_score(state.theta)
            if score > best_score:
                best, best_score, best_iteration = state, score, state.iteration
            stopped_early = state.iteration - best_iteration >= patience
        if report is not None:
            seconds = time.perf_counter() - began
            fraction = max(optimizer.fraction_done(state), state.iteration / max_iter)
            norm, trials = state.gradient_norm, state.evaluations
            report(Progress(state.iteration, state.value, norm, score, seconds, trials, fraction))
        if stopped_early:
            break
    if dev_score is not None and state.iteration == 0:
        best, best_score = state, dev_score(state.theta)
    chosen = state if dev_score is None else best
    return Outcome(
        chosen.theta,
        chosen.value,
        state.iteration,
        state.evaluations,
        state.converged,
        stopped_early,
        state.stuck,
        time.perf_counter() - began,
        None if dev_score is None else float(best_score),
    )
