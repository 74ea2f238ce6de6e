"""What a loss is given, and what it offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError
from trellis.lattice import TrainingChain
from trellis.lattice.solved import ArcH, Solved

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class Target:
    """What is known about the labels of some sentences, and what it counts for.

    `path: I32[tokens]`, the gold labels; `weights: F64[sentences]`, 1 each if None; `costs: F64[labels]`, the cost of a
    mistake at a token with that gold label, 1 each if None; `known: BOOL[tokens, labels]`, which labels a token may
    have where its label is not known for certain; `evidence: F64[tokens, labels]`, logarithms of what speaks for each
    of these, 0 for all if None; `soft: F64[tokens, labels]`, a distribution over labels a token; `pairs:
    F64[sentences, labels, labels]`, how often one label follows another under a distribution over paths, of which
    `soft` are the labels.
    """

    path: I32
    weights: F64 | None = None
    costs: F64 | None = None
    known: NDArray[np.bool_] | None = None
    soft: F64 | None = None
    evidence: F64 | None = None
    pairs: F64 | None = None

    def part(self, offsets: I64, first: int, last: int) -> Target:
        """Sentences first..last."""
        tokens = slice(int(offsets[first]), int(offsets[last]))
        return self.picked(slice(first, last), tokens, self.path[tokens])

    def picked(self, sentences: I64 | slice, tokens: I64 | slice, path: I32) -> Target:
        """These sentences, whose tokens are these, with the labels of their path."""
        return Target(
            path,
            None if self.weights is None else self.weights[sentences],
            self.costs,
            None if self.known is None else self.known[tokens],
            None if self.soft is None else self.soft[tokens],
            None if self.evidence is None else self.evidence[tokens],
            None if self.pairs is None else self.pairs[sentences],
        )

    def weighted(self, values: F64) -> F64:
        """F64[sentences] times the weights; nothing of sentences without a weight, not even if they are infinite."""
        if self.weights is None:
            return values
        return np.multiply(values, self.weights, out=np.zeros_like(values), where=self.weights > 0.0)

    def cost_matrix(self, labels: int) -> F64:
        """costs[gold, other], F64[labels, labels], 0 for the gold label itself."""
        costs = np.ones(labels) if self.costs is None else self.costs
        return np.where(np.eye(labels, dtype=bool), 0.0, costs[:, None])

    def token_costs(self) -> F64 | float:
        """F64[tokens]."""
        return 1.0 if self.costs is None else self.costs[self.path]


@dataclass(frozen=True)
class Answer:
    """`values: F64[sentences]`, weighted; the gradient in the scores: `nodes` laid out as these, and `arcs`, added up
    over tokens, F64[labels, labels]."""

    values: F64
    nodes: F64
    arcs: F64


class Loss(ABC):
    """A loss asks a chain (see `TrainingChain`) and uses it up. `keep` does all that is dear; then the value, the
    gradient and products with the curvature can be asked of what it kept, again and again."""

    name: ClassVar[str]
    curvature_is: ClassVar[str | None] = None  # what `curvature` multiplies with
    uses_costs: ClassVar[bool] = False
    begins_with: ClassVar[str | None] = None  # the loss whose solution is a better start than zero
    narrows: ClassVar[bool] = False  # whether products with the curvature are good enough in single precision

    def value_and_gradient(self, chain: TrainingChain, target: Target) -> Answer:
        """Once, with nothing kept."""
        return self.answer(self.keep(chain, target), target)

    @abstractmethod
    def keep(self, chain: TrainingChain, target: Target) -> Any: ...

    @abstractmethod
    def answer(self, kept: Any, target: Target) -> Answer: ...

    def solved_in(self, kept: Any) -> Solved | None:
        """The solved lattice of the scores as they were given, if it is among what was kept."""
        return None

    def curvature(self, kept: Any, target: Target, node_h: F64, arc_h: ArcH) -> tuple[F64, F64]:
        """The curvature in the scores times h, on nodes (may be in the memory of node_h) and on arcs."""
        raise self._flat()

    def narrowed(self, kept: Any) -> Any:
        """What `curvature` needs of what was kept, in memory of its own; only where the loss `narrows`."""
        return replace(kept, solved=kept.solved.narrowed())

    def diagonal(self, kept: Any, target: Target) -> tuple[F64, F64]:
        """About the diagonal of the curvature in the scores, on nodes and on arcs; only rounding is negative."""
        raise self._flat()

    def _flat(self) -> SettingError:
        return SettingError(f"the loss '{self.name}' has no curvature; use an optimizer that needs none, such as lbfgs")
