"""The loop around an optimiser: iterations, development score, early stop, progress."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.optim import LBFGS, LBFGSState, Objective

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
    optimizer: LBFGS,
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
            report(_progress(state, optimizer, score, seconds, max_iter))
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


def _progress(state: LBFGSState, optimizer: LBFGS, score: float | None, seconds: float, max_iter: int) -> Progress:
    """The fall of the objective per iteration shrinks about geometrically; how far it still is from the stopping
    rule, on a logarithmic scale, says how much is done."""
    done = state.iteration / max_iter
    if len(state.values) > 1:
        fall = max((state.values[0] - state.value) / max(abs(state.value), 1e-300), 1e-300)
        done = max(done, 1.0 - np.log(fall / optimizer.tol) / np.log(1.0 / optimizer.tol))
    return Progress(
        state.iteration,
        state.value,
        state.gradient_norm,
        score,
        seconds,
        state.evaluations,
        float(np.clip(done, 0.0, 1.0)),
    )
