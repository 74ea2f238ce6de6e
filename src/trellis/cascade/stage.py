"""A stage of a cascade: what it labels, what it reads of lower stages, and the model that does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.monomials import Curve
from trellis.errors import SettingError, shown
from trellis.models import CRF, NeuralCRF, SemiCRF
from trellis.models.settings import check_settings, is_number, plain

F64 = NDArray[np.float64]

Estimator = CRF | SemiCRF | NeuralCRF
KINDS: dict[str, type[CRF] | type[SemiCRF] | type[NeuralCRF]] = {
    "crf": CRF,
    "semi-crf": SemiCRF,
    "neural-crf": NeuralCRF,
}
# settings that are the cascade's, or mean nothing in one
NOT_HERE = ("target", "features", "threads", "seed", "warm_start", "prune")

_ALL = "joint"
_POINTS = np.linspace(0.0, 1.0, 41)
_STEP = 1e-6


@dataclass(frozen=True)
class Smooth:
    """A function of probabilities, from 0 to 1, that upper stages see in place of these, and its derivative: both take
    an array and give one. f(0) must be 0, as what is improbable is not looked at. `second`, its second derivative, is
    for newton-cg; without it that is taken from differences. Whether the derivatives are right is checked."""

    f: Callable[[F64], F64]
    derivative: Callable[[F64], F64]
    second: Callable[[F64], F64] | None = None

    def __post_init__(self) -> None:
        values = _asked(self.f, _POINTS, "the function")
        if abs(values[0]) > 1e-9:
            raise SettingError(
                f"the function is {values[0]:g} at 0; expected 0, as what is improbable is not looked at"
            )
        _compare(self.f, _asked(self.derivative, _POINTS, "its derivative"), "the derivative")
        if self.second is not None:
            _compare(self.derivative, _asked(self.second, _POINTS, "its second derivative"), "the second derivative")

    def __call__(self, p: F64) -> F64:
        return self.f(p)

    @property
    def curve(self) -> Curve:
        """Each is given an array of its own, in case it changes it."""
        second = self.second or self._differences
        return Curve(lambda x: self.f(x.copy()), lambda x: self.derivative(x.copy()), lambda x: second(x.copy()))

    def _differences(self, x: F64) -> F64:
        low, high = np.maximum(x - _STEP, 0.0), np.minimum(x + _STEP, 1.0)
        return np.asarray((self.derivative(high) - self.derivative(low)) / (high - low))


def _asked(f: Callable[[F64], F64], x: F64, what: str) -> F64:
    try:
        with np.errstate(all="ignore"):
            values = np.asarray(f(x.copy()), np.float64)
    except Exception as error:  # whatever a user's function does
        raise SettingError(f"{what} cannot be asked about an array of numbers: {error!r}") from error
    if values.shape != x.shape:
        raise SettingError(f"{what} gives an array of the shape {values.shape} for one of {x.shape}")
    if not np.isfinite(values).all():
        raise SettingError(f"{what} is {values[~np.isfinite(values)][0]} at {x[~np.isfinite(values)][0]:g}")
    return values


def _compare(f: Callable[[F64], F64], given: F64, what: str) -> None:
    low, high = np.maximum(_POINTS - _STEP, 0.0), np.minimum(_POINTS + _STEP, 1.0)
    slope = (_asked(f, high, "it") - _asked(f, low, "it")) / (high - low)
    wrong = ~np.isclose(given, slope, rtol=1e-3, atol=1e-3)
    for k in np.flatnonzero(wrong)[:1].tolist():
        raise SettingError(f"{what} is {given[k]:g} at {_POINTS[k]:g}, where differences are {slope[k]:g}; mend it")


class Stage:
    """target: the column to predict.
    features: as for `CRF`. Those that name the target of a stage that is read see how probable its labels are.
    reads: targets of lower stages. If no feature names one of them, its labels at the token and beside it, and pairs of
    neighbours, are read.
    model: crf, semi-crf or neural-crf; settings: those of `CRF`, `SemiCRF` or `NeuralCRF`, such as loss, l2, order,
    encoding or min_count.
    weight: how much the stage's loss counts in joint training, against its prior and the other stages.
    smooth: a function of the probabilities that are read (see `Smooth`).
    """

    def __init__(
        self,
        target: str,
        features: Any = "chunking",
        *,
        reads: Sequence[str] = (),
        model: str = "crf",
        weight: float = 1.0,
        smooth: Smooth | None = None,
        **settings: Any,
    ):
        self.target = target
        self.features = features
        self.reads: tuple[str, ...] = (reads,) if isinstance(reads, str) else _listed(reads)
        self.model = model
        self.weight = weight
        self.smooth = smooth
        self.settings = dict(settings)
        self._check()

    def _check(self) -> None:
        if not isinstance(self.target, str) or not self.target:
            raise SettingError(f"a stage's target is {shown(self.target)}; expected the name of a column")
        if self.target == _ALL or self.target.startswith(f"{_ALL}-"):
            raise SettingError(f"a stage cannot be called '{self.target}', which is what joint training is called")
        where = f"stage '{self.target}'"
        if self.model not in KINDS:
            raise SettingError(f"{where}: the model is {shown(self.model)}; expected {' or '.join(KINDS)}")
        if not all(isinstance(name, str) for name in self.reads) or len(set(self.reads)) < len(self.reads):
            raise SettingError(f"{where}: reads is {shown(self.reads)}; expected targets of lower stages, each once")
        if not is_number(self.weight) or self.weight <= 0:
            raise SettingError(f"{where}: the weight is {shown(self.weight)}; expected a number > 0")
        if self.smooth is not None and not isinstance(self.smooth, Smooth):
            raise SettingError(f"{where}: smooth is {shown(self.smooth)}; expected trellis.Smooth(f, derivative)")
        known = [name for name in KINDS[self.model]._parameter_names() if name not in NOT_HERE]
        for name in self.settings:
            if name not in known:
                raise SettingError(f"{where}: unknown setting '{name}'; there are: {', '.join(known)}")
        try:
            check_settings(self.estimator(0, None))
        except SettingError as error:
            raise SettingError(f"{where}: {error}") from None

    def estimator(self, seed: int, threads: int | None) -> Estimator:
        """The model by itself, as yet untrained."""
        kind: Any = KINDS[self.model]
        estimator: Estimator = kind(
            target=self.target, features=self.features, seed=seed, threads=threads, **self.settings
        )
        return estimator

    def table(self) -> dict[str, Any]:
        """As JSON can hold it; functions are not part of it."""
        own = {"target": self.target, "features": self.features, "reads": list(self.reads), "model": self.model,
               "weight": float(self.weight), "smooth": self.smooth is not None, **self.settings}  # fmt: skip
        return {name: plain(value) for name, value in own.items()}

    @classmethod
    def of_table(cls, table: Mapping[str, Any], smooth: Smooth | None = None) -> Stage:
        """The reverse."""
        return cls(**{**table, "smooth": smooth})

    @property
    def smooth_values(self) -> tuple[F64, F64] | None:
        """By which one `Smooth` is told from another."""
        return None if self.smooth is None else (self.smooth.curve.f(_POINTS), self.smooth.curve.slope(_POINTS))

    def __repr__(self) -> str:
        more = "".join(f", {name}={value!r}" for name, value in self.settings.items())
        reads = f", reads={list(self.reads)!r}" if self.reads else ""
        model = f", model={self.model!r}" if self.model != "crf" else ""
        weight = f", weight={self.weight!r}" if self.weight != 1.0 else ""
        return f"Stage({self.target!r}, {self.features!r}{reads}{model}{weight}{more})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stage) and self.table() == other.table() and self.smooth == other.smooth

    def __hash__(self) -> int:
        return hash(self.target)


def _listed(reads: Any) -> tuple[Any, ...]:
    """What was given, as it is: it is checked when all of the stage is."""
    return tuple(reads) if isinstance(reads, Iterable) else (reads,)


def in_order(stages: Sequence[Stage]) -> list[Stage]:
    """Lower stages first, otherwise as they were given; SettingError for what is no cascade."""
    names = [stage.target for stage in stages]
    for name in names:
        if names.count(name) > 1:
            raise SettingError(f"two stages have the target '{name}'; expected one each")
    for stage in stages:
        for name in stage.reads:
            if name == stage.target:
                raise SettingError(f"stage '{name}' reads itself; it can read others only, leave it out of `reads`")
            if name not in names:
                raise SettingError(f"stage '{stage.target}' reads '{name}', which no stage predicts; there are: "
                                   f"{', '.join(names)}")  # fmt: skip
    ordered: list[Stage] = []
    left = list(stages)
    while left:
        done = {stage.target for stage in ordered}
        ready = [stage for stage in left if set(stage.reads) <= done]
        if not ready:
            circle = ", ".join(f"'{stage.target}'" for stage in left)
            raise SettingError(f"the stages {circle} read each other in a circle; leave one of the readings out")
        ordered.append(ready[0])
        left.remove(ready[0])
    return ordered
