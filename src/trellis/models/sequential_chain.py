"""A trained sequential classifier. Immutable, so that many threads may use one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trellis.features import FeatureKind, Packed
from trellis.labels import runs
from trellis.lattice.history import HistoryChain, Pieces
from trellis.models.answers import Answers
from trellis.models.histories import pieces_of
from trellis.models.linear import LinearChain
from trellis.models.probabilities import Lattice

if TYPE_CHECKING:
    from trellis.models.constraints import Prepared
    from trellis.scoring import WeightLayout

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

_HELD = 1 << 21  # scores that are there at a time: 16 MB


@dataclass(frozen=True)
class SequentialChain(Answers):
    """A `linear` chain whose scores are normalised label by label rather than over all paths; `beam`: how many
    histories are kept in search of the best labels, None for all."""

    labels: tuple[str, ...]
    features: FeatureKind
    linear: LinearChain
    beam: int | None = None

    @classmethod
    def of(cls, linear: LinearChain, beam: int | None = None) -> SequentialChain:
        """With the labels and features of the chain."""
        return cls(linear.labels, linear.features, linear, beam)

    @property
    def weights(self) -> F64:
        return self.linear.weights

    @property
    def layout(self) -> WeightLayout:
        return self.linear.layout

    @property
    def order(self) -> int:
        return self.linear.layout.order

    @property
    def summary(self) -> str:
        return self.linear.summary

    def with_weights(self, weights: F64) -> SequentialChain:
        """The same model with other weights."""
        return replace(self, linear=self.linear.with_weights(weights))

    def best_of_packed(self, packed: Packed, offsets: I64) -> I32:
        paths = [chain.best(self.beam)[0] for chain in self.histories(packed, offsets)]
        return np.concatenate([np.zeros(0, np.int32), *paths])

    def marginals_of_packed(self, packed: Packed, offsets: I64) -> F64:
        rows = [chain.marginals() for chain in self.histories(packed, offsets)]
        return np.concatenate([np.zeros((0, len(self.labels))), *rows])

    def lattice_of_packed(self, packed: Packed, offsets: I64, imposed: Prepared | None = None) -> Lattice:
        return self._histories(packed, offsets).chain()

    def log_probabilities(self, packed: Packed, offsets: I64, labels: I32) -> F64:
        """log P of labels I32[tokens], F64[sentences]."""
        found, first = [np.zeros(0)], 0
        for chain in self.histories(packed, offsets):
            last = first + len(chain.scores)
            found.append(chain.log_probabilities(labels[first:last]))
            first = last
        return np.concatenate(found)

    def histories(self, packed: Packed, offsets: I64) -> Iterator[HistoryChain]:
        """Of all sentences, in parts, for the memory of scores and, above all, of transitions for each token."""
        most = max(1, _HELD // len(self.labels) ** (1 if packed.arcs is None else 2))
        for first, last in runs(offsets, most):
            a, b = int(offsets[first]), int(offsets[last])
            yield self._histories(packed.part(a, b), offsets[first : last + 1] - a)

    def _histories(self, packed: Packed, offsets: I64) -> HistoryChain:
        linear = self.linear
        scores, transitions = linear.scores_in(packed, offsets), linear.transitions_of(packed)
        return HistoryChain.of(scores, transitions, self._pieces, linear.layout.order, offsets)

    @cached_property
    def _pieces(self) -> Pieces:
        return pieces_of(self.linear.layout, self.linear.weights)
