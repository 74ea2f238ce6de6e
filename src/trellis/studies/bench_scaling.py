"""`trellis bench scaling`: how the cost of an evaluation and of tagging grows, with tokens, labels, threads and order.

An evaluation is one value of a CRF's objective with its gradient; tagging is from words in memory to labels, features
included. Labels of tokens are put into a small number of classes, so that only what is to grow does. Features are words
in a window; where labels grow, also the ends of words, as these tell many labels apart.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from trellis.corpus import Corpus, write_conll
from trellis.errors import SettingError
from trellis.studies import crfsuite, ours
from trellis.studies.bench_train import per_evaluation
from trellis.studies.chain_cost import ChainCost, ReadyToTime, costs_by_turns
from trellis.studies.clock import Comparison, Times
from trellis.studies.growing import ENDINGS, LABEL, WINDOW, WORD, Text, of_tokens, with_labels
from trellis.studies.machine import machine
from trellis.studies.task import Task, check_counts

Say = Callable[[str], None]

PARTS = ("tokens", "labels", "orders")
TOKENS, LABELS, ORDERS = (50_000, 200_000, 800_000), (9, 22, 45, 200, 600), (1, 2)
_ITERATIONS = 8  # of L-BFGS, in each round beside CRFsuite


@dataclass(frozen=True)
class Settings:
    """`tokens`, `labels`, `orders`, `threads`: the sizes that are gone through; `classes`: labels where these do not
    grow; `at`: tokens where these do not; `prune`: threshold, tried with `prune_from` labels or more."""

    tokens: Sequence[int] = TOKENS
    labels: Sequence[int] = LABELS
    orders: Sequence[int] = ORDERS
    threads: Sequence[int] = (1, 2)
    classes: int = 22
    at: int = 50_000
    prune: float = 0.001
    prune_from: int = 200
    repeat: int = 3
    parts: Sequence[str] = PARTS

    def __post_init__(self) -> None:
        for name in ("tokens", "labels", "orders", "threads"):
            numbers = getattr(self, name)
            if not numbers or min(numbers) < 1:
                raise SettingError(f"{name} are {list(numbers)}; expected whole numbers >= 1")
        check_counts(classes=self.classes, at=self.at, prune_from=self.prune_from, repeat=self.repeat)
        unknown = [part for part in self.parts if part not in PARTS]
        if unknown or not self.parts:
            raise SettingError(f"there is no part '{', '.join(unknown)}'; expected some of: {', '.join(PARTS)}")


@dataclass(frozen=True)
class ScalingBench:
    """What was measured, smallest first; `pruned`: with pruning, for the largest numbers of labels; `iteration`: an
    L-BFGS iteration of both systems, by tokens, where CRFsuite was asked for."""

    text: Text
    there: int
    settings: Settings
    machine: dict[str, Any]
    tokens: Sequence[ChainCost]
    labels: Sequence[ChainCost]
    pruned: Sequence[ChainCost]
    orders: Sequence[ChainCost]
    iteration: dict[int, Comparison]

    def as_json(self) -> dict[str, Any]:
        """The JSON object of `trellis bench scaling --json`; `relative`: ns a token over those of the smallest."""
        return {
            "benchmark": "scaling",
            "machine": self.machine,
            "data": {"files": list(map(str, self.text.files)), "target": self.text.target, "tokens": self.there},
            "features": {"labels": ENDINGS.split("\n"), "others": WINDOW.split("\n")},
            "tokens": [{**cost.as_json(), "relative": relative(cost, self.tokens)} for cost in self.tokens],
            "threads": [
                {"tokens": cost.tokens, "threads": cost.threads, **faster(cost, self.tokens)}
                for cost in self.tokens
                if cost.threads != self.settings.threads[0]
            ],
            "labels": [{**cost.as_json(), "exponent": exponent(cost, self.labels)} for cost in self.labels],
            "pruned": [{**cost.as_json(), "ratio": faster_pruned(cost, self.labels)} for cost in self.pruned],
            "orders": [{**cost.as_json(), "relative": relative(cost, self.orders)} for cost in self.orders],
            "iteration": {str(tokens): both.as_json() for tokens, both in self.iteration.items()},
        }


def relative(cost: ChainCost, costs: Sequence[ChainCost]) -> dict[str, float]:
    """Time for a token, by the medians, over that of the first with as many threads."""
    first = next(other for other in costs if other.threads == cost.threads)
    return {
        "evaluation": cost.evaluation.median / cost.tokens / (first.evaluation.median / first.tokens),
        "tagging": cost.tagging.median / cost.tokens / (first.tagging.median / first.tokens),
    }


def faster(cost: ChainCost, costs: Sequence[ChainCost]) -> dict[str, float]:
    """How many times as fast as the same on the first number of threads, by the medians."""
    alone = next(other for other in costs if other.tokens == cost.tokens)
    return _ratio(alone, cost)


def faster_pruned(cost: ChainCost, whole: Sequence[ChainCost]) -> dict[str, float]:
    """How many times as fast as the same without pruning, by the medians."""
    return _ratio(next(other for other in whole if other.labels == cost.labels), cost)


def exponent(cost: ChainCost, costs: Sequence[ChainCost]) -> dict[str, float] | None:
    """Time grows as labels to this power, from the size before to this one; None for the first."""
    for smaller, larger in pairwise(costs):
        if larger is cost and smaller.labels < larger.labels:
            growth = math.log(larger.labels / smaller.labels)
            ratio = _ratio(cost, smaller)
            return {name: math.log(times) / growth for name, times in ratio.items()}
    return None


def _ratio(slow: ChainCost, quick: ChainCost) -> dict[str, float]:
    return {
        "evaluation": slow.evaluation.median / quick.evaluation.median,
        "tagging": slow.tagging.median / quick.tagging.median,
    }


def bench_scaling(
    text: Text, settings: Settings | None = None, against: str | None = None, say: Say = lambda text: None
) -> ScalingBench:
    """One part after the other; what is in a part takes turns. against: "crfsuite" to have its iterations, too."""
    settings = settings or Settings()
    if against not in (None, "crfsuite"):
        raise SettingError(f"no peer '{against}'; there is: crfsuite")
    if against is not None:
        crfsuite.require_pycrfsuite()
    here = machine()
    say("reading")
    corpus = text.read()
    tokens = _by_tokens(corpus, settings, say) if "tokens" in settings.parts else []
    labels, pruned = _by_labels(corpus, settings, say) if "labels" in settings.parts else ([], [])
    orders = _by_order(corpus, settings, say) if "orders" in settings.parts else []
    iteration = {}
    if against is not None:
        for size in sorted(settings.tokens):
            say(f"iterations on {size:,} tokens")
            own = with_labels(of_tokens(corpus, size), settings.classes)
            iteration[own.tokens] = _beside_crfsuite(own, settings)
    return ScalingBench(text, corpus.tokens, settings, here, tokens, labels, pruned, orders, iteration)


def _by_tokens(corpus: Corpus, settings: Settings, say: Say) -> list[ChainCost]:
    chains = []
    for size in sorted(settings.tokens):
        say(f"{size:,} tokens: features")
        own = with_labels(of_tokens(corpus, size), settings.classes)
        chains.append((f"{size:,} tokens", ReadyToTime(own, WINDOW)))
    return [cost for costs in costs_by_turns(chains, settings.threads, settings.repeat, say) for cost in costs]


def _by_labels(corpus: Corpus, settings: Settings, say: Say) -> tuple[list[ChainCost], list[ChainCost]]:
    """Without pruning and with it, on the first number of threads."""
    few, chains, wholes = of_tokens(corpus, settings.at), [], 0
    for prune in (None, settings.prune):
        for count in sorted(settings.labels):
            if prune is None or count >= settings.prune_from:
                name = f"{count} labels" + ("" if prune is None else ", pruned")
                say(f"{name}: features")
                chains.append((name, ReadyToTime(with_labels(few, count), ENDINGS, prune=prune)))
        wholes = wholes or len(chains)
    costs = [cost for cost, *_ in costs_by_turns(chains, settings.threads[:1], settings.repeat, say)]
    return costs[:wholes], costs[wholes:]


def _by_order(corpus: Corpus, settings: Settings, say: Say) -> list[ChainCost]:
    few = with_labels(of_tokens(corpus, settings.at), settings.classes)
    chains = []
    for order in sorted(settings.orders):
        say(f"order {order}: features")
        chains.append((f"order {order}", ReadyToTime(few, WINDOW, order=order)))
    return [cost for cost, *_ in costs_by_turns(chains, settings.threads[:1], settings.repeat, say)]


def _beside_crfsuite(corpus: Corpus, settings: Settings) -> Comparison:
    """L-BFGS iterations of both, by turns, each with as many pairs kept."""
    peer: list[float] = []
    own: dict[int, list[float]] = {n: [] for n in settings.threads}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "train.txt"
        file.write_bytes(write_conll(corpus))
        task = Task(file, (WORD, LABEL), LABEL, WINDOW)
        shards, size = ours.cut(task, ours.prepare(task))
        trainer, log = crfsuite.new_trainer(task.c2, _ITERATIONS)
        crfsuite.fill(trainer, str(file), task.patterns(), 1)
        for _ in range(settings.repeat):
            log.clear()
            trainer.train(str(Path(folder) / "model"))
            peer += per_evaluation(log.iterations())
            for n in settings.threads:
                own[n] += per_evaluation(ours.iterate(shards, size, task.l2, n, _ITERATIONS)[1])
    return Comparison(Times(tuple(peer)), {n: Times(tuple(seconds)) for n, seconds in own.items()})
