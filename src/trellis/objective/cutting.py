"""Cuts training data into shards."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from trellis.errors import SettingError
from trellis.losses import Loss
from trellis.objective.examples import Examples
from trellis.objective.explicit import ExplicitShard
from trellis.objective.local import LocalShard
from trellis.objective.plain import PlainShard
from trellis.objective.restricted import RestrictedShard
from trellis.objective.segments import SegmentShard
from trellis.objective.shard import Shard
from trellis.objective.windows import WindowShard
from trellis.scoring.explicit import ExplicitLayout
from trellis.scoring.layout import WeightLayout
from trellis.scoring.segments import SegmentLayout

SHARD = 25_000  # tokens below which cutting costs more than it gains
MOST = 16  # shards: enough threads for one machine; a fixed number, so that results do not depend on threads


def cut_into_shards(
    layout: WeightLayout | SegmentLayout | ExplicitLayout, examples: Examples, loss: Loss, plain: bool = False
) -> list[Shard]:
    """Shards of about equal size; how many depends on the data alone. `plain`: none is to be restricted, as online
    optimisers need it."""
    examples.check_labels(layout.labels)
    # lists of labels and patches of transitions do not go together: then forbidden labels have scores of -inf
    restricted = examples.allowed is not None and examples.arcs is None and not plain
    make: Callable[[Any, Examples, Loss], Shard] = RestrictedShard if restricted else PlainShard
    if isinstance(layout, SegmentLayout):
        make = SegmentShard
    elif isinstance(layout, ExplicitLayout):
        make = ExplicitShard
    elif _is_written_out(layout, examples):
        if examples.arcs is not None:
            what = "soft labels and an encoding" if examples.imposed is None else "such constraints"
            raise SettingError(f"attributes on transitions and {what} do not go together; leave one out")
        make = WindowShard  # which shares probability out among the paths that there are
    elif layout.order != 1:
        make = WindowShard if layout.order > 1 else LocalShard
    tokens = int(examples.offsets[-1])
    count = max(1, min(MOST, tokens // SHARD))
    goals = np.linspace(0, tokens, count + 1)[1:-1]
    inner = np.searchsorted(examples.offsets, goals).tolist()
    cuts = [0, *inner, len(examples.offsets) - 1]
    return [make(layout, examples.part(a, b), loss) for a, b in itertools.pairwise(cuts) if b > a]


def _is_written_out(layout: WeightLayout, examples: Examples) -> bool:
    """Whether lattices have to be written out arc by arc, whatever their order."""
    if examples.imposed is not None:
        return True
    return examples.rules is not None and (examples.target.soft is not None or layout.order == 0)
