"""One file an optimiser: hyperparameters, an explicit state, and `step(objective, state) -> state`."""

from __future__ import annotations

from typing import Any

from trellis.errors import SettingError
from trellis.optim.auto import Auto, AutoState
from trellis.optim.boosting import Boosting, BoostingState
from trellis.optim.contract import Boosted, Objective, Online, Optimizer, State
from trellis.optim.lbfgs import LBFGS, LBFGSState
from trellis.optim.newton_cg import NewtonCG, NewtonCGState
from trellis.optim.nonlinear_cg import NonlinearCG, NonlinearCGState
from trellis.optim.owlqn import OWLQN, OWLQNState
from trellis.optim.settings import check_names

OPTIMIZERS: dict[str, type[Any]] = {
    "auto": Auto,
    "lbfgs": LBFGS,
    "owlqn": OWLQN,
    "cg": NonlinearCG,
    "newton-cg": NewtonCG,
    "boosting": Boosting,
}

# class name -> class, for checkpoints
STATES: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (AutoState, LBFGSState, OWLQNState, NonlinearCGState, NewtonCGState, BoostingState)
}


def find_optimizer(name: str, tol: float, /, **options: Any) -> Optimizer:
    """The optimiser of that name, with its own hyperparameters; `auto` is the quickest known."""
    if name not in OPTIMIZERS:
        raise SettingError(f"optimizer '{name}' is not known; there are: {', '.join(OPTIMIZERS)}")
    kind = OPTIMIZERS[name]
    check_names(kind, name, options)
    if "tol" in options:
        raise SettingError("'tol' is a setting of its own, not among the options of an optimizer")
    optimizer: Optimizer = kind(tol=tol, **options)
    return optimizer


__all__ = [
    "LBFGS",
    "OPTIMIZERS",
    "OWLQN",
    "STATES",
    "Auto",
    "AutoState",
    "Boosted",
    "Boosting",
    "BoostingState",
    "LBFGSState",
    "NewtonCG",
    "NewtonCGState",
    "NonlinearCG",
    "NonlinearCGState",
    "OWLQNState",
    "Objective",
    "Online",
    "Optimizer",
    "State",
    "find_optimizer",
]
