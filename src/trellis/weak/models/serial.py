"""Label models as files, in the form of every model file. Reading checks every number, so that what is read answers
with probabilities.

The description has the model's name, its settings, the names of functions, the space of the votes and what stood for
none, and whether learning converged (None: nothing was learnt step by step). Tensors are what the model itself puts
(`_learnt`), and

    majority F64[labels]            votes for each label, of majority vote beside the model
    objectives F64[iterations]      of learning step by step

Models take out of the tensors what is theirs (`_restore`), by the functions in `tensors`; none may be left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trellis.errors import DamagedModelError, ModelFileError, SettingError
from trellis.labels.encoding import OUTSIDE, split
from trellis.store import Tensors, read_model, write_model
from trellis.store.file import FORMAT
from trellis.weak.em import Climb
from trellis.weak.models.tensors import amounts_of, array_of
from trellis.weak.space import Space
from trellis.weak.votes import Votes

if TYPE_CHECKING:
    from trellis.weak.models.contract import LabelModel

TYPE = "label-model"
_FIRST_FORMAT = 3  # that has label models
_ENTRIES = {"format", "type", "model", "settings", "functions", "linkers", "space", "abstain", "converged"}
_PREFIXES = {"io": ("I",), "iob2": ("B", "I")}
_WRONG = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError)


def save(model: LabelModel, path: str | Path) -> None:
    """Atomically."""
    from trellis.weak.models import label_model

    label_model(model.name)  # a model that nobody could read is not written
    write_model(path, *serialised(model))


def load(path: str | Path) -> LabelModel:
    """A label model from its file."""
    description, tensors = read_model(path)
    if description.get("type") != TYPE:
        raise ModelFileError(f"{path}: is no label model; trellis.load reads taggers")
    return restored(description, tensors, path)


def serialised(model: LabelModel) -> tuple[dict[str, Any], Tensors]:
    """Description and tensors, tried: they can be read again. Settings may have been changed since `fit`."""
    try:
        description, tensors = _described(model)
        _rebuilt(type(model), description, dict(tensors))
    except _WRONG as error:
        raise SettingError(
            f"this {type(model).__name__} is not as fit leaves it, so it cannot be saved: {error}; fit it again"
        ) from None
    return description, tensors


def restored(
    description: dict[str, Any], tensors: Tensors, path: str | Path, kind: type[LabelModel] | None = None
) -> LabelModel:
    """One typed error for whatever does not fit. kind: of what class, if not that of the model's name."""
    from trellis.weak.models import label_model

    try:
        # what is read is taken out; nothing may be left
        return _rebuilt(kind or label_model(description["model"]), description, dict(tensors))
    except _WRONG as error:
        raise DamagedModelError(f"{path}: not a whole label model: {error}; fit it again") from None


def _described(model: LabelModel) -> tuple[dict[str, Any], Tensors]:
    space, climb = model.space_, model.climb_
    coarse = [[name, list(members)] for name, members in space.coarse.items()]  # pairs: their order counts
    description = {
        "format": FORMAT,
        "type": TYPE,
        "model": model.name,
        "settings": {name: _plain(value) for name, value in model.get_params().items()},
        "functions": list(model.functions_),
        "linkers": list(model.linkers_),
        "space": {"labels": list(space.labels), "coarse": coarse, "encoding": space.encoding},
        "abstain": list(model.abstain_),
        "converged": None if climb is None else climb.converged,
    }
    tensors = {**model._learnt(), "majority": getattr(model, "majority_", model)._frequency()}
    if climb is not None:
        tensors["objectives"] = np.array(climb.objectives, np.float64)
    return description, tensors


