"""An objective that is a sum over batches, as Adam asks for it: what all of them have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class Slope:
    """The loss of a batch and its part of the prior, and the gradient of both: of sparse weights, and of an encoder's
    numbers in some pieces; each with the places in theta, I64[...], of which none is there twice."""

    loss: float
    sentences: int
    sparse: tuple[I64, F64]
    encoder: list[tuple[I64, F64]]


class InBatches(ABC):
    """`batches`: a sequence of them. `l2: F64[weights]`: the prior of each, l2/2 |theta|^2; 0 for an encoder's numbers.
    `seed`: of orders, and of what is left out."""

    l1 = 0.0

    def __init__(self, batches: Any, l2: F64, seed: int):
        self.batches, self.l2, self._seed = batches, l2, seed

    def __enter__(self) -> Self:
        # one thread for each part: what PyTorch adds up must not depend on how many threads there are
        self._before = torch.get_num_threads()
        torch.set_num_threads(1)
        return self

    def __exit__(self, *_: object) -> None:
        torch.set_num_threads(self._before)

    @property
    def size(self) -> int:
        return len(self.l2)

    def shuffled(self, epoch: int) -> I64:
        """The batches in the order of an epoch."""
        return np.random.default_rng([self._seed, 2, epoch]).permutation(len(self.batches))

    @abstractmethod
    def slope(self, theta: F64, number: int, epoch: int | None = None) -> Slope:
        """Of one batch; in an `epoch` of training something is left out at random, else nothing."""

    def value_and_gradient(self, theta: F64) -> tuple[float, F64]:
        """Of all batches, with nothing left out."""
        value, gradient, idle = 0.0, np.zeros(len(theta)), np.ones(len(theta), bool)
        for number in range(len(self.batches)):
            slope = self.slope(theta, number)
            value += slope.loss
            for places, numbers in (slope.sparse, *slope.encoder):
                gradient[places] += numbers
            idle[slope.sparse[0]] = False
        own = np.where(idle, theta, 0.0)  # weights that no batch has
        gradient += self.l2 * own
        return value + 0.5 * float(np.einsum("i,i,i->", self.l2, own, own)), gradient
