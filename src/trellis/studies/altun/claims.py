"""The paper's claims in our own words, each with the figures it is about and what comes of it here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from trellis.studies.altun.cells import HYPERBOLIC, L1, L2, NONE
from trellis.studies.altun.measures import points, share, spread, under_noise, under_noise_chosen, with_prior
from trellis.studies.altun.methods import LOSSES
from trellis.studies.altun.paper import PAPER
from trellis.studies.altun.plan import COMPARED
from trellis.studies.altun.results import Study
from trellis.studies.altun.tasks import KINDS

HOLDS, MIXED, NO, UNKNOWN = "holds", "mixed", "does not hold", "not measured"
_LITTLE = 1.0  # points: no more than that is not much of a difference
_SLIGHTLY = 2.0  # points
_NEAR = 2.0  # points below the paper that still count as its figure

Finding = tuple[str, float, bool]  # of what, a figure, whether the claim is right about it


@dataclass(frozen=True)
class Claim:
    """`find` lists what the claim is about; figures are written with `unit`."""

    key: str
    text: str
    paper: str
    find: Callable[[Study], Iterator[Finding]]
    unit: str = "{:+.2f}"


@dataclass(frozen=True)
class Judged:
    claim: Claim
    findings: Sequence[Finding]

    @property
    def verdict(self) -> str:
        """Right about all of them, about none, or about some."""
        right = [yes for _, _, yes in self.findings]
        return UNKNOWN if not right else HOLDS if all(right) else MIXED if any(right) else NO

    @property
    def here(self) -> str:
        figures = [(name, round(value, 2) + 0.0) for name, value, _ in self.findings]  # + 0.0: no -0.00
        return "; ".join(f"{name} {self.claim.unit.format(value)}" for name, value in figures) or "-"

    def as_json(self) -> dict[str, Any]:
        claim = self.claim
        figures = {name: value for name, value, _ in self.findings}
        return {"claim": claim.key, "text": claim.text, "paper": claim.paper, "here": figures, "verdict": self.verdict}


def judge(study: Study) -> list[Judged]:
    return [Judged(claim, list(claim.find(study))) for claim in CLAIMS]


def _tasks(study: Study) -> Iterator[tuple[str, tuple[str, ...]]]:
    """With the feature sets that the paper has for them."""
    for task, _ in study.scope.tasks:
        yield task, tuple(PAPER[task])


def _more_features(study: Study) -> Iterator[Finding]:
    """The least step from one set to the next, over losses."""
    for task, features in _tasks(study):
        yield from _steps(study, task, features, None)


def _more_features_on_less(study: Study) -> Iterator[Finding]:
    for size in study.scope.sizes:
        for task, features in _tasks(study):
            yield from _steps(study, task, features, size)


def _more_features_than_in_paper(study: Study) -> Iterator[Finding]:
    for task, features in _tasks(study):
        for size in (*study.scope.sizes, None):
            yield from _steps(study, task, KINDS[task].features[len(features) - 1 :], size)


def _steps(study: Study, task: str, features: Sequence[str], size: int | None) -> Iterator[Finding]:
    for fewer, more in pairwise(features):
        pairs = [(study.result(task, more, loss, size), study.result(task, fewer, loss, size)) for loss in LOSSES]
        steps = [100 * (a.score - b.score) for a, b in pairs if a is not None and b is not None]
        if steps:
            of_size = "" if size is None else f", {size:,}"
            yield f"{task} {fewer} to {more}{of_size}", min(steps), min(steps) > 0


def _losses_alike(study: Study) -> Iterator[Finding]:
    """Spread over losses, beside that in the paper."""
    for task, features in _tasks(study):
        for each in features:
            found = spread(study, task, each)
            if found is not None:
                scores = [PAPER[task][each][loss] for loss in LOSSES]
                yield f"{task} {each}", found, found <= max(scores) - min(scores) + _LITTLE


def _features_matter_more(study: Study) -> Iterator[Finding]:
    """Points won by the largest set over the smallest with the log loss, less the largest spread over losses."""
    for task, features in _tasks(study):
        won = points(study, task, (features[-1], "log"), (features[0], "log"))
        spreads = [found for each in features if (found := spread(study, task, each)) is not None]
        if won is not None and spreads:
            yield task, won - max(spreads), won > max(spreads)


def _as_good(study: Study) -> Iterator[Finding]:
    """Above the paper's figure, for the log loss."""
    for features, theirs in PAPER["ner"].items():
        found = study.result("ner", features, "log")
        if found is not None:
            above = 100 * found.score - theirs["log"]
            yield f"ner {features}", above, above >= -_NEAR


def _prior_helps(study: Study) -> Iterator[Finding]:
    for task in COMPARED:
        for size in [*study.scope.sizes, None]:
            ours, none = with_prior(study, task, L2, size), with_prior(study, task, NONE, size)
            if ours is not None and none is not None:
                won = 100 * (ours.score - none.score)
                yield f"{task} {'all' if size is None else f'{size:,}'}", won, won > 0


