"""A trained chain whose labels are scored by support tokens. Immutable, so that many threads may use one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.dual import Coefficients, Polynomial, Supports
from trellis.errors import DataError
from trellis.features import FeatureKind, Packed
from trellis.jit import worthwhile
from trellis.lattice import Chain
from trellis.models.batches import Batched

F64 = NDArray[np.float64]

_SUPPORTS = 200  # meeting so many takes about as long as all else that is done for a token


@dataclass(frozen=True)
class KernelChain(Batched):
    """`supports` give the scores of labels, `transitions: F64[labels, labels]` those of label pairs."""

    labels: tuple[str, ...]
    features: FeatureKind
    supports: Supports
    transitions: F64

    @property
    def weights(self) -> F64:
        """All numbers that were learnt: coefficients, then transitions."""
        return np.concatenate([self.supports.coefficients, self.transitions.ravel()])

    def best_of_packed(self, packed: Packed, offsets: NDArray[np.int64]) -> NDArray[np.int32]:
        """The best label of every token, I32[tokens]."""
        scores = self.supports.scores(packed, worthwhile(self.work(int(offsets[-1]))))
        if not np.isfinite(scores).all():
            raise DataError("scores add up to more than a number can hold; make feature values smaller")
        return Chain(scores, self.transitions, offsets).best()[0]

    @property
    def summary(self) -> str:
        return f"{self.supports.size:,} support tokens with {len(self.supports.coefficients):,} coefficients"

    def work(self, tokens: int) -> int:
        return tokens * (1 + self.supports.size // _SUPPORTS)


@dataclass(frozen=True)
class KernelLearner(Batched):
    """A chain in training: what it will be with these or those coefficients over the training data, `packed`."""

    labels: tuple[str, ...]
    features: FeatureKind
    packed: Packed
    kernel: Polynomial

    def with_weights(self, theta: F64) -> KernelChain:
        """With a vector of coefficients, see `Coefficients`."""
        found = Coefficients.of_vector(theta, len(self.labels), len(self.packed.indptr) - 1)
        supports = Supports.of(found, self.packed, self.kernel, self.features.attributes)
        return KernelChain(self.labels, self.features, supports, found.transitions)

    def best_of_packed(self, packed: Packed, offsets: NDArray[np.int64]) -> NDArray[np.int32]:
        """With nothing learnt, the first label for every token."""
        return np.zeros(int(offsets[-1]), np.int32)

    @property
    def summary(self) -> str:
        return "nothing learnt"
