"""What stages say of data that they have not learned from: folds, each labelled by a training on the others."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.believing import beliefs_of
from trellis.cascade.model import CascadeModel
from trellis.cascade.plan import Beliefs, joined
from trellis.cascade.warm import carried
from trellis.corpus import Corpus
from trellis.errors import DataError, TrellisError
from trellis.features import Packed
from trellis.features.carry import earlier_numbers
from trellis.lattice import Allowed
from trellis.models.keeping import Keeping

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
        whole, at = learning.model, self._place(learning, s)
        model = replace(self.model, stages=self.model.stages[: at + 1])
        asked, number = model.stages[-1], self._label_numbers(learning, s)

        def ask(own: Any, packed: Packed, offsets: I64) -> Beliefs | None:
            if own is not asked.model:
                return None
            return beliefs_of(
                model.wire, own, packed, offsets, len(number), whole.chained(s), model.least, model.paths, model.seed
            )

        found = [one for one in model.answers(self._data(learning), learning.threads, ask)[-1] if one is not None]
        return joined(found).renamed(number, len(whole.stages[s].labels))

    def weights(self, learning: Learning, s: int) -> F64:
        """Those of stage s, where they are in all of the data; 0 for what no other sentence has."""
        stage = learning.ready[s].stage.target
        _LOG.info("stage '%s', without sentences %d to %d, as a start:", stage, self.first + 1, self.last)
        return carried(learning.model.stages[s], self.model.stages)

    def packed(self, learning: Learning, s: int) -> Packed:
        """The fold's sentences as stage s sees them, in the numbers of all of the data: of attributes that no other
        sentence has, it sees nothing, and labels that none has are not allowed."""
        mine = self.model.stages[self._place(learning, s)].model
        found = mine.pack(self._data(learning))
        labels, arcs = earlier_numbers(mine.features, learning.ready[s].model.features)
        return replace(
            found.renumbered(_with_unknown(labels)),
            arcs=None if found.arcs is None else found.arcs.renumbered(_with_unknown(arcs)),
            allowed=self._allowed(learning, s),
        )

    def _allowed(self, learning: Learning, s: int) -> Allowed:
        is_known = np.zeros(len(learning.model.stages[s].labels), bool)
        is_known[self._label_numbers(learning, s)] = True
        return Allowed.of_mask(np.tile(is_known, (self._data(learning).tokens, 1)))

    def _label_numbers(self, learning: Learning, s: int) -> I64:
        """What the fold's labels are among those of all of the data."""
        number = {name: j for j, name in enumerate(learning.model.stages[s].labels)}
        return np.array([number[name] for name in self.model.stages[self._place(learning, s)].labels])

    def _data(self, learning: Learning) -> Corpus:
        return learning.corpus.slice(self.first, self.last)

    def _place(self, learning: Learning, s: int) -> int:
        return [stage.target for stage in self.model.stages].index(learning.ready[s].stage.target)


def folds_of(learning: Learning) -> list[Fold]:
    """Each with all stages that are read trained anew."""
    from trellis.cascade.learning import Learning

    cascade, corpus = learning.cascade, learning.corpus
    stages = [one.stage for s, one in enumerate(learning.ready) if learning.model.is_read(s)]
    count = min(int(cascade.jackknife), len(corpus))
    ends = np.linspace(0, len(corpus), count + 1).astype(int).tolist()
    folds = []
    for first, last in pairwise(ends):
        if first == last:
            continue
        _LOG.info("stages that are read, without sentences %d to %d", first + 1, last)
        try:
            once = Learning(_plain(cascade), stages, without(corpus, first, last), None, Keeping())
            once.stage_by_stage()
        except TrellisError as error:
            if count == 1:
                raise DataError("there is one sentence, and jackknife needs two; leave jackknife out") from None
            error.add_note(
                f"in the training without sentences {first + 1} to {last} (jackknife); shuffle the sentences, or use "
                "more folds"
            )
            raise
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
        raise DataError("jackknife leaves no sentence to learn from")
    offsets = np.concatenate([[0], np.cumsum(lengths[keep])]).astype(np.int64)
    return corpus.rows(np.repeat(keep, lengths), offsets)


def _with_unknown(numbers: I64) -> NDArray[np.int32]:
    """So that -1 stays -1."""
    return np.append(numbers, -1).astype(np.int32)


def _plain(cascade: Cascade) -> Cascade:
    """The same without folds."""
    from trellis.cascade.cascade import Cascade

    return Cascade(**{**cascade.get_params(), "jackknife": 0})
