"""The passive-aggressive algorithms (Crammer et al. 2006) for sequences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trellis.optim.margins import MarginLearner
from trellis.optim.settings import setting


@dataclass(frozen=True)
class PassiveAggressive(MarginLearner):
    """A sentence that is wrong changes weights as little as possible such that its gold path wins by a margin: `one`,
    the square `root` of the number of wrong labels, or their `count`. `variant` 0 does so whatever it takes; 1 moves by
    no more than C times the difference of paths; 2 trades the margin for smaller steps. `augmented`: the path to win
    against is the best one by score and number of wrong labels, not by score alone."""

    variant: int = setting(1, least=0, most=2)
    C: float = setting(1.0, above=0.0)
    margin: str = setting("root", choices=("one", "root", "count"))
    augmented: bool = setting(False)

    def rule(self, steps: int) -> Any:
        from trellis.objective.rules.passive_aggressive import PassiveAggressiveRule

        return PassiveAggressiveRule(steps, self.variant, self.C, self.margin, self.augmented)
