"""Models that call functions of the user's own: the command line cannot be given one, but weights can be looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from trellis.cascade import Cascade, Smooth
from trellis.errors import SettingError
from trellis.features import TemplateFeatures


@dataclass(frozen=True)
class _Unknown(Smooth):
    """In place of any function."""

    model: str = ""
    name: str = ""

    def __call__(self, *_: Any) -> NoReturn:
        raise SettingError(f"{self.model}: the function {self.name} cannot be called from the command line")


class Unknown(Mapping[str, Callable[..., Any]]):
    """A function of any name, so that a model can be loaded that needs some."""

    def __init__(self, model: str):
        self._model = model

    def __getitem__(self, name: str) -> Callable[..., Any]:
        return _Unknown(lambda p: p, np.ones_like, None, self._model, name)

    def __contains__(self, name: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def functions_of(model: Any) -> dict[str, str]:
    """What has to be given to `load`: names, and how each is written in Python."""
    if not isinstance(model, Cascade):
        return _called([model.model_.features])
    stages, smooth = model.model_.stages, [stage.target for stage in model.stages if stage.smooth is not None]
    contexts = [stage.wiring.context for stage in stages if stage.wiring is not None]
    return _called([*(stage.model.features for stage in stages), *contexts]) | dict.fromkeys(smooth, "Smooth(...)")


def _called(features: Iterable[Any]) -> dict[str, str]:
    return {name: name for one in features if isinstance(one, TemplateFeatures) for name in one.functions}


def refuse_functions(path: str, model: Any, call: str, remedy: str = "") -> None:
    """SettingError for a model that needs some. `call`: what to write in Python, of a model {}."""
    needed = functions_of(model)
    if needed:
        given = ", ".join(f'"{name}": {written}' for name, written in needed.items())
        loaded = call.format(f"trellis.load(path, functions={{{given}}})")
        what = "it calls" if isinstance(model, Cascade) else "the features use"
        raise SettingError(
            f"{path}: {what} functions of your own, which cannot be given on the command line; {remedy}use Python: "
            f"{loaded}"
        )
