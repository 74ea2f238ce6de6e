"""Active learning rehearsed on data that has all its labels: what would have come of it, had they been bought one batch
after the other?

Each run begins with some sentences at random. Round after round a model is trained on the labels that are paid for, the
rest is ranked by it, and the first sentences of the ranking are paid for, until the budget of the round is spent.
Labels cost by the token, so that long sentences are no bargain. The rest is shown to models without its labels. Runs of
one seed begin with the same sentences, whatever the ranking.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError, shown
from trellis.fewlabels.curve import fresh
from trellis.fewlabels.ranking import ranking_of, uncertainty
from trellis.fewlabels.selection import next_batch, rest_of
from trellis.fewlabels.simulated import Run, Simulation, Step
from trellis.metrics import compare, tallies
from trellis.metrics.compare import same_table
from trellis.models.settings import check_settings

I64 = NDArray[np.int64]


def simulate(
    model: Any,
    pool: Corpus,
    test: Corpus,
    by: Sequence[str] = ("entropy", "random"),
    start: int = 500,
    batch: int = 500,
    rounds: int = 10,
    repeats: int = 5,
    seed: int = 0,
    per_token: bool | None = None,
    progress: Callable[[str], None] | None = None,
) -> Simulation:
    """Runs of every ranking in `by` (see `ranking`), `repeats` of each, of models with the settings of `model`.

    start, batch: tokens whose labels are there in the beginning, and that are paid for in each of the `rounds`.
    """
    check_settings(SimpleNamespace(seed=seed), "seed")
    _check(pool, test, model.target, by, start, batch, rounds, repeats)
    runs = []
    for k in range(int(repeats)):
        first = next_batch(pool, np.random.default_rng([seed, k]).random(len(pool)), tokens=start)
        for name in by:
            say = None if progress is None else _telling(progress, f"{name}, {k + 1} of {repeats}", rounds)
            budgets = [start + batch * r for r in range(1, int(rounds) + 1)]
            runs.append(_run(model, pool, test, name, k, [seed, k], first, budgets, per_token, say))
    return Simulation(tuple(runs), tuple(by))


def _run(
    model: Any,
    pool: Corpus,
    test: Corpus,
    name: str,
    repeat: int,
    seed: list[int],
    first: I64,
    budgets: Sequence[int],
    per_token: bool | None,
    say: Callable[[int], None] | None,
) -> Run:
    """One seed of one ranking. budgets: tokens that are paid for after each round, those before included."""
    blind = replace(pool, columns={column: pool[column] for column in pool.columns if column != model.target})
    paid, steps, lengths = first, [], np.diff(pool.offsets)
    for r, budget in enumerate([*budgets, None]):
        if say is not None:
            say(r)
        learnt = fresh(model).fit(pool.picked(np.sort(paid)))
        predicted = learnt.predict_column(test)
        spent = int(lengths[paid].sum())
        steps.append(Step(len(paid), spent, compare(test[model.target], predicted, test.offsets).headline))
        rest = rest_of(pool, paid)
        if budget is None or not len(rest):
            break
        unseen = blind.picked(rest)
        scores = uncertainty(learnt, unseen, name, per_token, int(np.random.default_rng([*seed, r]).integers(1 << 31)))
        paid = np.concatenate([paid, rest[next_batch(unseen, scores, tokens=max(1, budget - spent))]])
    (right, guess), names = same_table(test[model.target], predicted)
    return Run(name, repeat, tuple(steps), paid, tallies(right, guess, names, test.offsets))


def _telling(progress: Callable[[str], None], what: str, rounds: int) -> Callable[[int], None]:
    return lambda r: progress(f"{what}: round {r} of {rounds}")


def _check(
    pool: Corpus, test: Corpus, target: str | None, by: Sequence[str], start: int, batch: int, rounds: int, repeats: int
) -> None:
    for ranking in by:
        ranking_of(ranking)
    if not by or len(set(by)) < len(by):
        raise SettingError(
            f"rankings to compare are {', '.join(by) or 'none'}; expected one or more, each of them once"
        )
    for name, value in (("start", start), ("batch", batch), ("rounds", rounds), ("repeats", repeats)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
            raise SettingError(f"{name} is {shown(value)}; expected a whole number >= 1")
    for corpus in (pool, test):
        if target is None or target not in corpus.columns:
            raise SettingError(f"unknown target '{target}'; the columns are: {', '.join(corpus.columns)}")
    if not test.tokens or pool.tokens <= start:
        found = (
            "no token to test on" if not test.tokens else f"{pool.tokens:,} tokens in the pool and {start:,} to start"
        )
        raise DataError(f"{found}; there must be some to buy and some to test on")
