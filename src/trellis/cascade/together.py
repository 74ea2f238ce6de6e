"""All stages of a cascade as one objective."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.joint import JointShard
from trellis.cascade.passes import JointStage, Reads, Shift
from trellis.cascade.plan import Beliefs
from trellis.cascade.preparing import Ready
from trellis.labels import runs
from trellis.models.recipe import prior_of
from trellis.objective import Around, Prior, PriorsOfParts
from trellis.objective.cutting import cuts, kind_of_shard
from trellis.objective.shard import BLOCK
from trellis.scoring.hybrid import HybridScoring
from trellis.scoring.layout import WeightLayout
from trellis.scoring.occurring import Occurring
from trellis.scoring.segments import SegmentLayout
from trellis.scoring.wires import ArcWireScoring, WireScoring

if TYPE_CHECKING:
    from trellis.cascade.learning import Learning

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

_WRITTEN = 512  # tokens in a block where arcs are written out one by one: a stage's, or what it reads on them


class Joined:
    """A cascade's training data."""

    def __init__(self, learning: Learning):
        self._offsets = learning.corpus.offsets
        self._parts = parts_of(learning.ready, learning)

    def shards(self, least: float, sentences: int | None = None) -> list[JointShard]:
        """What is less probable than `least` is not read. `sentences`: how many there are in a shard, where that is
        not left to the size of the data; such small shards must be asked one after the other."""
        return cut_parts(self._parts, runs_of(self._offsets, sentences), least, sentences is not None)


def parts_of(ready: Sequence[Ready], learning: Learning) -> list[Part]:
    """Stages of a cascade, ready as they are in `learning` or otherwise."""
    return [
        Part(one, base, lower, float(one.stage.weight))
        for one, base, lower in zip(ready, learning.starts, learning.reads, strict=False)
    ]


def runs_of(offsets: I64, sentences: int | None = None) -> list[tuple[int, int]]:
    """The sentences of shards: so many each, or as their lengths make it."""
    if sentences is None:
        return cuts(offsets)
    count = len(offsets) - 1
    return [(a, min(a + sentences, count)) for a in range(0, count, sentences)]


def cut_parts(
    parts: Sequence[Part], runs: Sequence[tuple[int, int]], least: float, in_turn: bool = False
) -> list[JointShard]:
    """Shards of some sentences each, of the stages `parts`, whose `lower` are places among these. `in_turn`: shards are
    asked one after the other, and may share what they work with."""
    block = min(_block(part.ready) for part in parts)
    read = {s for part in parts for s in part.lower}
    chained = {
        s
        for part in parts
        if part.ready.wiring is not None
        for s, pairs in zip(part.lower, part.ready.wiring.chained, strict=True)
        if pairs and parts[s].ready.is_chain
    }
    shared = [part.scorings() if in_turn else None for part in parts]
    return [
        JointShard(
            [part.stage(a, b, block, s in read, s in chained, scorings=shared[s]) for s, part in enumerate(parts)],
            least,
        )
        for a, b in runs
    ]


def stage_shards(ready: Ready, beliefs: Sequence[Beliefs], least: float) -> list[JointShard]:
    """A stage by itself, with what it reads of lower ones given."""
    part = Part(ready, 0, (), 1.0)
    block = _block(ready)
    return [JointShard([part.stage(a, b, block, False, False, beliefs)], least) for a, b in cuts(ready.offsets)]


def joint_prior(ready: Sequence[Ready], seed: int, shards: Sequence[JointShard], theta: F64) -> Prior:
    """Each stage's own. Weights that no shard says anything of would fall to 0: theirs is around where they are."""
    priors = [prior_of(one.stage.estimator(seed, None)) for one in ready]
    prior = PriorsOfParts([one.model.layout.size for one in ready], priors)
    is_there = np.zeros(len(theta), bool)
    for shard in shards:
        is_there[shard.index] = True
    return prior if is_there.all() else Around(prior, np.where(is_there, 0.0, theta))


def _block(ready: Ready) -> int:
    """Tokens in a block."""
    layout = ready.model.layout
    is_quick = isinstance(layout, WeightLayout) and layout.order <= 1
    has_all_pairs = ready.reads_arcs and bool(ready.stage.settings.get("all_pairs"))
    return BLOCK if is_quick and not has_all_pairs else _WRITTEN


