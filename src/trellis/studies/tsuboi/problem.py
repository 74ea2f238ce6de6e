"""A task as an objective to minimise, and the score of any weights on other data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.engine import ThreadedObjective
from trellis.features import TemplateFeatures, templates_for
from trellis.losses import find_loss
from trellis.models.development import Development
from trellis.models.linear import LinearChain
from trellis.objective import L2, Examples, Shard, cut_into_shards
from trellis.scoring import observed_layout

F64 = NDArray[np.float64]

SEEN, ALL = "seen", "all"
WEIGHTS = {
    SEEN: "weights for the pairs seen in training",
    ALL: "weights for all pairs of an attribute and a label",
}


class Problem:
    """`weights` says for which (attribute, label) pairs and transitions there are any; `score(theta)`: F1 on `test`."""

    def __init__(self, train: Corpus, test: Corpus, target: str, features: str, weights: str = SEEN):
        corpus = train.compact()
        templates = templates_for(features, list(corpus.columns), target)
        learnt, packed = TemplateFeatures.learn(corpus, templates)
        gold, every = corpus[target], weights == ALL
        self.layout = observed_layout(
            packed.indptr, packed.ids, gold.ids, corpus.offsets, learnt.attributes, len(gold.strings), every, every
        )
        self.examples = Examples(packed.indptr, packed.ids, packed.values, gold.ids, corpus.offsets)
        model = LinearChain(tuple(gold.strings), learnt, self.layout, np.zeros(self.layout.size))
        self.score: Callable[[F64], float] = Development(model, test, None, target)

    @property
    def size(self) -> int:
        return self.layout.size

    @property
    def sentences(self) -> int:
        return len(self.examples.offsets) - 1

    @property
    def tokens(self) -> int:
        return len(self.examples.gold)

    def shards(self) -> list[Shard]:
        """New ones, in which no earlier run has left anything."""
        return cut_into_shards(self.layout, self.examples, find_loss("log"))

    def objective(self, l2: float, threads: int | None, cache: int | str = 0, hvp: str = "kept") -> ThreadedObjective:
        return ThreadedObjective(self.shards(), self.size, L2(l2), threads, cache=cache, hvp=hvp)
