"""One shard of the training data: loss(lattice(scoring(theta))) -> value, gradient, Hessian-vector product.

A shard knows only the weights its own tokens can touch. It takes them out of theta and gives their gradient back, so
that neither memory nor the sum over shards pays for attributes that occur elsewhere. Within a shard the work goes
block by block, small enough for scores and marginals to stay in the cache.

This file has what is the same for every kind of shard; how scores are made and where gradients go is in `plain` and
`restricted`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.labels import runs
from trellis.lattice import TrainingChain
from trellis.lattice.parts import PartLattice
from trellis.lattice.solved import ArcH
from trellis.losses import Loss
from trellis.objective.examples import I32, I64, Examples
from trellis.scoring.kernels import add_at, take

F64 = NDArray[np.float64]

BLOCK = 4096  # tokens: scores and marginals of a block stay in the cache
_MODERATE = 1e12  # values and weights that leave room in single precision, where 3e38 is the largest number


class Shard(ABC):
    """`index`: which weights of theta this shard reads and answers for, I32[local]; one may be there twice. Answers are
    in memory that the next question uses again. `added`: what somebody else adds to the scores of labels in the block
    at hand, F64[tokens, width], and `added_h` to h; padding is zeros."""

    index: I32
    added: F64 | None = None
    added_h: F64 | None = None

    def __init__(self, examples: Examples, loss: Loss, work: I64 | None = None, most: int = 0):
        """`work: I64[tokens]`: what tokens contribute to a block, which has about `most` of it; else blocks of BLOCK
        tokens."""
        self.loss = loss
        self.gold, self.offsets = examples.gold, examples.offsets
        self.imposed, copies = examples.imposed, 1 if examples.imposed is None else examples.imposed.copies
        done = None if work is None else np.concatenate([[0], np.cumsum(work * copies)])
        usual = runs(self.offsets, BLOCK) if done is None else runs(done[self.offsets], most)
        self.blocks = usual if examples.blocks is None else examples.blocks
        self.targets = [examples.target.part(self.offsets, a, b) for a, b in self.blocks]
        self.keeping = 0  # sentences whose solved lattices stay for Hessian-vector products, rounded up to blocks
        self.moderate = all(
            float(np.abs(numbers).max(initial=0.0)) <= _MODERATE
            for numbers in (examples.values, examples.target.weights)
            if numbers is not None
        )
        self.ruled = examples.rules is not None  # labels that lead nowhere have numbers of every size
        self._kept: dict[int, Any] = {}
        self._spaces: dict[int, list[F64]] = {}  # memory of blocks that are kept as solved; at -1, of others in turn

    @property
    def has_curvature(self) -> bool:
        """Whether products and the diagonal can be asked for: the loss has curvature, and values leave room for it."""
        return self.loss.curvature_is is not None and self.moderate

    @property
    def answers_stay(self) -> bool:
        """Whether what it answers stays as it is while other shards are asked."""
        return True

    @property
    def sentences(self) -> int:
        return len(self.offsets) - 1

    def value(self, theta: F64) -> float:
        """The shard's loss."""
        point = self._load(theta)
        return sum(
            float(self.loss.value_and_gradient(self._chain(point, n), target).values.sum())
            for n, target in enumerate(self.targets)
        )

    def value_and_gradient(self, theta: F64) -> tuple[float, F64]:
        """theta: all weights. The shard's loss and its gradient in the weights `index`, F64[local]."""
        point, value = self._load(theta), 0.0
        self._begin()
        for n, target in enumerate(self.targets):
            chain = self._chain(point, n, self._keeps(n))
            if self._keeps(n):
                kept = self.loss.keep(chain, target)
                answer = self.loss.answer(kept, target)
                self._kept[n] = self.loss.narrowed(kept) if self._narrows else kept
            else:
                answer = self.loss.value_and_gradient(chain, target)
            value += float(answer.values.sum())
            self._add(answer.nodes, answer.arcs, n)
        return value, self._collected()

    def value_and_slopes(self, theta: F64, added: F64) -> tuple[float, F64, F64]:
        """The same with numbers added to the scores of labels, F64[tokens, width], padding zeros, and what the loss
        says of each of them, in the same shape. For shards of one block."""
        self.added, point = added, self._load(theta)
        self._begin()
        answer = self.loss.value_and_gradient(self._chain(point, 0), self.targets[0])
        self._add(answer.nodes, answer.arcs, 0)
        return float(answer.values.sum()), self._collected(), self.on_labels(answer.nodes, 0)

    def hessian_vector(self, theta: F64, direction: F64) -> F64:
        """The curvature times a direction, F64[local]. What is kept must have been kept at the same theta; it is of
        single precision (see `kernels.kept`), but for losses and numbers that need more."""
        point = None if all(map(self._keeps, range(len(self.blocks)))) else self._load(theta)
        along = self._load_direction(direction)
        self._begin()
        for n, target in enumerate(self.targets):
            kept = self._kept.get(n)
            if kept is None:
                kept = self.loss.keep(self._chain(point, n), target)
            self._add(*self.loss.curvature(kept, target, *self._h(along, n)), n)
        return self._collected()

    def hessian_diagonal(self, theta: F64) -> F64:
        """About the diagonal of the curvature, F64[local]: as if tokens, and attributes of a token, did not bear on one
        another."""
        point = self._load(theta)
        self._begin()
        for n, target in enumerate(self.targets):
            kept = self.loss.keep(self._chain(point, n), target)
            self._add(*self.loss.diagonal(kept, target), n, squared=True)
        diagonal = self._collected()
        return np.maximum(diagonal, 0.0, out=diagonal)  # P (1 - P) may round to less

    def forget(self) -> None:
        """Drops what was kept, and its memory."""
        self._kept.clear()
        self._spaces.clear()

    def add_to(self, total: F64, gradient: F64) -> None:
        """Adds numbers of this shard's weights to ones of all weights."""
        add_at(gradient, self.index, total)

    @property
    def _narrows(self) -> bool:
        """Whether what is kept is kept in single precision."""
        return self.loss.narrows and self.moderate and not self.ruled

    def _keeps(self, block: int) -> bool:
        return self.blocks[block][0] < self.keeping

    def _taken(self, theta: F64, out: F64) -> F64:
        take(theta, self.index, out)
        return out

    def _constrained(self, lattice: PartLattice, block: int) -> PartLattice:
        """With what is imposed on it, if anything is."""
        return lattice if self.imposed is None else self.imposed.part(*self._tokens(block)).on_parts(lattice)

    def _tokens(self, block: int) -> tuple[int, int]:
        first, last = self.blocks[block]
        return int(self.offsets[first]), int(self.offsets[last])

    @abstractmethod
    def on_labels(self, nodes: F64, block: int) -> F64:
        """Numbers on the nodes of a block's lattices, added up on the labels of its tokens: F64[tokens, width], the
        labels rounded up to whole registers."""

    @abstractmethod
    def on_nodes(self, rows: F64, block: int) -> F64:
        """The transpose: what the labels of tokens have, F64[tokens, width], added up on nodes, in memory of its
        own."""

    @abstractmethod
    def _load(self, theta: F64) -> Any:
        """Gets ready to make chains with the weights theta."""

    @abstractmethod
    def _load_direction(self, direction: F64) -> Any:
        """The same for h on nodes and arcs, in memory of its own."""

    @abstractmethod
    def _chain(self, point: Any, block: int, keep: bool = False) -> TrainingChain:
        """`keep`: what it is solved to will stay, in memory of its own."""

    @abstractmethod
    def _h(self, along: Any, block: int) -> tuple[F64, ArcH]:
        """h on the nodes and arcs of a block."""

    @abstractmethod
    def _begin(self) -> None:
        """Forgets what was added."""

    @abstractmethod
    def _add(self, nodes: F64, arcs: F64, block: int, squared: bool = False) -> None:
        """Adds what numbers on nodes and arcs say of each weight, times the value of its attribute or that squared."""

    def add_arcs(self, by_patch: F64) -> None:
        """Adds what was found out about the weights of attributes on arcs elsewhere than in the chains' own memory."""
        raise NotImplementedError  # for shards that have such

    @abstractmethod
    def _collected(self) -> F64:
        """What was added, F64[local]."""
