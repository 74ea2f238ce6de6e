"""A classifier of whole texts: sequences of length one, with the same features, losses and optimisers as taggers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column
from trellis.errors import DataError, SettingError
from trellis.features import TemplateFeatures
from trellis.features.reading import columns_of, views_of
from trellis.metrics import Report, compare_wholes
from trellis.models.known import soft_labels, weights_of
from trellis.models.linear import LinearChain
from trellis.models.local_classifier import LocalClassifier
from trellis.models.serial import description_of, model_from
from trellis.models.settings import USUAL_L2
from trellis.models.soft_labels import SoftLabels, numbers
from trellis.models.text_data import Items, labelled_items, labels_of_items, sentences_of_items
from trellis.models.trained import Trained
from trellis.training import Outcome, Progress

if TYPE_CHECKING:
    from trellis.features import Choice
    from trellis.models.batches import Sentences

F64 = NDArray[np.float64]
_LEARNT = "model_ columns_ objective_ converged_ iterations_ evaluations_ seconds_ stopped_early_ dev_score_".split()


class TextClassifier(Trained[LinearChain]):
    """Multinomial logistic regression on the features of a text, or of a record with several fields.

        P(y = j | x) = exp(theta . f(x, j)) / sum_k exp(theta . f(x, k))

    Texts are given as a list of strings, as records (dicts of fields) or as a matrix; see `text_data`. features: as for
    taggers, of fields: `word_ngrams(text, 1, 2)[0] + source[0]`; by default the preset `texts`. target: the field that
    has the label, where records bring their own. Other settings are those of a `CRF`.

    After `fit`: as for a `CRF`; `columns_` are the fields, and `classes_` is a sorted array, as scikit-learn has it.
    """

    ignores: ClassVar[Mapping[str, str]] = {}
    _estimator_type = "classifier"  # what scikit-learn asked for before it had tags

    _written = staticmethod(description_of)
    _read = staticmethod(model_from)

    def __init__(
        self,
        target: str | None = "label",
        features: Choice = "texts",
        loss: str | None = None,
        optimizer: str = "auto",
        options: Mapping[str, Any] | None = None,
        l2: float = USUAL_L2,
        l1: float = 0.0,
        hyperbolic: float = 0.0,
        costs: float | Mapping[str, float] | None = None,
        max_iter: int = 1000,
        tol: float = 1e-5,
        patience: int = 10,
        min_count: int = 1,
        hash_size: int | None = None,
        all_pairs: bool = False,
        seed: int = 0,
        threads: int | None = None,
    ):
        self.target = target
        self.features = features
        self.loss = loss
        self.optimizer = optimizer
        self.options = options
        self.l2 = l2
        self.l1 = l1
        self.hyperbolic = hyperbolic
        self.costs = costs
        self.max_iter = max_iter
        self.tol = tol
        self.patience = patience
        self.min_count = min_count
        self.hash_size = hash_size
        self.all_pairs = all_pairs
        self.seed = seed
        self.threads = threads

    def fit(
        self,
        X: Items,
        y: Sequence[Any] | None = None,
        *,
        sample_weight: Any = None,
        soft: SoftLabels | NDArray[Any] | None = None,
        labels: Sequence[str] | None = None,
        dev: Items | None = None,
        dev_y: Sequence[Any] | None = None,
        start: TextClassifier | None = None,
        checkpoint: str | Path | None = None,
        resume: bool = False,
        checkpoint_every: int | None = None,
        log: str | Path | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Self:
        """Trains on items with their labels `y`, a list with one for each, None where it is not known; or on those
        that records have in the field `target`.

        soft, labels: probabilities in place of labels, F64[items, labels], and their names; or `SoftLabels`.
        The rest is as for `CRF.fit`, with items where that has sentences.
        """
        if start is not None and not isinstance(start, TextClassifier):
            raise SettingError(f"start is a {type(start).__name__}; expected a trained TextClassifier")
        data = sentences_of_items(X, target=self.target)
        if not len(data):
            raise DataError("there is no item to learn from")
        held_out, held_out_y = (None, None) if dev is None else labelled_items(dev, dev_y, self.target)
        if soft is None and labels is not None:
            raise SettingError(
                "labels= are the names of soft labels, and there are none; give the labels of items as y"
            )
        own = self._local()
        own.fit(
            data,
            None if soft is not None and y is None else labels_of_items(X, y, self.target),
            sample_weight=weights_of(sample_weight, len(data), what="item"),
            soft=None if soft is None else _soft(soft, labels),
            dev=None if held_out is None else sentences_of_items(held_out, target=self.target, like=data),
            dev_y=held_out_y,
            start=None if start is None else start._local(), checkpoint=checkpoint, resume=resume,
            checkpoint_every=checkpoint_every, log=log, progress=progress,
        )  # fmt: skip
        for name in _LEARNT:
            setattr(self, name, getattr(own, name))
        self.classes_ = self._sorted_labels()
        return self

    def predict(self, X: Items) -> list[str]:
        """The most probable label of each item; of those that are equally probable the first in `classes_`."""
        return self.predict_column(X).values()

    def predict_column(self, X: Items) -> Column:
        """The same as a column."""
        return Column(self.predict_ids(X), self.classes_.tolist())

    def predict_ids(self, X: Items) -> NDArray[np.int32]:
        """The same as numbers into `classes_`, I32[items]."""
        return np.asarray(self.predict_proba(X).argmax(axis=1), np.int32)

    def predict_proba(self, X: Items) -> F64:
        """P(label) of each item, F64[items, labels], in the order of `classes_`."""
        return self._model.marginals(self._data(X), self._threads)[:, self._order]

    def predict_marginals(self, X: Items) -> F64:
        """The same, under the name that taggers have for it."""
        return self.predict_proba(X)

    def entropy(self, X: Items) -> F64:
        """How unsure the model is of each item, in nats: F64[items]."""
        return self._local().entropy(self._data(X))

    def evaluate(self, X: Items, y: Sequence[Any] | None = None) -> Report:
        """Accuracy on items whose labels are known; precision, recall and F1 of each label are in `by_type`."""
        known, labels = labelled_items(X, y, self.target)
        gold = Column.of(str(label) for (label,) in labels)
        return compare_wholes(gold, self.predict_column(known))

    def score(self, X: Items, y: Sequence[Any] | None = None) -> float:
        """Accuracy."""
        return self.evaluate(X, y).accuracy

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        return tags

    def _adopt(self, model: LinearChain, outcome: Outcome, columns: list[str]) -> None:
        super()._adopt(model, outcome, columns)
        self.classes_ = self._sorted_labels()

    @property
    def _order(self) -> NDArray[np.intp]:
        """The numbers that the model has for the labels, in their sorted order."""
        return np.argsort(np.array(self._model.labels, dtype=object), kind="stable")

    def _sorted_labels(self) -> NDArray[np.object_]:
        return np.array(self._model.labels, dtype=object)[self._order]

    def _local(self) -> LocalClassifier:
        """The classifier of tokens that does the work."""
        own = LocalClassifier(**self.get_params())
        own.__dict__.update({name: value for name, value in self.__dict__.items() if name in _LEARNT})
        return own

    def _data(self, X: Items) -> Sentences:
        features = self._model.features
        read = columns_of(views_of(features.templates)) if isinstance(features, TemplateFeatures) else None
        return sentences_of_items(X, read, self.target)


def _soft(soft: SoftLabels | NDArray[Any], labels: Sequence[str] | None) -> SoftLabels:
    if isinstance(soft, SoftLabels):
        return soft_labels(soft, labels)
    rows = numbers(soft, "soft labels", "[items, labels]")
    if rows.ndim != 2:
        raise DataError(f"soft labels have the shape {rows.shape}; expected [items, labels]")
    return soft_labels([row[None] for row in rows], labels)
