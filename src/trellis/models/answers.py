"""What a chain of labels with probabilities is asked, answered by its lattice."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trellis.features import Packed
from trellis.lattice import Chain
from trellis.lattice.confidence import Segments
from trellis.models.batches import Batched, Sentences
from trellis.models.probabilities import Lattice, best_in, kinds_of, segments_in

if TYPE_CHECKING:
    from trellis.models.constraints import Prepared

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


class Answers(Batched):
    """A model that can write down the lattice of sentences. Those that know a quicker way to the best labels or to
    marginals have it in place of what is here."""

    @abstractmethod
    def lattice_of_packed(self, packed: Packed, offsets: I64, imposed: Prepared | None = None) -> Lattice:
        """The lattice of sentences that are already packed, for any question. `imposed`: what the answer must keep
        to."""

    def best_of_packed(self, packed: Packed, offsets: I64) -> NDArray[np.int32]:
        """`best` for features that are already packed."""
        return self.best_of_lattice(self.lattice_of_packed(packed, offsets))

    def marginals_of_packed(self, packed: Packed, offsets: I64) -> F64:
        """`marginals` for features that are already packed."""
        return self.marginals_of_lattice(self.lattice_of_packed(packed, offsets))

    def marginals(self, data: Sentences, threads: int = 1) -> F64:
        """P(label) of every token, F64[tokens, labels]."""
        return np.concatenate([np.zeros((0, len(self.labels))), *self.batches(data, threads, self.marginals_of_packed)])

    def best_of_lattice(self, lattice: Lattice) -> NDArray[np.int32]:
        """The best labels, I32[tokens], of a lattice, maybe a constrained one."""
        return best_in(lattice)

    def marginals_of_lattice(self, lattice: Lattice) -> F64:
        """P(label) of every token, F64[tokens, labels], of a lattice, maybe a constrained one."""
        answer = lattice.marginals()
        if isinstance(lattice, Chain):
            return answer.nodes
        lattice.require_paths(answer.log_z)
        return lattice.on_labels(answer.nodes)

    def segments_of_lattice(self, lattice: Lattice, threshold: float | None) -> Segments:
        """All segments with at least that probability; without a threshold those of the best path."""
        return segments_in(lattice, self.labels, threshold, lattice.best()[0])

    def bounds_left_out(self, packed: Packed, offsets: I64, lattice: Lattice) -> F64 | float:
        """What labellings that are not in the lattice would score at most: there are none."""
        return -np.inf

    @property
    def segments_as(self) -> None:
        """How segments are written as labels: nodes are labels, not segments."""
        return None

    @property
    def kinds_of_segments(self) -> list[str]:
        return kinds_of(self.labels)
