"""What one chain of labels costs: an evaluation of its objective, and tagging, for data in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.engine import ThreadedObjective
from trellis.models import CRF
from trellis.models.chain_ready import ready_chain
from trellis.objective import L2, cut_into_shards, order_by_appearance
from trellis.optim import LBFGS, is_over
from trellis.studies.clock import Times, timed
from trellis.studies.growing import LABEL

F64 = NDArray[np.float64]
Say = Callable[[str], None]

_TRAINED = 3  # iterations to the weights that evaluations and tagging are timed with
_MANY, _LONG = 5, 0.2  # what is quick is done several times in a row, but no more often, and for no more seconds


@dataclass(frozen=True)
class ChainCost:
    """`evaluation`: seconds of one value with its gradient; `tagging`: from words in memory to label numbers, features
    included; `left`: of a chain with pruning, how many labels it leaves a token, on average, and `learning`: seconds
    that it took to learn which, before the first evaluation."""

    tokens: int
    labels: int
    order: int
    threads: int
    weights: int
    evaluation: Times
    tagging: Times
    left: float | None = None
    learning: float | None = None

    def as_json(self) -> dict[str, Any]:
        own = {"tokens": self.tokens, "labels": self.labels, "order": self.order, "threads": self.threads}
        pruned = {} if self.left is None else {"labels_left": self.left, "learning_seconds": self.learning}
        return {
            **own,
            "weights": self.weights,
            **pruned,
            "evaluation": per_token(self.evaluation, self.tokens),
            "tagging": per_token(self.tagging, self.tokens),
        }


def per_token(times: Times, tokens: int) -> dict[str, Any]:
    """The times, and nanoseconds for each token."""
    of_token = {"best": 1e9 * times.best / tokens, "median": 1e9 * times.median / tokens}
    return {**times.as_json(), "ns_per_token": of_token}


class ReadyToTime:
    """A chain after some iterations of training, and what it was trained on."""

    def __init__(
        self,
        corpus: Corpus,
        features: str,
        order: int = 1,
        prune: float | None = None,
        threads: int = 1,
        l2: float = 1.0,
    ):
        crf = CRF(LABEL, features, order=order, prune=prune, l2=l2)
        ready, seconds = timed(lambda: ready_chain(crf, corpus, None, None, None, None, None, threads))
        self.corpus, self.order, self.l2 = corpus, order, l2
        self.shards = cut_into_shards(ready.model.layout, ready.examples, ready.loss)
        self.size = ready.model.layout.size
        place = order_by_appearance(self.shards, self.size)
        self.left = ready.pruning[-1].labels if ready.pruning else None
        self.learning = seconds if ready.pruning else None
        self.theta = self._trained(threads)
        self.model = ready.model.with_weights(self.theta if place is None else place.restored(self.theta))

    def _trained(self, threads: int) -> F64:
        optimizer = LBFGS()
        with self.objective(threads) as objective:
            state = optimizer.start(objective, np.zeros(self.size))
            while state.iteration < _TRAINED and not is_over(state):
                state = optimizer.step(objective, state)
        return state.theta

    def objective(self, threads: int) -> ThreadedObjective:
        return ThreadedObjective(self.shards, self.size, L2(self.l2), threads)

    def evaluate(self, threads: int) -> list[float]:
        """Seconds of a value with its gradient, once or several times."""
        with self.objective(threads) as objective:
            return _in_a_row(lambda: objective.value_and_gradient(self.theta))

    def tag(self, threads: int) -> list[float]:
        """Seconds from words to labels, likewise."""
        return _in_a_row(lambda: self.model.best(self.corpus, threads))

    def cost(self, threads: int, evaluation: Times, tagging: Times) -> ChainCost:
        labels = len(self.model.labels)
        return ChainCost(
            self.corpus.tokens, labels, self.order, threads, self.size, evaluation, tagging, self.left, self.learning
        )


def costs_by_turns(
    chains: list[tuple[str, ReadyToTime]], threads: Sequence[int], rounds: int, say: Say
) -> list[list[ChainCost]]:
    """For each chain what it costs on each number of threads. All take turns: in a round each of them once, evaluation
    and tagging, on each number of threads; the first round warms up and is not counted."""
    taken: dict[tuple[int, int, str], list[float]] = {}
    for k in range(rounds + 1):
        for n, (name, chain) in enumerate(chains):
            say(f"{name}: round {k} of {rounds}" if k else f"{name}: warming up")
            for many in threads:
                for what, work in (("evaluation", chain.evaluate), ("tagging", chain.tag)):
                    seconds = work(many)
                    if k:
                        taken.setdefault((n, many, what), []).extend(seconds)
    return [
        [
            chain.cost(many, *(Times(tuple(taken[n, many, what])) for what in ("evaluation", "tagging")))
            for many in threads
        ]
        for n, (_, chain) in enumerate(chains)
    ]


def _in_a_row(work: Callable[[], object]) -> list[float]:
    seconds: list[float] = []
    while len(seconds) < _MANY and sum(seconds) < _LONG:
        seconds.append(timed(work)[1])
    return seconds
