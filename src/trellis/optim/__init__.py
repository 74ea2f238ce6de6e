"""One file an optimiser: hyperparameters, an explicit state, and `step(objective, state) -> state`."""

from __future__ import annotations

from trellis.errors import SettingError
from trellis.optim.lbfgs import LBFGS, LBFGSState, Objective

OPTIMIZERS = {"lbfgs": LBFGS}


def find_optimizer(name: str, tol: float) -> LBFGS:
    """The optimiser of that name; `auto` is the best choice for the task."""
    if name == "auto":
        name = "lbfgs"
    if name not in OPTIMIZERS:
        raise SettingError(f"optimizer '{name}' is not known; there are: auto, {', '.join(OPTIMIZERS)}")
    return OPTIMIZERS[name](tol=tol)


__all__ = ["LBFGS", "OPTIMIZERS", "LBFGSState", "Objective", "find_optimizer"]
