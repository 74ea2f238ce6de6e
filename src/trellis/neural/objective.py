"""The objective of a model with an encoder: loss(lattice(sparse scores + the encoder's)) + l2/2 |sparse weights|^2.

theta = [weights of the sparse features and transitions, as in any chain | the encoder's numbers (see `shape`)].
What the loss says of the scores of labels goes back into both: by the transpose of the sparse features, and by PyTorch.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray

from trellis.neural.batches import Batches, Part
from trellis.neural.in_batches import InBatches, Slope
from trellis.neural.network import Encoding, Noise, Parameters
from trellis.neural.shape import EncoderShape
from trellis.scoring.kernels import add_at

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

_HIDING = 0.25  # a word that occurs n times is taken for an unknown one _HIDING / (_HIDING + n) of the times


class NeuralObjective(InBatches):
    """`sparse`: how many weights are not the encoder's, the first `attributes` of which are those of features;
    `dropout`: see `Noise`; `alone`: the share of parts in which an epoch leaves the features out, so that the encoder
    does not leave to them what it could learn itself. Their prior is there all the same: against what they learn from,
    it counts 1 / (1 - alone) times."""

    def __init__(
        self,
        batches: Batches,
        sparse: int,
        attributes: int,
        shape: EncoderShape,
        l2: float,
        dropout: float,
        alone: float,
        seed: int,
        threads: int,
        dtype: torch.dtype = torch.float32,
    ):
        prior = np.zeros(sparse + shape.size)
        prior[:sparse] = l2
        super().__init__(batches, prior, seed)
        self.batches: Batches = batches
        self.sparse, self.shape = sparse, shape
        self._attributes, self._alone = attributes, alone
        self._dropout, self._dtype, self._threads = dropout, dtype, threads
        self._dense = sparse + np.arange(shape.places["words"].stop, shape.size)
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        super().__enter__()
        if self._threads > 1:
            self._pool = ThreadPoolExecutor(self._threads, initializer=torch.set_num_threads, initargs=(1,))
        return self

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def slope(self, theta: F64, number: int, epoch: int | None = None) -> Slope:
        batch = self.batches[number]
        parameters = Parameters(self.shape, theta[self.sparse :], self._dtype)
        seeds = [None if epoch is None else [self._seed, epoch, number, k] for k in range(len(batch.parts))]
        work = list(zip(batch.parts, seeds, strict=True))

        def one(item: tuple[Part, list[int] | None]) -> tuple[float, F64, F64, F64]:
            return self._slope(theta, parameters, *item)

        found = list(map(one, work) if self._pool is None else self._pool.map(one, work))
        sparse, rows = np.zeros(len(batch.weights)), np.zeros((len(batch.words), self.shape.embedding))
        dense, loss = np.zeros(len(self._dense)), 0.0
        for part, (value, by_weight, by_word, others) in zip(batch.parts, found, strict=True):
            loss += value
            add_at(by_weight, part.weights, sparse)
            rows[part.words] += by_word
            dense += others
        own, l2 = theta[batch.weights], self.l2[batch.weights] * batch.shares
        loss += 0.5 * float(np.einsum("i,i,i->", l2, own, own))
        sparse += l2 * own
        places = self.sparse + self.shape.rows(batch.words)
        return Slope(loss, batch.sentences, (batch.weights, sparse), [(places, rows.ravel()), (self._dense, dense)])

    def _slope(
        self, theta: F64, parameters: Parameters, part: Part, seeds: list[int] | None
    ) -> tuple[float, F64, F64, F64]:
        noise = None if seeds is None else noise_of(part.often, self._dropout, seeds)
        encoding = Encoding(parameters, part.reading, noise)
        is_alone = seeds is not None and np.random.default_rng([*seeds, 4]).random() < self._alone
        sparse = theta[: self.sparse]
        if is_alone:
            sparse = np.concatenate([np.zeros(self._attributes), sparse[self._attributes :]])
        value, by_weight, by_score = part.shard.value_and_slopes(sparse, encoding.scores)
        if is_alone:
            by_weight[part.shard.index < self._attributes] = 0.0
        return value, by_weight, *encoding.back(by_score)


def noise_of(often: F64, dropout: float, seeds: list[int]) -> Noise:
    """`often: F64[tokens]`, how often each token's word occurs in training."""
    rng = np.random.default_rng([*seeds, 3])
    generator = torch.Generator().manual_seed(int(rng.integers(1 << 62)))
    return Noise(dropout, rng.random(len(often)) * (_HIDING + often) < _HIDING, generator)
