"""hmmlearn's hidden Markov model of symbols, in both of its implementations, beside Trellis'."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import SettingError
from trellis.labels import first_tokens
from trellis.lattice import Chain
from trellis.models import HMM
from trellis.studies.contest import Contest, contest, found, quiet
from trellis.studies.growing import WORD

F64 = NDArray[np.float64]

MODULES = {"hmmlearn": "hmmlearn.hmm"}
WAYS = ("log", "scaling")
_CLOSE = 1e-8  # what probabilities may differ by
_TOL = 1e-15  # of the objective: as near as Trellis comes to going on whatever is gained


def hidden_chains(
    corpus: Corpus, states: int, steps: int, rounds: int, insisted: str | None = None
) -> tuple[list[Contest], list[str]]:
    """P(state) of every token under the same random probabilities, and EM from a random start for so many steps, on
    one thread. The models of EM are not quite the same: Trellis' sentences have an end, and a prior."""
    modules, missing = found(MODULES, insisted)
    if not modules:
        return [], missing
    hmm = modules["hmmlearn"]
    words = Corpus({WORD: corpus[WORD].compact()}, corpus.offsets)
    sizes = {"sentences": len(words), "tokens": words.tokens, "symbols": len(words[WORD].strings), "states": states}
    posterior = _posterior(hmm, words, states)
    with quiet():
        answers = {name: work() for name, work in posterior.items()}
    apart = max(float(np.abs(answer - answers["trellis"]).max()) for answer in answers.values())
    if apart > _CLOSE:
        raise SettingError(f"the two do not agree on the probabilities of states: they are apart by {apart:.1e}")
    own, peers = _split(posterior)
    first = contest("posterior", {**sizes, "apart": apart}, own, peers, rounds)
    own, peers = _split(_fits(hmm, words, states, steps))
    return [first, contest("em", {**sizes, "steps": steps}, own, peers, rounds)], missing


def _posterior(hmm: Any, words: Corpus, states: int) -> dict[str, Callable[[], F64]]:
    """P(state) F64[tokens, states], from words to probabilities."""
    rng, symbols, ids = np.random.default_rng(0), len(words[WORD].strings), words[WORD].ids
    start, follow, emit = (
        rng.dirichlet(np.ones(n), size) for n, size in ((states, ()), (states, states), (symbols, states))
    )
    begins, lengths, column = first_tokens(words.offsets), np.diff(words.offsets), ids[:, None]

    def ours() -> F64:
        scores = np.log(emit).T[ids]
        scores[begins] += np.log(start)
        return Chain(scores, np.log(follow), words.offsets).marginals().nodes

    works: dict[str, Callable[[], F64]] = {"trellis": ours}
    for way in WAYS:
        model = hmm.CategoricalHMM(states, implementation=way)
        model.startprob_, model.transmat_, model.emissionprob_, model.n_features = start, follow, emit, symbols
        works[f"hmmlearn, {way}"] = partial(model.predict_proba, column, lengths)
    return works


def _fits(hmm: Any, words: Corpus, states: int, steps: int) -> dict[str, Callable[[], None]]:
    column, lengths = words[WORD].ids[:, None], np.diff(words.offsets)

    def ours() -> None:
        model = HMM("state", states=states, max_iter=steps, tol=_TOL, threads=1).fit(words)
        _check_steps("Trellis", model.iterations_, steps)

    def theirs(way: str) -> None:
        model = hmm.CategoricalHMM(
            states, n_features=len(words[WORD].strings), n_iter=steps, tol=-math.inf, implementation=way, random_state=0
        )
        model.fit(column, lengths)
        _check_steps("hmmlearn", model.monitor_.iter, steps)

    return {"trellis": ours, **{f"hmmlearn, {way}": partial(theirs, way) for way in WAYS}}


def _check_steps(who: str, made: int, steps: int) -> None:
    if made != steps:
        raise SettingError(f"{who} made {made} steps of EM, not {steps}; give more data, or ask for fewer")


def _split(works: dict[str, Callable[[], Any]]) -> tuple[dict[str, Callable[[], Any]], dict[str, Callable[[], Any]]]:
    """Ours and theirs."""
    return {"trellis": works["trellis"]}, {name: work for name, work in works.items() if name != "trellis"}
