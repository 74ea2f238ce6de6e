"""What the paper claims about online methods (its Table 2, and what it says about Figure 2), and what comes of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trellis.studies.tsuboi.claims import CLEAR, HOLDS, MIXED, NO, UNKNOWN
from trellis.studies.tsuboi.measures import fastest, gap, ratio, reached
from trellis.studies.tsuboi.results import Case

EG, INVERSE, EXPONENTIAL = "eg", "sgd-inverse", "sgd-exponential"  # keys of the paper's three online methods
PAPER_FASTEST = {"ner": EG, "chunking": EXPONENTIAL, "quarter": EXPONENTIAL}  # Table 2
_EG_IS_FIRST = {"ner": True, "chunking": False, "quarter": False}  # else it is the last
_FIRST, _OPTIMAL = "1e-1", 1e-4  # gaps: where a method has made a beginning, and where its end is no optimum

Found = tuple[str, bool]  # in words, and whether that is what the paper says


@dataclass(frozen=True)
class OnlineClaim:
    """`needs`: the methods that it is about; `judge(case)` is asked where all of them ran."""

    key: str
    text: str
    paper: str
    needs: tuple[str, ...]
    judge: Callable[[Case], Found]


@dataclass(frozen=True)
class OnlineJudged:
    """`found`: task -> what was found there, in words."""

    claim: OnlineClaim
    weights: str
    found: Mapping[str, str]
    verdict: str

    def as_json(self) -> dict[str, Any]:
        return {
            "claim": self.claim.key,
            "text": self.claim.text,
            "paper": self.claim.paper,
            "weights": self.weights,
            "found": dict(self.found),
            "verdict": self.verdict,
        }


def judge_online(claim: OnlineClaim, cases: Sequence[Case]) -> OnlineJudged:
    """Cases of one choice of weights."""
    there = {case.task: claim.judge(case) for case in cases if all(case.run(key) for key in claim.needs)}
    right = [as_said for _, as_said in there.values()]
    verdict = UNKNOWN if not right else HOLDS if all(right) else MIXED if any(right) else NO
    return OnlineJudged(
        claim,
        cases[0].weights,
        {case.task: there[case.task][0] if case.task in there else "-" for case in cases},
        verdict,
    )


def _fastest_online(case: Case) -> Found:
    first = fastest(case, "f1", batch=False)
    return ("none", False) if first is None else (first.name, first.key == PAPER_FASTEST[case.task])


def _place_of_eg(case: Case) -> Found:
    """Among all of the paper's methods."""
    ends = {run.key: reached(run, case, "f1") for run in case.runs if run.paper}
    times = {key: math.inf if end is None else end.seconds for key, end in ends.items()}
    own, others = times[EG], [seconds for key, seconds in times.items() if key != EG]
    place = "never there" if own == math.inf else f"{1 + sum(other < own for other in others)} of {len(times)}"
    return place, own < min(others) if _EG_IS_FIRST[case.task] else own >= max(others)


def _sooner(slow: str, fast: str) -> Callable[[Case], Found]:
    def judge(case: Case) -> Found:
        times = ratio(case, slow, fast, _FIRST)
        return ("-", False) if times is None else (f"{times:.2f}", times > CLEAR)

    return judge


def _end_of_decay(case: Case) -> Found:
    run = case.run(EXPONENTIAL)
    assert run is not None
    left = gap(run.last, case)
    return f"gap {left:.0e}", left > _OPTIMAL


def _best_scores(case: Case) -> Found:
    """At the ends of runs."""
    online, batch = (max(run.last.f1 for run in case.runs if run.paper and run.batch == kind) for kind in (False, True))
    return f"{100 * online:.2f}, batch {100 * batch:.2f}", online < batch


_ALL = (EG, INVERSE, EXPONENTIAL)
ONLINE_CLAIMS = (
    OnlineClaim(
        "online-fastest", "the first online method at a high F1 is EG for entities and SGD(alpha^k) for chunking",
        "yes", _ALL, _fastest_online,
    ),
    OnlineClaim(
        "eg-place", "EG comes to a high F1 first of all methods for entities, and last for chunking",
        "yes", (EG, "ncg-all", "lbfgs-50"), _place_of_eg,
    ),
    OnlineClaim(
        "sgd-start", "at the beginning SGD(alpha^k) is faster than NCG(c=ALL)",
        "faster", (EXPONENTIAL, "ncg-all"), _sooner("ncg-all", EXPONENTIAL),
    ),
    OnlineClaim(
        "sgd-decay", "at the beginning SGD(alpha^k) is faster than SGD(1/k)",
        "faster", (INVERSE, EXPONENTIAL), _sooner(INVERSE, EXPONENTIAL),
    ),
    OnlineClaim(
        "sgd-end", "SGD(alpha^k) ends at what is not the optimum",
        "yes", (EXPONENTIAL,), _end_of_decay,
    ),
    OnlineClaim(
        "online-score", "no online method ends with the best F1",
        "yes", _ALL, _best_scores,
    ),
)  # fmt: skip
