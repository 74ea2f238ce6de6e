"""What a study has found, as plain data: it goes into a JSON file, and pages and plots are made from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from trellis.errors import DataError
from trellis.studies.altun.cells import L2, NONE, Cell, Outcome
from trellis.studies.altun.methods import METHODS
from trellis.studies.altun.plan import Scope, tried


@dataclass(frozen=True)
class Study:
    """`settings`: what the command was told; `machine`: where it ran; `held_out`: task -> on what its priors were
    chosen."""

    settings: Mapping[str, Any]
    machine: Mapping[str, Any]
    held_out: Mapping[str, str]
    scope: Scope
    outcomes: tuple[Outcome, ...] = ()

    @cached_property
    def _by_cell(self) -> dict[Cell, Outcome]:
        return {outcome.cell: outcome for outcome in self.outcomes}

    def of(self, cell: Cell) -> Outcome | None:
        return self._by_cell.get(cell)

    def with_outcome(self, outcome: Outcome) -> Study:
        return replace(self, outcomes=(*self.outcomes, outcome))

    def tried(self, task: str, features: str, method: str) -> dict[float, float]:
        """Strength of the Gaussian prior -> score on held-out data, as far as it is known."""
        cells = tried(task, features, method, self.scope.grid)
        found = [(cell.strength, self.of(cell)) for cell in cells]
        return {strength: outcome.dev for strength, outcome in found if outcome is not None and outcome.dev is not None}

    def chosen(self, task: str, features: str, method: str) -> float:
        """The prior with the highest score on held-out data; of several the strongest, which is the simplest model."""
        scores = self.tried(task, features, method)
        return max(scores, key=lambda strength: (scores[strength], strength))

    def result(
        self, task: str, features: str, method: str, sentences: int | None = None, noise: float = 0.0
    ) -> Outcome | None:
        """Of a method with the prior that was chosen for it (on all sentences, without noise)."""
        if not METHODS[method].grid:
            return self.of(Cell(task, features, method, NONE, 0.0, sentences, noise))
        if not self.tried(task, features, method):
            return None
        return self.of(Cell(task, features, method, L2, self.chosen(task, features, method), sentences, noise))

    def as_json(self) -> dict[str, Any]:
        return {
            "study": "altun",
            "settings": dict(self.settings),
            "machine": dict(self.machine),
            "held_out": dict(self.held_out),
            "scope": self.scope.as_json(),
            "outcomes": [outcome.as_json() for outcome in self.outcomes],
        }

    @classmethod
    def from_json(cls, found: Any) -> Study:
        try:
            if found["study"] != "altun":
                raise KeyError
            outcomes = tuple(map(Outcome.from_json, found["outcomes"]))
            scope = Scope.from_json(found["scope"])
            return cls(found["settings"], found["machine"], found["held_out"], scope, outcomes)
        except (KeyError, TypeError, AttributeError, ValueError):
            raise DataError("these are no results of `trellis reproduce altun`, or of another version") from None
