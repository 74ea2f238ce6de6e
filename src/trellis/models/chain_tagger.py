"""What trains a chain of labels with weights: features + scoring + chain + loss + optimiser, put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import SettingError
from trellis.memory import given_back
from trellis.models.batches import Sentences
from trellis.models.chain_ready import ready_chain
from trellis.models.constraints import Constraints
from trellis.models.development import Development
from trellis.models.ending import warn_of_scores, warn_of_stop
from trellis.models.fitting import Fitting
from trellis.models.gold import Labels
from trellis.models.known import Soft
from trellis.models.linear import LinearChain
from trellis.models.probable import ProbableTagger
from trellis.models.recipe import optimizer_of, prior_of
from trellis.models.serial import description_of, model_from
from trellis.models.settings import USUAL_L2, check_chain_settings
from trellis.models.warm import carried_over
from trellis.training import Progress

if TYPE_CHECKING:
    from trellis.features import Choice
    from trellis.features.template import Template

I64 = NDArray[np.int64]


class ChainTagger(ProbableTagger[LinearChain]):
    """What a CRF does, under whatever name. Settings that a name has none of are as they are here; what they mean is
    said at `CRF`."""

    features: Choice = "chunking"
    loss: str | None = None
    optimizer: str = "auto"
    options: Mapping[str, Any] | None = None
    l2: float = USUAL_L2
    l1: float = 0.0
    hyperbolic: float = 0.0
    costs: float | Mapping[str, float] | None = None
    max_iter: int = 1000
    tol: float = 1e-5
    patience: int = 10
    min_count: int = 1
    hash_size: int | None = None
    tag_dictionary: int | None = None
    order: int = 1
    prune: float | None = None
    encoding: str | None = None
    only_seen: bool = False
    all_pairs: bool = False
    all_transitions: bool = False
    partial: bool = False
    warm_start: bool = False
    seed: int = 0

    _sees: Callable[[Template], bool] | None = None  # which templates there is a place for, if not for all

    _written = staticmethod(description_of)
    _read = staticmethod(model_from)

    def fit(
        self,
        X: Sentences,
        y: Labels | None = None,
        *,
        sample_weight: Any = None,
        soft: Soft | None = None,
        labels: Sequence[str] | None = None,
        dev: Sentences | None = None,
        dev_y: Labels | None = None,
        constraints: Constraints | None = None,
        start: ChainTagger | None = None,
        checkpoint: str | Path | None = None,
        resume: bool = False,
        checkpoint_every: int | None = None,
        log: str | Path | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Self:
        """Trains on a corpus, or on sentences of attribute lists, dicts or arrays with their labels `y`, where None
        is a label that is not known and a set one of several.

        sample_weight: how much each sentence counts; 2 is as if it were given twice.
        soft, labels: probabilities in place of labels, an array [tokens, labels] for each sentence, and their names; or
        `SoftLabels`, which may be evidence, or probabilities of whole labellings, and may have weights of sentences.
        dev, dev_y: training stops once the score there has not risen for `patience` iterations, and keeps the weights
        of the best one.
        constraints: what labellings of the training data must keep to: no others are possible in training. `allowed` is
        of these data; the rest holds for the development data, too. Give them to predictions as well.
        start: a trained model whose weights to begin with, by the names of attributes and labels; the rest is 0.
        checkpoint: a folder; the state of the training is kept there now and then (or every `checkpoint_every`
        iterations), and at the end. With `resume` the training goes on from it, to the same bits.
        log: a file; a JSON object a line at the start, after each iteration and at the end.
        progress: is called after each iteration.
        """
        from trellis.objective import cut_into_shards
        from trellis.optim import traits_of

        check_chain_settings(self)
        fitting = Fitting(self, checkpoint, resume, checkpoint_every, log, progress)
        earlier, optimizer, prior = self._earlier(start), optimizer_of(self, self._own_options()), prior_of(self)
        with given_back():
            ready = ready_chain(self, X, y, sample_weight, soft, labels, constraints, self._threads, self._sees)
            model, examples, best = ready.model, ready.examples, ready.best
            shards = cut_into_shards(model.layout, examples, ready.loss, plain=traits_of(type(optimizer)).is_online)
            theta = model.weights if earlier is None else carried_over(model, earlier)
            held_out = None if dev is None else Development(model, dev, dev_y, self.target, self.partial, best)
            fitting.describe(model, examples, held_out, theta)
            pruning, pruner = ready.pruning, model.pruner
            del ready, examples
            outcome = fitting.minimised(shards, prior, optimizer, theta, held_out, [X, model], self._threads)
        columns = [] if not isinstance(X, Corpus) else list(X.file_columns or X.columns)
        self._adopt(model.with_weights(outcome.theta), outcome, columns)
        self.pruning_ = pruning if pruner is None or held_out is None else held_out.pruned(pruner, pruning)
        warn_of_scores(outcome)
        warn_of_stop(outcome, optimizer)
        return self

    def _own_options(self) -> dict[str, Any]:
        """Settings of the optimizer that are this model's own settings."""
        return {}

    def _earlier(self, start: ChainTagger | None) -> LinearChain | None:
        """The model whose weights to begin with."""
        if start is not None and not isinstance(start, ChainTagger):
            raise SettingError(
                f"start is a {type(start).__name__}; expected a trained CRF or one of its kind (trellis.load)"
            )
        if start is None:
            return getattr(self, "model_", None) if self.warm_start else None
        return start._model
