"""What came of simulated runs: curves of the score by annotated tokens, and whether a ranking is better than random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.fewlabels.paired import Paired, paired
from trellis.metrics.significance import Difference, differences

F64 = NDArray[np.float64]

_POINTS = 60  # of a curve that is a mean of several


@dataclass(frozen=True)
class Step:
    """After so many sentences and tokens were annotated, the score of a model that learnt from them."""

    sentences: int
    tokens: int
    score: float


@dataclass(frozen=True)
class Run:
    """One repeat of one ranking; `paid` I64[bought] are the numbers of the sentences in the order they were bought,
    `tallies` I64[sentences, 5] those of the last model on the test data (`trellis.metrics.tally`)."""

    by: str
    repeat: int
    steps: tuple[Step, ...]
    paid: NDArray[np.int64]
    tallies: NDArray[np.int64]

    def at(self, tokens: F64) -> F64:
        """The scores after so many tokens, on straight lines between steps."""
        found: F64 = np.interp(tokens, [s.tokens for s in self.steps], [s.score for s in self.steps])
        return found


@dataclass(frozen=True)
class Versus:
    """One ranking against another, the second's less the first's. `area`: of the mean score along the curve, over
    repeats; `last`: of the last models, over test sentences, the tallies of all repeats of a sentence together;
    `saved`: the part of the annotated tokens that the second can do without for the last score of the first, None if it
    does not reach that."""

    area: Paired
    last: Difference
    saved: float | None


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
        with, where other runs have ended."""
        low = max(run.steps[0].tokens for run in self.runs)
        high = min(run.steps[-1].tokens for run in self.runs)
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

    def compared(self, name: str, base: str = "random") -> Versus:
        """A ranking against another."""
        last = [np.sum([run.tallies for run in self.of(one)], axis=0) for one in (base, name)]
        metric = "f1" if last[0][:, 2].any() else "accuracy"
        found = differences(last[0], last[1], [metric])[metric]
        return Versus(paired(self.areas(base), self.areas(name)), found, self._saved(name, base))

    def _saved(self, name: str, base: str) -> float | None:
        goal, curve = float(self.curves(base).mean(axis=0)[-1]), self.curves(name).mean(axis=0)
        there = np.flatnonzero(curve >= goal)
        return float(1.0 - self.grid[there[0]] / self.grid[-1]) if len(there) else None

    def as_text(self, what: str) -> str:
        """A table in percent, and how it was made; no final line break. what: the score's name."""
        lines = [
            f"{'':<18} {'mean ' + what:>13} {'last':>7}   against random: mean      p    last      p  tokens saved"
        ]
        for name in self.by:
            mean, last = 100 * np.mean(self.areas(name)), 100 * self.curves(name)[:, -1].mean()
            row = f"{name:<18} {mean:>13.2f} {last:>7.2f}"
            if name != "random" and "random" in self.by:
                one = self.compared(name)
                saved = "-" if one.saved is None else f"{100 * one.saved:.0f}%"
                row += f"   {100 * one.area.difference:>20.2f} {one.area.p:>6.4f} {100 * one.last.difference:>7.2f}"
                row += f" {one.last.p:>6.4f} {saved:>13}"
            lines.append(row)
        many = len(self.of(self.by[0]))
        lines.append(
            f"from {self.grid[0]:,.0f} to {self.grid[-1]:,.0f} annotated tokens, {many} repeats; p of means: all ways "
            "to swap the two in a repeat; p of last models: approximate randomisation over test sentences"
        )
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        grid = self.grid.tolist()
        out: dict[str, Any] = {"tokens": grid, "rankings": {}}
        for name in self.by:
            curves, areas = self.curves(name), self.areas(name)
            found: dict[str, Any] = {
                "mean": curves.mean(axis=0).tolist(),
                "area": float(np.mean(areas)),
                "areas": areas,
                "last": float(np.mean(curves[:, -1])),
                "runs": [[vars(step) for step in run.steps] for run in self.of(name)],
            }
            if name != "random" and "random" in self.by:
                versus = self.compared(name)
                found["against_random"] = {
                    "area": versus.area.as_json(),
                    "last": vars(versus.last),
                    "saved": versus.saved,
                }
            out["rankings"][name] = found
        return out
