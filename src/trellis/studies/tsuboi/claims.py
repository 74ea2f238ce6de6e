"""The paper's claims in our own words, each with the ratio of times that it is about and what that is here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from trellis.studies.tsuboi.measures import fastest, ratio
from trellis.studies.tsuboi.results import Case

_GAPS = ("1e-2", "1e-3", "1e-4")
_F1 = ("f1",)
CLEAR = 1.05  # a ratio nearer to 1 is no difference

HOLDS, SMALLER, MIXED, NO, UNKNOWN = "holds", "holds, by less", "mixed", "does not hold", "not measured"


@dataclass(frozen=True)
class Claim:
    """`fast` needs less time than `slow`, by a factor of `least` or more, for each of `measures`."""

    key: str
    text: str
    paper: str
    slow: str
    fast: str
    measures: tuple[str, ...]
    least: float = 1.0


CLAIMS = (
    Claim(
        "kept", "Newton-CG is faster when all lattices are kept than when none is",
        "2-3 times", "ncg-0", "ncg-all", _GAPS, 2.0,
    ),
    Claim(
        "lbfgs", "NCG(c=ALL) comes to a high F1 sooner than L-BFGS(m=50)",
        "3-6 times", "lbfgs-50", "ncg-all", _F1, 3.0,
    ),
    Claim(
        "lbfgs-gap", "NCG(c=ALL) comes near the optimum sooner than L-BFGS(m=50)",
        "faster", "lbfgs-50", "ncg-all", _GAPS,
    ),
    Claim(
        "ad", "NCG(c=ALL) comes to a high F1 sooner than Newton-CG by algorithmic differentiation",
        "2 times", "ncg-ad", "ncg-all", _F1, 2.0,
    ),
    Claim(
        "plain", "even with nothing kept, Newton-CG is faster than L-BFGS(m=50)",
        "faster", "lbfgs-50", "ncg-0", _GAPS,
    ),
    Claim(
        "more-pairs", "L-BFGS is fastest with the most memory: m=50 before m=10",
        "faster", "lbfgs-10", "lbfgs-50", _GAPS,
    ),
    Claim(
        "some-kept", "keeping some lattices is faster than keeping none",
        "faster", "ncg-0", "ncg-some", _GAPS,
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Judged:
    """`ratios`: task -> measure -> ratio, None where a method did not come so far."""

    claim: Claim
    weights: str
    ratios: Mapping[str, Mapping[str, float | None]]
    verdict: str

    def as_json(self) -> dict[str, Any]:
        return {
            "claim": self.claim.key,
            "text": self.claim.text,
            "paper": self.claim.paper,
            "weights": self.weights,
            "ratios": {task: dict(each) for task, each in self.ratios.items()},
            "verdict": self.verdict,
        }


def judge(claim: Claim, cases: Sequence[Case]) -> Judged:
    """Cases of one choice of weights."""
    ratios = {
        case.task: {measure: ratio(case, claim.slow, claim.fast, measure) for measure in claim.measures}
        for case in cases
    }
    found = [value for each in ratios.values() for value in each.values() if value is not None]
    return Judged(claim, cases[0].weights, ratios, verdict_of(found, claim.least))


def verdict_of(ratios: Sequence[float], least: float) -> str:
    """As large as in the paper, to a tenth, over the tasks taken together; or else at least in the same direction."""
    if not ratios:
        return UNKNOWN
    if min(ratios) > CLEAR:
        return HOLDS if median(ratios) >= 0.9 * least else SMALLER
    if max(ratios) <= CLEAR:
        return NO
    return MIXED


def judge_fastest(cases: Sequence[Case], measures: Sequence[str]) -> tuple[dict[str, dict[str, str]], str]:
    """The paper's Table 2 for batch methods: task -> measure -> the name of the fastest; and what comes of the claim
    that it is NCG(c=ALL) everywhere."""
    found = {case.task: {measure: fastest(case, measure) for measure in measures} for case in cases}
    keys = [run.key for each in found.values() for run in each.values() if run is not None]
    names = {
        task: {measure: run.name if run is not None else "-" for measure, run in each.items()}
        for task, each in found.items()
    }
    if not keys:
        return names, UNKNOWN
    right = sum(key == "ncg-all" for key in keys)
    return names, HOLDS if right == len(keys) else NO if not right else MIXED
