"""v0 of the ladder: a classifier that looks at the whole sentence but labels every token by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from trellis.models.chain_tagger import ChainTagger
from trellis.models.settings import USUAL_L2

if TYPE_CHECKING:
    from trellis.features import Choice


class LocalClassifier(ChainTagger):
    """Multinomial logistic regression, token by token: a chain of order 0, in which no label depends on another.

        P(y_t = j | x) = exp(theta . f(x, t, j)) / sum_k exp(theta . f(x, t, k))

    All settings are as for a `CRF`, which has more of them: those on what labels follow each other.
    """

    order = 0

    def __init__(
        self,
        target: str | None = None,
        features: Choice = "chunking",
        loss: str | None = None,
        optimizer: str = "auto",
        options: Mapping[str, Any] | None = None,
        l2: float = USUAL_L2,
        l1: float = 0.0,
        hyperbolic: float = 0.0,
        costs: float | Mapping[str, float] | None = None,
        max_iter: int = 1000,
        tol: float = 1e-5,
        patience: int = 10,
        min_count: int = 1,
        hash_size: int | None = None,
        tag_dictionary: int | None = None,
        all_pairs: bool = False,
        partial: bool = False,
        warm_start: bool = False,
        seed: int = 0,
        threads: int | None = None,
    ):
        self.target = target
        self.features = features
        self.loss = loss
        self.optimizer = optimizer
        self.options = options
        self.l2 = l2
        self.l1 = l1
        self.hyperbolic = hyperbolic
        self.costs = costs
        self.max_iter = max_iter
        self.tol = tol
        self.patience = patience
        self.min_count = min_count
        self.hash_size = hash_size
        self.tag_dictionary = tag_dictionary
        self.all_pairs = all_pairs
        self.partial = partial
        self.warm_start = warm_start
        self.seed = seed
        self.threads = threads
