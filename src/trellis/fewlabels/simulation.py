"""Active learning rehearsed on data that has all its labels: what would have come of it, had they been bought one batch
after the other?

Each run begins with some sentences at random. Round after round a model is trained on the labels that are paid for, the
rest is ranked by it, and the first sentences of the ranking are paid for, until the budget of the round is spent.
Labels cost by the token, so that long sentences are no bargain. The rest is shown to models without its labels. Runs of
one seed begin with the same sentences, whatever the ranking.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError, shown
from trellis.fewlabels.checks import check_corpus, check_count, check_model, check_target
from trellis.fewlabels.curve import fresh
from trellis.fewlabels.pace import Pace
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
    repeats: int = 6,
    seed: int = 0,
    per_token: bool | None = None,
    progress: Callable[[str], None] | None = None,
) -> Simulation:
    """Runs of every ranking in `by` (see `ranking`), `repeats` of each, of models with the settings of `model`.

    start, batch: tokens whose labels are there in the beginning, and that are paid for in each of the `rounds`. A round
    buys one sentence at least, if it costs too much the next ones buy less or nothing. progress: is told what is being
    done, and about how long the rest takes.
    """
    check_settings(SimpleNamespace(seed=seed), "seed")
    check_model(model)
    _check(pool, test, model.target, by, start, batch, rounds, repeats)
    budgets = [int(start) + int(batch) * r for r in range(int(rounds) + 1)]
    pace = Pace(progress, float(len(by) * int(repeats) * sum(min(each, pool.tokens) for each in budgets)))
    runs = []
    for k in range(int(repeats)):
        first = next_batch(pool, np.random.default_rng([seed, k]).random(len(pool)), tokens=start)
        for name in by:
            one = _Rehearsal(model, pool, test, name, per_token, [int(seed), k])
            runs.append(one.run(k, first, budgets, pace, f"{name}, {k + 1} of {repeats}"))
    return Simulation(tuple(runs), tuple(by))


def models_to_train(by: Sequence[str], rounds: int, repeats: int) -> int:
    """By `simulate`, at most: where a pool runs out there are less."""
    return len(by) * repeats * (rounds + 1)


@dataclass(frozen=True)
class _Rehearsal:
    """One ranking, of models with the settings of `model`; `seed` is of all that is drawn."""

    model: Any
    pool: Corpus
    test: Corpus
    by: str
    per_token: bool | None
    seed: list[int]

    def run(self, repeat: int, first: I64, budgets: Sequence[int], pace: Pace, what: str) -> Run:
        """budgets: tokens that are paid for in the beginning and after each round, those before included."""
        pool, lengths = self.pool, np.diff(self.pool.offsets)
        paid, steps = first, list[Step]()
        for r in range(len(budgets)):
            pace.tell(f"{what}: round {r} of {len(budgets) - 1}")
            spent = int(lengths[paid].sum())
            if not steps or steps[-1].tokens < spent:
                learnt = fresh(self.model).fit(pool.picked(np.sort(paid)))
                guess = learnt.predict_column(self.test)
                score = compare(self.test[self.model.target], guess, self.test.offsets).headline
                steps.append(Step(len(paid), spent, score))
            else:  # nothing was bought
                steps.append(steps[-1])
            pace.trained(budgets[r])
            if len(paid) == len(pool):
                break
            if r + 1 < len(budgets) and spent < budgets[r + 1]:
                paid = np.concatenate([paid, self._bought(learnt, paid, budgets[r + 1] - spent, r)])
        (right, found), names = same_table(self.test[self.model.target], guess)
        counts = tallies(right, found, names, self.test.offsets)
        return Run(self.by, repeat, tuple(steps), paid, counts, len(paid) == len(pool))

    def _bought(self, learnt: Any, paid: I64, tokens: int, r: int) -> I64:
        """The first sentences of the ranking that a model makes of what is not paid for; it sees no labels of them."""
        columns = {name: column for name, column in self.pool.columns.items() if name != self.model.target}
        rest = rest_of(self.pool, paid)
        unseen = replace(self.pool, columns=columns).picked(rest)
        seed = int(np.random.default_rng([*self.seed, r]).integers(1 << 31))
        scores = uncertainty(learnt, unseen, self.by, self.per_token, seed)
        return rest[next_batch(unseen, scores, tokens=tokens)]


def _check(
    pool: Corpus, test: Corpus, target: str | None, by: Sequence[str], start: int, batch: int, rounds: int, repeats: int
) -> None:
    names = [by] if isinstance(by, str) else list(by) if isinstance(by, Sequence) else None
    for ranking in names or []:
        ranking_of(ranking)
    if not names or isinstance(by, str) or len(set(names)) < len(names):
        found = ", ".join(names) if names else "none" if names is not None else shown(by)
        raise SettingError(f"rankings to compare are {found}; expected a list of one or more, each of them once")
    for name, value in (("start", start), ("batch", batch), ("rounds", rounds), ("repeats", repeats)):
        check_count(name, value)
    for what, corpus in (("the pool", pool), ("test", test)):
        check_corpus(corpus, what)
        check_target(corpus, target)
    if not test.tokens or pool.tokens <= start:
        found = (
            "no token to test on" if not test.tokens else f"{pool.tokens:,} tokens in the pool and {start:,} to start"
        )
        raise DataError(f"{found}; there must be some to buy and some to test on")
