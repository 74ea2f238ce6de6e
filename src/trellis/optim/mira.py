"""The margin-infused relaxed algorithm (Crammer & Singer 2003; McDonald et al. 2005)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trellis.optim.contract import Objective
from trellis.optim.margins import MarginLearner
from trellis.optim.settings import setting


@dataclass(frozen=True)
class MIRA(MarginLearner):
    """Every sentence changes weights as little as possible such that its gold path beats each of the `k` best ones by
    as much as that has wrong labels; by no more than `C` times the difference of paths each."""

    # an epoch over 1,000 sentences of CoNLL-2000 takes 0.15, 0.5 and 5 s with k = 5, 20 and 100
    k: int = setting(5, least=1, most=100)
    C: float = setting(1.0, above=0.0)

    def usual_work(self, objective: Objective) -> float:
        # CoNLL-2000: 7, 34 and 340 times as long as the perceptron with k = 5, 20 and 100
        return super().usual_work(objective) * (1.0 + self.k + 0.025 * self.k**2)

    def rule(self, steps: int) -> Any:
        from trellis.objective.rules.mira import MiraRule

        return MiraRule(steps, self.k, self.C)
