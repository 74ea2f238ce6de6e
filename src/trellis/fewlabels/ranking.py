"""How unsure a model is of the labels of each sentence: what to look at next, the most uncertain first.

    entropy            of the distribution over all labellings of the sentence, in nats
    least-confidence   how improbable the best labelling is: -log P. (The order is that of 1 - P, but sentences whose
                       1 - P is 1 to the last digit can still be told apart; Culotta & McCallum 2005)
    margin             1 - (P(best) - P(second best)): 1 where the two are as probable (Scheffer et al. 2001)
    random             nothing is asked: what to compare with

All of them are of whole sentences, exact, by the model's lattice (Settles & Craven 2008 compare them). A longer
sentence has more to be unsure of and costs more to label, so the first two are usually divided by its number of tokens.
(A margin is never above 1, so that by token short sentences would come first, sure or not.) Adding a ranking is one
function and one line in `RANKINGS`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import SettingError
from trellis.fewlabels.checks import check_corpus
from trellis.models.improbable import Improbable
from trellis.models.probable import ProbableTagger
from trellis.models.recipe import loss_name
from trellis.models.settings import check_settings

F64 = NDArray[np.float64]

_SLIGHT = 1e-4  # a probability
_MARGINS = ("hinge", "perceptron")  # losses whose scores only have to tell right from wrong


@dataclass(frozen=True)
class Ranking:
    """`of(model, pool, seed)` gives a number for each sentence, F64[sentences] >= 0; `per_token` is whether these are
    usually divided by the number of tokens, `asks` whether the model has to have probabilities."""

    of: Callable[[Any, Corpus, int], F64]
    per_token: bool
    asks: bool = True


def entropy(model: ProbableTagger[Any], pool: Corpus, seed: int) -> F64:
    """As at the top."""
    return np.maximum(model.entropy(pool), 0.0)


def least_confidence(model: ProbableTagger[Any], pool: Corpus, seed: int) -> F64:
    """As at the top."""
    return 0.0 - model.log_probability(pool, model.predict(pool))


def margin(model: ProbableTagger[Any], pool: Corpus, seed: int) -> F64:
    """As at the top. Where even the best labelling is less probable than `_SLIGHT`, the second best is not looked for:
    it would change the answer by less than that, and of a great many that are as probable it takes long to find two."""
    best = np.exp(-least_confidence(model, pool, seed))
    clear = np.flatnonzero(best >= _SLIGHT)
    out: F64 = 1.0 - best
    for s, paths in zip(clear.tolist(), model.predict_kbest(pool.picked(clear), 2), strict=True):
        first, *others = (math.exp(path.log_probability) for path in paths)
        out[s] = 1.0 - (first - sum(others))
    return out


def at_random(model: object, pool: Corpus, seed: int) -> F64:
    """As at the top; the same for the same seed."""
    return np.random.default_rng([seed, len(pool)]).random(len(pool))


RANKINGS: dict[str, Ranking] = {
    "entropy": Ranking(entropy, per_token=True),
    "least-confidence": Ranking(least_confidence, per_token=True),
    "margin": Ranking(margin, per_token=False),
    "random": Ranking(at_random, per_token=False, asks=False),
}


def uncertainty(model: Any, pool: Corpus, by: str = "entropy", per_token: bool | None = None, seed: int = 0) -> F64:
    """How unsure the model is of each sentence by one of `RANKINGS`, F64[sentences]; labels that the pool may have are
    not looked at.

    per_token: divided by the number of tokens; None for what is usual for the ranking. (What is drawn at random never
    is: that would be in favour of short sentences.) seed: of `random`.
    """
    check_settings(SimpleNamespace(seed=seed), "seed")
    check_corpus(pool, "the pool")
    ranking = ranking_of(by)
    if ranking.asks and (not isinstance(model, ProbableTagger) or isinstance(model, Improbable)):
        raise SettingError(
            f"a {type(model).__name__} has no probabilities of whole labellings, so {by} cannot be asked of it; use a "
            "CRF or another model with such, or rank at random"
        )
    if ranking.asks:
        _warn_of_margins(model)
    scores = ranking.of(model, pool, seed)
    if not (ranking.per_token if per_token is None else per_token and ranking.asks):
        return scores
    return scores / np.maximum(np.diff(pool.offsets), 1)


def _warn_of_margins(model: Any) -> None:
    """Where scores were learnt from mistakes or margins, exp(score) over its sum is hardly a probability."""
    if not (hasattr(model, "loss") and hasattr(model, "optimizer")):
        return
    loss = loss_name(model)
    if loss in _MARGINS:
        how = f"the optimizer {model.optimizer}" if model.loss is None else f"the loss {loss}"
        warnings.warn(
            f"the model was trained by {how}, so its scores are no probabilities and rankings may mean little; train "
            "it with the loss log, or see by `trellis calibrate` how far they can be trusted",
            stacklevel=3,
        )


def ranking_of(name: str) -> Ranking:
    """The ranking of that name, or a SettingError that says which there are."""
    if not isinstance(name, str) or name not in RANKINGS:
        near = get_close_matches(str(name), RANKINGS, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(RANKINGS)}"
        raise SettingError(f"unknown ranking '{name}'; {hint}")
    return RANKINGS[name]
