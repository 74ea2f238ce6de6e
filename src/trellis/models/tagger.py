"""A trained chain of labels, whatever trained it: predictions, evaluation, one model file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column
from trellis.errors import DamagedModelError, NotFittedError, SettingError
from trellis.features import FeatureKind, TemplateFeatures
from trellis.jit import threads_available
from trellis.metrics import Report, compare
from trellis.models.base import Estimator
from trellis.models.batches import Sentences
from trellis.models.feature_files import Callables
from trellis.models.gold import Labels, gold_of, token_offsets
from trellis.models.settings import check_settings, plain
from trellis.store import from_bytes, read_model, to_bytes, write_model
from trellis.training import Outcome

F64 = NDArray[np.float64]


class Chains(Protocol):
    """What was trained, of whatever kind."""

    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def features(self) -> FeatureKind: ...
    @property
    def weights(self) -> F64: ...
    @property
    def summary(self) -> str: ...

    def best(self, data: Sentences, threads: int = 1) -> NDArray[np.int32]: ...


Chain = TypeVar("Chain", bound=Chains)


class Tagger(Estimator, ABC, Generic[Chain]):
    """What every model here is once it is trained. Those that train it are classes of their own, with a setting
    `threads` and, for corpora, `target`, and say how their kind of chain is put into a file and read from one."""

    target: str | None
    threads: int | None
    model_: Chain

    def predict(self, X: Sentences) -> list[list[str]]:
        """The best labels: a list for each sentence."""
        ids, offsets = self.predict_ids(X), token_offsets(X)
        names = list(map(self._model.labels.__getitem__, ids.tolist()))
        return [names[a:b] for a, b in zip(offsets.tolist(), offsets[1:].tolist(), strict=False)]

    def predict_ids(self, X: Sentences) -> NDArray[np.int32]:
        """The best label of every token as a number into `classes_`, I32[tokens]: `predict` without strings."""
        return self._model.best(X, self._threads)

    def predict_column(self, X: Sentences) -> Column:
        """The best label of every token as a column."""
        return Column(self.predict_ids(X), self._model.labels)

    def predict_marginals(self, X: Sentences) -> list[F64]:
        """P(label) of every token, where a model has probabilities."""
        raise self._without("marginals")

    def predict_kbest(self, X: Sentences, k: int = 5) -> Any:
        """The k most probable labellings, where a model has probabilities."""
        raise self._without("k best labellings")

    def predict_spans(self, X: Sentences, min_confidence: float = 0.0) -> Any:
        """Segments with their probability, where a model has such."""
        raise self._without("spans with a probability")

    def _without(self, what: str) -> SettingError:
        kind = type(self).__name__
        return SettingError(f"a {kind} has scores but no probabilities, so it has no {what}; use a CRF for these")

    def evaluate(self, X: Sentences, y: Labels | None = None) -> Report:
        """Accuracy, and precision, recall and F1 of segments where the labels encode such."""
        gold, predicted = gold_of(X, y, self.target), self.predict_column(X)
        return compare(gold, predicted, token_offsets(X))

    def score(self, X: Sentences, y: Labels | None = None) -> float:
        """F1 of segments when the labels are a segment encoding, else accuracy."""
        return self.evaluate(X, y).headline

    def save(self, path: str | Path) -> None:
        """Writes one model file, atomically."""
        write_model(path, *self._serialised())

    @classmethod
    def load(cls, path: str | Path, functions: Callables | None = None) -> Self:
        """Reads a model file; nothing in it is executed or trusted. Features with functions of your own need these
        again, by name."""
        return cls._from_serialised(*read_model(path), path=path, functions=functions or {})

    def __getstate__(self) -> dict[str, Any]:
        fitted = to_bytes(*self._serialised()) if hasattr(self, "model_") else None
        features = self.model_.features if fitted else None
        functions = features.functions if isinstance(features, TemplateFeatures) else {}
        return {"params": self.get_params(), "file": fitted, "functions": functions}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state["params"])
        if state["file"] is not None:
            loaded = self._from_serialised(*from_bytes(state["file"]), path="pickle", functions=state["functions"])
            self.__dict__.update({**loaded.__dict__, **state["params"]})

    @property
    def _model(self) -> Chain:
        if not hasattr(self, "model_"):
            raise NotFittedError(f"this {type(self).__name__} has not been trained; call fit or load first")
        return self.model_

    @property
    def _threads(self) -> int:
        check_settings(self, "threads")
        return self.threads or threads_available()

    def _adopt(self, model: Chain, outcome: Outcome, columns: list[str]) -> None:
        self.model_ = model
        self.columns_ = columns
        self.classes_ = list(model.labels)
        self.objective_ = outcome.objective
        self.converged_ = outcome.converged
        self.iterations_ = outcome.iterations
        self.evaluations_ = outcome.evaluations
        self.seconds_ = outcome.seconds
        self.stopped_early_ = outcome.stopped_early
        self.dev_score_ = outcome.dev_score

    def _serialised(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        model = self._model
        check_settings(self)
        params = {name: plain(value) for name, value in self.get_params().items()}
        del params["threads"]  # a model must not depend on it
        training = {
            "objective": float(self.objective_),
            "converged": self.converged_,
            "iterations": self.iterations_,
            "evaluations": self.evaluations_,
            "stopped_early": self.stopped_early_,
            "dev_score": self.dev_score_,
            "columns": self.columns_,
        }
        return self._written(type(self).__name__, params, training, model)

    @staticmethod
    @abstractmethod
    def _written(
        kind: str, params: dict[str, Any], training: dict[str, Any], model: Any
    ) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """A trained chain as description and tensors."""

    @staticmethod
    @abstractmethod
    def _read(
        description: dict[str, Any], tensors: Any, known: list[str], path: str | Path, functions: Callables
    ) -> tuple[dict[str, Any], dict[str, Any], Any]:
        """Parameters, training record and chain, all checked."""

    @classmethod
    def _from_serialised(
        cls, description: dict[str, Any], tensors: dict[str, NDArray[Any]], path: str | Path, functions: Callables
    ) -> Self:
        if description.get("model") != cls.__name__:
            raise DamagedModelError(f"{path}: a model of the kind {description.get('model')!r}, not {cls.__name__}")
        params, training, model = cls._read(description, tensors, cls._parameter_names(), path, functions)
        if isinstance(model.features, TemplateFeatures) and model.features.functions:
            from trellis.features import Features

            # text cannot hold functions, and the model should be good for another training
            params = {**params, "features": Features.of(model.features.templates, model.features.functions)}
        tagger = cls(**params)
        try:
            check_settings(tagger)
        except SettingError as error:
            raise DamagedModelError(f"{path}: the model's settings do not fit: {error}") from None
        outcome = Outcome(
            model.weights, training["objective"], training["iterations"], training["evaluations"],
            training["converged"], training["stopped_early"], False, 0.0, training["dev_score"],
        )  # fmt: skip
        tagger._adopt(model, outcome, training["columns"])
        return tagger
