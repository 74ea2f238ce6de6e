"""Why figures are as they are, from measured costs. Each function gets cases, and writes a paragraph."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trellis.studies.tsuboi.measures import predicted, reached
from trellis.studies.tsuboi.problem import ALL, SEEN
from trellis.studies.tsuboi.results import Case, Run

Cases = Sequence[Case]


def span(values: Sequence[float], digits: int = 1, unit: str = "") -> str:
    """`1.4 to 1.7`."""
    if not values:
        return "-"
    low, high = f"{min(values):,.{digits}f}", f"{max(values):,.{digits}f}"
    return (low if low == high else f"{low} to {high}") + unit


def of_kept(cases: Cases) -> str:
    anew = [case.costs["product_anew"] / case.costs["product_kept"] for case in cases]
    dearer = [case.costs["evaluation_keeping"] / case.costs["evaluation"] for case in cases]
    beside = _beside(cases, "ncg-all")
    share = [case.costs["exponentials"] / case.costs["product_anew"] for case in cases]
    return (
        f"**What keeping lattices saves.** A product with lattices solved anew takes {span(anew, 2)} times as long as "
        f"one from kept lattices, keeping them makes an evaluation {span(dearer, 2)} times as long, and vectors, which "
        f"are the same for both, are {span(beside, 0)}% of the time of NCG(c=ALL): with as many products no ratio "
        f"above {max(anew):.2f} can be had here. But lattices are kept in single precision, to make products cheaper, "
        "and with other roundings steps are others: "
        f"NCG(c=ALL) makes {span(_passes(cases, 'ncg-all', 'ncg-0'), 2)} times as many passes to a gap of 1e-3 as "
        "NCG(c=0). (Any rounding moves that number, and single precision makes it somewhat larger where a problem is "
        "ill-conditioned: four runs each on 2,000 sentences, from starts that differed by 1e-6, took 363 to 456 "
        "products in single and 299 to 487 in double precision for Spanish entities, l2 = 0.1; 166 to 179 and 160 to "
        "166 for chunking, l2 = 0.5.) What could be "
        "saved is little to begin with: forward-backward takes one exponential a token and "
        "label, not one for each token and pair of labels as the paper's equation (1) does, and these are "
        f"{span([100 * s for s in share], 0)}% of a product with lattices solved anew. The rest, scoring the "
        "direction, the covariance pass and the transpose, has to be done in either way."
    )


def of_exponentials(cases: Cases) -> str:
    times = [case.costs["exp_over_add"] for case in cases]
    share = [100 * case.costs["exponentials"] / case.costs["evaluation"] for case in cases]
    return (
        "**Exponentials.** The paper's argument rests on them: one took as long as 15 additions there, and they "
        f"dominated a gradient. Here one takes as long as {span(times, 0)} additions (in compiled loops, several at a "
        f"time), and all of them together {span(share, 0)}% of an evaluation."
    )


def of_ad(cases: Cases) -> str:
    kept = [case.costs["product_ad"] / case.costs["product_kept"] for case in cases]
    anew = [case.costs["product_ad"] / case.costs["product_anew"] for case in cases]
    return (
        "**Algorithmic differentiation.** A product by forward-backward on dual numbers takes "
        f"{span(kept, 2)} times as long as one from kept lattices, and {span(anew, 2)} times as long as one with "
        "lattices solved anew: it does the same work in one pass, and writes nothing down in between. Evaluations "
        "and vectors, which are the same for all, make the ratio of whole runs smaller."
    )


def of_lbfgs(cases: Cases) -> str:
    """Passes, and time beside passes. The figures for other ways of Newton-CG were measured once, apart from this."""
    parts = []
    for weights, what in ((SEEN, "seen in training"), (ALL, "of all kinds")):
        here = [case for case in cases if case.weights == weights]
        passes, beside, sizes = (
            _passes(here, "ncg-all", "lbfgs-50"),
            _beside(here, "lbfgs-50"),
            [case.sizes.weights / 1e6 for case in here],
        )
        if not (passes and beside):
            continue
        parts.append(
            f"with weights for pairs {what} ({span(sizes, 1)} million) Newton-CG makes {span(passes, 1)} times as many "
            f"passes over the data as L-BFGS(m=50) on the way to a gap of 1e-3, and L-BFGS(m=50) spends "
            f"{span(beside, 0)}% of its time beside them, on its own 100 vectors"
        )
    return (
        "**Newton-CG and L-BFGS.** Passes and vectors decide: " + "; ".join(parts) + ". The paper does not say which "
        "weights it had. That L-BFGS with m > 50 did not fit into its 8 GB suggests all pairs: 100 vectors of 338,539 "
        "attributes times 23 labels take 6.2 GB, those of the pairs seen in training would take 0.4 GB. If so, its "
        "claims about L-BFGS are to be compared with weights for all pairs. Vectors do not explain the number of "
        "passes, of which the paper says nothing, and nothing here does. Other ways of Newton-CG needed as many, or "
        "more, give or take a tenth (one run apart from this, a quarter of chunking, l2 = 0.5, passes to a gap of "
        "1e-3: 160 as it is; 172 and 149 with Newton equations solved to 0.5 and 0.9; 355 to 461 with a line search; "
        "359 with the Hessian's diagonal as preconditioner; L-BFGS(m=50) 57)."
    )


def _passes(cases: Cases, key: str, other: str) -> list[float]:
    """Those of one method to a gap of 1e-3 over those of another."""
    found = []
    for case in cases:
        ends = [_end(case.run(each), case) for each in (key, other)]
        if ends[0] is not None and ends[1] is not None:
            found.append(ends[0] / ends[1])
    return found


def _end(run: Run | None, case: Case) -> int | None:
    moment = None if run is None else reached(run, case, "1e-3")
    return None if moment is None else moment.passes


def _beside(cases: Cases, key: str) -> list[float]:
    """Percent of a run that its evaluations do not account for."""
    runs = [(case, run) for case in cases if (run := case.run(key)) is not None]
    return [max(0.0, 100 * (1 - predicted(case, key) / run.last.seconds)) for case, run in runs]


REASONS: tuple[Callable[[Cases], str], ...] = (of_lbfgs, of_kept, of_exponentials, of_ad)
