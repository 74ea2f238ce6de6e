"""Cuts training data into shards."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError
from trellis.losses import Loss
from trellis.objective.examples import Examples
from trellis.objective.explicit import ExplicitShard
from trellis.objective.local import LocalShard
from trellis.objective.plain import PlainShard, Rows
from trellis.objective.restricted import RestrictedShard
from trellis.objective.segments import SegmentShard
from trellis.objective.shard import Shard
from trellis.objective.space import Space
from trellis.objective.windows import WindowShard
from trellis.scoring.explicit import ExplicitLayout
from trellis.scoring.layout import WeightLayout
from trellis.scoring.occurring import Appearances
from trellis.scoring.segments import SegmentLayout

SHARD = 25_000  # tokens below which cutting costs more than it gains
# Weights of all shards up to which answers are kept, to be added up all at once: that takes less than half as long as
# each in its turn, when the sum has left the cache since the last one.
_FEW = 1 << 22
MOST = 16  # shards: enough threads for one machine; a fixed number, so that results do not depend on threads


def cut_into_shards(
    layout: WeightLayout | SegmentLayout | ExplicitLayout, examples: Examples, loss: Loss, plain: bool = False
) -> list[Shard]:
    """Shards of about equal size; how many depends on the data alone. `plain`: none is to be restricted, as online
    optimisers need it."""
    make = kind_of_shard(layout, examples, plain)
    # on each thread, one is asked after the other
    space = Space(by_thread=True)
    shared: dict[str, Any] = {}
    if issubclass(make, Rows):
        shared = {"space": space, "appearances": Appearances(layout.attributes)}
    shards = [make(layout, examples.part(a, b), loss, **shared) for a, b in cuts(examples.offsets)]
    space.keeps_answers = sum(len(shard.index) for shard in shards) <= _FEW
    return shards


def cuts(offsets: NDArray[np.int64]) -> list[tuple[int, int]]:
    """The first sentence of each shard, and that behind its last."""
    tokens = int(offsets[-1])
    count = max(1, min(MOST, tokens // SHARD))
    goals = np.linspace(0, tokens, count + 1)[1:-1]
    ends = [0, *np.searchsorted(offsets, goals).tolist(), len(offsets) - 1]
    return [(a, b) for a, b in itertools.pairwise(ends) if b > a]


def kind_of_shard(
    layout: WeightLayout | SegmentLayout | ExplicitLayout, examples: Examples, plain: bool = False
) -> type[Any]:
    """The class of shards for a layout and what is to be minded."""
    examples.check_labels(layout.labels)
    # lists of labels and patches of transitions do not go together: then forbidden labels have scores of -inf
    restricted = examples.allowed is not None and examples.arcs is None and not plain
    make: type[Any] = RestrictedShard if restricted else PlainShard
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
    pairs = examples.more is not None and examples.more.pairs is not None
    if pairs and (make is not PlainShard or examples.arcs is not None):
        raise SettingError(
            "soft labels of whole paths are for chains of order 1 without attributes on transitions, encoding, "
            "only_seen, pruning and constraints; leave these out, or the pairs"
        )
    return make


def _is_written_out(layout: WeightLayout, examples: Examples) -> bool:
    """Whether lattices have to be written out arc by arc, whatever their order."""
    if examples.imposed is not None:
        return True
    return examples.rules is not None and (examples.target.soft is not None or layout.order == 0)
