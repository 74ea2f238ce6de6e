"""What the paper claims of its three systems, as differences, beside ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trellis.report.markdown import table
from trellis.studies.azuma.cases import Case
from trellis.studies.azuma.comparing import between
from trellis.studies.azuma.paper import TABLE_2
from trellis.studies.azuma.plan import MAIN
from trellis.studies.azuma.results import Study

# systems with all three wires
SHOWN = {"table1": "as printed", MAIN: "left out", "nodes": "left out, no pairs", "presets": "presets"}


@dataclass(frozen=True)
class Claim:
    """`second` is better than `first`."""

    text: str
    first: str
    second: str
    target: str

    @property
    def paper(self) -> float:
        column = ("pos", "chunk").index(self.target)
        return TABLE_2[self.second][column] - TABLE_2[self.first][column]

    def found(self, study: Study, system: str) -> dict[str, Any] | None:
        """Points, and whether they are more than chance: the middle 95 % of bootstrap samples are on one side of 0."""
        test = (study.tests or {}).get(between(Case(system, self.first), Case(system, self.second)))
        if test is None:
            return None
        here = test[self.target]
        return {"points": 100 * here["difference"], "significant": here["low"] > 0.0 or here["high"] < 0.0}


CLAIMS = (
    Claim("chunks: probabilities over the best labels", "onebest", "marginal", "chunk"),
    Claim("chunks: back-propagation over fixed probabilities", "marginal", "joint", "chunk"),
    Claim("chunks: back-propagation over the best labels", "onebest", "joint", "chunk"),
    Claim("parts of speech: back-propagation over the stage by itself", "onebest", "joint", "pos"),
)


def claims_table(study: Study) -> str:
    rows = []
    for claim in CLAIMS:
        found = [claim.found(study, system) for system in SHOWN]
        cells = ["" if one is None else f"{one['points']:+.2f}{'*' if one['significant'] else ''}" for one in found]
        if any(cells):
            rows.append([claim.text, f"{claim.paper:+.1f}", *cells])
    return table(["points gained", "paper", *SHOWN.values()], rows) if rows else ""


def judged(study: Study) -> dict[str, Any]:
    """The same for --json."""
    return {claim.text: {system: claim.found(study, system) for system in SHOWN} for claim in CLAIMS}
