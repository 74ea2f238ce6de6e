"""What label models learnt as tensors, and back from tensors that may be anything: ValueError for what does not fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.store import Tensors
from trellis.weak.emissions import Emissions
from trellis.weak.patterns import unique_rows
from trellis.weak.space import Space
from trellis.weak.structure import Structure
from trellis.weak.voters import Voters
from trellis.weak.votes import ABSTAINS

BOOL = NDArray[np.bool_]
F64 = NDArray[np.float64]

_ROUNDING = 1e-9  # of sums of shares
_LEAST = -745.2  # below the log of every number above 0: sums of such logs are finite


def array_of(tensors: Tensors, name: str, dtype: type[np.generic], shape: tuple[int, ...]) -> NDArray[Any]:
    """Takes out the tensor of that name, type and shape (-1: any size), all of it finite."""
    if name not in tensors:
        raise ValueError(f"there is no {name}")
    found = tensors.pop(name)
    fits = len(found.shape) == len(shape) and all(n in (-1, own) for n, own in zip(shape, found.shape, strict=True))
    if found.dtype != np.dtype(dtype) or not fits:
        raise ValueError(f"{name} is {found.dtype} of the shape {found.shape}; expected {shape}")
    if not np.isfinite(found).all():
        raise ValueError(f"{name} holds what is no number")
    return found


def amounts_of(tensors: Tensors, name: str, shape: tuple[int, ...]) -> F64:
    """Numbers >= 0."""
    found = array_of(tensors, name, np.float64, shape)
    if found.min(initial=0.0) < 0.0:
        raise ValueError(f"{name} holds a negative number")
    return found


def rates_of(tensors: Tensors, name: str, shape: tuple[int, ...]) -> F64:
    """Probabilities, none of them 0 or 1."""
    found = array_of(tensors, name, np.float64, shape)
    if found.min(initial=0.5) <= 0.0 or found.max(initial=0.5) >= 1.0:
        raise ValueError(f"{name} holds what is not between 0 and 1")
    return found


def shares_of(tensors: Tensors, name: str, shape: tuple[int, ...], possible: BOOL | None = None) -> F64:
    """Probabilities that sum to 1 in each row, above 0 exactly where they are possible: without more, everywhere."""
    found = amounts_of(tensors, name, shape)
    if found.max(initial=0.0) > 1.0 + _ROUNDING or np.abs(found.sum(axis=-1) - 1.0).max(initial=0.0) > _ROUNDING:
        raise ValueError(f"{name} holds what are no probabilities")
    if not ((found > 0.0) == (True if possible is None else possible)).all():
        raise ValueError(f"{name} holds a 0 where there can be none, or none where there has to be one")
    return found


def groups_in(groups: Sequence[Sequence[str]], functions: Sequence[str]) -> Tensors:
    """Groups of functions as tensors."""
    number = {name: j for j, name in enumerate(functions)}
    return {
        "groups.members": np.array([number[name] for group in groups for name in group], np.int64),
        "groups.sizes": np.array([len(group) for group in groups], np.int64),
    }


def groups_from(tensors: Tensors, functions: Sequence[str], structure: Structure) -> list[list[str]]:
    """Groups of functions, each function in one, as such a structure may lead to (see `structure.groups_of`)."""
    members = array_of(tensors, "groups.members", np.int64, (len(functions),)).tolist()
    sizes = array_of(tensors, "groups.sizes", np.int64, (-1,)).tolist()
    if min(sizes, default=0) < 1 or sum(sizes) != len(functions) or sorted(members) != list(range(len(functions))):
        raise ValueError("groups of functions")
    ends = np.cumsum(sizes).tolist()
    groups = [members[end - size : end] for end, size in zip(ends, sizes, strict=True)]
    if structure == "learned":
        fits = groups == sorted(map(sorted, groups))
    else:
        fits = groups == _given_groups(functions, structure)
    if not fits:
        raise ValueError("groups of functions that are not of the structure")
    return [[functions[j] for j in group] for group in groups]


def _given_groups(functions: Sequence[str], structure: Structure) -> list[list[int]]:
    given = [] if structure == "independent" else structure
    if type(given) is not list or not all(type(group) is list for group in given):
        raise ValueError("structure")
    number = {name: j for j, name in enumerate(functions)}
    groups = [[number.pop(name) for name in group] for group in given if group]
    return groups + [[j] for j in number.values()]


def emissions_in(emissions: Emissions, functions: Sequence[str]) -> Tensors:
    """Groups of functions and what they do under each label, as tensors."""
    voters = emissions.voters
    joint = {f"joint.{v}": voters.joint[v].astype(np.int32) for v, own in enumerate(voters.groups) if len(own) > 1}
    groups = groups_in([[functions[j] for j in group] for group in voters.groups], functions)
    told: Tensors = {"seen": emissions.seen.astype(np.uint8), "right": emissions.right}
    return {"logs": emissions.logs, "alone": emissions.alone, **told, **groups, **joint}


def emissions_from(
    tensors: Tensors, functions: Sequence[str], space: Space, structure: Structure, silence: bool = True
) -> tuple[Emissions, list[list[str]]]:
    """Emissions and the groups of functions. silence: whether abstaining tells anything."""
    names, labels = len(space.names), len(space.labels)
    groups = groups_from(tensors, functions, structure)
    number = {name: j for j, name in enumerate(functions)}
    single = np.arange(ABSTAINS, names, dtype=np.int32)[:, None]
    joint = [_joint(tensors, v, len(own), names) if len(own) > 1 else single for v, own in enumerate(groups)]
    voters = Voters(tuple(tuple(number[name] for name in group) for group in groups), tuple(joint), names)
    by_themselves = Voters(tuple((j,) for j in range(len(functions))), (single,) * len(functions), names)
    logs = _logs_of(tensors, "logs", voters, labels, silence)
    alone = _logs_of(tensors, "alone", by_themselves, labels, silence)
    seen = array_of(tensors, "seen", np.uint8, (len(functions), names + 1))
    if seen.max(initial=0) > 1:
        raise ValueError("what was seen is not told by 0 and 1")
    right = rates_of(tensors, "right", (len(functions),))
    return Emissions(voters, logs, alone, seen.astype(np.bool_), right), groups


def _joint(tensors: Tensors, voter: int, members: int, names: int) -> NDArray[np.int32]:
    """The joint votes of a group, all different and in order."""
    found = array_of(tensors, f"joint.{voter}", np.int32, (-1, members))
    if not len(found) or found.min() < ABSTAINS or found.max() >= names:
        raise ValueError("joint votes out of range")
    if not np.array_equal(unique_rows(found)[0], found):
        raise ValueError("joint votes not in order")
    return found


def _logs_of(tensors: Tensors, name: str, voters: Voters, labels: int, silence: bool) -> F64:
    """log P(outcome | label) of voters, F64[outcomes, labels]; 0 for silence that tells nothing."""
    logs = array_of(tensors, name, np.float64, (voters.outcomes, labels))
    if logs.max() > _ROUNDING or logs.min() < _LEAST:
        raise ValueError(f"{name} holds what is no logarithm of a probability")
    heard = np.concatenate([silence | (joint != ABSTAINS).any(axis=1) for joint in voters.joint])
    if logs[~heard].any():
        raise ValueError(f"{name} has something to tell of silence")
    shares = np.where(heard[:, None], np.exp(logs), 0.0)
    sums = np.add.reduceat(shares, voters.first[:-1], axis=0)
    some = np.logical_or.reduceat(heard, voters.first[:-1])
    if np.abs(sums[some] - 1.0).max(initial=0.0) > _ROUNDING:
        raise ValueError(f"{name} holds what are no probabilities")
    return logs
