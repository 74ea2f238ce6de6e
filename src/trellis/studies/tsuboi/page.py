"""The page that is written about a study: the paper's claims beside our figures, in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from trellis.report.markdown import page, table
from trellis.studies.tsuboi.claims import CLAIMS, Judged, judge, judge_fastest
from trellis.studies.tsuboi.measures import MEASURES, fastest, gap, reached
from trellis.studies.tsuboi.online_claims import ONLINE_CLAIMS, PAPER_FASTEST, OnlineJudged, judge_online
from trellis.studies.tsuboi.pictures import f1_file, gap_file
from trellis.studies.tsuboi.problem import WEIGHTS
from trellis.studies.tsuboi.reasons import REASONS, span
from trellis.studies.tsuboi.results import Case, Run, Study
from trellis.studies.tsuboi.setting import about_data, about_method, about_prior
from trellis.studies.tsuboi.tasks import TITLES

_INTRO = """
Tsuboi, Unno, Kashima and Okazaki (2011) train conditional random fields by Newton's method, where each step is solved
by conjugate gradients that need Hessian-vector products only, and keep the forward-backward pass of every sentence so
that such products are cheap. They compare it with L-BFGS and with products by algorithmic differentiation. This page
repeats their experiments (Figure 2, Tables 1 and 2) with Trellis' own implementations of all of them.
"""
_QUICK = "**This is a quick run on a little data, to see that everything works. Its figures mean nothing.**"
_READ_RATIOS = """
Ratios of times: above 1, the claim's direction is right. Three figures are for a gap of the objective of 1e-2, 1e-3 and
1e-4 of itself; one figure is for the time from which on test F1 stays at most 0.1 points below that of the optimum.
*holds*: over all tasks about as large as in the paper; *holds, by less*: the same direction throughout. For claims
about online methods there is one figure or name for each task; the beginning is a gap of 1e-1, and what ends with a gap
above 1e-4 is not at the optimum.
"""


def write_page(study: Study, images: str) -> str:
    """`images`: what stands before the names of plots in links."""
    return page(
        "# Newton-CG for conditional random fields",
        _INTRO,
        _QUICK if study.settings["quick"] else "",
        about_method(study),
        "## What comes of the claims",
        *(_claims(study, weights) for weights in _weights(study)),
        _READ_RATIOS,
        "## Why",
        *(reason(study.cases) for reason in REASONS),
        "## The fastest methods (Table 2)",
        _fastest(study),
        "## The data (Table 1)",
        about_data(study),
        "## The prior",
        about_prior(study),
        *(_case(case, images) for case in study.cases),
        "## What single operations cost",
        _costs(study),
        "## Again",
        _AGAIN,
    )


_AGAIN = """
```console
$ trellis data get conll2000
$ trellis data get conll2002-es
$ trellis reproduce tsuboi --out tsuboi
```

