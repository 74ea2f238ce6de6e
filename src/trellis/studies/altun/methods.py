"""The methods that are compared. A new one is an entry here; one whose optimiser this version lacks is left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trellis.optim import OPTIMIZERS
from trellis.report.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, VERMILLION, Style


@dataclass(frozen=True)
class Method:
    """`settings` and `options` go to trellis.CRF as they are. `grid`: strengths of the Gaussian prior to choose from,
    none for a method without a prior. `has_dictionary`: whether it can do with a tag dictionary; `follows`: whether it
    is looked at along the way, and where there are held-out data keeps the weights that did best there. `max_iter`: its
    own limit; `cost`: how long it takes in comparison with the log loss, for the estimate."""

    key: str
    name: str
    style: Style
    optimizer: str = "auto"
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    grid: tuple[float, ...] = ()
    has_dictionary: bool = True
    follows: bool = False
    max_iter: int = 10**6
    cost: float = 1.0

    @property
    def is_there(self) -> bool:
        return self.optimizer in OPTIMIZERS


LOSSES = ("log", "exp", "pointwise-log", "pointwise-exp")  # the paper's F1 to F4
_ALL = [
    Method("log", "log", Style(BLUE, "-", "o"), settings={"loss": "log"}, grid=(0.005, 0.02, 0.1, 0.5, 2.0)),
    Method(
        "exp", "exp", Style(VERMILLION, "-", "s"),
        settings={"loss": "exp"}, grid=(0.1, 0.5, 2.0), cost=8,
    ),
    Method(
        "pointwise-log", "pointwise log", Style(GREEN, "--", "^"),
        settings={"loss": "pointwise-log"}, grid=(0.005, 0.02, 0.1, 0.5), cost=4,
    ),
    # of its value most is a constant, the number of tokens
    Method(
        "pointwise-exp", "pointwise exp", Style(ORANGE, "--", "D"),
        settings={"loss": "pointwise-exp", "tol": 1e-4}, grid=(0.005, 0.02, 0.1, 0.5), cost=4,
    ),
    Method(
        "perceptron", "averaged perceptron", Style(PURPLE, "-.", "v"), "perceptron",
        options={"epochs": 300}, max_iter=300, follows=True, cost=2,
    ),
    Method(
        "boosting", "boosting", Style(BLACK, ":", "x"), "boosting",
        settings={"tol": 1e-9}, options={"rounds": 10**6}, has_dictionary=False, follows=True, cost=60,
    ),
]  # fmt: skip
METHODS = {method.key: method for method in _ALL}
