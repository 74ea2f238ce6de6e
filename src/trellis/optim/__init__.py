"""One file an optimiser: hyperparameters, an explicit state, and `step(objective, state) -> state`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trellis.errors import SettingError
from trellis.optim.contract import Objective, Optimizer, State
from trellis.optim.lbfgs import LBFGS, LBFGSState

# name -> the optimiser for a tolerance
OPTIMIZERS: dict[str, Callable[[float], Optimizer]] = {"lbfgs": lambda tol: LBFGS(tol=tol)}
AUTO = "lbfgs"

# the states that checkpoints may hold, by class name
STATES: dict[str, type[Any]] = {"LBFGSState": LBFGSState}


def find_optimizer(name: str, tol: float) -> Optimizer:
    """The optimiser of that name; `auto` is the best choice known."""
    name = AUTO if name == "auto" else name
    if name not in OPTIMIZERS:
        raise SettingError(f"optimizer '{name}' is not known; there are: auto, {', '.join(OPTIMIZERS)}")
    return OPTIMIZERS[name](tol)


__all__ = ["LBFGS", "OPTIMIZERS", "STATES", "LBFGSState", "Objective", "Optimizer", "State", "find_optimizer"]