`tsuboi/results.json` has every point of every curve.
"""


def judged(study: Study, weights: str) -> list[Judged]:
    cases = [case for case in study.cases if case.weights == weights]
    return [judge(claim, cases) for claim in CLAIMS]


def judged_online(study: Study, weights: str) -> list[OnlineJudged]:
    cases = [case for case in study.cases if case.weights == weights]
    return [judge_online(claim, cases) for claim in ONLINE_CLAIMS]


def _weights(study: Study) -> list[str]:
    there = {case.weights for case in study.cases}
    return [weights for weights in WEIGHTS if weights in there]


def _claims(study: Study, weights: str) -> str:
    cases = [case for case in study.cases if case.weights == weights]
    tasks = [case.task for case in cases]
    names, verdict = judge_fastest(cases, ["f1"])
    rows = [["NCG(c=ALL) is the fastest batch method", "yes", *(names[t]["f1"] for t in tasks), verdict]]
    for each in judged(study, weights):
        rows.append(
            [each.claim.text, each.claim.paper, *(_ratios(each.ratios[task].values()) for task in tasks), each.verdict]
        )
    for one in judged_online(study, weights):
        rows.append([one.claim.text, one.claim.paper, *(one.found[task] for task in tasks), one.verdict])
    headings = ["claim", "paper", *(TITLES[task] for task in tasks), "here"]
    return f"With {WEIGHTS[weights]}:\n\n{table(headings, rows, len(headings))}"


def _ratios(values: object) -> str:
    assert hasattr(values, "__iter__")
    return " / ".join("-" if value is None else f"{value:.2f}" for value in values)


def _fastest(study: Study) -> str:
    online = any(not run.batch for case in study.cases for run in case.runs)
    rows = []
    for case in study.cases:
        names, _ = judge_fastest([case], list(MEASURES))
        first, ours = fastest(case, "f1", batch=False), case.run("auto")
        row = [case.title, case.weights, "NCG(c=ALL)", *names[case.task].values()]
        row += [_PAPER_ONLINE[PAPER_FASTEST[case.task]], _name_and_time(first, case)] if online else []
        rows.append([*row, _name_and_time(ours, case)])
    headings = ["task", "weights", "paper", *(f"here: {name}" for name in MEASURES.values())]
    headings += ["paper, online", "here, online: test F1"] if online else []
    return page(
        table([*headings, "ours: test F1"], rows, len(headings) + 1),
        "The paper's methods; `auto` is what Trellis does when it is not told otherwise." + _missing(study),
    )


_PAPER_ONLINE = {"eg": "EG", "sgd-inverse": "SGD(1/k)", "sgd-exponential": "SGD(alpha^k)"}


def _missing(study: Study) -> str:
    there = {run.key for case in study.cases for run in case.runs}
    names = [name for key, name in _PAPER_ONLINE.items() if key not in there]
    return f" Not here: the paper's {', '.join(names)}." if names else ""


def _name_and_time(run: Run | None, case: Case) -> str:
    end = None if run is None else reached(run, case, "f1")
    return "-" if run is None or end is None else f"{run.name}, {end.seconds:.1f} s"


def _case(case: Case, images: str) -> str:
    headings = [
        "method", "iterations", "evaluations", "products", "seconds", "ms a pass",
        *(f"to {name}" for name in MEASURES.values()), "gap at the end", "F1", "MB held", "MB at the peak",
    ]  # fmt: skip
    rows = [_run_row(run, case) for run in case.runs]
    ended = [run.name for run in case.runs if not run.converged]
    not_yet = f" Not converged, at the limit on passes or stuck: {', '.join(ended)}." if ended else ""
    return page(
        f"## {case.title[0].upper()}{case.title[1:]}, {WEIGHTS[case.weights]}",
        f"l2 = {case.l2:g}; f* = {case.f_star:,.4f}, where test F1 is {100 * case.f1_star:.2f}.",
        f"![Gap of the objective]({images}{gap_file(case)})",
        f"![F1 on test data]({images}{f1_file(case)})",
        table(headings, rows),
        "Seconds to a goal; `-` where it was not reached. MB held: arrays beside the data, between iterations; at the "
        "peak: growth of a process of its own above one evaluation. The variants of Newton-CG take the same steps but "
        f"for rounding, which may cost one of them some products more.{not_yet}",
    )


def _run_row(run: Run, case: Case) -> list[str]:
    last, ends = run.last, [reached(run, case, measure) for measure in MEASURES]
    peak = "-" if run.peak_bytes is None else f"{run.peak_bytes / 1e6:,.0f}"
    return [
        run.name,
        str(len(run.moments) - 1),
        str(last.evaluations),
        str(last.products),
        f"{last.seconds:.1f}",
        f"{1e3 * last.seconds / max(1, last.passes):.0f}",
        *("-" if end is None else f"{end.seconds:.1f}" for end in ends),
        f"{gap(last, case):.0e}",
        f"{100 * last.f1:.2f}",
        f"{run.held_bytes / 1e6:,.0f}",
        peak,
    ]


_COSTS = {
    "evaluation": "value and gradient",
    "evaluation_keeping": "the same, keeping all lattices",
    "product_kept": "product, kept lattices",
    "product_anew": "product, lattices solved anew",
    "product_ad": "product, dual numbers",
    "scores": "theta to scores",
    "transpose": "scores to gradient",
    "exponentials": "exponentials",
}


def _costs(study: Study) -> str:
    rows = [[f"{case.title}, {case.weights}", *(f"{case.costs[name]:.1f}" for name in _COSTS)] for case in study.cases]
    return page(
        "Milliseconds at the optimum, the median of several rounds in which operations take turns. The last three are "
        "parts of an evaluation, on one thread and over larger blocks than in an evaluation.",
        table(["", *_COSTS.values()], rows),
        f"An exponential takes as long as {_additions(study.cases)} additions.",
    )


def _additions(cases: Sequence[Case]) -> str:
    return span([case.costs["exp_over_add"] for case in cases], 0)
