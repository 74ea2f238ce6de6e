"""A trained hidden Markov model. Immutable, so that many threads may use one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from trellis.errors import NoLegalPathError
from trellis.features import Packed, TemplateFeatures
from trellis.features.numbering import Numbering
from trellis.jit import worthwhile
from trellis.lattice import Allowed, RestrictedWorkChain
from trellis.lattice.restricted import MANY
from trellis.markov import Events, Prior, Tables, UnknownWords, Vocabulary, add_ends, lattice_of
from trellis.models.batches import Sentences
from trellis.models.probabilities import Lattice
from trellis.models.words import OfWords

if TYPE_CHECKING:
    from trellis.models.constraints import Prepared

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class HiddenChain(OfWords):
    """`features` give a token the number of its word and those of the classes it would belong to if it were unknown,
    larger ones first; `events`: what was counted, of the words and labels in `vocabulary`; `unknown`: what classes say
    of labels, None where there is nothing to tell labels of unknown words by."""

    labels: tuple[str, ...]
    features: TemplateFeatures
    vocabulary: Vocabulary
    events: Events
    prior: Prior
    unknown: UnknownWords | None

    @cached_property
    def tables(self) -> Tables:
        return Tables.of(self.events, self.prior, self.vocabulary)

    @property
    def weights(self) -> F64:
        """All numbers that were learnt: the counts."""
        return self.events.vector

    def with_weights(self, weights: F64) -> HiddenChain:
        """The same with other counts."""
        return replace(self, events=self.events.of_vector(weights))

    @property
    def column(self) -> str:
        """That of the words."""
        return self.features.templates[0].parts[0].view.column

    def placed_batches(
        self,
        data: Sentences,
        threads: int,
        answer: Callable[[Packed, I64, int], Answer],
        copies: int = 1,
    ) -> list[Answer]:
        try:
            return super().placed_batches(data, threads, answer, copies)
        except NoLegalPathError as error:
            if self.prior.strength > 0.0:
                raise
            hint = "; without smoothing, what was never seen is impossible"
            raise NoLegalPathError(f"{error.what}{hint}", error.sentence) from None

    def lattice_of_packed(self, packed: Packed, offsets: I64, imposed: Prepared | None = None) -> Lattice:
        return lattice_of(self.emissions(packed), self.tables, offsets)

    def best_of_packed(self, packed: Packed, offsets: I64) -> I32:
        """With many labels, of which a word has few, only those are gone through."""
        first, stop, follow, _ = self.tables.logs
        if len(self.labels) <= MANY or self.tables.third is not None or not worthwhile(int(offsets[-1])):
            return super().best_of_packed(packed, offsets)
        emissions = self.emissions(packed)
        if not all(np.isfinite(one).all() for one in (first, stop, follow)):
            return self.best_of_lattice(lattice_of(emissions, self.tables, offsets))
        allowed = Allowed.of_mask(emissions > -np.inf)
        add_ends(emissions, self.tables, offsets)
        return RestrictedWorkChain(emissions[allowed.sites], allowed, follow, offsets).best()[0]

    def emissions(self, packed: Packed) -> F64:
        """log P(word | label) of every token, F64[tokens, labels]; of unknown words up to what is the same for all
        labels."""
        numbers = numbers_of(packed, self.features)
        words = numbers[:, 0]
        # a word that counts for nothing (`sample_weight`) is as unknown as one that was never seen
        counts = np.append(np.diff(self.vocabulary.start), 0)[words] > 0
        known = np.flatnonzero(counts)
        scores = np.full((len(words), len(self.labels)), -np.inf)
        token, pair = self.vocabulary.pairs_of(words[known])
        scores[known[token], self.vocabulary.label[pair]] = self.tables.logs[3][pair]
        others = np.flatnonzero(~counts)
        if len(others):
            scores[others] = 0.0 if self.unknown is None else self.unknown.scores(numbers[others, 1:])
        return scores

    @property
    def summary(self) -> str:
        return f"{self.vocabulary.words:,} words with {len(self.vocabulary.label):,} emissions"


def numbers_of(packed: Packed, features: TemplateFeatures) -> I32:
    """The numbers of each token's word and classes, each counted from its own first one: I32[tokens, 1 + depths], -1
    for what is not known. Classes of all depths are numbered through."""
    assert isinstance(features.labels, Numbering)
    bases = np.array([group.base for group in features.labels.groups])
    out = np.full((len(packed.indptr) - 1, len(bases)), -1, np.int32)
    known = np.flatnonzero(packed.ids >= 0)
    token = np.repeat(np.arange(len(out)), np.diff(packed.indptr))[known]
    ids = packed.ids[known]
    depth = np.searchsorted(bases, ids, side="right") - 1
    out[token, depth] = np.where(depth == 0, ids, ids - bases[min(1, len(bases) - 1)])
    return out
