"""The structured support vector machine under its own name: a chain of scores with a margin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from trellis.models.chain_tagger import ChainTagger
from trellis.models.improbable import Improbable
from trellis.models.settings import USUAL_L2

if TYPE_CHECKING:
    from trellis.features import Choice


class StructuredSVM(Improbable, ChainTagger):
    """A chain whose gold paths should score higher than any other by as much as that other costs (Taskar et al. 2003;
    Tsochantaridis et al. 2004): the hinge loss, minimised by block-coordinate Frank-Wolfe.

    target, features, min_count, hash_size, tag_dictionary, all_pairs, all_transitions, warm_start: as for a `CRF`.
    l2: the penalty is l2/2 * |theta|^2; the C of other programs is 1/l2.
    costs: what a mistake costs, one number or a dict of them by the token's label; 1 if not given.
    epochs: how often to pass over the sentences, at most; it ends sooner when the duality gap is at most `tol` of the
    objective.
    averaged: answer with an average of the weights after every sentence rather than with the last ones.
    patience: with a dev set, epochs without a better score there.
    seed: of the order of sentences.

    It has scores but no probabilities, so it has no marginals. What labels may follow each other is no setting of its
    training; give `constraints` to predictions.
    """

    optimizer = "bcfw"

    def __init__(
        self,
        target: str | None = None,
        features: Choice = "chunking",
        l2: float = USUAL_L2,
        costs: float | Mapping[str, float] | None = None,
        epochs: int = 50,
        averaged: bool = True,
        tol: float = 1e-5,
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
        self.l2 = l2
        self.costs = costs
        self.epochs = epochs
        self.averaged = averaged
        self.tol = tol
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
        return {"epochs": int(self.epochs), "averaged": self.averaged}
