"""What is run: a cascade of a kind on some data, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Case:
    """`system`: which stages with which features (see `systems`); `wire`: how they are read, or `product`, one CRF of
    both labels at once; `jackknife`: folds; `sentences`: of the training data, drawn at random, all if None;
    `annotated`: how many of these have labels of lower stages, all if None; `held_out`: the test data are a part of the
    training data that is left out there."""

    system: str
    wire: str
    jackknife: int = 0
    sentences: int | None = None
    annotated: int | None = None
    held_out: bool = False

    @property
    def key(self) -> str:
        folds = f"-jackknife{self.jackknife}" if self.jackknife else ""
        some = f"-{self.sentences}" if self.sentences else ""
        lower = f"-lower{self.annotated}" if self.annotated else ""
        test = "-held-out" if self.held_out else ""
        return f"{self.system}-{self.wire}{folds}{some}{lower}{test}"


@dataclass(frozen=True)
class Outcome:
    """`scores`: target -> accuracy and, where labels encode segments, F1; `errors`: of the last stage, tokens: all of
    them (`all`), those that go away if it is told the right labels of lower stages (`traced`), and those that come
    then (`new`); `seconds` of training, by the wall."""

    case: Case
    scores: Mapping[str, Mapping[str, float | None]]
    errors: Mapping[str, int]
    objective: float
    evaluations: int
    converged: bool
    seconds: float
    weights: int
    tokens: int

    @property
    def headline(self) -> float:
        """The last stage's F1, or else accuracy."""
        last = list(self.scores.values())[-1]
        score = last["f1"] if last["f1"] is not None else last["accuracy"]
        assert score is not None
        return score

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Outcome:
        if set(found) != {field.name for field in fields(cls)}:
            raise KeyError("outcome")
        return cls(**{**found, "case": Case(**found["case"])})
