"""Perceptron with a kernel: support tokens + chain + epochs in the dual, put together under one name."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from trellis.corpus import Corpus
from trellis.dual import DualExamples, Polynomial
from trellis.errors import SettingError
from trellis.features import Packed
from trellis.models.batches import Sentences
from trellis.models.development import Development
from trellis.models.dual_fitting import Course, DualFitting
from trellis.models.ending import warn_of_scores
from trellis.models.gold import Labels, token_offsets
from trellis.models.kernel_chain import KernelChain, KernelLearner
from trellis.models.kernel_serial import kernel_description_of, kernel_model_from
from trellis.models.learning import given_labels, learn_features
from trellis.models.settings import check_settings
from trellis.models.tagger import Tagger
from trellis.training import Progress

if TYPE_CHECKING:
    from trellis.features import Choice


class KernelPerceptron(Tagger[KernelChain]):
    """A structured perceptron whose labels are scored by training tokens, through a polynomial kernel (Altun et al.
    2003, section 7): it uses all conjunctions of up to `degree` attributes without ever making them.

    target: the column to predict (for a corpus; lists bring their labels as `y`).
    features: a preset, a template file, template lines or an expression; none on transitions.
    degree, offset, scale: of the kernel (offset + scale <x, z>)^degree over the attributes of two tokens.
    cosine: divide the kernel by the root of K(x, x) K(z, z).
    epochs: how often to pass over the sentences, at most; it ends sooner after one without a mistake.
    averaged: answer with the mean of the coefficients after every sentence rather than with the last ones.
    patience: with a dev set, epochs without a better score there.
    min_count, hash_size: as for a CRF.
    seed: of the order of sentences, which is a new one in every epoch.
    threads: how many to use for features and predictions; None for all. Results do not depend on it.

    After `fit`: `classes_`, `columns_`, `objective_` (of the last epoch, what the best paths scored more than the gold
    ones, summed), `converged_` (there was no mistake), `iterations_` (epochs), `seconds_`, and with a dev set
    `stopped_early_`, `dev_score_`; `model_.supports` are the support tokens.
    """

    # settings of other models that features and labels are looked at with
    tag_dictionary: int | None = None
    partial: bool = False

    def __init__(
        self,
        target: str | None = None,
        features: Choice = "chunking",
        degree: int = 2,
        offset: float = 1.0,
        scale: float = 1.0,
        cosine: bool = False,
        epochs: int = 10,
        averaged: bool = True,
        patience: int = 10,
        min_count: int = 1,
        hash_size: int | None = None,
        seed: int = 0,
        threads: int | None = None,
    ):
        self.target = target
        self.features = features
        self.degree = degree
        self.offset = offset
        self.scale = scale
        self.cosine = cosine
        self.epochs = epochs
        self.averaged = averaged
        self.patience = patience
        self.min_count = min_count
        self.hash_size = hash_size
        self.seed = seed
        self.threads = threads

    _written = staticmethod(kernel_description_of)
    _read = staticmethod(kernel_model_from)

    def fit(
        self,
        X: Sentences,
        y: Labels | None = None,
        *,
        dev: Sentences | None = None,
        dev_y: Labels | None = None,
        checkpoint: str | Path | None = None,
        resume: bool = False,
        checkpoint_every: int | None = None,
        log: str | Path | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Self:
        """Trains on a corpus, or on sentences of attribute lists, dicts or arrays with their labels `y`.

        dev, dev_y, checkpoint, resume, checkpoint_every, log, progress: as for `CRF.fit`; an iteration is an epoch.
        """
        from trellis.optim import DualPerceptron
        from trellis.optim.dual_perceptron import found

        check_settings(self)
        course = Course(self.get_params(), int(self.epochs), int(self.patience), int(self.seed))
        fitting = DualFitting(course, checkpoint, resume, checkpoint_every, log, progress)
        if self.hash_size is not None and self.min_count > 1:
            raise SettingError("min_count has no meaning with hash_size, where nothing is counted; give one of them")
        given = given_labels(self, X, y)
        if given.kind != "gold":
            raise SettingError("a perceptron learns from its mistakes, so it needs one label for each token")
        features, packed = learn_features(self, X, given, self._threads)
        if features.arc_attributes:
            raise SettingError(
                "the features have some on transitions, which a kernel perceptron has no place for; leave them out"
            )
        if len(given.labels) == 1:
            warnings.warn(f"'{given.labels[0]}' is the only label; the model can answer nothing else", stacklevel=2)
        kernel = Polynomial(int(self.degree), float(self.offset), float(self.scale), self.cosine)
        known = _known(packed)
        examples = DualExamples(known, given.gold, token_offsets(X), features.attributes, len(given.labels), kernel)
        model = KernelLearner(tuple(given.labels), features, known, kernel)
        held_out = None if dev is None else Development(model, dev, dev_y, self.target)
        fitting.describe_dual(model, examples, held_out)
        theta = found(examples, examples.start(), False).vector
        outcome = fitting.train(examples, DualPerceptron(self.averaged, int(self.seed)), theta, held_out, [X, model])
        columns = [] if not isinstance(X, Corpus) else list(X.file_columns or X.columns)
        self._adopt(model.with_weights(outcome.theta), outcome, columns)
        warn_of_scores(outcome)
        return self


def _known(packed: Packed) -> Packed:
    """Without attributes that have no number."""
    keep = packed.ids >= 0
    if keep.all():
        return Packed(packed.indptr, packed.ids, packed.values)
    before = np.concatenate([[0], np.cumsum(keep)]).astype(np.int64)
    values = None if packed.values is None else packed.values[keep]
    return Packed(before[packed.indptr], packed.ids[keep], values)
