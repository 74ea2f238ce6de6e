"""A trained chain with an encoder beside its sparse features. Immutable, so that many threads may use one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError
from trellis.features import FeatureKind, Packed
from trellis.features.inputs import InputTables
from trellis.lattice import Chain
from trellis.models.linear import LinearChain
from trellis.models.probabilities import Lattice
from trellis.models.words import OfWords
from trellis.neural.encoder import WORK, Encoder

if TYPE_CHECKING:
    from trellis.models.constraints import Prepared
    from trellis.scoring import WeightLayout

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class NeuralChain(OfWords):
    """A `linear` chain to whose scores of labels those of an `encoder` are added."""

    labels: tuple[str, ...]
    features: FeatureKind
    linear: LinearChain
    encoder: Encoder

    @classmethod
    def of(cls, linear: LinearChain, encoder: Encoder) -> NeuralChain:
        """With the labels and features of the chain."""
        return cls(linear.labels, linear.features, linear, encoder)

    @property
    def layout(self) -> WeightLayout:
        """Of the sparse weights."""
        return self.linear.layout

    @property
    def weights(self) -> F64:
        """The sparse ones, then the encoder's."""
        return np.concatenate([self.linear.weights, self.encoder.vector])

    @property
    def summary(self) -> str:
        return f"{self.linear.layout.size:,} weights and an encoder of {self.encoder.shape.size:,}"

    def with_weights(self, weights: F64) -> NeuralChain:
        """The same model with other weights."""
        cut = self.linear.layout.size
        return replace(
            self, linear=self.linear.with_weights(weights[:cut]), encoder=self.encoder.with_vector(weights[cut:])
        )

    @property
    def column(self) -> str:
        """That of the words."""
        return self.tables.columns[0]

    @property
    def further(self) -> Sequence[str]:
        seen = [*self.tables.columns, *getattr(self.features, "columns", ())]
        return [name for name in dict.fromkeys(seen) if name != self.column]

    @property
    def tables(self) -> InputTables:
        """How what the encoder sees is numbered."""
        found = getattr(self.features, "inputs", None)
        assert isinstance(found, InputTables)
        return found

    def lattice_of_packed(self, packed: Packed, offsets: I64, imposed: Prepared | None = None) -> Lattice:
        assert packed.inputs is not None
        lattice, scores = self.linear.lattice_of_packed(packed, offsets), self.encoder.scores(packed.inputs, offsets)
        if not np.isfinite(scores).all():
            raise DataError("the encoder's scores are no numbers; are its weights extreme?")
        if isinstance(lattice, Chain):
            return replace(lattice, scores=lattice.scores + scores)
        return replace(lattice, node_scores=lattice.node_scores + lattice.on_nodes(scores))

    def work(self, tokens: int) -> int:
        return WORK * tokens
