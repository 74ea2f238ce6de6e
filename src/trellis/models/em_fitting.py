"""What surrounds a training by EM: as for a CRF, with other sizes and another estimate."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis import __version__
from trellis.models.fingerprint import digest, settings_of
from trellis.models.fitting import Fitting, HeldOut
from trellis.models.hidden_learning import Ready
from trellis.training import Run
from trellis.training.estimate import Estimate, array_bytes, estimate

F64 = NDArray[np.float64]

_LOG = logging.getLogger("trellis.models.fitting")
_USUAL_STEPS = 50  # a guess


class EMFitting(Fitting):
    """One call of `fit`."""

    def describe_hidden(self, ready: Ready, dev: HeldOut | None) -> None:
        """Notes what the training is made from, while it is all there."""
        model, of = ready.model, ready.expectation
        self._sizes = {
            "sentences": ready.sentences,
            "tokens": ready.tokens,
            "labels": len(model.labels),
            "attributes": model.features.attributes,
            "weights": len(model.weights),
        }
        if self._file is not None:
            self._made_from = {
                "trellis": __version__,
                "model type": "hmm",
                **settings_of(self._estimator.get_params()),
                "labels": digest((model.labels, of.tagged)),
                "attributes": digest((of.vocabulary, tuple((one.words, one.offsets) for one in of.raw))),
                "dev": None if dev is None else digest(dev.content),
                "start": digest(model.weights),
            }

    def _begun(self, objective: Any, optimizer: Any, theta: F64) -> F64:
        return theta

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
        if not objective.raw or not self._is_heard(resumed, wanted):
            return None
        done = 0 if resumed is None else resumed.state.iteration
        steps = max(1, min(getattr(optimizer, "steps", _USUAL_STEPS), self._estimator.max_iter) - done)
        objective(theta)  # loads the kernels
        guess = estimate(
            lambda: objective(theta),
            None if dev is None else lambda: dev(theta),
            steps,
            lambda: array_bytes(*data, dev) + 4 * theta.nbytes,
        )
        self._expected = guess.seconds if resumed is None else resumed.seconds + guess.seconds
        _LOG.info("training will take %s", guess)
        return guess
