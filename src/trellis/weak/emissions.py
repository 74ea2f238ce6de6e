"""P(outcome | label) of voters: learnt from expected counts, asked for the scores of votes.

Where nothing but counts speaks, expected counts lead away from what functions mean: EM finds whatever explains the
votes best, which need not be the labels. So beside `smoothing` observations, spread evenly, each distribution has
`anchor` times the counts that majority vote leads to. These are Dirichlet priors: EM with them never lowers

    log P(votes) + sum over voters, outcomes and labels of prior count * log P(outcome | label)

Of a vote that a function was never seen to cast, counts tell nothing: smoothing alone would make it most probable under
the rarest label. It is taken for what it says: right as often as the function's other votes are, else wrong in any way
alike. That a function abstains that never did tells nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.weak.patterns import Patterns
from trellis.weak.structure import Structure, groups_of
from trellis.weak.voters import Voters, counted, scored
from trellis.weak.votes import ABSTAINS, Votes

BOOL = NDArray[np.bool_]
F64 = NDArray[np.float64]
I32 = NDArray[np.int32]


@dataclass(frozen=True)
class Emissions:
    """`logs F64[outcomes, labels]`, log P(outcome | label) of voters; `alone F64[functions * (names + 1), labels]`, the
    same of functions by themselves, abstaining first. `seen BOOL[functions, names + 1]`: whether the function was seen
    to do that; `right F64[functions]`: how often its votes are right."""

    voters: Voters
    logs: F64
    alone: F64
    seen: BOOL
    right: F64

    def scores(self, rows: I32, admits: BOOL) -> F64:
        """log P(votes | label) of patterns, F64[patterns, labels]; rows I32[patterns, functions], admits BOOL[names,
        labels]."""
        cast = self.voters.cast(rows)
        for v, group in enumerate(self.voters.groups):
            if len(group) == 1:
                cast[~self.seen[group[0], rows[:, group[0]] + 1], v] = -1
        scores = scored(cast, self.logs)
        for v in np.flatnonzero((cast < 0).any(axis=0)).tolist():
            at = np.flatnonzero(cast[:, v] < 0)
            for j in self.voters.groups[v]:
                scores[at] += self._by_itself(j, admits)[rows[at, j] + 1] / len(self.voters.groups[v])
        return scores

    def _by_itself(self, j: int, admits: BOOL) -> F64:
        """log P(vote | label) of a function, F64[names + 1, labels], abstaining first."""
        names = self.voters.names
        known = self.alone[j * (names + 1) : (j + 1) * (names + 1)]
        wrong = np.maximum(1, (~admits).sum(axis=1, keepdims=True))
        told = np.where(admits, np.log(self.right[j]), np.log((1.0 - self.right[j]) / wrong))
        return np.where(self.seen[j][:, None], known, np.concatenate([np.zeros((1, admits.shape[1])), told]))


class Evidence:
    """Votes to learn emissions from. weights F64[patterns, labels]: how often a pattern stands where the label is, as
    majority vote has it."""

    def __init__(
        self,
        votes: Votes,
        patterns: Patterns,
        weights: F64,
        structure: Structure,
        anchor: float,
        smoothing: float,
        silence: bool = True,
    ):
        """silence: whether abstaining tells anything."""
        self.rows, self.silence, self.admits = patterns.rows, silence, votes.space.admits
        self.voters = Voters.of(
            groups_of(structure, votes.functions, patterns, weights), patterns.rows, len(votes.names)
        )
        self.cast = self.voters.cast(patterns.rows)
        sizes = np.diff(self.voters.first)
        even = smoothing / np.repeat(sizes, sizes)[:, None]
        self.prior = self._heard(anchor * counted(self.cast, weights, self.voters.outcomes) + even, self.voters)

    def estimate(self, weights: F64) -> tuple[F64, float]:
        """The most probable log P(outcome | label), F64[outcomes, labels], and the log of their prior."""
        counts = self._heard(counted(self.cast, weights, self.voters.outcomes), self.voters) + self.prior
        logs = _logs(self.voters.shares(counts), counts)
        return logs, float((self.prior * logs).sum())

    def scores(self, logs: F64) -> F64:
        """log P(votes | label), F64[patterns, labels]."""
        return scored(self.cast, logs)

    def emissions(self, logs: F64, weights: F64, smoothing: float) -> Emissions:
        """What is kept of learning."""
        functions, names = self.rows.shape[1], self.voters.names
        single = Voters.of([[j] for j in range(functions)], self.rows, names)
        cast = single.cast(self.rows)
        seen = np.zeros(single.outcomes, np.bool_)
        seen[cast] = True
        counts = counted(cast, weights, single.outcomes)
        votes = counts.reshape(functions, names + 1, -1)[:, 1:]
        right = ((votes * self.admits).sum(axis=(1, 2)) + 1.0) / (votes.sum(axis=(1, 2)) + 2.0)
        counts = self._heard(counts + smoothing / (names + 1), single)
        alone = _logs(single.shares(counts), counts)
        return Emissions(self.voters, logs, alone, seen.reshape(functions, names + 1), right)

    def _heard(self, counts: F64, voters: Voters) -> F64:
        """Without what says nothing."""
        if not self.silence:
            for v, joint in enumerate(voters.joint):
                counts[voters.first[v] + np.flatnonzero((joint == ABSTAINS).all(axis=1))] = 0.0
        return counts


def _logs(shares: F64, counts: F64) -> F64:
    """0, as of what is certain, for what is not to be heard."""
    return np.log(shares, out=np.zeros_like(shares), where=counts > 0)
