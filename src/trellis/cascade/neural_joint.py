"""All stages of a cascade as one where some have an encoder: what upper stages' losses say of a stage's scores goes on
into its encoder, too. Batch by batch, by Adam (see `optim.adam`), as encoders are trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from numpy.typing import NDArray

from trellis.cascade.joint import JointShard
from trellis.cascade.passes import Encoded
from trellis.cascade.together import Joined
from trellis.models.neural_chain import NeuralChain
from trellis.neural.batches import shared_out
from trellis.neural.network import Encoding, Parameters, Reading
from trellis.neural.objective import Slope, noise_of
from trellis.neural.shape import EncoderShape
from trellis.scoring.kernels import add_at

if TYPE_CHECKING:
    from trellis.cascade.learning import Learning

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

_BATCH = 16  # sentences that stand one after another in the data


@dataclass(frozen=True)
class Read:
    """What the encoder of a stage sees of a batch, and how often each token's word occurs in training."""

    reading: Reading
    often: F64


@dataclass(frozen=True)
class JointBatch:
    """`weights`, `shares`: as in `neural.batches.Batch`; `reads`: of the stages with an encoder, by number."""

    shard: JointShard
    sentences: int
    weights: I64
    shares: F64
    reads: dict[int, Read]


@dataclass(frozen=True)
class WithEncoder:
    """A stage's encoder: where its numbers begin in theta, and what is left out of its layers in training."""

    shape: EncoderShape
    first: int
    dropout: float

    @property
    def dense(self) -> I64:
        return self.first + np.arange(self.shape.places["words"].stop, self.shape.size)


class NeuralJointObjective:
    """`l2: F64[weights]`: the prior of each; 0 for an encoder's numbers."""

    l1 = 0.0

    def __init__(self, learning: Learning, dtype: torch.dtype = torch.float32):
        self._dtype, self._seed = dtype, int(learning.cascade.seed)
        self.encoders: dict[int, WithEncoder] = {}
        self.l2 = np.zeros(learning.starts[-1])
        counts: dict[int, F64] = {}
        for s, (one, first) in enumerate(zip(learning.ready, learning.starts, strict=False)):
            estimator: Any = one.stage.estimator(self._seed, None)
            cut = first + one.model.layout.size
            self.l2[first:cut] = float(estimator.l2)
            if isinstance(one.model, NeuralChain):
                inputs, shape = one.packed.inputs, one.model.encoder.shape
                assert inputs is not None
                self.encoders[s] = WithEncoder(shape, cut, float(estimator.dropout))
                counts[s] = np.bincount(inputs.ids[:, 0], minlength=shape.tables[0]).astype(np.float64)
        self._dense = {s: own.dense for s, own in self.encoders.items()}
        shards = Joined(learning).shards(learning.model.least, _BATCH)
        offsets, batches = learning.corpus.offsets, []
        for k, shard in enumerate(shards):
            first, last = k * _BATCH, min((k + 1) * _BATCH, len(offsets) - 1)
            a, b = int(offsets[first]), int(offsets[last])
            if a == b:
                continue
            reads = {}
            for s in self.encoders:
                inputs = learning.ready[s].packed.inputs
                assert inputs is not None
                seen = inputs.part(a, b)
                reads[s] = Read(Reading.of(seen, offsets[first : last + 1] - a), counts[s][seen.ids[:, 0]])
            weights = np.unique(shard.index).astype(np.int64)
            batches.append(JointBatch(shard, last - first, weights, np.zeros(0), reads))
        self.batches = [replace(one, shares=share) for one, share in zip(batches, shared_out(batches), strict=True)]

    def __enter__(self) -> Self:
        self._before = torch.get_num_threads()
        torch.set_num_threads(1)  # so that sums do not depend on how many there are
        return self

    def __exit__(self, *_: object) -> None:
        torch.set_num_threads(self._before)

    def shuffled(self, epoch: int) -> I64:
        """The batches in the order of an epoch."""
        return np.random.default_rng([self._seed, 2, epoch]).permutation(len(self.batches))

    def slope(self, theta: F64, number: int, epoch: int | None = None) -> Slope:
        """Of one batch; in an `epoch` of training something is left out at random, else nothing."""
        batch = self.batches[number]
        encodings = {s: self._encoded(theta, s, read, number, epoch) for s, read in batch.reads.items()}
        for s, encoding in encodings.items():
            batch.shard.stages[s] = replace(batch.shard.stages[s], encoded=Encoded(encoding.scores))
        value, gradient = batch.shard.value_and_gradient(theta)
        sparse = np.zeros(len(batch.weights))
        add_at(gradient, np.searchsorted(batch.weights, batch.shard.index), sparse)
        own, l2 = theta[batch.weights], self.l2[batch.weights] * batch.shares
        value += 0.5 * float(np.einsum("i,i,i->", l2, own, own))
        pieces = []
        for s, encoding in encodings.items():
            encoded = batch.shard.stages[s].encoded
            assert encoded is not None
            rows, others = encoding.back(encoded.by_score)
            places = self.encoders[s].first + self.encoders[s].shape.rows(batch.reads[s].reading.words)
            pieces += [(places, rows.ravel()), (self._dense[s], others)]
            batch.shard.stages[s] = replace(batch.shard.stages[s], encoded=None)
        return Slope(value, batch.sentences, (batch.weights, sparse + l2 * own), pieces)

    def value_and_gradient(self, theta: F64) -> tuple[float, F64]:
        """Of all batches, with nothing left out."""
        value, gradient, idle = 0.0, np.zeros(len(theta)), np.ones(len(theta), bool)
        for number, batch in enumerate(self.batches):
            slope = self.slope(theta, number)
            value += slope.loss
            for places, numbers in (slope.sparse, *slope.encoder):
                gradient[places] += numbers
            idle[batch.weights] = False
        own = np.where(idle, theta, 0.0)  # weights that no batch has
        gradient += self.l2 * own
        return value + 0.5 * float(np.einsum("i,i,i->", self.l2, own, own)), gradient

    def _encoded(self, theta: F64, s: int, read: Read, number: int, epoch: int | None) -> Encoding:
        own = self.encoders[s]
        parameters = Parameters(own.shape, theta[own.first : own.first + own.shape.size], self._dtype)
        noise = None if epoch is None else noise_of(read.often, own.dropout, [self._seed, epoch, number, s])
        return Encoding(parameters, read.reading, noise)


def settings_of(stages: Sequence[Any]) -> Any:
    """Those by which Adam goes: of the highest stage with an encoder."""
    return next(stage for stage in reversed(stages) if stage.model == "neural-crf").estimator(0, None)
