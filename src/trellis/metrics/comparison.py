"""Two labellings of the same sentences: the scores of both, how they differ, and whether that may be chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column
from trellis.errors import SettingError
from trellis.metrics.compare import compare, same_table
from trellis.metrics.randomisation import ways_to_swap
from trellis.metrics.reading import encoding_for
from trellis.metrics.report import Report
from trellis.metrics.resampling import DRAWS
from trellis.metrics.significance import Difference, McNemar, differences, mcnemar
from trellis.metrics.tally import METRICS, tallies

_LEVEL = 0.05
_NAMES = {"f1": "FB1"}


@dataclass(frozen=True)
class Comparison:
    """`differences` by metric: the second's scores less the first's. The bootstrap has so many `draws`, the
    randomisation so many `ways`: at random, or all that there are (`exact`)."""

    first: Report
    second: Report
    differences: Mapping[str, Difference]
    mcnemar: McNemar
    draws: int
    ways: int
    exact: bool

    def as_json(self) -> dict[str, Any]:
        """What the two have beside the scores of either."""
        return {
            "difference": {metric: asdict(one) for metric, one in self.differences.items()},
            "mcnemar": asdict(self.mcnemar),
            "randomisation": {"draws": self.ways, "exact": self.exact},
        }

    def as_text(self, metric: str | None = None) -> str:
        """A table in percent and how it was made, and what to conclude of a metric; no final line break."""
        lines = [f"{'':>9}    first   second  difference       95% interval       p"]
        for name, one in self.differences.items():
            both = "  ".join(f"{100 * getattr(report, name):7.2f}" for report in (self.first, self.second))
            interval = f"{100 * one.low:+.2f} to {100 * one.high:+.2f}"
            lines.append(f"{_shown(name):>9}: {both}  {100 * one.difference:+10.2f}  {interval:>17}  {_p(one.p):>6}")
        how = f"all {self.ways} ways to swap sentences" if self.exact else f"{self.ways} draws"
        only, p = (self.mcnemar.first, self.mcnemar.second), _p(self.mcnemar.p)
        lines += [
            f"intervals: paired bootstrap, {self.draws} draws; p: approximate randomisation, {how}",
            f"tokens that only the first has right: {only[0]}, only the second: {only[1]}; McNemar's test: p = {p}",
            self.conclusion(metric),
        ]
        return "\n".join(lines)

    def conclusion(self, metric: str | None = None) -> str:
        """One sentence; of F1 where there are segments, else of accuracy, unless a metric is named."""
        name = metric or list(self.differences)[-1]
        if name not in self.differences:
            known = ", ".join(self.differences)
            raise SettingError(f"the metric '{name}' is not among those of these labels: {known}")
        found = self.differences[name]
        if found.difference == 0.0:
            return f"{_shown(name)}: the two are equal"
        better = "second" if found.difference > 0 else "first"
        points = f"{_shown(name)}: the {better} is better by {100 * abs(found.difference):.2f} points"
        return f"{points}, {'hardly by chance' if found.p < _LEVEL else 'which may be chance'}: p = {_p(found.p)}"


def compare_two(
    gold: Column,
    first: Column,
    second: Column,
    offsets: NDArray[np.int64],
    scheme: str = "conlleval",
    encoding: str | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> Comparison:
    """Compares two columns of predicted labels; `scheme` and `encoding` are as for `evaluate`, the same for both.
    Labels with gaps are compared by their spans."""
    (right, one, other), names = same_table(gold, first, second)
    encoding = encoding_for(scheme, encoding, right, names, offsets)
    reports = [compare(gold, column, offsets, scheme, encoding) for column in (first, second)]
    rows = [tallies(right, ids, names, offsets, scheme, encoding) for ids in (one, other)]
    metrics = METRICS[:1] if reports[0].f1 is None else METRICS
    ways, exact = ways_to_swap(rows[0], rows[1], draws)
    found = differences(rows[0], rows[1], metrics, draws, seed)
    return Comparison(reports[0], reports[1], found, mcnemar(gold, first, second), draws, ways, exact)


def _shown(metric: str) -> str:
    return _NAMES.get(metric, metric)


def _p(p: float) -> str:
    return f"{p:.4f}" if p >= 5e-5 else f"{p:.1e}"
