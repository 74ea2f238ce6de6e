"""A label model beside majority vote, on votes whose labels are known; without such, how far the two differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError
from trellis.labels import first_tokens, read_segments
from trellis.labels.encoding import OUTSIDE
from trellis.labels.packed import ranges
from trellis.metrics import Report, evaluate
from trellis.weak.conflicts import check_gold, spoken
from trellis.weak.space import Space, in_io
from trellis.weak.votes import Votes

if TYPE_CHECKING:
    from trellis.weak.models.contract import LabelModel
    from trellis.weak.models.majority import MajorityVote

BOOL = NDArray[np.bool_]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

# a label that majority vote says so often, of what has votes, and a model never, is worth a warning
_OFTEN, _TIMES = 0.05, 20


@dataclass(frozen=True)
class Beside:
    """`own`, `majority`: scores on gold labels, None where there are none; `differs`: the share of tokens with votes
    on which the two disagree; `ties`: on how many tokens majority vote had to choose; `never`: labels (types) that
    majority vote often says, and the model never, with the share of tokens with votes."""

    model: str
    own: Report | None
    majority: Report | None
    differs: float
    ties: int
    never: tuple[tuple[str, float], ...] = ()

    @classmethod
    def of(cls, model: LabelModel, majority: MajorityVote, votes: Votes, gold: I32 | None) -> Beside:
        ours, theirs = model.best(votes), majority.best(votes)
        differs = float(np.mean((ours != theirs)[votes.fired])) if votes.fired.any() else 0.0
        ties = int(majority.tied(votes).sum())
        found = cls(model.name, None, None, differs, ties, _never(ours, theirs, votes.fired, model.space_))
        if gold is None:
            return found
        return replace(found, own=model.evaluate(votes, gold), majority=majority.evaluate(votes, gold))

    @property
    def is_worse(self) -> bool:
        """Whether gold labels say that the model does not beat majority vote."""
        if self.own is None or self.majority is None or self.model == "majority":
            return False
        return self.own.headline <= self.majority.headline

    def warnings(self) -> list[str]:
        """What should not be overlooked."""
        found = [
            f"{self.model} never says {label}, which majority vote says of {100 * share:.0f}% of what has votes; it "
            "may have gone astray: see the learned accuracies (weak analyze --model), or take another model"
            for label, share in self.never
        ]
        if self.is_worse:
            assert self.own is not None
            assert self.majority is not None
            much = "does no better than" if self.own.headline == self.majority.headline else "is worse than"
            found.append(
                f"{self.model} {much} majority vote on gold labels: {_percent(self.own)} against "
                f"{_percent(self.majority)}; choose another model, or majority vote itself"
            )
        return found

    def as_text(self) -> str:
        """One line."""
        ties = f"{self.ties:,} tie{'' if self.ties == 1 else 's'}"
        if self.own is None or self.majority is None:
            if self.model == "majority":
                return f"majority vote: {ties}; no gold labels to say how good it is"
            return (
                f"{self.model} and majority vote{f' ({ties})' if self.ties else ''} differ on "
                f"{100 * self.differs:.1f}% of what has votes; no gold labels to say which is better"
            )
        if self.model == "majority":
            return f"majority vote: {_what(self.own)} {_percent(self.own)}, {ties}"
        return (
            f"{self.model}: {_what(self.own)} {_percent(self.own)}; majority vote beside it: "
            f"{_percent(self.majority)}{f', {ties}' if self.ties else ''}"
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "own": None if self.own is None else self.own.as_json(),
            "majority": None if self.majority is None else self.majority.as_json(),
            "differs": self.differs,
            "ties": self.ties,
            "never": dict(self.never),
        }


def check_dev(dev: object) -> tuple[Votes, I32]:
    """Votes and their gold labels, I32[tokens]; DataError for what is no such pair."""
    if not (isinstance(dev, tuple | list) and len(dev) == 2 and isinstance(dev[0], Votes)):
        raise DataError("gold labels come with their votes: a pair of Votes and gold labels, one for each token")
    gold = check_gold(dev[1], dev[0])
    if not (gold >= 0).any():
        raise DataError("no gold label is known; there is nothing to judge by")
    return dev[0], gold


def scored(best: I32, gold: I32, labels: Sequence[str], offsets: I64) -> Report:
    """Labels and gold labels, both numbers of `labels`, gold -1 where not known. Segments are counted as conlleval
    counts them; those of the gold labels beside a token that is not known, and all that touch these or it, are left
    out."""
    known = gold >= 0
    if known.all():
        return evaluate(gold, best, labels, offsets)
    cuts = np.concatenate([[0], np.cumsum(known)])[offsets]
    tokens = evaluate(gold[known], best[known], labels, cuts)
    if tokens.f1 is None:
        return tokens
    outside = labels.index(OUTSIDE)
    gold = np.where(known, gold, outside)
    unclear = _near(gold, known, labels, offsets)  # what might go on where nobody knows
    gold = np.where(unclear, outside, gold)
    start, end, _ = read_segments(best, labels, offsets)
    before = np.append(0, np.cumsum(unclear))
    touching = before[end] > before[start]
    kept = best.copy()
    kept[ranges(start[touching], (end - start)[touching])] = outside
    judged = evaluate(gold, kept, labels, offsets)
    counted = {name: getattr(tokens, name) for name in ("accuracy", "tokens", "correct_tokens")}
    return replace(judged, **counted)


def _near(gold: I32, known: BOOL, labels: Sequence[str], offsets: I64) -> BOOL:
    """Tokens that are not known, and the gold segments beside them."""
    unclear = ~known
    start, end, _ = read_segments(gold, labels, offsets)
    begins, ends = first_tokens(offsets), np.append(first_tokens(offsets)[1:], True)[: len(gold)]
    behind = np.append(unclear[1:], False) & ~ends
    ahead = np.append(False, unclear[:-1]) & ~begins
    beside = ahead[start] | behind[end - 1]
    out = unclear.copy()
    out[ranges(start[beside], (end - start)[beside])] = True
    return out


def _never(ours: I32, theirs: I32, fired: BOOL, space: Space) -> tuple[tuple[str, float], ...]:
    """Labels (types) that majority vote says of many tokens with votes, and the model of no token."""
    by_type, many = in_io(space), max(1, int(fired.sum()))
    kinds = np.array([by_type.index[name] for name in space.spelt_in_io], np.int64)
    said, expected = (np.bincount(kinds[found], minlength=len(by_type.labels)) for found in (ours, theirs[fired]))
    missing = np.flatnonzero((said == 0) & (expected > max(_TIMES, _OFTEN * many)))
    return tuple((spoken(by_type)[k], float(expected[k]) / many) for k in missing.tolist())


def _what(report: Report) -> str:
    return "accuracy" if report.f1 is None else "F1"


def _percent(report: Report) -> str:
    return f"{100 * report.headline:.2f}"
