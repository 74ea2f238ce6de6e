"""What surrounds the training of an encoder: as for a CRF, with an estimate of its own."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.models.fitting import Fitting, HeldOut
from trellis.training import Outcome, Run
from trellis.training.estimate import Estimate, array_bytes

F64 = NDArray[np.float64]

_LOG = logging.getLogger("trellis.models.fitting")
_TORCH = 400_000_000  # bytes of an interpreter with PyTorch, Numba and the kernels
_TRIED = 3  # batches, by which the time of an epoch is told


class NeuralFitting(Fitting):
    """One call of `fit`. `first`: what trains the sparse weights by themselves, before the encoder comes in; None for
    nothing."""

    first: Callable[[], F64] | None = None
    _start = 0.0

    def _begun(self, objective: Any, optimizer: Any, theta: F64) -> F64:
        if self.first is None:
            return theta
        sparse = self.first()
        return np.concatenate([sparse, theta[len(sparse) :]])

    def train(
        self, objective: Any, optimizer: Any, theta: F64, dev: HeldOut | None, data: Sequence[object] = ()
    ) -> Outcome:
        """With the time that the sparse weights took, too."""
        self._start = time.perf_counter()
        return super().train(objective, optimizer, theta, dev, data)

    def _ended(self, objective: Any, outcome: Outcome) -> Outcome:
        """With the objective of what is kept, where nothing is left out; that of an epoch is the loss of each batch
        before its own step."""
        value = objective.value_and_gradient(outcome.theta)[0]
        return replace(outcome, objective=value, seconds=max(outcome.seconds, time.perf_counter() - self._start))

    def _estimate(
        self,
        objective: Any,
        optimizer: Any,
        theta: F64,
        dev: HeldOut | None,
        data: Sequence[object],
        resumed: Run | None,
        wanted: bool,
    ) -> Estimate | None:
        if not self._is_heard(resumed, wanted):
            return None
        count = len(objective.batches)
        tried = np.linspace(0, count - 1, min(count, _TRIED + 1)).astype(int).tolist()
        objective.slope(theta, tried[-1])  # loads the kernels
        began = time.perf_counter()
        for number in tried[:-1] or tried:
            objective.slope(theta, number)
        seconds = (time.perf_counter() - began) / max(1, len(tried) - 1) * count
        if dev is not None:
            began = time.perf_counter()
            dev(theta)
            seconds += time.perf_counter() - began
        left = optimizer.epochs - (0 if resumed is None else resumed.state.iteration)
        held = _TORCH + array_bytes(*data, dev, objective.batches) + 8 * optimizer.vectors * len(theta)
        guess = Estimate(left * seconds, held, dev is not None)
        self._expected = guess.seconds if resumed is None else resumed.seconds + guess.seconds
        _LOG.info("training will take %s", guess)
        return guess
