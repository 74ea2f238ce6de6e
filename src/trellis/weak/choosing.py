"""Which label model to believe: the one that is best on a little gold; of equals, the simpler one, tried first."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trellis.errors import DataError, SettingError, TrellisError
from trellis.metrics import Report
from trellis.weak.beside import check_dev
from trellis.weak.models import label_model
from trellis.weak.models.contract import Dev, LabelModel
from trellis.weak.votes import Votes

Candidate = tuple[str, Mapping[str, Any]]

_ANCHORS = (10.0, 30.0, 3.0, 1.0, 0.3)  # how far from majority vote an HMM may go cannot be told without gold
_INDEPENDENT: tuple[Candidate, ...] = (
    ("majority", {}),
    ("weighted", {}),
    ("triplets", {}),
    ("generative", {}),
    ("dawid-skene", {}),
)


@dataclass(frozen=True)
class Tried:
    """A candidate, how it did on the gold, and why it could not be tried, where it could not."""

    name: str
    settings: Mapping[str, Any]
    report: Report | None
    why_not: str | None = None

    def as_json(self) -> dict[str, Any]:
        report = None if self.report is None else self.report.as_json()
        return {"model": self.name, "settings": dict(self.settings), "report": report, "why_not": self.why_not}


def candidates_for(votes: Votes) -> list[Candidate]:
    """All models that can be fitted to such votes, simple ones first."""
    found = list(_INDEPENDENT)
    if votes.space.outside is not None:
        found.append(("generative", {"anchor": 0.0}))
    if np.diff(votes.offsets).max(initial=0) > 1:
        chains = ["hmm", *(["linked-hmm"] if votes.linkers else [])]
        found += [(name, {"anchor": anchor}) for name in chains for anchor in _ANCHORS]
    return found


def default_for(votes: Votes) -> str:
    """The model to take where there is no gold to choose by."""
    if np.diff(votes.offsets).max(initial=0) <= 1:
        return "generative"
    return "linked-hmm" if votes.linkers else "hmm"


def choose(
    votes: Votes,
    dev: Dev,
    candidates: Sequence[Candidate] | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> tuple[LabelModel, list[Tried]]:
    """Fits every candidate to votes; the one that is best on dev (votes and their gold labels), and all that were
    tried."""
    held_out, gold = check_dev(dev)
    tried: list[Tried] = []
    best: tuple[float, LabelModel] | None = None
    for name, settings in candidates or candidates_for(votes):
        say(f"{name} {' '.join(f'{key}={value}' for key, value in settings.items())}".strip())
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what matters of the chosen one is said when it is compared
                model = label_model(name)(**settings).learn(votes)
                report = model.evaluate(held_out, gold)
        except (SettingError, DataError) as error:
            tried.append(Tried(name, settings, None, str(error)))
            continue
        tried.append(Tried(name, settings, report))
        if best is None or report.headline > best[0]:
            best = report.headline, model
    if best is None:
        raise TrellisError(f"no label model could be fitted: {tried[0].why_not if tried else 'none was named'}")
    return best[1].judged(dev), tried
