"""Adam (Kingma and Ba 2015) for an encoder's numbers, AdaGrad (Duchi et al. 2011) for the sparse weights beside them.

Sparse weights want steps of their own: one that is seldom seen has to learn as much as it can of each time, and what
AdaGrad has added up of its slopes is all that it knows. An objective offers both kinds in one vector, batch by batch.
What training ends with is a moving average of where it has been (Polyak and Juditsky 1992).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from trellis.optim.settings import check_settings, setting

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

_FADING = 0.9, 0.999  # of means and squares of slopes: the authors' own
_MOMENTS = 20  # in an epoch at which the average is moved


class Batched(Protocol):
    """An objective in batches."""

    def shuffled(self, epoch: int) -> I64: ...

    def slope(self, theta: F64, number: int, epoch: int | None = None) -> Any:
        """The loss of a batch, of how many `sentences`, and its gradient: of sparse weights, and of an encoder's
        numbers in some pieces, each with the places in theta."""
        ...


@dataclass(frozen=True)
class AdamState:
    """After `iteration` epochs. `theta`: the average; `current`: where training is; `means`, `squares`: of slopes;
    `steps`: how many were made. `value`: the loss of each batch before its own step, added up."""

    theta: F64
    current: F64
    means: F64
    squares: F64
    steps: int = 0
    value: float = math.inf
    gradient_norm: float = math.inf
    iteration: int = 0
    finished: bool = False

    converged: ClassVar[bool] = False
    stuck: ClassVar[bool] = False
    products: ClassVar[int] = 0

    @property
    def done(self) -> int:
        return self.iteration

    @property
    def evaluations(self) -> int:
        return self.iteration


@dataclass(frozen=True)
class Adam:
    """`step_size`: of the encoder's numbers, in the first epoch; divided by 1 + decay k after k epochs. `sparse_step`:
    that of AdaGrad. `clip`: the longest gradient of an encoder's numbers, for a sentence of a batch; longer ones are
    made so long. `average`: over about how many epochs; 0 for none."""

    any_end: ClassVar[bool] = True
    limit: ClassVar[str] = "epochs"
    vectors: ClassVar[int] = 6

    epochs: int = setting(20, least=1)
    step_size: float = setting(0.002, above=0.0)
    sparse_step: float = setting(0.05, above=0.0)
    decay: float = setting(0.05, least=0.0)
    clip: float = setting(5.0, above=0.0)
    average: float = setting(2.0, least=0.0)

    def __post_init__(self) -> None:
        check_settings(self)

    def start(self, objective: Batched, theta: F64) -> AdamState:
        return AdamState(theta, theta, np.zeros_like(theta), np.zeros_like(theta))

    def step(self, objective: Batched, state: AdamState) -> AdamState:
        """An epoch."""
        from trellis.objective.kernels.adam import adagrad_step, adam_step, move_towards

        average, current = state.theta.copy(), state.current.copy()
        means, squares, steps, loss, longest = state.means.copy(), state.squares.copy(), state.steps, 0.0, 0.0
        order, step = objective.shuffled(state.iteration), self.step_size / (1.0 + self.decay * state.iteration)
        every = max(1, len(order) // _MOMENTS)
        for n, number in enumerate(order.tolist(), 1):
            slope, steps = objective.slope(current, number, state.iteration), steps + 1
            loss += slope.loss
            scale = 1.0 / slope.sentences
            length = scale * math.sqrt(sum(float(np.einsum("i,i->", one, one)) for _, one in slope.encoder))
            longest = max(longest, length)
            weights, gradient = slope.sparse
            adagrad_step(current, squares, weights, gradient, scale, self.sparse_step)
            shorter = scale * min(1.0, self.clip / max(length, 1e-300))
            for places, gradient in slope.encoder:
                adam_step(current, means, squares, places, gradient, shorter, step, *_FADING, steps)
            if n % every == 0 or n == len(order):
                move_towards(average, current, self._share(steps / every, len(order) / every))
        done = state.iteration + 1
        return AdamState(average, current, means, squares, steps, loss, longest, done, finished=done >= self.epochs)

    def _share(self, moves: float, in_epoch: float) -> float:
        """How far the average moves, of which there are so many moves in an epoch: at first as far as a plain mean
        does, later by how soon it forgets."""
        if self.average == 0.0:
            return 1.0
        return max(1.0 / (1.0 + moves), 1.0 - math.exp(-1.0 / (in_epoch * self.average)))

    def fraction_done(self, state: AdamState) -> float:
        return state.iteration / self.epochs

    def usual_work(self, objective: Any) -> float:
        """Not to be compared with L-BFGS."""
        return 1.0
