"""Estimators that are one model file once they are trained, and whose pickles are such files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Self

from numpy.typing import NDArray

from trellis.models.base import Estimator
from trellis.models.feature_files import Callables
from trellis.store import from_bytes, read_model, to_bytes, write_model

Serialised = tuple[dict[str, Any], dict[str, NDArray[Any]]]  # a description and tensors


class Filed(Estimator, ABC):
    """`model_` is there once it is trained."""

    def save(self, path: str | Path) -> None:
        """Writes one model file, atomically."""
        write_model(path, *self._serialised())

    @classmethod
    def load(cls, path: str | Path, functions: Callables | None = None) -> Self:
        """Reads a model file; nothing in it is executed or trusted. What files cannot hold has to be given again, by
        name: functions of your own that features call, and of cascades each stage's `Smooth`."""
        return cls._from_serialised(*read_model(path), path=path, functions=functions or {})

    def __getstate__(self) -> dict[str, Any]:
        is_trained = hasattr(self, "model_")
        return {
            "params": self.get_params(),
            "file": to_bytes(*self._serialised()) if is_trained else None,
            "functions": self._functions() if is_trained else {},
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state["params"])
        if state["file"] is not None:
            loaded = self._from_serialised(*from_bytes(state["file"]), path="pickle", functions=state["functions"])
            self.__dict__.update({**loaded.__dict__, **state["params"]})

    @abstractmethod
    def _serialised(self) -> Serialised:
        """What was trained."""

    @classmethod
    @abstractmethod
    def _from_serialised(cls, description: Any, tensors: Any, path: str | Path, functions: Callables) -> Self:
        """An estimator of what was read, all checked; `path` for messages."""

    @abstractmethod
    def _functions(self) -> Callables:
        """What `load` would have to be given."""
