"""What a training was made from, as a small table that tells two trainings apart and says where they differ."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trellis import __version__
from trellis.models.settings import plain
from trellis.training import Fingerprint

if TYPE_CHECKING:
    from trellis.objective import Examples

# Settings that a resumed training may have otherwise: threads change nothing; max_iter, epochs, steps and patience say
# when to stop, and the checkpoint sees to it that they are not smaller than they may be; what the target, the features
# and the start are is in the digests of what they make.
_FREE = {"threads", "max_iter", "epochs", "steps", "patience", "target", "features", "warm_start"}


def fingerprint(
    kind: str,
    params: dict[str, Any],
    labels: Sequence[str],
    examples: Examples,
    layout: object,
    dev: object,
    theta: NDArray[np.float64],
) -> Fingerprint:
    """Name -> a setting's value, or the digest of data. `kind`: of model; `params`: of the estimator; `dev`: the
    development data, None without."""
    return {
        "trellis": __version__,
        "model type": kind,
        **settings_of(params),
        "labels": digest((tuple(labels), examples.gold, examples.offsets)),
        "attributes": digest(replace(examples, rules=None, imposed=None)),
        "constraints": digest((examples.rules, examples.imposed)),
        "layout": digest(layout),
        "dev": None if dev is None else digest(dev),
        "start": digest(theta) if theta.any() else None,
    }


def settings_of(params: dict[str, Any]) -> dict[str, Any]:
    """Those that a training depends on, as a file gives them back."""
    settings = {name: plain(value) for name, value in params.items() if name not in _FREE}
    if "optimizer" in settings:
        settings |= _of_optimizer(settings.pop("optimizer"), settings.pop("options") or {}, settings.pop("l2"))
    written: dict[str, Any] = json.loads(json.dumps(settings))
    return written


def _of_optimizer(name: str, options: dict[str, Any], l2: float) -> dict[str, Any]:
    """Its hyperparameters, given or not, but for the limit of its own, which is as free as max_iter; l2 where it knows
    of priors."""
    from trellis.optim import OPTIMIZERS, traits_of

    kind = OPTIMIZERS[name]
    traits, all_of = traits_of(kind), {each.name: each.default for each in fields(kind)} | options
    known = {f"option {key}": value for key, value in all_of.items() if key not in (traits.limit, "tol", "seed")}
    return {"optimizer": name} | ({"l2": l2} if traits.uses_prior else {}) | known


def digest(value: object) -> str:
    """SHA-256 over arrays, text, numbers, None, and tuples and dataclasses of these, with their shapes."""
    state = hashlib.sha256()
    _update(state, value)
    return state.hexdigest()


def _update(state: Any, value: object) -> None:
    if isinstance(value, np.ndarray):
        little = np.ascontiguousarray(value).astype(value.dtype.newbyteorder("<"), copy=False)
        state.update(f"array {little.dtype.str} {value.shape}:".encode())
        state.update(little.reshape(-1).view(np.uint8).data)
    elif isinstance(value, str):
        data = value.encode("utf-8", "surrogatepass")
        state.update(f"text {len(data)}:".encode() + data)
    elif value is None or isinstance(value, bool | int | float):
        state.update(f"{value!r};".encode())
    elif isinstance(value, tuple | list):
        state.update(f"tuple {len(value)}:".encode())
        for one in value:
            _update(state, one)
    elif is_dataclass(value):
        names = [field.name for field in fields(value)]
        state.update(f"record {names}:".encode())
        for name in names:
            _update(state, getattr(value, name))
    else:
        raise TypeError(f"{type(value).__name__} has no digest")
