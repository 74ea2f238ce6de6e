"""What the paper claims of its three systems, as differences, beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trellis.report.markdown import table
from trellis.studies.azuma.cases import Case
from trellis.studies.azuma.comparing import between
from trellis.studies.azuma.paper import TABLE_2
from trellis.studies.azuma.plan import ENDS, FOLDS, MAIN, TABLE
from trellis.studies.azuma.results import Study

_NAMES = {
    "table1": "as printed",
    "table1-all": "as printed, all pairs",
    MAIN: "left out",
    "left-out-all": "left out, all pairs",
    "margin": "left out, all pairs, margin",
    "presets": "presets",
    "presets-all": "presets, all pairs",
    "table1-bioes": "as printed, all pairs, BIOES",
    "left-out-bioes": "left out, all pairs, BIOES",
    "margin-bioes": "left out, all pairs, margin, BIOES",
}
SHOWN = {system: _NAMES[system] for system in TABLE}
SHOWN_ENDS = {system: _NAMES[system] for system in ENDS}


@dataclass(frozen=True)
class Claim:
    """`second` is better than `first`; `folds`: of both, or of the second alone, which the paper has not."""

    text: str
    first: str
    second: str
    target: str
    folds: tuple[int, int] = (0, 0)

    @property
    def paper(self) -> str:
        if any(self.folds):
            return ""
        column = ("pos", "chunk").index(self.target)
        return f"{TABLE_2[self.second][column] - TABLE_2[self.first][column]:+.1f}"

    def _key(self, system: str) -> str:
        before, after = self.folds
        return between(Case(system, self.first, jackknife=before), Case(system, self.second, jackknife=after))

    def found(self, study: Study, system: str) -> dict[str, Any] | None:
        """Points, and whether they are more than chance: the middle 95 % of bootstrap samples are on one side of 0."""
        test = (study.tests or {}).get(self._key(system))
        if test is None:
            return None
        here = test[self.target]
        return {"points": 100 * here["difference"], "significant": here["low"] > 0.0 or here["high"] < 0.0}


_BOTH, _SECOND = (FOLDS, FOLDS), (0, FOLDS)
CLAIMS = (
    Claim("chunks: probabilities over the best labels", "onebest", "marginal", "chunk"),
    Claim("chunks: back-propagation over fixed probabilities", "marginal", "joint", "chunk"),
    Claim("chunks: back-propagation over the best labels", "onebest", "joint", "chunk"),
    Claim("chunks: back-propagation over fixed probabilities, both with folds", "marginal", "joint", "chunk", _BOTH),
    Claim("chunks: back-propagation with folds over the best labels", "onebest", "joint", "chunk", _SECOND),
    Claim("parts of speech: back-propagation over the stage by itself", "onebest", "joint", "pos"),
    Claim("parts of speech: the same with folds", "onebest", "joint", "pos", _SECOND),
)


def claims_table(study: Study, systems: Mapping[str, str]) -> str:
    """`systems`: names and how they are called at the head of their columns."""
    rows = []
    for claim in CLAIMS:
        found = [claim.found(study, system) for system in systems]
        cells = ["" if one is None else f"{one['points']:+.2f}{'*' if one['significant'] else ''}" for one in found]
        if any(cells):
            rows.append([claim.text, claim.paper, *cells])
    return table(["points gained", "paper", *systems.values()], rows) if rows else ""


def judged(study: Study) -> dict[str, Any]:
    """The same for --json."""
    return {claim.text: {system: claim.found(study, system) for system in (*TABLE, *ENDS)} for claim in CLAIMS}
