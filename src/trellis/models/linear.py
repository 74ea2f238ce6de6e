"""A trained linear chain: features, weights, labels. Immutable, so that many threads may use one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import DataError
from trellis.features import GivenFeatures, Packed, TemplateFeatures, offsets_of
from trellis.jit import announce, worthwhile
from trellis.labels import runs
from trellis.lattice import Allowed, Chain, RestrictedWorkChain, quick_best
from trellis.scoring import WeightLayout, plain_scores

if TYPE_CHECKING:
    from trellis.scoring.hybrid import HybridScoring

F64 = NDArray[np.float64]
Sentences = Corpus | Sequence[Sequence[object]]
Answer = TypeVar("Answer")

MOST_LABELS = 4096  # a chain has a score for every pair of labels: 134 MB in each of several matrices
_BATCH = 8192  # tokens tagged at a time by one thread


@dataclass(frozen=True)
class LinearChain:
    """`weights: F64[layout.size]` over the attributes of `features` and the labels by name."""

    labels: tuple[str, ...]
    features: TemplateFeatures | GivenFeatures
    layout: WeightLayout
    weights: F64
    prepared: HybridScoring | None = field(default=None, repr=False, compare=False)

    def best(self, data: Sentences, threads: int = 1, allowed: Allowed | None = None) -> NDArray[np.int32]:
        """The best label of every token, I32[tokens], among the allowed ones."""
        return np.concatenate([np.zeros(0, np.int32), *self._batches(data, threads, self.best_of_packed, allowed)])

    def marginals(self, data: Sentences, threads: int = 1, allowed: Allowed | None = None) -> F64:
        """P(label) of every token, F64[tokens, labels], given that labels are among the allowed ones."""

        def nodes(packed: Packed, offsets: NDArray[np.int64], allowed: Allowed | None) -> F64:
            return self._chain(packed, offsets, allowed).marginals().nodes

        return np.concatenate([np.zeros((0, len(self.labels))), *self._batches(data, threads, nodes, allowed)])

    def pack(self, data: Sentences) -> Packed:
        """Data in the numbers of the model's attributes."""
        if isinstance(self.features, TemplateFeatures):
            if not isinstance(data, Corpus):
                raise DataError("this model reads the columns of a corpus; it was given lists")
            return self.features.transform(data)
        if isinstance(data, Corpus):
            raise DataError("this model was trained on lists of attributes; it was given a corpus")
        return self.features.transform(data)  # type: ignore[arg-type]

    def best_of_packed(
        self, packed: Packed, offsets: NDArray[np.int64], allowed: Allowed | None = None
    ) -> NDArray[np.int32]:
        """`best` for features that are already packed."""
        if not worthwhile(int(offsets[-1])):
            return self._chain(packed, offsets, allowed).best()[0]
        if allowed is not None:
            self._check(allowed, offsets)
            scores = self._allowed_scores(packed, allowed)
            return RestrictedWorkChain(scores, allowed, self._transitions, offsets).best()[0]
        return quick_best(self._padded_scores(packed), self._transitions, offsets)

    def with_weights(self, weights: F64) -> LinearChain:
        """The same model with other weights; what was prepared for scoring is shared."""
        return replace(self, weights=weights, prepared=self._scoring)

    def _chain(self, packed: Packed, offsets: NDArray[np.int64], allowed: Allowed | None = None) -> Chain:
        if worthwhile(int(offsets[-1])):
            scores = np.ascontiguousarray(self._padded_scores(packed)[:, : len(self.labels)])
        else:
            scores = plain_scores(self.layout, self.weights, packed.indptr, packed.ids, packed.values)
        if allowed is not None:
            self._check(allowed, offsets)
            scores[~allowed.mask()] = -np.inf
        return Chain(scores, self._transitions, offsets)

    def _parts(self, allowed: Allowed, batches: Sequence[Sentences]) -> list[Allowed | None]:
        """What the tokens of each batch may have."""
        cuts = np.cumsum([0, *(_offsets(batch)[-1] for batch in batches)])
        self._check(allowed, cuts)
        return [allowed.part(a, b) for a, b in pairwise(cuts.tolist())]

    def _check(self, allowed: Allowed, offsets: NDArray[np.int64]) -> None:
        if (len(allowed), allowed.size) != (offsets[-1], len(self.labels)):
            raise DataError(
                f"allowed labels are given for {len(allowed)} tokens and {allowed.size} labels; "
                f"there are {offsets[-1]} tokens, and the model has {len(self.labels)} labels"
            )

    def _padded_scores(self, packed: Packed) -> F64:
        return self._scoring.scores_of_packed(self._rows, self.weights, packed.indptr, packed.ids, packed.values)

    def _allowed_scores(self, packed: Packed, allowed: Allowed) -> F64:
        from trellis.scoring.restricted import allowed_scores_of_packed

        return allowed_scores_of_packed(
            self._scoring, self._rows, self.weights, packed.indptr, packed.ids, packed.values, allowed
        )

    @cached_property
    def _transitions(self) -> F64:
        return self.layout.transition_matrix(self.weights[self.layout.pairs :])

    @cached_property
    def _scoring(self) -> HybridScoring:
        from trellis.scoring.hybrid import HybridScoring

        return self.prepared or HybridScoring(self.layout)

    @cached_property
    def _rows(self) -> F64:
        return self._scoring.rows_of(self.weights)

    def _batches(
        self,
        data: Sentences,
        threads: int,
        answer: Callable[[Packed, NDArray[np.int64], Allowed | None], Answer],
        allowed: Allowed | None,
    ) -> list[Answer]:
        """Cuts the data into batches and answers them on threads, in order."""

        def one(batch: Sentences, allowed: Allowed | None) -> Answer:
            return answer(self.pack(batch), _offsets(batch), allowed)

        announce(data.tokens if isinstance(data, Corpus) else sum(map(len, data)))
        if isinstance(data, Corpus) and isinstance(self.features, TemplateFeatures):
            data = self.features.translated(data)
        batches = list(_cut(data))
        parts = [None] * len(batches) if allowed is None else self._parts(allowed, batches)
        if threads <= 1 or len(batches) <= 1:
            return list(map(one, batches, parts))
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(one, batches, parts))


def _cut(data: Sentences) -> Iterator[Sentences]:
    if isinstance(data, Corpus):
        yield from data.batches(_BATCH)
        return
    for first, last in runs(offsets_of(data), _BATCH):
        yield data[first:last]


def _offsets(data: Sentences) -> NDArray[np.int64]:
    return data.offsets if isinstance(data, Corpus) else offsets_of(data)
