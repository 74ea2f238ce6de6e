"""What surrounds a training in the dual: as for a CRF, with other sizes, another estimate, and weights that grow."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trellis import __version__
from trellis.dual import Coefficients, DualExamples, Supports, rows
from trellis.errors import DamagedModelError
from trellis.models.fingerprint import digest, settings_of
from trellis.models.fitting import Fitting, HeldOut
from trellis.models.kernel_chain import KernelLearner
from trellis.training import Outcome, Run
from trellis.training.estimate import Estimate, array_bytes, estimate

if TYPE_CHECKING:
    from trellis.engine import ThreadedObjective
    from trellis.optim import Optimizer

F64 = NDArray[np.float64]

_LOG = logging.getLogger("trellis.models.fitting")


@dataclass
class Course:
    """The settings of a perceptron as the training loop knows them."""

    params: dict[str, Any]
    max_iter: int
    patience: int
    seed: int
    l1: float = 0.0
    l2: float = 0.0
    tol: float = 0.5

    def get_params(self) -> dict[str, Any]:
        return self.params


class DualFitting(Fitting):
    """One call of `fit`."""

    def describe_dual(self, model: KernelLearner, examples: DualExamples, dev: HeldOut | None) -> None:
        """Notes what the training is made from, while it is all there."""
        self._labels = examples.labels
        self._sizes = {
            "sentences": examples.sentences,
            "tokens": len(examples.gold),
            "labels": examples.labels,
            "attributes": examples.attributes,
            "weights": examples.labels**2,
        }
        if self._file is not None:
            self._made_from = {
                "trellis": __version__,
                "model type": "kernel-perceptron",
                **settings_of(self._estimator.get_params()),
                "labels": digest((model.labels, examples.gold, examples.offsets)),
                "attributes": digest(examples.packed),
                "dev": None if dev is None else digest(dev.content),
            }

    def _begun(self, objective: ThreadedObjective, optimizer: Optimizer, theta: F64) -> F64:
        return theta

    def _resumed(self, objective: DualExamples, optimizer: Any, size: int | None) -> Run | None:
        run = super()._resumed(objective, optimizer, None)
        if run is not None:
            assert self._file is not None
            try:
                objective.check(run.state.progression)
                for theta in (run.state.theta, *([] if run.best is None else [run.best.theta])):
                    Coefficients.of_vector(theta, objective.labels, len(objective.gold))
            except (ValueError, AttributeError) as error:
                raise DamagedModelError(
                    f"{self._file.path}: the checkpoint's parts do not fit together ({error}); delete it and train "
                    "from the beginning"
                ) from None
        return run

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
        settings = self._estimator
        if not self._is_heard(resumed, wanted):
            return None
        done = 0 if resumed is None else resumed.state.iteration
        pairs = meetings(len(objective.gold), done, settings.max_iter, 0 if dev is None else dev.tokens)
        sample = Sample(objective)
        sample()  # loads the kernels
        guess = estimate(
            sample, None, pairs / sample.pairs, lambda: array_bytes(objective, *data, dev) + _held(objective)
        )
        guess = replace(guess, at_most=dev is not None)
        self._expected = guess.seconds if resumed is None else resumed.seconds + guess.seconds
        _LOG.info("training will take %s", guess)
        return guess

    def _last_line(self, outcome: Outcome) -> dict[str, Any]:
        return {**super()._last_line(outcome), "active": Coefficients.active(outcome.theta, self._labels)}


class Sample:
    """Scores some tokens of the training data by others, to see how long that takes."""

    def __init__(self, examples: DualExamples, tokens: int = 2000, supports: int = 2000):
        labels, every = examples.labels, np.arange(len(examples.gold))
        chosen = every[:: max(1, len(every) // supports)]
        both = np.stack([examples.gold[chosen], (examples.gold[chosen] + 1) % labels])  # as of a mistake
        codes = np.unique(chosen * labels + both)
        found = Coefficients(codes, np.ones(len(codes)), np.zeros((labels, labels)))
        self._supports = Supports.of(found, examples.packed, examples.kernel, examples.attributes)
        asked = every[:: max(1, len(every) // tokens)]
        self._packed = rows(examples.packed, asked)
        self.pairs = len(chosen) * len(asked)

    def __call__(self) -> F64:
        return self._supports.scores(self._packed, compiled=True)


def meetings(tokens: int, done: int, epochs: int, dev: int) -> float:
    """About how many pairs of a token and an event have their kernel taken in the epochs after those `done`; with
    development data, all coefficients meet its tokens after each of them.

    As on CoNLL-2000 chunking with a quadratic kernel: 0.075 of all tokens are wrong in the first epoch, and in every
    later one half as many as in the one before. A token meets the events since its last visit."""
    share = [0.075 * 0.5**k for k in range(epochs)]
    total = 0.0
    for k in range(done, epochs):
        total += tokens * tokens * 0.5 * (share[k] + (share[k - 1] if k else 0.0)) + dev * tokens * sum(share[: k + 1])
    return total


def _held(examples: DualExamples) -> int:
    """Bytes of scores and lists, twice: those of an epoch and of the one before."""
    item = 4 if examples.packed.values is None else 12
    return 2 * (8 * len(examples.gold) * examples.labels + item * len(examples.packed.ids))
