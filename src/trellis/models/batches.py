"""Data cut into batches that threads answer: what every trained model shares, however it scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.corpus.threads import on_threads
from trellis.errors import NoLegalPathError
from trellis.features import Batch, FeatureKind, Given, Packed, Reading, offsets_of
from trellis.jit import announce
from trellis.labels import runs

Sentences = Corpus | Given
Answer = TypeVar("Answer")

_BATCH = 4096  # tokens tagged at a time by one thread: their scores for 22 labels stay in its cache
_WRITTEN = 2048  # where lattices are written out arc by arc: 22 labels take 40 MB


class Batched(ABC):
    """A model with labels by name and features that number attributes."""

    labels: tuple[str, ...]
    features: FeatureKind

    def best(self, data: Sentences, threads: int = 1) -> NDArray[np.int32]:
        """The best label of every token, I32[tokens]."""
        return np.concatenate([np.zeros(0, np.int32), *self.batches(data, threads, self.best_of_packed)])

    @abstractmethod
    def best_of_packed(self, packed: Packed, offsets: NDArray[np.int64]) -> NDArray[np.int32]:
        """`best` for features that are already packed."""

    def pack(self, data: Batch, first: int = 0) -> Packed:
        """Data in the numbers of the model's attributes; errors in lists count sentences from `first`."""
        return self.features.transform(self.features.translated(data), first)

    def batches(
        self, data: Sentences, threads: int, answer: Callable[[Packed, NDArray[np.int64]], Answer]
    ) -> list[Answer]:
        """Cuts the data into batches and answers them on threads, in order."""
        return self.placed_batches(data, threads, lambda packed, own, first: answer(packed, own))

    def placed_batches(
        self,
        data: Sentences,
        threads: int,
        answer: Callable[[Packed, NDArray[np.int64], int], Answer],
        copies: int = 1,
    ) -> list[Answer]:
        """The same for answers that ask for the number of their first token. `copies`: how many times a lattice is
        written out; then batches are smaller, for the memory that takes."""
        tokens = data.offsets if isinstance(data, Corpus) else offsets_of(data)

        def one(first: int, batch: Batch) -> Answer:
            offsets = batch.offsets if isinstance(batch, Corpus | Reading) else offsets_of(batch)
            try:
                return answer(self.pack(batch, first), offsets, int(tokens[first]))
            except NoLegalPathError as error:
                raise error.after(first) from None

        announce(self.work(int(tokens[-1])))
        most = _BATCH if copies == 1 else _WRITTEN // copies
        batches = list(_cut(self.features.translated(data), most))
        return on_threads(lambda n: one(*batches[n]), len(batches), threads)

    @property
    @abstractmethod
    def summary(self) -> str:
        """How large it is, in words."""

    def work(self, tokens: int) -> int:
        """How many tokens of a linear chain would take as long as so many of this model."""
        return tokens


def _cut(data: Batch, most: int) -> Iterator[tuple[int, Batch]]:
    """Runs of sentences, of about so many tokens, each with the number of its first one."""
    if isinstance(data, Corpus | Reading):
        first = 0
        for batch in data.batches(most):
            yield first, batch
            first += len(batch.offsets) - 1
        return
    for first, last in runs(offsets_of(data), most):
        yield first, data[first:last]
