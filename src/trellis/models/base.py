"""What scikit-learn expects of an estimator, without needing it: parameters in, parameters out."""

from __future__ import annotations

import inspect
from typing import Any, Self

from trellis.errors import SettingError


class Estimator:
    """Constructor arguments are stored under their own names and never changed by `fit`."""

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's arguments (`deep` is there for scikit-learn; nothing is nested)."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> Self:
        """Changes constructor arguments by name."""
        known = self._parameter_names()
        for name, value in params.items():
            if name not in known:
                raise SettingError(f"'{name}' is no parameter of {type(self).__name__}; it has: {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """What newer versions of scikit-learn ask of an estimator; called by nobody else."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(two_d_array=False),
        )

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        shown = [f"{k}={v!r}" for k, v in self.get_params().items() if v != defaults[k].default]
        return f"{type(self).__name__}({', '.join(shown)})"
