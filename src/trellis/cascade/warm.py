"""Weights of one cascade carried over to another, stage by stage, by the names of attributes and labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.model import TrainedStage
from trellis.errors import SettingError
from trellis.models.linear import LinearChain
from trellis.models.warm import carried_over

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


def carried(new: TrainedStage, earlier: Sequence[TrainedStage]) -> F64:
    """The weights that an earlier cascade has for a stage; its own where that has no stage of the target."""
    old = next((stage for stage in earlier if stage.target == new.target), None)
    if old is None:
        return new.model.weights
    if not (isinstance(new.model, LinearChain) and isinstance(old.model, LinearChain)):
        raise SettingError(f"stage '{new.target}': weights can be carried over between stages of the model crf only")
    return carried_over(new.model, old.model, (_numbers(new, old, False), _numbers(new, old, True)))


def check_start(earlier: Sequence[TrainedStage], targets: Sequence[str], frozen: Sequence[str]) -> None:
    """That there is something to begin with, and all of it where nothing is learned."""
    there = [stage.target for stage in earlier]
    if not set(there) & set(targets):
        raise SettingError(f"the start has no stage in common: its stages are {', '.join(there)}; leave it out")
    for name in frozen:
        if name not in there:
            raise SettingError(f"stage '{name}' is frozen, and the start has none of that target; leave frozen out")


def check_kept(earlier: Sequence[TrainedStage], weights: Mapping[str, F64], frozen: Sequence[str]) -> None:
    """That stages which are to stay as they are lose nothing: attributes and labels are those of the new data."""
    for stage in earlier:
        had = np.count_nonzero(stage.model.weights)
        lost = had - np.count_nonzero(weights[stage.target]) if stage.target in frozen else 0
        if lost:
            raise SettingError(
                f"stage '{stage.target}' is frozen, but {lost:,} of its {had:,} weights are for attributes and labels "
                "that the training data do not have, and would be lost; train on data that have them (the earlier "
                "ones, too), or leave frozen out"
            )


def _numbers(new: TrainedStage, old: TrainedStage, arcs: bool) -> I64:
    """The numbers in the old stage of what the new one reads."""
    names = [] if new.wiring is None else new.wiring.arc_names() if arcs else new.wiring.names()
    theirs = [] if old.wiring is None else old.wiring.arc_names() if arcs else old.wiring.names()
    base = old.model.features.arc_attributes if arcs else old.model.features.attributes
    index = {name: base + n for n, name in enumerate(theirs)}
    return np.array([index.get(name, -1) for name in names], np.int64)
