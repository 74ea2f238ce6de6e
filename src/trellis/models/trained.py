"""What was trained, in an estimator: the model and its record."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DamagedModelError, NotFittedError, SettingError
from trellis.features import FeatureKind, TemplateFeatures
from trellis.jit import threads_available
from trellis.models.feature_files import Callables
from trellis.models.filed import Filed, Serialised
from trellis.models.settings import check_settings, plain
from trellis.training import Outcome


class Kept(Protocol):
    """What was trained, of whatever kind."""

    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def features(self) -> FeatureKind: ...
    @property
    def weights(self) -> NDArray[np.float64]: ...
    @property
    def summary(self) -> str: ...


Model = TypeVar("Model", bound=Kept)


class Trained(Filed, Generic[Model]):
    """What every model here is once it is trained. Those that train it are classes of their own, with a setting
    `threads`, and say how their kind of model is put into a file and read from one."""

    threads: int | None
    model_: Model
    classes_: Any  # names of labels: a list, or an array where scikit-learn reads them

    def _functions(self) -> Callables:
        features = self.model_.features
        return features.functions if isinstance(features, TemplateFeatures) else {}

    @property
    def _model(self) -> Model:
        if not hasattr(self, "model_"):
            raise NotFittedError(f"this {type(self).__name__} has not been trained; call fit or load first")
        return self.model_

    @property
    def _threads(self) -> int:
        check_settings(self, "threads")
        return self.threads or threads_available()

    def _adopt(self, model: Model, outcome: Outcome, columns: list[str]) -> None:
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

    def _serialised(self) -> Serialised:
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
    def _written(kind: str, params: dict[str, Any], training: dict[str, Any], model: Any) -> Serialised:
        """What was trained as description and tensors."""

    @staticmethod
    @abstractmethod
    def _read(
        description: dict[str, Any], tensors: Any, known: list[str], path: str | Path, functions: Callables
    ) -> tuple[dict[str, Any], dict[str, Any], Any]:
        """Parameters, training record and model, all checked."""

    @classmethod
    def _from_serialised(
        cls, description: dict[str, Any], tensors: dict[str, NDArray[Any]], path: str | Path, functions: Callables
    ) -> Self:
        if description.get("model") != cls.__name__:
            raise DamagedModelError(
                f"{path}: a model of the kind {description.get('model')!r}, not {cls.__name__}; trellis.load reads any"
            )
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