class Part:
    """A stage, ready to be cut: `base`, where its weights begin in theta; `lower`, the stages that it reads; `weight`,
    that of its loss."""

    def __init__(self, ready: Ready, base: int, lower: tuple[int, ...], weight: float):
        self.ready, self.lower = ready, lower
        self.shift: Shift | None = None
        layout: Any = ready.model.layout
        features, self.arcs_are_read = ready.model.features, ready.reads_arcs
        self.own, index, at, arcs_at = own_part(layout, features.attributes, self.arcs_are_read)
        self._places = index, at, arcs_at
        self.index, self.at, self.arcs_at = index + base, _moved(at, base), _moved(arcs_at, base)
        tokens: WeightLayout = layout.tokens if isinstance(layout, SegmentLayout) else layout
        none = np.zeros(0, np.int32)
        start = tokens.pair_start[features.attributes :]
        self.wired = WeightLayout(
            tokens.labels,
            start - start[0],
            tokens.pair_label[start[0] :],
            none,
            none,
            tokens.arc_start,
            tokens.arc_pair,
        )
        self.scoring = HybridScoring(self.wired)  # of all shards: it takes as much room as the weights do
        self.examples = ready.own_examples(weight)
        self.make = kind_of_shard(self.own, self.examples, plain=ready.packed.allowed is not None)

    def moved(self, delta: F64) -> Part:
        """The same with `delta: F64[weights]` added to its weights before they are used."""
        other = copy(self)
        other.shift = Shift(*(delta[place] for place in self._places))
        return other

    def scorings(self) -> tuple[WireScoring, ArcWireScoring | None]:
        """With numbers of their own, for one shard at a time."""
        return WireScoring(self.scoring), ArcWireScoring(self.wired) if self.arcs_are_read else None

    def stage(
        self,
        first: int,
        last: int,
        block: int,
        is_read: bool,
        is_chained: bool,
        beliefs: Sequence[Beliefs] | None = None,
        scorings: tuple[WireScoring, ArcWireScoring | None] | None = None,
    ) -> JointStage:
        """For sentences first..last. `scorings`: of shards that are asked one after the other."""
        part, ready = self.examples.part(first, last), self.ready
        shard = self.make(self.own, replace(part, blocks=runs(part.offsets, block)), ready.loss)
        a, b = int(ready.offsets[first]), int(ready.offsets[last])
        reads = None
        if ready.wiring is not None:
            reads = Reads(
                self.lower, ready.wiring, *(scorings or self.scorings()), self.at, self.arcs_at,
                None if ready.columns is None else ready.columns[a:b], ready.curve, self._own_arcs(a, b, part.offsets),
                ready.model.features.arc_attributes,
                None if beliefs is None else tuple(one.part(a, b) for one in beliefs),
            )  # fmt: skip
        return JointStage(shard, self.index, len(ready.labels), reads, is_read, is_chained, self.shift)

    def _own_arcs(self, a: int, b: int, offsets: NDArray[np.int64]) -> Occurring | None:
        arcs = self.ready.packed.arcs
        if not self.arcs_are_read or arcs is None:
            return None
        from trellis.scoring.arcs import ArcOccurrences

        here = arcs.part(a, b)
        kept = ArcOccurrences.effective(here.indptr, here.ids, here.values, offsets)
        return Occurring(kept.indptr, kept.ids, kept.values if len(kept.values) else np.ones(len(kept.ids)))


def _moved(place: slice, base: int) -> slice:
    return slice(place.start + base, place.stop + base)


def own_part(
    layout: WeightLayout | SegmentLayout, attributes: int, arcs_are_read: bool
) -> tuple[Any, I64, slice, slice]:
    """A stage's layout without what it reads, which weights that is (I64[...]), and where those of what it reads are:
    on labels, on transitions. All attributes on transitions count as read, if any are."""
    tokens = layout.tokens if isinstance(layout, SegmentLayout) else layout
    pairs, first = tokens.pairs, int(tokens.pair_start[attributes])
    own = replace(tokens, pair_start=tokens.pair_start[: attributes + 1], pair_label=tokens.pair_label[:first])
    if isinstance(layout, SegmentLayout):
        rest = np.arange(pairs, layout.size)
        return replace(layout, tokens=own), np.concatenate([np.arange(first), rest]), slice(first, pairs), slice(0, 0)
    arcs = slice(tokens.tuples_at, tokens.tuples_at)
    if arcs_are_read:
        own = replace(own, arc_start=np.zeros(1, np.int64), arc_pair=np.zeros(0, np.int32))
        arcs = slice(tokens.arcs_at, tokens.tuples_at)
    rest = np.concatenate([np.arange(pairs, arcs.start), np.arange(arcs.stop, tokens.size)])
    return own, np.concatenate([np.arange(first), rest]), slice(first, pairs), arcs
