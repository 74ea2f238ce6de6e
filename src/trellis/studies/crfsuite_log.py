"""What CRFsuite says while it trains, by our clock: its own figures are CPU time."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from trellis.errors import SettingError
from trellis.studies.clock import now

_START, _GENERATED, _OPTIMISE = "Feature generation", "Number of features:", "L-BFGS optimization"
_ITERATION, _LOSS, _TRIALS, _END = "***** Iteration #", "Loss:", "Line search trials:", "L-BFGS "


@dataclass
class TrainingLog:
    """Lines in the order they came, with the time of each."""

    lines: list[tuple[float, str]] = field(default_factory=list)

    def note(self, message: str) -> None:
        self.lines.append((now(), message))

    def clear(self) -> None:
        self.lines.clear()

    @property
    def features(self) -> int:
        """How many weights there are."""
        return int(self._line(_GENERATED)[1].split()[-1])

    @property
    def generation_seconds(self) -> float:
        """From the start of `train` to the start of the optimisation: CRFsuite's feature generation."""
        return self._time(_OPTIMISE) - self._time(_START)

    @property
    def optimisation_seconds(self) -> float:
        """From the start of the optimisation to its end, without writing the model."""
        return max(time for time, line in self.lines if line.startswith(_END)) - self._time(_OPTIMISE)

    @property
    def converged(self) -> bool:
        return any("terminated with the stopping criteria" in line or "convergence" in line for _, line in self.lines)

    @property
    def objective(self) -> float:
        """The regularised objective after the last iteration."""
        return float([line for _, line in self.lines if line.startswith(_LOSS)][-1].split()[-1])

    @property
    def evaluations(self) -> int:
        """Evaluations in all iterations, and the one to start from."""
        return 1 + sum(self._trials())

    def iterations(self) -> list[tuple[float, int]]:
        """Seconds and evaluations of every iteration but the first, which also makes the evaluation to start from."""
        times = [time for time, line in self.lines if line.startswith(_ITERATION)]
        seconds = [b - a for a, b in pairwise(times)]
        return list(zip(seconds, self._trials()[1:], strict=True))

    def course(self) -> list[tuple[float, float, int]]:
        """When each iteration was known, the objective then, and the evaluations made so far."""
        times = [time for time, line in self.lines if line.startswith(_LOSS)]
        losses = [float(line.split()[-1]) for _, line in self.lines if line.startswith(_LOSS)]
        made = [1 + sum(self._trials()[: n + 1]) for n in range(len(losses))]
        return list(zip(times, losses, made, strict=True))

    def _trials(self) -> list[int]:
        return [int(line.split()[-1]) for _, line in self.lines if line.startswith(_TRIALS)]

    def _time(self, beginning: str) -> float:
        return self._line(beginning)[0]

    def _line(self, beginning: str) -> tuple[float, str]:
        for line in self.lines:
            if line[1].startswith(beginning):
                return line
        raise SettingError(f"this python-crfsuite does not log '{beginning}'; install another version")
