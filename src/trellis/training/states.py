"""Any optimiser's state as description (JSON) and tensors, and back, by the types of its fields alone.

A state is a frozen dataclass of arrays, whole numbers, floats, truth values, texts, None, tuples of these and other
states. In the description

    tuple                  a list
    array                  {"tensor": its number}; one array that is there twice is written once
    inf, -inf, nan         {"float": "inf"}; JSON has no such numbers
    state                  {"state": class name in `trellis.optim.STATES`, "fields": {name: value}}

and all else is itself. Reading runs no code but these classes' constructors, and every value must be of the type that
its field says. Arrays of floats are finite; those of one dimension are as long as theta, which they are used with,
unless theta has no length of its own.
"""

from __future__ import annotations

import math
import types
import typing
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.optim import STATES

Tensors = dict[str, NDArray[Any]]

_NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_DTYPES = ("float64", "float32", "int64", "int32", "uint16", "uint8")
_COUNTS = ("iteration", "evaluations", "products", "epoch")


class Writer:
    """Values -> JSON; what they hold in arrays is collected in `tensors`."""

    def __init__(self) -> None:
        self.tensors: Tensors = {}
        self._numbers: dict[int, int] = {}

    def write(self, value: Any) -> Any:
        """TypeError for what no state may hold."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, tuple):
            return [self.write(one) for one in value]
        if isinstance(value, np.ndarray):
            return {"tensor": self._number(value)}
        if type(value).__name__ in STATES and is_dataclass(value):
            return {
                "state": type(value).__name__,
                "fields": {field.name: self.write(getattr(value, field.name)) for field in fields(value)},
            }
        raise TypeError(f"a checkpoint cannot hold {type(value).__name__}; is it a state that STATES names?")

    def _number(self, array: NDArray[Any]) -> int:
        if array.dtype not in _DTYPES:
            raise TypeError(f"a checkpoint cannot hold arrays of {array.dtype}; there are: {', '.join(_DTYPES)}")
        if id(array) not in self._numbers:  # it stays alive in `tensors`, so nobody else gets its id
            self._numbers[id(array)] = len(self._numbers)
            self.tensors[f"t{self._numbers[id(array)]}"] = array
        return self._numbers[id(array)]


class Reader:
    """JSON and tensors -> values; ValueError, TypeError or KeyError for whatever does not fit. `size`: of theta,
    None where that changes in training."""

    def __init__(self, tensors: Tensors, size: int | None):
        self.size = size
        self._tensors = tensors
        self._arrays: dict[str, NDArray[Any]] = {}

    def read(self, written: Any, hint: Any) -> Any:
        """The value, which must be of the type `hint`."""
        value = self._value(written, hint)
        if not _fits(value, hint):
            raise ValueError(f"{type(value).__name__} in the place of {hint}")
        return value

    def state(self, written: Any) -> Any:
        """An optimiser's state, which must have weights and counts."""
        state = self._value(written, Any)
        if type(state).__name__ not in STATES:
            raise ValueError("no state of an optimiser")
        if not isinstance(state.theta, np.ndarray) or state.theta.ndim != 1:
            raise ValueError("weights")
        if self.size is not None and len(state.theta) != self.size:
            raise ValueError("weights")
        if not state.value > -math.inf:  # inf: not known yet
            raise ValueError("objective")
        return state

    def check_all_used(self) -> None:
        """No tensor may be left over."""
        if set(self._arrays) != set(self._tensors):
            raise ValueError("tensors that belong to nothing")

    def _value(self, written: Any, hint: Any) -> Any:
        if isinstance(written, list):
            hints = _hints_of_items(hint, len(written))
            return tuple(self.read(one, each) for one, each in zip(written, hints, strict=True))
        if not isinstance(written, dict):
            return written
        if set(written) == {"tensor"} and type(written["tensor"]) is int:
            return self._array(f"t{written['tensor']}")
        if set(written) == {"float"}:
            return _NOT_FINITE[written["float"]]
        if set(written) == {"state", "fields"}:
            return self._state(written["state"], written["fields"])
        raise ValueError("no value of a state")

    def _state(self, name: str, written: dict[str, Any]) -> Any:
        if name not in STATES:
            raise ValueError(f"the state {name!r} of an optimiser that is not known")
        kind = STATES[name]
        hints = typing.get_type_hints(kind)
        if set(written) != {field.name for field in fields(kind)}:
            raise ValueError(f"fields of {name}")
        values = {field: self.read(value, hints[field]) for field, value in written.items()}
        if any(field in values and not values[field] >= 0 for field in _COUNTS):
            raise ValueError(f"counts of {name}")
        return kind(**values)

    def _array(self, name: str) -> NDArray[Any]:
        if name not in self._arrays:
            # an array of its own, so that the file's memory goes when the first of them go
            array = np.array(self._tensors[name])
            if array.dtype.kind == "f":
                if array.ndim == 1 and self.size is not None and len(array) != self.size:
                    raise ValueError(f"an array of {len(array)} for {self.size} weights")
                if not np.isfinite(array).all():
                    raise ValueError("an array that is not finite")
            self._arrays[name] = array
        return self._arrays[name]


def _hints_of_items(hint: Any, count: int) -> list[Any]:
    """The type of each item of a tuple of this type."""
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        tuples = [one for one in typing.get_args(hint) if typing.get_origin(one) is tuple]
        hint = tuples[0] if tuples else Any
    if typing.get_origin(hint) is not tuple:
        return [Any] * count
    items = typing.get_args(hint)
    if len(items) == 2 and items[1] is Ellipsis:
        return [items[0]] * count
    if len(items) != count:
        raise ValueError(f"{count} items in the place of {hint}")
    return list(items)


def _fits(value: Any, hint: Any) -> bool:
    """Whether the value is of that type, as far as the type is one of those that states are made of."""
    origin = typing.get_origin(hint)
    if origin in (types.UnionType, typing.Union):
        return any(_fits(value, one) for one in typing.get_args(hint))
    if hint is None or hint is type(None):
        return value is None
    if origin is tuple or hint is tuple:
        return isinstance(value, tuple)  # its items were looked at one by one
    if origin is np.ndarray or hint is np.ndarray:
        return isinstance(value, np.ndarray) and _fits_dtype(value.dtype, hint)
    if hint is float:
        return type(value) in (float, int)
    if hint in (int, bool, str):
        return type(value) is hint
    if isinstance(hint, type) and is_dataclass(hint):
        return isinstance(value, hint)
    return True


def _fits_dtype(dtype: np.dtype[Any], hint: Any) -> bool:
    """NDArray[np.float64] is ndarray[shape, dtype[float64]]."""
    wanted = [one for argument in typing.get_args(hint)[1:] for one in typing.get_args(argument)]
    return all(not (isinstance(one, type) and issubclass(one, np.generic)) or dtype == one for one in wanted)
