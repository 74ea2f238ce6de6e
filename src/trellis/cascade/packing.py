"""A stage's own attributes and what it reads, put together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from trellis.features import Packed
from trellis.features.packed import unless_ones
from trellis.models.linear import LinearChain
from trellis.models.neural_chain import NeuralChain
from trellis.models.segment_model import SegmentModel
from trellis.scoring.occurring import Occurring, behind

StageModel = LinearChain | SegmentModel | NeuralChain


def linear_of(model: StageModel) -> LinearChain | None:
    """The chain with the sparse weights of a stage; None for segments."""
    if isinstance(model, NeuralChain):
        return model.linear
    return model if isinstance(model, LinearChain) else None


def is_chain(model: StageModel) -> bool:
    """Whether labels of neighbouring tokens have a probability together that can be asked for."""
    linear = linear_of(model)
    return linear is not None and linear.layout.order == 1


def with_wires(packed: Packed, features: Any, labels: Occurring, arcs: Occurring | None) -> Packed:
    """With the attributes that were read behind a token's own."""
    more = _merged(packed, labels, features.attributes)
    if arcs is None:
        return more
    tokens = len(packed.indptr) - 1
    own = packed.arcs or Packed(np.zeros(tokens + 1, np.int64), np.zeros(0, np.int32))
    return replace(more, arcs=_merged(own, arcs, features.arc_attributes))


def _merged(packed: Packed, more: Occurring, base: int) -> Packed:
    values = np.ones(len(packed.ids)) if packed.values is None else packed.values
    both, _ = behind(Occurring(packed.indptr, packed.ids, values), more, base)
    return replace(packed, indptr=both.start, ids=both.ids, values=unless_ones(both.values))
