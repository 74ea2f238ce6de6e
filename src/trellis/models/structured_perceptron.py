"""The structured perceptron under its own name: a chain of scores that is corrected mistake by mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from trellis.models.chain_tagger import ChainTagger
from trellis.models.improbable import Improbable

if TYPE_CHECKING:
    from trellis.features import Choice


class StructuredPerceptron(Improbable, ChainTagger):
    """A chain whose weights move from the best path towards the gold one wherever the two differ (Collins 2002).

    target, features, min_count, hash_size, tag_dictionary, all_pairs, all_transitions, warm_start: as for a `CRF`.
    epochs: how often to pass over the sentences, at most; it ends sooner after one without a mistake.
    averaged: answer with the mean of the weights after every sentence rather than with the last ones.
    batch: one update an epoch, for all sentences at once, on all threads.
    patience: with a dev set, epochs without a better score there.
    seed: of the order of sentences, which is a new one in every epoch.

    It has scores but no probabilities, so it has no marginals. What labels may follow each other is no setting of its
    training; give `constraints` to predictions.
    """

    optimizer = "perceptron"
    ignores: ClassVar = {
        "l2": "a perceptron has no prior",
        "tol": "it ends after its epochs, or one without a mistake",
        "max_iter": "its epochs are an option of their own",
    }

    def __init__(
        self,
        target: str | None = None,
        features: Choice = "chunking",
        epochs: int = 20,
        averaged: bool = True,
        batch: bool = False,
        patience: int = 10,
        min_count: int = 1,
        hash_size: int | None = None,
        tag_dictionary: int | None = None,
        all_pairs: bool = False,
        all_transitions: bool = False,
        warm_start: bool = False,
        seed: int = 0,
        threads: int | None = None,
    ):
        self.target = target
        self.features = features
        self.epochs = epochs
        self.averaged = averaged
        self.batch = batch
        self.patience = patience
        self.min_count = min_count
        self.hash_size = hash_size
        self.tag_dictionary = tag_dictionary
        self.all_pairs = all_pairs
        self.all_transitions = all_transitions
        self.warm_start = warm_start
        self.seed = seed
        self.threads = threads

    def _own_options(self) -> dict[str, Any]:
        return {"epochs": int(self.epochs), "averaged": self.averaged, "batch": self.batch}
