"""Label models as files: description and arrays, in the form of every model file; all of it is checked on reading."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DamagedModelError, ModelFileError
from trellis.store import Tensors, read_model, write_model
from trellis.store.file import FORMAT
from trellis.weak.emissions import Emissions
from trellis.weak.voters import Voters
from trellis.weak.votes import Space

if TYPE_CHECKING:
    from trellis.weak.models.contract import LabelModel

TYPE = "label-model"


def save(model: LabelModel, path: str | Path) -> None:
    """Atomically."""
    write_model(path, *described(model))


def described(model: LabelModel) -> tuple[dict[str, Any], Tensors]:
    def spelt(space: Space) -> dict[str, Any]:
        coarse = {name: list(members) for name, members in space.coarse.items()}
        return {"labels": list(space.labels), "coarse": coarse, "encoding": space.encoding}

    description = {
        "format": FORMAT,
        "type": TYPE,
        "model": model.name,
        "settings": model.get_params(),
        "functions": list(model.functions_),
        "linkers": list(model.linkers_),
        "space": spelt(model.space_),
        "own_space": spelt(model.own_space_),
    }
    return description, {**model._learnt(), "majority": model.majority_._frequency()}


def load(path: str | Path) -> LabelModel:
    """A label model from its file."""
    description, tensors = read_model(path)
    if description.get("type") != TYPE:
        raise ModelFileError(f"{path}: is no label model; trellis.load reads taggers")
    return restored(description, tensors, path)


def restored(description: dict[str, Any], tensors: Tensors, path: str | Path) -> LabelModel:
    from trellis.weak.models import label_model
    from trellis.weak.models.majority import majority_beside

    try:
        model = label_model(description["model"])(**description["settings"])
        model.functions_ = tuple(_strings(description["functions"]))
        model.linkers_ = tuple(_strings(description["linkers"]))
        model.space_, model.own_space_ = _space(description["space"]), _space(description["own_space"])
        model.beside_ = None
        for name, array in tensors.items():
            if not np.isfinite(array).all():
                raise ValueError(f"{name} holds a number that is not finite")
        model._restore(tensors)
        model.majority_ = majority_beside(model)
        model.majority_.totals_ = array_of(tensors, "majority", np.float64, model.majority_.totals_.shape)
        return model
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise DamagedModelError(f"{path}: not a whole label model: {error}; fit it again") from None


def emissions_in(emissions: Emissions) -> Tensors:
    """As tensors."""
    voters = emissions.voters
    tensors: Tensors = {
        "emissions.logs": emissions.logs,
        "emissions.alone": emissions.alone,
        "emissions.members": np.array([j for group in voters.groups for j in group], np.int64),
        "emissions.sizes": np.array([len(group) for group in voters.groups], np.int64),
    }
    for v, group in enumerate(voters.groups):
        if len(group) > 1:
            tensors[f"emissions.joint.{v}"] = voters.joint[v]
    return tensors


def emissions_from(tensors: Tensors, functions: int, names: int, labels: int) -> Emissions:
    """From tensors that may be anything; ValueError for those that do not fit."""
    members = array_of(tensors, "emissions.members", np.int64, (functions,))
    sizes = tensors["emissions.sizes"]
    if sizes.dtype != np.int64 or sizes.ndim != 1 or sizes.min(initial=1) < 1 or sizes.sum() != functions:
        raise ValueError("the groups of functions do not fit")
    if sorted(members.tolist()) != list(range(functions)):
        raise ValueError("a function is in no group, or in two")
    groups = [tuple(own.tolist()) for own in np.split(members, np.cumsum(sizes)[:-1])]
    alone = np.arange(-1, names, dtype=np.int32)[:, None]
    joint = []
    for v, group in enumerate(groups):
        own = tensors[f"emissions.joint.{v}"] if len(group) > 1 else alone
        if own.dtype != np.int32 or own.ndim != 2 or own.shape[1] != len(group) or own.min(initial=0) < -1:
            raise ValueError("joint votes do not fit")
        if own.max(initial=0) >= names or not len(own):
            raise ValueError("joint votes are out of range")
        joint.append(own)
    voters = Voters(tuple(groups), tuple(joint), names)
    logs = array_of(tensors, "emissions.logs", np.float64, (voters.outcomes, labels))
    single = array_of(tensors, "emissions.alone", np.float64, (functions * (names + 1), labels))
    if max(logs.max(initial=0.0), single.max(initial=0.0)) > 1e-9:
        raise ValueError("a probability is above 1")
    return Emissions(voters, logs, single)


def array_of(tensors: Tensors, name: str, dtype: type[np.generic], shape: tuple[int, ...]) -> NDArray[Any]:
    """The tensor of that name, type and shape."""
    found = tensors[name]
    if found.dtype != np.dtype(dtype) or found.shape != shape:
        raise ValueError(f"{name} has the shape {found.shape}; expected {shape}")
    return found


def shares_of(tensors: Tensors, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Probabilities that sum to 1 in each row."""
    found = array_of(tensors, name, np.float64, shape)
    if found.min(initial=0.0) < 0 or not np.allclose(found.sum(axis=-1), 1.0):
        raise ValueError(f"{name} holds what are no probabilities")
    return found


def _space(described: dict[str, Any]) -> Space:
    labels = tuple(_strings(described["labels"]))
    if len(set(labels)) != len(labels) or not labels:
        raise ValueError("a label is there twice, or there is none")
    coarse = {str(name): tuple(_strings(members)) for name, members in described["coarse"].items()}
    if not all(members and set(members) <= set(labels) for members in coarse.values()) or set(coarse) & set(labels):
        raise ValueError("coarse labels do not fit")
    if described["encoding"] not in (None, "io", "iob2"):
        raise ValueError("the encoding is unknown")
    space = Space(labels, coarse, described["encoding"])
    if space.encoding is not None:
        from trellis.labels import legal_transitions

        legal_transitions(labels, space.encoding)  # a label of another form is an error
        if labels[0] != "O":
            raise ValueError("O is not the first label")
    return space


def _strings(values: Any) -> list[str]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError("a list of strings was expected")
    return values
