"""The passive-aggressive algorithms (Crammer et al. 2006) for sequences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trellis.optim.margins import MarginLearner
from trellis.optim.settings import setting


@dataclass(frozen=True)
class PassiveAggressive(MarginLearner):
    """A sentence whose best path is wrong changes weights as little as possible such that its gold path beats that one
    by a margin: `one`, the square `root` of the number of wrong labels, or their `count`. With the margin `worst` it is
    to beat the path whose score and count are the highest together, in place of the best path. `variant` 0 does so
    whatever it takes; 1 moves by no more than C times the difference of paths; 2 takes smaller steps, the larger C is
    the less so."""

    variant: int = setting(1, least=0, most=2)
    C: float = setting(1.0, above=0.0)
    margin: str = setting("root", choices=("one", "root", "count", "worst"))

    def rule(self, steps: int) -> Any:
        from trellis.objective.rules.passive_aggressive import PassiveAggressiveRule

        return PassiveAggressiveRule(steps, self.variant, self.C, self.margin)
