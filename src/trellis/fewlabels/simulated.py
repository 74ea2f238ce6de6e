"""What came of simulated runs: curves of the score by annotated tokens, and whether a ranking is better than random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.fewlabels.paired import Paired, paired, smallest_p
from trellis.fewlabels.saving import Saved, saved
from trellis.metrics.significance import Difference, differences
from trellis.metrics.tally import metric_of

F64 = NDArray[np.float64]

BASE = "random"  # what others are compared with

_POINTS = 60  # of a curve that is a mean of several
_UNEVEN = 0.02  # tokens of last models that are worth a word


@dataclass(frozen=True)
class Step:
    """After so many sentences and tokens were annotated, the score of a model that learnt from them."""

    sentences: int
    tokens: int
    score: float


@dataclass(frozen=True)
class Run:
    """One repeat of one ranking; `steps` before the first round and after each, `paid` I64[bought] the numbers of the
    sentences in the order they were bought, `tallies` I64[sentences, 5] those of the last model on the test data
    (`trellis.metrics.tally`); `used_up`: whether there was nothing left to buy."""

    by: str
    repeat: int
    steps: tuple[Step, ...]
    paid: NDArray[np.int64]
    tallies: NDArray[np.int64]
    used_up: bool = False

    def at(self, tokens: F64) -> F64:
        """The scores after so many tokens, on straight lines between steps."""
        found: F64 = np.interp(tokens, [s.tokens for s in self.steps], [s.score for s in self.steps])
        return found


@dataclass(frozen=True)
class Versus:
    """One ranking against another, the second's less the first's. `area`: of the mean score along the curve, over
    repeats; `last`: of the last models, over test sentences, the tallies of all repeats of a sentence together;
    `saved`: the part of the annotated tokens that the second can do without (see `saving`)."""

    area: Paired
    last: Difference
    saved: Saved

    def as_json(self) -> dict[str, Any]:
        part, low, high = self.saved
        last = vars(self.last)
        return {"area": self.area.as_json(), "last": last, "saved": part, "saved_low": low, "saved_high": high}


@dataclass(frozen=True)
class Simulation:
    """All runs; `by` are the rankings in the order they were asked for."""

    runs: tuple[Run, ...]
    by: tuple[str, ...]

    def of(self, name: str) -> list[Run]:
        return [run for run in self.runs if run.by == name]

    @property
    def grid(self) -> F64:
        """Tokens that all runs have been through, F64[points]; where there are none, those that the last of them began
        with, where other runs have ended. Where a pool ran out, up to the step before: with all of it every ranking is
        the same."""
        low = max(run.steps[0].tokens for run in self.runs)
        high = min(run.steps[-2 if run.used_up and len(run.steps) > 1 else -1].tokens for run in self.runs)
        return np.linspace(low, max(low, high), _POINTS)

    def curves(self, name: str) -> F64:
        """Scores of each repeat on the grid, F64[repeats, points]."""
        return np.stack([run.at(self.grid) for run in self.of(name)])

    def areas(self, name: str) -> list[float]:
        """The mean score along the curve, of each repeat."""
        grid, curves = self.grid, self.curves(name)
        if grid[-1] <= grid[0]:
            return [float(curve[-1]) for curve in curves]
        inner = (curves[:, 1:] + curves[:, :-1]) / 2.0 * np.diff(grid)
        found: list[float] = (inner.sum(axis=1) / (grid[-1] - grid[0])).tolist()
        return found

    def last(self, name: str) -> float:
        """The score of the last models of all repeats together."""
        return float(metric_of(self._tallies(name).sum(axis=0), self._metric))

    def last_tokens(self, name: str) -> float:
        """What the last models learnt from, on average."""
        return float(np.mean([run.steps[-1].tokens for run in self.of(name)]))

    def compared(self, name: str, base: str = BASE) -> Versus:
        """A ranking against another."""
        found = differences(self._tallies(base), self._tallies(name), [self._metric])[self._metric]
        gained = saved(self.grid, self.curves(base), self.curves(name))
        return Versus(paired(self.areas(base), self.areas(name)), found, gained)

    def _tallies(self, name: str) -> NDArray[np.int64]:
        """Those of all repeats together, I64[sentences, 5]."""
        pooled: NDArray[np.int64] = np.sum([run.tallies for run in self.of(name)], axis=0)
        return pooled

    @property
    def _metric(self) -> str:
        return "f1" if self.runs[0].tallies[:, 2].any() else "accuracy"

    def as_text(self, what: str) -> str:
        """A table in percent, and how it was made; no final line break. what: the score's name."""
        return table_of(self, what)

    def as_json(self) -> dict[str, Any]:
        out: dict[str, Any] = {"tokens": self.grid.tolist(), "rankings": {}}
        for name in self.by:
            areas = self.areas(name)
            found: dict[str, Any] = {
                "mean": self.curves(name).mean(axis=0).tolist(),
                "area": float(np.mean(areas)),
                "areas": areas,
                "last": self.last(name),
                "runs": [[vars(step) for step in run.steps] for run in self.of(name)],
            }
            if name != BASE and BASE in self.by:
                found["against_random"] = self.compared(name).as_json()
            out["rankings"][name] = found
        return out


def table_of(simulation: Simulation, what: str) -> str:
    """As `Simulation.as_text` says."""
    against = BASE in simulation.by and len(simulation.by) > 1
    head = f"{'':<18} {'mean ' + what:>13} {'last':>7}"
    if against:
        head += "   against random: mean      p    last      p     tokens saved"
    lines = [head]
    for name in simulation.by:
        row = f"{name:<18} {100 * np.mean(simulation.areas(name)):>13.2f} {100 * simulation.last(name):>7.2f}"
        if against and name != BASE:
            one = simulation.compared(name)
            row += f"   {100 * one.area.difference:>20.2f} {one.area.p:>6.4f} {100 * one.last.difference:>7.2f}"
            row += f" {one.last.p:>6.4f} {_shown(one.saved):>16}"
        lines.append(row)
    return "\n".join([*lines, "; ".join(_remarks(simulation, against))])


def _remarks(simulation: Simulation, against: bool) -> list[str]:
    """How the table was made, and what to beware of."""
    grid, runs, many = simulation.grid, simulation.runs, len(simulation.of(simulation.by[0]))
    out = [f"from {grid[0]:,.0f} to {grid[-1]:,.0f} annotated tokens, {many} repeat{'s' if many > 1 else ''}"]
    if against:
        out += [
            f"p of means: all ways to swap the two in a repeat; with {many} it is never below {smallest_p(many):.2g}",
            "p of last models: approximate randomisation over test sentences only, not over training samples",
        ]
        base = simulation.last_tokens(BASE)
        uneven = [
            f"{name} {own:,.0f}"
            for name in simulation.by
            if abs((own := simulation.last_tokens(name)) - base) > _UNEVEN * base
        ]
        if uneven:
            out.append(f"tokens of the last models differ: {', '.join([*uneven, f'{BASE} {base:,.0f}'])}")
    elif BASE not in simulation.by:
        out.append("add random to the rankings to see what choosing saves")
    ended = sum(run.used_up for run in runs)
    if ended:
        out.append(f"the pool ran out in {ended} of {len(runs)} runs")
    return out


def _shown(found: Saved) -> str:
    """37% (31 to 42)."""
    part = f"{_percent(found.part)}%"
    return (
        part if found.low is None or found.high is None else f"{part} ({_percent(found.low)} to {_percent(found.high)})"
    )


def _percent(part: float) -> str:
    return f"{round(100 * part)}"
