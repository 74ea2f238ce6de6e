"""The quickest way known to the optimum: some epochs of stochastic gradient descent, then L-BFGS.

Descent finds the neighbourhood in a few passes and then stalls; L-BFGS with the Hessian's diagonal is at its best near
the optimum, where that diagonal is good. It is L-BFGS alone where descent is not possible (attributes on arcs, tag
dictionaries, losses other than log, sentence weights, partial and soft labels, the hyperbolic prior, values above 1e4),
where it gains nothing (fewer than 1,000 sentences), where it was not asked for (epochs = 0) or led to no number, and
where training goes on from a model; then, too, with the diagonal, taken anew now and then, if the loss has curvature.
With l1 it is OWL-QN.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trellis.optim.contract import Objective
from trellis.optim.lbfgs import LBFGS, LBFGSState
from trellis.optim.owlqn import OWLQN, OWLQNState
from trellis.optim.settings import check_settings, setting
from trellis.optim.stopping import fraction_done

F64 = NDArray[np.float64]

_STEPS = (0.5, 0.2, 0.1, 0.05, 0.02)
_DECAY = 0.85  # of the step size in an epoch (Tsuruoka et al. 2009)
_SNAPSHOTS = 8  # of theta in the last epoch, whose average is where L-BFGS begins
# Of the diagonal in L-BFGS. Evaluations to a gap of 1e-3 after descent, with powers 1 and 0.75: CoNLL-2000 chunking 11
# and 14 (l2 = 2), 58 and 41 (l2 = 0.2); CoNLL-2002 Spanish, Altun's S3, 32 and 31 (l2 = 1), 103 and 73 (l2 = 0.1).
_POWER = 0.75
# Of what the diagonal alone would step: the weights that bear on a token move together, and their curvatures add up.
# (Accepted after 1.0 had failed: 0.1 to 0.3, on both corpora.)
_FIRST_STEP = 0.1
_DESCENT = 0.3  # of the time, about
_MOST_PAIRS, _FEWEST_PAIRS = 20, 6
_ROOM = 10_000_000  # weights in all pairs: 80 MB in single precision
_FEWEST = 1000  # sentences: with fewer, L-BFGS alone is as quick


@dataclass(frozen=True)
class AutoState:
    """`epoch` of descent and its first step size, then the state of what follows in `then`. While it descends, `value`
    is the loss of all sentences, each before its own update, without the prior; inf before the first epoch."""

    theta: F64
    value: float
    epoch: int = 0
    step_size: float = 0.0
    then: LBFGSState | OWLQNState | None = None

    @property
    def gradient_norm(self) -> float:
        return math.inf if self.then is None else self.then.gradient_norm

    @property
    def iteration(self) -> int:
        return self.epoch + (0 if self.then is None else self.then.iteration)

    @property
    def evaluations(self) -> int:
        return 0 if self.then is None else self.then.evaluations

    @property
    def products(self) -> int:
        return self.epoch + (0 if self.then is None else self.then.products)

    @property
    def converged(self) -> bool:
        return self.then is not None and self.then.converged

    @property
    def stuck(self) -> bool:
        return self.then is not None and self.then.stuck


@dataclass(frozen=True)
class Auto:
    """Stops as L-BFGS does. `epochs` of descent; `seed` of the order in which it sees the sentences. `memory`: pairs
    that L-BFGS keeps; None for as many as have room, 20 at the most."""

    tol: float = setting(1e-5, above=0.0, below=1.0)
    epochs: int = setting(8, least=0)
    memory: int | None = setting(None, least=1)
    gradient_tol: float | None = setting(None, least=0.0)
    seed: int = setting(0, least=0)

    def __post_init__(self) -> None:
        check_settings(self)

    def start(self, objective: Objective, theta: F64) -> AutoState:
        if objective.l1 > 0:
            return self._followed(self._owlqn(len(theta)).start(objective, theta))
        descent = objective.descent() if self.epochs and not theta.any() else None
        if descent is None or descent.sentences < _FEWEST:
            return self._followed(self._lbfgs(objective, len(theta), 0).start(objective, theta))
        step_size = descent.best_step(theta, _STEPS, np.random.default_rng([self.seed, 0]))
        return AutoState(theta, math.inf, step_size=step_size)

    def step(self, objective: Objective, state: AutoState) -> AutoState:
        """An epoch of descent, or a step of what follows."""
        if isinstance(state.then, OWLQNState):
            return self._followed(self._owlqn(len(state.theta)).step(objective, state.then), state)
        lbfgs = self._lbfgs(objective, len(state.theta), state.epoch)
        if state.then is not None:
            return self._followed(lbfgs.step(objective, state.then), state)
        if state.epoch < self.epochs:
            return self._descended(objective, state)
        # the evaluation where it starts is part of the first step
        return self._followed(lbfgs.step(objective, lbfgs.start(objective, state.theta)), state)

    def fraction_done(self, state: AutoState) -> float:
        if state.then is None:
            return _DESCENT * state.epoch / max(1, self.epochs)
        if isinstance(state.then, OWLQNState):
            return self._owlqn(len(state.theta)).fraction_done(state.then)
        rest = fraction_done(state.then.values, self.tol)
        return _DESCENT + (1.0 - _DESCENT) * rest if state.epoch else rest

    def usual_work(self, objective: Objective) -> float:
        if objective.l1 > 0:
            return self._owlqn(1).usual_work(objective)
        descent = objective.descent() if self.epochs else None
        # with descent: chunking 0.40 (l2 = 2) and 0.48 (l2 = 0.5), Spanish entities 0.41 (l2 = 1)
        return 1.0 if descent is None or descent.sentences < _FEWEST else 0.43

    @property
    def vectors(self) -> int:
        return 2 * (self.memory or _FEWEST_PAIRS) + 8

    def _owlqn(self, size: int) -> OWLQN:
        return OWLQN(memory=self._pairs(size), tol=self.tol, gradient_tol=self.gradient_tol)

    def _pairs(self, size: int) -> int:
        """How many pairs there are of so many weights."""
        return self.memory or min(_MOST_PAIRS, max(_FEWEST_PAIRS, _ROOM // max(1, size)))

    def _lbfgs(self, objective: Objective, size: int, epochs: int) -> LBFGS:
        """After so many epochs of descent."""
        lbfgs = LBFGS(self._pairs(size), self.tol, gradient_tol=self.gradient_tol, diagonal=objective.has_curvature)
        return replace(lbfgs, power=_POWER, refresh=0, first_step=_FIRST_STEP) if epochs else lbfgs

    def _descended(self, objective: Objective, state: AutoState) -> AutoState:
        """One more epoch, or where that leads nowhere the first step of L-BFGS from zero."""
        descent = objective.descent()
        assert descent is not None
        last = state.epoch == self.epochs - 1
        done = descent.epoch(
            state.theta,
            state.step_size,
            _DECAY,
            state.epoch,
            _SNAPSHOTS if last else 0,
            np.random.default_rng([self.seed, state.epoch + 1]),
        )
        theta = done.average if last else done.theta
        if math.isfinite(done.loss) and np.isfinite(done.theta).all() and np.isfinite(theta).all():
            return replace(state, theta=theta, value=done.loss, epoch=state.epoch + 1)
        lbfgs = self._lbfgs(objective, len(state.theta), 0)
        zero = lbfgs.start(objective, np.zeros_like(state.theta))
        # what was in vain counts as its own work
        zero = replace(zero, iteration=state.epoch, products=zero.products + state.epoch + 1)
        return self._followed(lbfgs.step(objective, zero), replace(state, epoch=0))

    def _followed(self, then: LBFGSState | OWLQNState, state: AutoState | None = None) -> AutoState:
        before = AutoState(then.theta, then.value) if state is None else state
        return replace(before, theta=then.theta, value=then.value, then=then)
