"""A label model beside majority vote, on votes whose labels are known; without such, how far the two differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trellis.metrics import Report, evaluate
from trellis.weak.votes import Votes

if TYPE_CHECKING:
    from trellis.weak.models.contract import LabelModel
    from trellis.weak.models.majority import MajorityVote

I32 = NDArray[np.int32]


@dataclass(frozen=True)
class Beside:
    """`own`, `majority`: scores on held-out gold, None where there is none; `differs`: the share of tokens with votes
    on which the two disagree; `ties`: on how many tokens majority vote had to choose."""

    model: str
    own: Report | None
    majority: Report | None
    differs: float
    ties: int

    @classmethod
    def of(cls, model: LabelModel, majority: MajorityVote, votes: Votes, gold: I32 | None) -> Beside:
        ours, theirs = model.best(votes), majority.best(votes)
        differs = float(np.mean((ours != theirs)[votes.fired])) if votes.fired.any() else 0.0
        ties = int(majority.tied(votes).sum())
        if gold is None:
            return cls(model.name, None, None, differs, ties)
        return cls(model.name, scored(ours, gold, votes), scored(theirs, gold, votes), differs, ties)

    @property
    def is_worse(self) -> bool:
        """Whether held-out gold says that the model does not beat majority vote."""
        if self.own is None or self.majority is None or self.model == "majority":
            return False
        return self.own.headline <= self.majority.headline

    def warning(self) -> str:
        assert self.own is not None
        assert self.majority is not None
        much = "does no better than" if self.own.headline == self.majority.headline else "is worse than"
        return (
            f"{self.model} {much} majority vote on held-out gold: {_percent(self.own)} against "
            f"{_percent(self.majority)}; choose another model, or majority vote itself"
        )

    def as_text(self) -> str:
        """One line."""
        ties = f", {self.ties:,} ties" if self.ties else ""
        if self.own is None or self.majority is None:
            return (
                f"{self.model} and majority vote{ties and f' ({ties[2:]})'} differ on {100 * self.differs:.1f}% of "
                "what has votes; no gold labels to say which is better"
            )
        return (
            f"{self.model}: {_what(self.own)} {_percent(self.own)}; majority vote beside it: "
            f"{_percent(self.majority)}{ties}"
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "own": None if self.own is None else self.own.as_json(),
            "majority": None if self.majority is None else self.majority.as_json(),
            "differs": self.differs,
            "ties": self.ties,
        }


def scored(best: I32, gold: I32, votes: Votes) -> Report:
    """Of the tokens whose gold label is known; segments as conlleval counts them."""
    known = gold >= 0
    if known.all():
        return evaluate(gold, best, votes.labels, votes.offsets)
    cuts = np.concatenate([[0], np.cumsum(known)])[votes.offsets]
    return evaluate(gold[known], best[known], votes.labels, cuts)


def _what(report: Report) -> str:
    return "accuracy" if report.f1 is None else "F1"


def _percent(report: Report) -> str:
    return f"{100 * report.headline:.2f}"
