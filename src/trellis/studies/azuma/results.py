"""What a study has found, as plain data: it goes into a JSON file, and pages and plots are made from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from trellis.errors import DataError
from trellis.studies.azuma.cases import Case, Outcome


@dataclass(frozen=True)
class Study:
    """`settings`: what the command was told; `machine`: where it ran; `cost`: see `bench_cascade`; `tests`: for each
    pair of cases, how they differ (see `comparing`)."""

    settings: Mapping[str, Any]
    machine: Mapping[str, Any]
    outcomes: tuple[Outcome, ...] = ()
    cost: Mapping[str, Any] | None = None
    tests: Mapping[str, Any] | None = None

    @cached_property
    def _by_case(self) -> dict[Case, Outcome]:
        return {outcome.case: outcome for outcome in self.outcomes}

    def of(self, case: Case) -> Outcome | None:
        return self._by_case.get(case)

    def with_outcome(self, outcome: Outcome) -> Study:
        return replace(self, outcomes=(*self.outcomes, outcome))

    def as_json(self) -> dict[str, Any]:
        return {
            "study": "azuma",
            "settings": dict(self.settings),
            "machine": dict(self.machine),
            "outcomes": [outcome.as_json() for outcome in self.outcomes],
            "cost": self.cost,
            "tests": self.tests,
        }

    @classmethod
    def from_json(cls, found: Any) -> Study:
        try:
            if found["study"] != "azuma":
                raise KeyError
            outcomes = tuple(map(Outcome.from_json, found["outcomes"]))
            return cls(found["settings"], found["machine"], outcomes, found["cost"], found["tests"])
        except (KeyError, TypeError, AttributeError, ValueError):
            raise DataError("these are no results of `trellis reproduce azuma`, or of another version") from None
