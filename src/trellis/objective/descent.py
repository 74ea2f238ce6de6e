"""Stochastic gradient descent on a plain shard: the compiled pass, the memory it needs, and the rates of attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.losses import LOSSES
from trellis.objective.kernels.descent import Rates, descent_pass, rates_at
from trellis.objective.online import LARGEST, OnlineShard
from trellis.objective.plain import PlainShard
from trellis.objective.shard import Shard

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

# One step size for all, over the mean of x^2. Smaller steps for attributes that are seen often, in proportion to
# (1 + n / 10)^-0.35, end nearer to the optimum by value (CoNLL-2002 Spanish, Altun's S3, l2 = 1, 6 epochs: 5% above it,
# not 27%) but leave just what is hard for L-BFGS: from there to a gap of 1e-3 it takes 97 evaluations, not 45; on
# CoNLL-2000 chunking 53, not 11.
_SMALLEST = 1e-16  # mean x^2: attributes with smaller values learn less


@dataclass(frozen=True)
class Pace:
    """How quickly weights learn, F64[weights] both: with a step size eta at the rate eta `gain`, where the prior pulls
    a weight back by `pull` = l2 / n of itself, times the rate, at each of the n occurrences that it has in an epoch."""

    gain: F64
    pull: F64

    @classmethod
    def of(cls, count: F64, squares: F64, l2: float) -> Pace:
        """`count`: how often each weight's attribute (or transition) occurs in an epoch; `squares`: the sum of x^2."""
        times = np.maximum(count, 1.0)
        size = np.where(count > 0.0, np.maximum(squares / times, _SMALLEST), 1.0)
        return cls(1.0 / size, l2 / times)

    def at(self, step: float) -> tuple[F64, F64]:
        """The rates with a step size, and what the prior then leaves of a weight at an occurrence."""
        rate, kept = np.empty_like(self.gain), np.empty_like(self.gain)
        rates_at(step, *(numbers.reshape(-1) for numbers in (self.gain, self.pull, rate, kept)))
        return rate, kept

    def __getitem__(self, which: NDArray[Any]) -> Pace:
        return Pace(self.gain[which], self.pull[which])


class DescentShard:
    """`groups: I64[groups, 4]`: the shard's sentences, four of about the same length together; -1 for none."""

    def __init__(self, shard: PlainShard):
        self.shard, self.places = shard, OnlineShard(shard)
        self.groups = self.places.fours

    def count(self) -> tuple[F64, F64]:
        """How often the attribute of each weight occurs, and the sum of its squared values, F64[local] both; of
        transitions how often they are seen in the labels."""
        at, pairs = self.shard.at, self.shard.scoring.layout.pairs
        count = self.places.count()
        squares = count.copy()
        if len(at.row_value) or len(at.pair_value):
            squares[:pairs] = self.places.sums(self.shard.squared)[:pairs]
        return count, squares

    def learn_at(self, pace: Pace) -> None:
        """Of every weight of theta; to be called before `descend`."""
        self._pace = pace

    def descend(self, theta: F64, groups: I64, step: float, shrink: float) -> tuple[float, int]:
        """Updates theta in place, once for each row of `groups`; `shrink`: l2 over the number of updates in an epoch.
        Returns the log loss on the way and how many sentences were left out (see the kernel)."""
        layout, own = self.shard.scoring.layout, self._pace[self.shard.index]
        gain, pull = (layout.transition_matrix(each[layout.pairs :]) for each in (own.gain, own.pull))
        # a transition has its prior in every update rather than at every occurrence
        arc_rate = Pace(gain, pull).at(step)[0]
        arc_kept = np.maximum(1.0 - arc_rate * shrink, 0.0)
        of_rows = own[self.shard.scoring.first_of_rows].at(step)
        rates = Rates(*of_rows, *own.at(step), arc_rate, arc_kept)
        parts = self.places.taken([theta])
        loss, missing = descent_pass(self.places.tokens, groups, parts[0], rates)
        self.places.put(parts, [theta])
        return loss, missing


def can_descend(shard: Shard) -> bool:
    """Whether a shard is of the kind that the compiled pass knows: the plain log loss, no attributes on arcs, no values
    that are extreme."""
    return (
        isinstance(shard, PlainShard)
        and shard.loss is LOSSES["log"]
        and shard.arcs is None
        and shard.forbidden is None
        and all(target.weights is None for target in shard.targets)
        and float(np.abs(shard.at.row_value).max(initial=0.0)) <= LARGEST
        and float(np.abs(shard.at.pair_value).max(initial=0.0)) <= LARGEST
    )
