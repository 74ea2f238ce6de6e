"""What optimisers see of a cascade: all its weights, those of one stage, or sentences a few at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.joint import JointShard
from trellis.engine import ThreadedObjective
from trellis.errors import SettingError
from trellis.objective import Prior

F64 = NDArray[np.float64]

BATCH = 16  # sentences in a step of descent: fewer cost more time around the lattices than in them


class _Rule(Protocol):
    """Of stochastic gradient descent, see `objective.rules.sgd`."""

    step: float
    decay: float
    sentences: int
    done: int


@dataclass(frozen=True)
class _Epoch:
    vectors: tuple[F64, ...]
    stores: tuple[Any, ...]
    average: F64
    tally: tuple[float, ...]


class JointObjective(ThreadedObjective):
    """The sum of all stages' losses and priors. `batches()`: the same data in shards of a few sentences."""

    def __init__(
        self,
        shards: Sequence[JointShard],
        size: int,
        prior: Prior,
        threads: int,
        batches: Callable[[], Sequence[JointShard]],
    ):
        shards_of_all: Any = shards
        super().__init__(shards_of_all, size, prior, threads)  # nothing is kept for products: each goes up again
        self._batches = batches
        self._steps: Steps | None = None

    def descent(self) -> None:
        return None

    @property
    def l2(self) -> float:
        """None beside what `Steps` adds: stages have priors of their own."""
        return 0.0

    def online(self, marginals: bool = False) -> Any:
        if not marginals:
            raise SettingError("a cascade cannot be trained with this optimizer; use auto, lbfgs, newton-cg or sgd")
        if self._steps is None:
            self._steps = Steps(self._batches(), self.prior)
        return self._steps

    def boosting(self) -> Any:
        raise SettingError("a cascade cannot be boosted; use auto, lbfgs, newton-cg or sgd")


class Steps:
    """A cascade's data for stochastic gradient descent: `shards` of a few sentences each, a step with each."""

    def __init__(self, shards: Sequence[JointShard], prior: Prior):
        self.shards, self.prior = list(shards), prior

    @property
    def sentences(self) -> int:
        return sum(shard.sentences for shard in self.shards)

    def epoch(
        self, rule: _Rule, vectors: Sequence[F64], rng: np.random.Generator, stores: Any = (), snapshots: int = 0
    ) -> _Epoch:
        """All sentences once. What is added up is each batch's loss before its step, and in the end the prior."""
        theta = vectors[0].copy()
        order = rng.permutation(len(self.shards))
        total, taken, loss, missing = np.zeros_like(theta), 0, 0.0, 0
        every = max(1, len(order) // max(1, snapshots))
        done = rule.done
        for k, n in enumerate(order.tolist(), 1):
            value, gone = self._step(rule, self.shards[n], theta, done)
            done, loss, missing = done + self.shards[n].sentences, loss + value, missing + gone
            if snapshots and k % every == 0:
                total += theta
                taken += 1
        average = total / taken if taken else theta
        return _Epoch((theta,), (), average, (loss + self.prior.value(theta), float(missing)))

    def trial(self, rule: _Rule, judge: Any, vectors: Sequence[F64], rng: np.random.Generator, sample: int) -> _Epoch:
        """Steps on a sample of sentences, and the loss on these and as many others after them: those alone would say
        nothing of what is left to learn where training begins with weights that know them all."""
        theta = vectors[0].copy()
        order = rng.permutation(len(self.shards))
        most = max(1, min(sample // BATCH, len(order) // 2))
        done = 0
        for n in order[:most].tolist():
            self._step(rule, self.shards[n], theta, done)
            done += self.shards[n].sentences
        judges = dict.fromkeys([*order[:most].tolist(), *order[-most:].tolist()])
        values = [self.shards[n].value(theta) for n in judges]
        gone = sum(not math.isfinite(value) for value in values)
        return _Epoch((theta,), (), theta, (float(np.sum([v for v in values if math.isfinite(v)])), float(gone)))

    def _step(self, rule: _Rule, shard: JointShard, theta: F64, done: int) -> tuple[float, int]:
        """Changes theta; the loss before, and how many sentences were left out because that is no number."""
        value, gradient = shard.value_and_gradient(theta)
        if not (math.isfinite(value) and np.isfinite(gradient).all()):
            return 0.0, shard.sentences
        passed = done / max(1, rule.sentences)
        size = rule.step * (rule.decay**passed if rule.decay else 1.0 / (1.0 + passed))
        # the prior's part of as many sentences, on all weights: those that are not touched fall as well
        share = shard.sentences / max(1, rule.sentences)
        slope = np.zeros_like(theta)
        self.prior.add_gradient(theta, slope)
        theta -= size * share * slope
        theta[shard.index] -= size * gradient
        return value, 0


class SomeStages:
    """The objective as a function of some of the weights, I64[...], the others as they are in `theta`."""

    def __init__(self, objective: JointObjective, theta: F64, part: NDArray[np.int64]):
        self._objective, self._theta, self._part = objective, theta.copy(), part
        self.l1 = 0.0
        self.shards: list[Any] = []  # which have all stages' weights

    @property
    def has_curvature(self) -> bool:
        return self._objective.has_curvature

    @property
    def l2(self) -> float:
        raise SettingError("some of the stages cannot be trained sentence by sentence; use auto, lbfgs or newton-cg")

    def value_and_gradient(self, theta: F64) -> tuple[float, F64]:
        value, gradient = self._objective.value_and_gradient(self._whole(theta))
        return value, gradient[self._part]

    def hessian_vector(self, theta: F64, direction: F64) -> F64:
        along = np.zeros_like(self._theta)
        along[self._part] = direction
        return self._objective.hessian_vector(self._whole(theta), along)[self._part]

    def hessian_diagonal(self, theta: F64) -> F64:
        return self._objective.hessian_diagonal(self._whole(theta))[self._part]

    def descent(self) -> None:
        return None

    def online(self, marginals: bool = False) -> Any:
        return self.l2

    def boosting(self) -> Any:
        return self.l2

    def _whole(self, theta: F64) -> F64:
        whole = self._theta.copy()
        whole[self._part] = theta
        return whole
