"""Joint training in which lower stages know sentences as if they had not learned from them.

A lower stage is surer of the sentences that it has learned from than of others: what an upper stage learns there, and
tells it, is not what will help, and its own loss there has little to say against it. With theta^(-k) the lower stages'
weights after a training without fold k, and theta^0 those with which joint training begins, sentences i of fold k are
labelled by lower stages with

    theta + delta_k,    delta_k = theta^(-k) - theta^0        so at first as `jackknife` has it,

which moves as theta does. The objective is the sum over stages s of

    weight_s sum_i loss_s(x_i; theta_s + delta_{s,k(i)}, what is read of stages below)

where delta is 0 for stages that no other reads. Attributes that a fold has alone are not seen there: nothing is said of
their weights, which stay as they are (see `joint_prior`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.joint import JointShard
from trellis.cascade.together import cut_parts, parts_of, runs_of
from trellis.features import Packed
from trellis.lattice import Allowed

if TYPE_CHECKING:
    from trellis.cascade.jackknife import Fold
    from trellis.cascade.learning import Learning
    from trellis.cascade.preparing import Ready

F64 = NDArray[np.float64]


class Folded:
    """A cascade's training data for that. `theta`: where joint training begins."""

    def __init__(self, learning: Learning, folds: Sequence[Fold], theta: F64):
        self._offsets, self._ends = learning.corpus.offsets, [(fold.first, fold.last) for fold in folds]
        weights, stages = learning.split(theta), range(len(learning.ready))
        read = [s for s in stages if learning.model.is_read(s)]
        self.ready = [_unseen(learning, folds, s) if s in read else learning.ready[s] for s in stages]
        parts = parts_of(self.ready, learning)
        self._parts = [
            [part.moved(fold.weights(learning, s) - weights[s]) if s in read else part for s, part in enumerate(parts)]
            for fold in folds
        ]

    def shards(self, least: float, sentences: int | None = None) -> list[JointShard]:
        """As those of `Joined`; none has sentences of two folds."""
        shards = []
        for (a, b), parts in zip(self._ends, self._parts, strict=True):
            offsets = self._offsets[a : b + 1] - self._offsets[a]
            runs = [(a + first, a + last) for first, last in runs_of(offsets, sentences)]
            shards += cut_parts(parts, runs, least, sentences is not None)
        return shards


def _unseen(learning: Learning, folds: Sequence[Fold], s: int) -> Ready:
    """Stage s with sentences that have no attribute but those that other folds have, and may have no label but these
    have. Where that would leave nothing of what is annotated, they may have that, too: so a label of one fold alone can
    be learned, though upper stages see it just where it is right."""
    ready = learning.ready[s]
    packed = Packed.joined([fold.packed(learning, s) for fold in folds])
    assert packed.allowed is not None
    mask, known = packed.allowed.mask(), ready.target.known
    if known is None:
        mask[np.arange(len(mask)), ready.gold] = True
    else:
        strange = ~(mask & known).any(axis=1)
        if ready.rules is not None:  # which may ask for labels elsewhere in the sentence
            sentence = np.repeat(np.arange(len(ready.offsets) - 1), np.diff(ready.offsets))
            strange = np.isin(sentence, sentence[(known & ~mask).any(axis=1)])
        mask[strange] |= known[strange]
    return replace(ready, packed=replace(packed, allowed=None if mask.all() else Allowed.of_mask(mask)))
