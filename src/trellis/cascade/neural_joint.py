"""All stages of a cascade as one where some have an encoder: what upper stages' losses say of a stage's scores goes on
into its encoder, too. Batch by batch, by Adam (see `optim.adam`), as encoders are trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from trellis.cascade.joint import JointShard
from trellis.cascade.passes import Encoded
from trellis.cascade.together import Joined, runs_of
from trellis.models.neural_chain import NeuralChain
from trellis.neural.batches import touched_by, within_room
from trellis.neural.in_batches import InBatches, Slope
from trellis.neural.network import Encoding, Parameters, Reading
from trellis.neural.objective import noise_of
from trellis.neural.shape import EncoderShape
from trellis.scoring.kernels import add_at

if TYPE_CHECKING:
    from trellis.cascade.learning import Learning

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

_BATCH = 16  # sentences that stand one after another in the data


@dataclass(frozen=True)
class Read:
    """What the encoder of a stage sees of some sentences of a batch, and how often each token's word occurs in
    training."""

    reading: Reading
    often: F64


@dataclass(frozen=True)
class JointBatch:
    """`weights`, `shares`: as in `neural.batches.Batch`; `reads`: of the stages with an encoder, by number, in pieces
    that have room."""

    shard: JointShard
    sentences: int
    weights: I64
    shares: F64
    reads: dict[int, list[Read]]


@dataclass(frozen=True)
class WithEncoder:
    """A stage's encoder: where its numbers begin in theta, and what is left out of its layers in training."""

    shape: EncoderShape
    first: int
    dropout: float

    @property
    def dense(self) -> I64:
        return self.first + np.arange(self.shape.places["words"].stop, self.shape.size)


class NeuralJointObjective(InBatches):
    """Of all stages; theta has those of each stage one after the other."""

    def __init__(self, learning: Learning, dtype: torch.dtype = torch.float32):
        self._dtype, seed = dtype, int(learning.cascade.seed)
        self.encoders: dict[int, WithEncoder] = {}
        l2 = np.zeros(learning.starts[-1])
        for s, (one, first) in enumerate(zip(learning.ready, learning.starts[:-1], strict=True)):
            estimator: Any = one.stage.estimator(seed, None)
            cut = first + one.model.layout.size
            l2[first:cut] = float(estimator.l2)
            if isinstance(one.model, NeuralChain):
                self.encoders[s] = WithEncoder(one.model.encoder.shape, cut, float(estimator.dropout))
        self._dense = {s: own.dense for s, own in self.encoders.items()}
        batches = self._cut(learning)
        touched = touched_by(batches, len(l2))
        super().__init__([replace(one, shares=1.0 / touched[one.weights]) for one in batches], l2, seed)

    def _cut(self, learning: Learning) -> list[JointBatch]:
        """Batches without the shares of the prior."""
        offsets, inputs = learning.corpus.offsets, {s: learning.ready[s].packed.inputs for s in self.encoders}
        counts = {
            s: np.bincount(seen.ids[:, 0], minlength=self.encoders[s].shape.tables[0]).astype(np.float64)
            for s, seen in inputs.items()
            if seen is not None
        }
        batches, runs = [], runs_of(offsets, _BATCH)
        for shard, (first, last) in zip(Joined(learning).shards(learning.model.least, _BATCH), runs, strict=True):
            if offsets[first] == offsets[last]:
                continue
            reads: dict[int, list[Read]] = {s: [] for s in self.encoders}
            for begin, end in within_room(np.diff(offsets), first, last):
                for s, whole in inputs.items():
                    assert whole is not None
                    seen = whole.part(int(offsets[begin]), int(offsets[end]))
                    reading = Reading.of(seen, offsets[begin : end + 1] - offsets[begin])
                    reads[s].append(Read(reading, counts[s][seen.ids[:, 0]]))
            weights = np.unique(shard.index).astype(np.int64)
            batches.append(JointBatch(shard, last - first, weights, np.zeros(0), reads))
        return batches

    def slope(self, theta: F64, number: int, epoch: int | None = None) -> Slope:
        batch: JointBatch = self.batches[number]
        encodings = {s: self._encoded(theta, s, reads, number, epoch) for s, reads in batch.reads.items()}
        for s, own in encodings.items():
            scores = np.concatenate([one.scores for one in own])
            batch.shard.stages[s] = replace(batch.shard.stages[s], encoded=Encoded(scores))
        value, gradient = batch.shard.value_and_gradient(theta)
        sparse = np.zeros(len(batch.weights))
        add_at(gradient, np.searchsorted(batch.weights, batch.shard.index), sparse)
        weights, l2 = theta[batch.weights], self.l2[batch.weights] * batch.shares
        value += 0.5 * float(np.einsum("i,i,i->", l2, weights, weights))
        pieces = [piece for s, own in encodings.items() for piece in self._back(batch, s, own)]
        return Slope(value, batch.sentences, (batch.weights, sparse + l2 * weights), pieces)

    def _encoded(self, theta: F64, s: int, reads: list[Read], number: int, epoch: int | None) -> list[Encoding]:
        own = self.encoders[s]
        parameters = Parameters(own.shape, theta[own.first : own.first + own.shape.size], self._dtype)
        found = []
        for k, read in enumerate(reads):
            noise = None if epoch is None else noise_of(read.often, own.dropout, [self._seed, epoch, number, s, k])
            found.append(Encoding(parameters, read.reading, noise))
        return found

    def _back(self, batch: JointBatch, s: int, encodings: list[Encoding]) -> list[tuple[I64, F64]]:
        """From what was said of the scores of a stage, which are let go of, to the gradient of its encoder."""
        encoded, reads = batch.shard.stages[s].encoded, batch.reads[s]
        assert encoded is not None
        batch.shard.stages[s] = replace(batch.shard.stages[s], encoded=None)
        words = np.unique(np.concatenate([read.reading.words for read in reads]))
        rows, dense = np.zeros((len(words), self.encoders[s].shape.embedding)), np.zeros(len(self._dense[s]))
        ends = np.cumsum([len(one.scores) for one in encodings])[:-1]
        for read, one, said in zip(reads, encodings, np.split(encoded.by_score, ends), strict=True):
            by_word, others = one.back(said)
            rows[np.searchsorted(words, read.reading.words)] += by_word
            dense += others
        places = self.encoders[s].first + self.encoders[s].shape.rows(words)
        return [(places, rows.ravel()), (self._dense[s], dense)]


def settings_of(stages: Sequence[Any]) -> Any:
    """Those by which Adam goes: of the highest stage with an encoder."""
    return next(stage for stage in reversed(stages) if stage.model == "neural-crf").estimator(0, None)
