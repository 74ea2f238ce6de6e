"""A cell: one training, of one method on some data, and what came of it. Cells do not depend on one another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

NONE, L2, L1, HYPERBOLIC = "none", "l2", "l1", "hyperbolic"
PRIORS = {L2: "Gaussian (l2)", L1: "Laplacian (l1)", HYPERBOLIC: "hyperbolic", NONE: "none"}


@dataclass(frozen=True)
class Cell:
    """`strength` of the prior, 0 where there is none; `sentences` of the training data, all if None; `noise`: the share
    of wrong labels there; `held_out`: without the part that priors are chosen on, if that is from the training data."""

    task: str
    features: str
    method: str
    prior: str = L2
    strength: float = 0.0
    sentences: int | None = None
    noise: float = 0.0
    held_out: bool = False

    @property
    def key(self) -> str:
        """A name, also for people."""
        size = "all" if self.sentences is None else str(self.sentences)
        parts = [self.task, self.features, self.method, f"{self.prior}={self.strength:g}", size]
        return " ".join([*parts, *([f"noise={self.noise:g}"] * bool(self.noise)), *(["fit"] * self.held_out)])


@dataclass(frozen=True)
class Moment:
    """Along the way: weights that are not zero, the objective as the method knows it, the score on held-out data."""

    iteration: int
    seconds: float
    active: int
    objective: float
    dev: float


@dataclass(frozen=True)
class Outcome:
    """`score` and `accuracy` on test data and `dev` on held-out data (None where it was trained on) are fractions;
    `seconds` by the wall and by the processor are those of `fit`, from a corpus in memory to a model; `weights` in all,
    and those that are not zero, `active`."""

    cell: Cell
    score: float
    accuracy: float
    dev: float | None
    objective: float
    iterations: int
    evaluations: int
    converged: bool
    seconds: float
    cpu_seconds: float
    weights: int
    active: int
    attributes: int
    labels: int
    sentences: int
    tokens: int
    moments: tuple[Moment, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Outcome:
        rest = {name: value for name, value in found.items() if name not in ("cell", "moments")}
        moments = tuple(Moment(**moment) for moment in found["moments"])
        return cls(cell=Cell(**found["cell"]), moments=moments, **rest)
