"""Trains all stages as one, from where they are: at once, some of them, or each in its turn."""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.development import CascadeDevelopment, OfStages
from trellis.errors import DataError
from trellis.models.fingerprint import digest, settings_of
from trellis.models.fitting import Fitting
from trellis.models.neural_chain import NeuralChain
from trellis.models.neural_learning import seen_by
from trellis.models.recipe import optimizer_of
from trellis.training import Fingerprint, Outcome

if TYPE_CHECKING:
    from trellis.cascade.folded import Folded
    from trellis.cascade.learning import Learning
    from trellis.cascade.objective import JointObjective
    from trellis.cascade.preparing import Ready
    from trellis.cascade.together import Joined

F64 = NDArray[np.float64]

_LOG = logging.getLogger(__name__)


class Jointly:
    """The joint part of one call of `fit`: `learning` has trained the stages one by one."""

    def __init__(self, learning: Learning):
        self.learning, self.cascade, self.ready = learning, learning.cascade, learning.ready
        self.is_neural = any(isinstance(one.model, NeuralChain) for one in self.ready)
        self.optimizer: Any = optimizer_of(self.cascade._settings)
        self.held_out: CascadeDevelopment | None = None
        if learning.dev is not None:
            self.held_out = CascadeDevelopment(learning.model, learning.dev, learning.split, learning.threads)

    def train(self) -> Outcome:
        if self.is_neural:
            return self._with_encoders()
        from trellis.cascade.objective import BATCH, JointObjective
        from trellis.cascade.together import joint_prior

        theta, least = self.learning.model.weights, self.learning.model.least
        data = self._data(theta)
        shards, batches = data.shards(least), partial(data.shards, least, BATCH)
        prior = joint_prior(self.ready, self.cascade.seed, shards, theta)
        _LOG.info("all stages as one")
        with JointObjective(shards, len(theta), prior, self.learning.threads, batches) as objective:
            if self.cascade.schedule == "alternate":
                outcome = self._in_turns(objective, theta)
            else:
                outcome = self._at_once(objective, theta)
        if not (np.isfinite(outcome.theta).all() and math.isfinite(outcome.objective)):
            raise DataError("training led to weights that are no numbers; are there extreme feature values?")
        return outcome

    def _with_encoders(self) -> Outcome:
        from trellis.cascade.neural_joint import NeuralJointObjective, settings_of
        from trellis.models.neural_fitting import NeuralFitting
        from trellis.models.neural_training import adam_of, checked

        theta, corpus = self.learning.model.weights, self.learning.corpus
        settings = settings_of([one.stage for one in self.ready])
        fitting = self.learning.keeping.fitting(self.cascade._settings, "joint", NeuralFitting)
        fitting.describe_as(self._sizes(theta), partial(self._fingerprint, theta))
        _LOG.info("all stages as one")
        with NeuralJointObjective(self.learning) as objective:
            return checked(fitting.train(objective, adam_of(settings), theta, self.held_out, [corpus]))

    def _sizes(self, theta: F64) -> dict[str, int]:
        corpus = self.learning.corpus
        return {
            "sentences": len(corpus), "tokens": corpus.tokens, "labels": len(self.learning.model.labels),
            "attributes": sum(one.model.features.attributes for one in self.ready), "weights": len(theta),
        }  # fmt: skip

    def _data(self, theta: F64) -> Joined | Folded:
        if self.cascade.jackknife:
            from trellis.cascade.folded import Folded

            folds = self.learning.folds
            del self.learning.folds  # whose models are not needed later
            return Folded(self.learning, folds, theta)
        from trellis.cascade.together import Joined

        return Joined(self.learning)

    def _at_once(self, objective: JointObjective, theta: F64) -> Outcome:
        """All stages but those that are frozen."""
        corpus = self.learning.corpus
        fitting = self.learning.keeping.fitting(self.cascade._settings, "joint")
        fitting.describe_as(self._sizes(theta), partial(self._fingerprint, theta))
        if not self.cascade._frozen:
            return fitting.train(objective, self.optimizer, theta, self.held_out, [corpus])
        weights = [one.model.layout.size for one in self.ready]
        is_free = np.repeat([one.stage.target not in self.cascade._frozen for one in self.ready], weights)
        return self._some(fitting, objective, theta, np.flatnonzero(is_free))

    def _in_turns(self, objective: JointObjective, theta: F64) -> Outcome:
        """Each stage by itself, from the highest to the lowest and again, with the others as they are."""
        ends = self.learning.starts
        outcomes: list[Outcome] = []
        for turn in range(int(self.cascade.rounds)):
            for s in range(len(self.ready) - 1, -1, -1):
                target = self.ready[s].stage.target
                if target in self.cascade._frozen:
                    continue
                _LOG.info("turn %d of stage '%s'", turn + 1, target)
                fitting = self.learning.keeping.fitting(self.cascade._settings, f"joint-{turn + 1}-{target}")
                sizes = {"tokens": self.learning.corpus.tokens}
                fitting.describe_as(sizes, partial(self._fingerprint, theta.copy()))
                outcomes.append(self._some(fitting, objective, theta, np.arange(ends[s], ends[s + 1])))
                theta = outcomes[-1].theta
        return replace(
            outcomes[-1], iterations=sum(one.iterations for one in outcomes),
            evaluations=sum(one.evaluations for one in outcomes), products=sum(one.products for one in outcomes),
            seconds=sum(one.seconds for one in outcomes), converged=all(one.converged for one in outcomes),
        )  # fmt: skip

    def _some(self, fitting: Fitting, objective: JointObjective, theta: F64, free: NDArray[np.int64]) -> Outcome:
        """Only the weights `free`."""
        from trellis.cascade.objective import SomeStages

        score = None if self.held_out is None else OfStages(self.held_out, theta, free)
        outcome = fitting.train(SomeStages(objective, theta, free), self.optimizer, theta[free], score)
        whole = theta.copy()
        whole[free] = outcome.theta
        return replace(outcome, theta=whole)

    def _fingerprint(self, theta: F64) -> Fingerprint:
        settings = self.cascade._settings.get_params()
        dev = None if self.held_out is None else self.held_out.content
        return {
            "model type": "cascade",
            **settings_of(settings),
            "labels": digest(tuple((one.labels, one.gold, one.offsets) for one in self.ready)),
            "attributes": digest(tuple(replace(one.own_examples(1.0), rules=None) for one in self.ready)),
            "seen": digest(tuple(map(_seen, self.ready))),
            "layout": digest(tuple(one.model.layout for one in self.ready)),
            "what is read": digest(tuple((one.columns, _plans(one), one.stage.smooth_values) for one in self.ready)),
            "dev": None if dev is None else digest(dev),
            "start": digest(theta),
        }


def _seen(one: Ready) -> str | None:
    """What an encoder sees, if there is one."""
    inputs = one.packed.inputs
    return seen_by(one.model, inputs) if isinstance(one.model, NeuralChain) and inputs is not None else None


def _plans(one: Ready) -> object:
    return None if one.wiring is None else (one.wiring.on_labels, one.wiring.on_transitions)