def _prior_helps_small(study: Study) -> Iterator[Finding]:
    """How much more a prior wins on the smallest corpus than on all."""
    won = {name: value for name, value, _ in _prior_helps(study)}
    for task in COMPARED:
        sizes = [value for name, value in won.items() if name.startswith(task)]
        if len(sizes) > 1:
            yield task, sizes[0] - sizes[-1], sizes[0] > sizes[-1]


def _priors_alike(study: Study) -> Iterator[Finding]:
    for task in COMPARED:
        for size in [*study.scope.sizes, None]:
            found = [with_prior(study, task, prior, size) for prior in (L2, L1, HYPERBOLIC)]
            scores = [100 * outcome.score for outcome in found if outcome is not None]
            if len(scores) == 3:
                far = max(scores) - min(scores)
                yield f"{task} {'all' if size is None else f'{size:,}'}", far, far <= _LITTLE


def _perceptron(study: Study) -> Iterator[Finding]:
    for task, features in _tasks(study):
        for each in features:
            below = points(study, task, (each, "log"), (each, "perceptron"))
            if below is not None:
                yield f"{task} {each}", -below, 0 < below <= _SLIGHTLY


def _boosting(study: Study) -> Iterator[Finding]:
    for task, features in _tasks(study):
        for each in features:
            below = points(study, task, (each, "exp"), (each, "boosting"))
            if below is not None:
                yield f"{task} {each}", -below, below > 0


def _boosting_poor_features(study: Study) -> Iterator[Finding]:
    """How much further boosting is behind with the smallest set than with the largest."""
    for task, features in _tasks(study):
        first = points(study, task, (features[0], "exp"), (features[0], "boosting"))
        last = points(study, task, (features[-1], "exp"), (features[-1], "boosting"))
        if first is not None and last is not None:
            yield task, first - last, first > last


def _boosting_sparse(study: Study) -> Iterator[Finding]:
    for task, features in _tasks(study):
        for each in features:
            found = study.result(task, each, "boosting")
            if found is not None:
                yield f"{task} {each}", share(found), share(found) <= 25.0


def _boosting_slow(study: Study) -> Iterator[Finding]:
    """Processor seconds of boosting over those of the log loss."""
    for task, features in _tasks(study):
        for each in features:
            boosted, log = study.result(task, each, "boosting"), study.result(task, each, "log")
            if boosted is not None and log is not None:
                yield f"{task} {each}", boosted.cpu_seconds / log.cpu_seconds, boosted.cpu_seconds > log.cpu_seconds


def _noise(study: Study) -> Iterator[Finding]:
    """Points that exp loses more than log, prior as without noise and chosen anew."""
    for name, at in (("prior as without noise", under_noise), ("prior chosen anew", under_noise_chosen)):
        for noise in study.scope.noise[1:]:
            each = [at(study, loss, share) for loss in ("log", "exp") for share in (0.0, noise)]
            scores = [100 * outcome.score for outcome in each if outcome is not None]
            if len(scores) == 4:
                more = (scores[2] - scores[3]) - (scores[0] - scores[1])
                yield f"{100 * noise:g}%, {name}", more, more > 0


CLAIMS = (
    Claim("features", "more features are better, whatever the loss", "S1 < S2 < S3", _more_features),
    Claim("features-small", "so they are when there are fewer sentences", "the same", _more_features_on_less),
    Claim(
        "features-more", "so they are in a case that the paper has not: S3 for parts of speech", "-",
        _more_features_than_in_paper,
    ),
    Claim(
        "losses", "the four losses lie close together", "within 0.34 (POS S1) to 3.19 (NER S1) points", _losses_alike,
        "{:.2f}",
    ),
    Claim(
        "impact", "features have more impact than the loss", "NER: 13.70 points by features, 3.19 by losses",
        _features_matter_more,
    ),
    Claim(
        "figures", "the log loss on named entities comes to the paper's figures or above (2 points below count)",
        "59.92, 69.75, 73.62", _as_good,
    ),
    Claim("prior", "a regularisation term makes it better", "as expected", _prior_helps),
    Claim("prior-small", "most of all where there is little data", "especially", _prior_helps_small),
    Claim("priors", "which term it is makes little difference (a point or less)", "not much", _priors_alike, "{:.2f}"),
    Claim(
        "perceptron", "the averaged perceptron is slightly worse than the log loss", "-0.15, -0.46, -0.65 (NER)",
        _perceptron,
    ),
    Claim(
        "boosting", "boosting is worse than minimising the exponential loss itself",
        "-11.45, -1.19, -1.04 (NER); -5.15, -0.33 (POS)", _boosting,
    ),
    Claim(
        "boosting-poor", "most of all with words alone for features", "by 10.41 (NER) and 4.82 (POS) points",
        _boosting_poor_features,
    ),
    Claim("sparse", "boosting uses few of the features", "about 10%", _boosting_sparse, "{:.1f}%"),
    Claim("slow", "boosting takes longer to train", "the others outperform it", _boosting_slow, "{:.1f} times"),
    Claim("noise", "the exponential loss suffers more from wrong labels", "tends to be vulnerable", _noise),
)  # fmt: skip