def _rebuilt(kind: type[LabelModel], description: dict[str, Any], tensors: Tensors) -> LabelModel:
    from trellis.weak.models.majority import majority_beside

    if set(description) != _ENTRIES or description["model"] != kind.name or description["format"] < _FIRST_FORMAT:
        raise ValueError("entries of the description")
    settings = description["settings"]
    if type(settings) is not dict or set(settings) != set(kind._parameter_names()):
        raise ValueError("names of settings")
    model = kind(**settings)
    model.functions_, model.linkers_ = _strings(description["functions"]), _strings(description["linkers"])
    every = {*model.functions_, *model.linkers_}
    if not model.functions_ or len(every) != len(model.functions_) + len(model.linkers_):
        raise ValueError("names of functions")
    model.space_, model.abstain_ = _space(description["space"]), _strings(description["abstain"])
    model.own_space_ = model._in_own_space(_no_votes(model)).space
    model._restore(tensors)
    model.beside_ = None
    model.majority_ = majority_beside(model)
    model.majority_.totals_ = amounts_of(tensors, "majority", model.majority_.totals_.shape)
    climb = _climb(tensors, description["converged"])
    if (climb is None) == ("max_iter" in settings):
        raise ValueError("record of learning")
    model.climb_ = climb
    if tensors:
        raise ValueError(f"unknown tensors: {', '.join(tensors)}")
    return model


def _climb(tensors: Tensors, converged: Any) -> Climb | None:
    if converged is None:
        return None
    steps = array_of(tensors, "objectives", np.float64, (-1,))
    if type(converged) is not bool or len(steps) < 1 + converged:
        raise ValueError("record of learning")
    return Climb(steps.tolist(), converged)


def _no_votes(model: LabelModel) -> Votes:
    values, links = np.zeros((0, len(model.functions_)), np.int32), np.zeros((0, len(model.linkers_)), np.int8)
    return Votes(values, model.functions_, model.space_, np.zeros(1, np.int64), links, model.linkers_)


def _plain(value: Any) -> Any:
    """A setting as JSON has it."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and np.isfinite(float(value)):
        return float(value)
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    raise TypeError(f"a setting is {value!r}, which files cannot hold")


def _space(found: Any) -> Space:
    if type(found) is not dict or set(found) != {"labels", "coarse", "encoding"}:
        raise ValueError("entries of the space")
    labels, encoding, pairs = _strings(found["labels"]), found["encoding"], found["coarse"]
    if not labels or len(set(labels)) != len(labels):
        raise ValueError("a label is there twice, or there is none")
    if type(pairs) is not list or not all(type(pair) is list and len(pair) == 2 for pair in pairs):
        raise ValueError("coarse labels")
    names = _strings([name for name, _ in pairs])
    coarse = {name: _strings(members) for name, members in pairs}
    if len({*names, *labels}) != len(names) + len(labels):
        raise ValueError("a coarse label is there twice")
    if not all(members and set(labels) >= set(members) for members in coarse.values()):
        raise ValueError("members of coarse labels")
    if encoding is not None:
        _check_segments(labels, names, encoding)
    return Space(labels, coarse, encoding)


def _check_segments(labels: Sequence[str], coarse: Sequence[str], encoding: Any) -> None:
    """O, then the labels of each type; coarse labels are of other types."""
    if type(encoding) is not str or encoding not in _PREFIXES:
        raise ValueError("encoding")
    prefixes, parts = _PREFIXES[encoding], [split(label) for label in labels[1:]]
    types = [name for _, name in parts[:: len(prefixes)]]
    if labels[0] != OUTSIDE or parts != [(prefix, name) for name in types for prefix in prefixes]:
        raise ValueError("labels of segments")
    if len(set(types)) != len(types):
        raise ValueError("a type of segments is there twice")
    others = [split(name) for name in coarse]
    if any(prefix not in prefixes for prefix, _ in others) or {name for _, name in others} & set(types):
        raise ValueError("coarse labels of segments")


def _strings(values: Any) -> tuple[str, ...]:
    if type(values) is not list or not all(isinstance(value, str) for value in values):
        raise ValueError("a list of strings was expected")
    return tuple(values)
