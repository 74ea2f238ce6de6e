"""Decoding and marginals where attributes bear on transitions: the part of a linear chain that most models lack."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError
from trellis.features import Packed
from trellis.jit import SMALL, worthwhile
from trellis.labels import runs
from trellis.lattice import Chain, WorkChain
from trellis.scoring import WeightLayout, plain_transitions

if TYPE_CHECKING:
    from trellis.lattice.kernels.patches import Patches
    from trellis.scoring.arcs import ArcOccurrences

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

_HELD = 1 << 19  # numbers in blocks of transitions, one a token, that plain NumPy holds at a time: 4 MB
_MOST_HELD = 1 << 23  # the same for a long sentence, which cannot be cut: 64 MB


@dataclass(frozen=True)
class ArcAttributes:
    """The arc attributes of a layout with the weights of all of it, `F64[layout.size]`."""

    layout: WeightLayout
    weights: F64

    def compiled(self, offsets: I64) -> bool:
        """Whether to use kernels, which hold no blocks: for much work, and for what would not fit otherwise."""
        longest = int(np.diff(offsets).max(initial=0))
        return worthwhile(int(offsets[-1])) or (longest * self.layout.labels**2 > _MOST_HELD and worthwhile(SMALL))

    def blocks(self, arcs: Packed) -> F64:
        """The transitions into every token, F64[tokens, labels, labels]."""
        tokens = len(arcs.indptr) - 1
        return plain_transitions(self.layout, self.weights, arcs.indptr, arcs.ids, arcs.values, 0, tokens)

    def best(self, scores: F64, offsets: I64, arcs: Packed) -> NDArray[np.int32]:
        """The best label of every token, I32[tokens]; scores: F64[tokens, labels or more, as `compiled` says]."""
        if not self.compiled(offsets):
            parts = [chain.best()[0] for chain in self._chains(scores, offsets, arcs)]
            return np.concatenate([np.zeros(0, np.int32), *parts])
        from trellis.lattice.patched import patched_best

        return patched_best(scores, self._transitions, offsets, self._occurrences(arcs, offsets).on(self._patches))

    def marginals(self, scores: F64, offsets: I64, arcs: Packed) -> F64:
        """P(label) of every token, F64[tokens, labels]. Uses the scores up."""
        labels = self.layout.labels
        if not self.compiled(offsets):
            nodes = [chain.marginals().nodes for chain in self._chains(scores, offsets, arcs)]
            return np.concatenate([np.zeros((0, labels)), *nodes])
        from trellis.scoring.arcs import ArcChains

        scores[:, labels:] = -np.inf
        chain = WorkChain(scores, self._transitions, offsets, partial(np.copy, scores))
        make = ArcChains(labels, self._occurrences(arcs, offsets)).patching(self._patches, self._transitions, None)
        answer = make(chain, 0, len(scores)).marginals()
        if not np.isfinite(answer.log_z).all():
            raise DataError("scores add up to more than a number can hold; make them smaller")
        return np.ascontiguousarray(answer.nodes[:, :labels])

    def _chains(self, scores: F64, offsets: I64, arcs: Packed) -> Iterator[Chain]:
        """Chains of some sentences each, so that not all tokens' blocks are there at a time."""
        for first, last in runs(offsets, max(1, _HELD // self.layout.labels**2)):
            a, b = int(offsets[first]), int(offsets[last])
            blocks = plain_transitions(self.layout, self.weights, arcs.indptr, arcs.ids, arcs.values, a, b)
            yield Chain(scores[a:b], blocks, offsets[first : last + 1] - a)

    def _occurrences(self, arcs: Packed, offsets: I64) -> ArcOccurrences:
        from trellis.scoring.arcs import ArcOccurrences

        return ArcOccurrences.effective(arcs.indptr, arcs.ids, arcs.values, offsets)

    @cached_property
    def _transitions(self) -> F64:
        return self.layout.transition_matrix(self.weights[self.layout.pairs : self.layout.arcs_at])

    @cached_property
    def _patches(self) -> Patches:
        from trellis.scoring.arcs import patches_of

        return patches_of(self.layout, self.weights[self.layout.arcs_at :])
