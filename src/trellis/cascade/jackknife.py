"""What stages say of data that they have not learned from: folds, each labelled by a training on the others."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.keeping import Keeping
from trellis.cascade.model import CascadeModel
from trellis.cascade.plan import Beliefs, joined
from trellis.cascade.warm import carried
from trellis.corpus import Corpus
from trellis.errors import DataError
from trellis.features import Packed
from trellis.features.carry import earlier_numbers

if TYPE_CHECKING:
    from trellis.cascade.cascade import Cascade
    from trellis.cascade.learning import Learning

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Fold:
    """Sentences first..last; `model`: the stages that are read, trained on all others."""

    first: int
    last: int
    model: CascadeModel

    def beliefs(self, learning: Learning, s: int) -> Beliefs:
        """What stage s believes about the fold's sentences, in the numbers of its labels in all of the data."""
        from trellis.cascade.believing import beliefs_of

        whole, at = learning.model, self._place(learning, s)
        model = replace(self.model, stages=self.model.stages[: at + 1])
        asked = model.stages[-1]
        number = {name: j for j, name in enumerate(learning.ready[s].labels)}
        table = np.array([number.get(name, -1) for name in asked.labels])

        def ask(own: Any, packed: Packed, offsets: I64) -> Beliefs | None:
            if own is not asked.model:
                return None
            return beliefs_of(
                model.wire, own, packed, offsets, len(table), whole.chained(s), model.least, model.paths, model.seed
            )

        found = [one for one in model.answers(self._data(learning), learning.threads, ask)[-1] if one is not None]
        return joined(found).renamed(table, len(number))

    def weights(self, learning: Learning, s: int) -> F64:
        """Those of stage s, where they are in all of the data; 0 for what no other sentence has."""
        return carried(learning.model.stages[s], self.model.stages)

    def packed(self, learning: Learning, s: int) -> Packed:
        """The fold's sentences as stage s sees them, in the numbers of all of the data: of attributes that no other
        sentence has, it sees nothing."""
        mine = self.model.stages[self._place(learning, s)].model
        found = mine.pack(self._data(learning))
        labels, arcs = earlier_numbers(mine.features, learning.ready[s].model.features)
        out = found.renumbered(_with_unknown(labels))
        return out if found.arcs is None else replace(out, arcs=found.arcs.renumbered(_with_unknown(arcs)))

    def _data(self, learning: Learning) -> Corpus:
        return learning.corpus.slice(self.first, self.last)

    def _place(self, learning: Learning, s: int) -> int:
        return [stage.target for stage in self.model.stages].index(learning.ready[s].stage.target)


def folds_of(learning: Learning) -> list[Fold]:
    """Each with all stages that are read trained anew."""
    from trellis.cascade.learning import Learning

    cascade, corpus = learning.cascade, learning.corpus
    stages = [one.stage for s, one in enumerate(learning.ready) if learning.model.is_read(s)]
    ends = np.linspace(0, len(corpus), int(cascade.jackknife) + 1).astype(int).tolist()
    folds = []
    for first, last in pairwise(ends):
        if first == last:
            continue
        _LOG.info("stages that are read, without sentences %d to %d", first + 1, last)
        once = Learning(_plain(cascade), stages, without(corpus, first, last), None, Keeping())
        once.stage_by_stage()
        folds.append(Fold(first, last, once.model))
    return folds


def jackknifed(learning: Learning, folds: Sequence[Fold], s: int) -> Beliefs:
    """What stage s believes about sentences that it has not seen."""
    return joined([fold.beliefs(learning, s) for fold in folds])


def without(corpus: Corpus, first: int, last: int) -> Corpus:
    """The corpus but for sentences first..last."""
    lengths = np.diff(corpus.offsets)
    keep = np.ones(len(lengths), bool)
    keep[first:last] = False
    if not keep.any():
        raise DataError("jackknife leaves no sentence to learn from; use fewer folds")
    offsets = np.concatenate([[0], np.cumsum(lengths[keep])]).astype(np.int64)
    return corpus.rows(np.repeat(keep, lengths), offsets)


def _with_unknown(numbers: I64) -> NDArray[np.int32]:
    """So that -1 stays -1."""
    return np.append(numbers, -1).astype(np.int32)


def _plain(cascade: Cascade) -> Cascade:
    """The same without folds."""
    from trellis.cascade.cascade import Cascade

    return Cascade(**{**cascade.get_params(), "jackknife": 0})
