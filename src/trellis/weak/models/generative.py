"""The conditionally independent model of votes and truth (data programming; Ratner et al. 2016): three kinds of
numbers tell how votes come about.

    balance(y)    how frequent a label is
    b_j(y)        how often function j votes at all where the label is y; with abstention="alike", the same for all y
    a_j           how often it is right when it votes; when it is wrong, it is so in any of the L - 1 ways alike

    P(vote | y) = 1 - b_j(y)                   it abstains
                  b_j(y) a_j                   it votes for y
                  b_j(y) (1 - a_j) / (L - 1)   it votes for another

Far fewer numbers than tables of confusions (`dawid_skene`), so they can be learnt from far fewer votes. Functions of a
group that are nearly copies of each other (`structure`) count together as one: each by its share.

Who votes for coarse labels has fewer ways to be wrong: with ENT = A, B, C and D beside it, one. What is right (a_j)
is spread over the names that may be y, by how often they are voted for; what is wrong over those that may not, by how
many labels they stand for. Names are those that the function was seen to vote for, and the labels beyond these.

That silence may depend on the label matters: a function that looks for signs of spam and finds none speaks for ham,
though it abstains. On the YouTube comments of WRENCH accuracy is 85.6 with it, 47.2 without, and 77.6 by majority.

EM starts with functions that agree with each other. `anchor` times the counts that majority vote leads to are added to
those of every step (None: 1 where labels are of segments, else 0), as in `dawid_skene`: where no function says O, O
may else take all tokens, or lose those that nobody votes on. a_j has a prior of `prior` observations, `trust` of them
right, and is never below chance, 1 / L: else EM may take all who vote for a label to be always wrong, and the label for
absent.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError
from trellis.weak.em import check_settings, climb, softened
from trellis.weak.models.accuracies import Accuracies
from trellis.weak.models.majority import shares, tally
from trellis.weak.models.tensors import array_of, groups_from, groups_in, rates_of, shares_of
from trellis.weak.models.weighted import agreement
from trellis.weak.patterns import Patterns
from trellis.weak.repertoire import repertoire, uses
from trellis.weak.space import Space
from trellis.weak.structure import Structure, groups_of
from trellis.weak.voters import Voters, counted, scored
from trellis.weak.votes import ABSTAINS, Votes

BOOL = NDArray[np.bool_]
F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

ABSTENTION = ("alike", "class")
_SURE = 1e-6
_MOST = 1 << 53  # votes that a file may count; such numbers are still exact


class Generative(Accuracies):
    """As above."""

    name = "generative"
    votes_: F64  # b, F64[functions, labels]
    used_: I64  # how often a function votes for a name, I64[functions, names]

    def __init__(
        self,
        structure: Structure = "learned",
        abstention: str = "class",
        anchor: float | None = None,
        prior: float = 2.0,
        trust: float = 0.7,
        max_iter: int = 500,
        tol: float | None = 1e-8,
    ):
        self.structure = structure
        self.abstention = abstention
        self.anchor = anchor
        self.prior = prior
        self.trust = trust
        self.max_iter = max_iter
        self.tol = tol

    def _learn(self, votes: Votes) -> None:
        self._check_settings()
        anchor = (0.0 if votes.space.outside is None else 1.0) if self.anchor is None else self.anchor
        patterns, labels = votes.patterns, len(votes.labels)
        start = shares(tally(patterns.rows, votes.space), votes.space)
        groups = groups_of(self.structure, votes.functions, patterns, start * patterns.counts[:, None])
        self.groups_ = [[votes.functions[j] for j in group] for group in groups]
        counts = patterns.counts * self._heard(patterns.rows, votes)
        cast = self._outcomes(patterns, votes.space)
        self.used_ = uses(votes.values, len(votes.names))
        self._prepare()
        self.right_ = self._possible(agreement(patterns, votes))
        alike = np.full(start.shape, 1.0 / labels) if self.abstention == "alike" else start
        self._set_votes(self._counted(cast, alike * counts[:, None]))
        self.balance_ = (counts @ start + 1.0) / (counts.sum() + labels)
        believed = anchor * start * counts[:, None]

        def steps() -> Iterator[float]:
            while True:
                scores = scored(cast, self._logs()) + np.log(self.balance_)
                chances, likelihood = softened(scores)
                yield float(counts @ likelihood) + float((believed * scores).sum()) + self._log_prior()
                weights = chances * counts[:, None] + believed
                table = self._counted(cast, weights)
                right = (table[:, 1:] * votes.space.admits).sum(axis=(1, 2))
                total = table[:, 1:].sum(axis=(1, 2))
                self.right_ = self._possible((right + self.trust * self.prior) / (total + self.prior))
                if self.abstention == "class":
                    self._set_votes(table)
                self.balance_ = (weights.sum(axis=0) + 1.0) / (weights.sum() + labels)

        self.climb_ = climb(steps(), self.max_iter, self.tol, type(self).__name__)

    def _check_settings(self) -> None:
        anchor = 0.0 if self.anchor is None else self.anchor
        check_settings(self.max_iter, self.tol, anchor=anchor, prior=self.prior)
        trusts = isinstance(self.trust, Real) and 0.0 < float(self.trust) < 1.0
        if self.abstention not in ABSTENTION or not trusts or not self.prior > 0:
            raise SettingError(
                f"abstention={self.abstention!r}, trust={self.trust!r}, prior={self.prior!r}; expected abstention "
                f"{' or '.join(ABSTENTION)}, trust between 0 and 1, prior > 0"
            )

    def _possible(self, right: F64) -> F64:
        return np.clip(right, max(_SURE, 1.0 / max(2, len(self.own_labels))), 1.0 - _SURE)

    def _counted(self, cast: I64, weights: F64) -> F64:
        """How often functions did what under which label, F64[functions, names + 1, labels], abstaining first."""
        functions, names = self.used_.shape
        return counted(cast, weights, functions * (names + 1)).reshape(functions, names + 1, -1)

    def _set_votes(self, table: F64) -> None:
        self.votes_ = (table[:, 1:].sum(axis=1) + 0.5) / (table.sum(axis=1) + 1.0)

    @staticmethod
    def _outcomes(patterns: Patterns, space: Space) -> I64:
        """What functions did, as numbers of the rows of `_logs`, I64[patterns, functions]."""
        functions = [[j] for j in range(patterns.rows.shape[1])]
        return Voters.of(functions, patterns.rows, len(space.names)).cast(patterns.rows)

    def _prepare(self) -> None:
        """What follows from `used_` and `groups_`."""
        sizes = {name: len(group) for group in self.groups_ for name in group}
        self.share_ = np.array([1.0 / sizes[name] for name in self.functions_])
        self._ways = np.log(ways(self.used_, self.own_space_))

    def _heard(self, rows: I32, votes: Votes) -> BOOL | float:
        """Which patterns tell anything: where silence does not and means O, only those with votes."""
        silent = votes.space.outside is not None and self.abstention == "alike"
        return np.asarray((rows != ABSTAINS).any(axis=1)) if silent else 1.0

    def _logs(self) -> F64:
        """log P(vote | y), by shares of groups: F64[functions * (names + 1), labels], abstaining first."""
        right, admits = self.right_[:, None, None], self.own_space_.admits
        cast = self._ways + np.where(admits, np.log(right), np.log1p(-right)) + np.log(self.votes_)[:, None]
        table = np.concatenate([np.log1p(-self.votes_)[:, None], cast], axis=1) * self.share_[:, None, None]
        return np.asarray(table.reshape(-1, table.shape[2]))

    def _log_prior(self) -> float:
        right = self.trust * self.prior * np.log(self.right_) + (1 - self.trust) * self.prior * np.log1p(-self.right_)
        if self.abstention == "class":
            right = right + 0.5 * (np.log(self.votes_) + np.log1p(-self.votes_)).sum(axis=1)
        return float(self.share_ @ right + np.log(self.balance_).sum())

    def _probabilities(self, votes: Votes) -> F64:
        patterns = votes.patterns
        scores = scored(self._outcomes(patterns, votes.space), self._logs()) + np.log(self.balance_)
        if votes.space.outside is not None and self.abstention == "alike":
            silent = (patterns.rows == ABSTAINS).all(axis=1)
            scores[silent] = -np.inf
            scores[silent, votes.space.outside] = 0.0
        return np.asarray(softened(scores)[0][patterns.of])

    def _learnt(self) -> dict[str, NDArray[Any]]:
        groups = groups_in(self.groups_, self.functions_)
        own = {"right": self.right_, "votes": self.votes_, "balance": self.balance_, "used": self.used_}
        return {**own, **groups}

    def _restore(self, learnt: dict[str, NDArray[Any]]) -> None:
        self._check_settings()
        functions, labels = len(self.functions_), len(self.own_labels)
        self.right_ = rates_of(learnt, "right", (functions,))
        self.votes_ = rates_of(learnt, "votes", (functions, labels))
        self.balance_ = shares_of(learnt, "balance", (labels,))
        self.used_ = array_of(learnt, "used", np.int64, (functions, len(self.own_space_.names)))
        if self.used_.min(initial=0) < 0 or self.used_.max(initial=0) > _MOST:
            raise ValueError("numbers of votes")
        self.groups_ = groups_from(learnt, self.functions_, self.structure)
        if not np.array_equal(self._possible(self.right_), self.right_):
            raise ValueError("a function is worse than chance")
        self._prepare()


def ways(used: I64, space: Space) -> F64:
    """Into how many parts what is right, and what is wrong, is divided: F64[functions, names, labels], the share of a
    name among those that may be the label, or, where it may not be it, among these. used I64[functions, names]."""
    labels, admits = len(space.labels), space.admits
    size, known = admits.sum(axis=1), repertoire(used, space)
    out = np.empty((*used.shape, labels))
    for j in range(len(used)):
        right, wrong = (used[j] + 1.0) / size, size.astype(np.float64)
        weight = np.where(admits, right[:, None], wrong[:, None])
        among = [np.where(known[j][:, None] & sides, weight, 0.0).sum(axis=0) for sides in (admits, ~admits)]
        total = np.where(admits, among[0], among[1])
        # a name that it was never seen to vote for comes on top
        out[j] = weight / (total + np.where(known[j][:, None], 0.0, weight))
    return out
