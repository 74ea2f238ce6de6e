"""One file an optimiser: hyperparameters, an explicit state, and `step(objective, state) -> state`."""

from __future__ import annotations

from typing import Any

from trellis.dual import Events, Progression
from trellis.errors import SettingError
from trellis.optim.adagrad import AdaGrad
from trellis.optim.adam import Adam, AdamState
from trellis.optim.arow import AROW
from trellis.optim.auto import Auto, AutoState
from trellis.optim.boosting import Boosting, BoostingState
from trellis.optim.contract import Boosted, Objective, Optimizer, State, Traits, bytes_of, is_over, traits_of
from trellis.optim.dual_perceptron import DualPerceptron, DualPerceptronState
from trellis.optim.eg import EG
from trellis.optim.em import EM, EarlyEM, EMState
from trellis.optim.frank_wolfe import BCFW
from trellis.optim.lbfgs import LBFGS, LBFGSState
from trellis.optim.mira import MIRA
from trellis.optim.newton_cg import NewtonCG, NewtonCGState
from trellis.optim.nonlinear_cg import NonlinearCG, NonlinearCGState
from trellis.optim.online import GapState, OnlineState
from trellis.optim.owlqn import OWLQN, OWLQNState
from trellis.optim.passive_aggressive import PassiveAggressive
from trellis.optim.perceptron import Perceptron
from trellis.optim.saga import SAGA
from trellis.optim.settings import check_names
from trellis.optim.sgd import SGD

OPTIMIZERS: dict[str, type[Any]] = {
    "auto": Auto,
    "lbfgs": LBFGS,
    "owlqn": OWLQN,
    "cg": NonlinearCG,
    "newton-cg": NewtonCG,
    "sgd": SGD,
    "adagrad": AdaGrad,
    "saga": SAGA,
    "eg": EG,
    "perceptron": Perceptron,
    "pa": PassiveAggressive,
    "arow": AROW,
    "mira": MIRA,
    "bcfw": BCFW,
    "boosting": Boosting,
}

# class name -> class, for checkpoints
STATES: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (AutoState, LBFGSState, OWLQNState, NonlinearCGState, NewtonCGState)
}
STATES |= {kind.__name__: kind for kind in (OnlineState, GapState, BoostingState, EMState, AdamState)}
# that of the perceptron in the dual, and what it has in it
STATES |= {kind.__name__: kind for kind in (DualPerceptronState, Progression, Events)}


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
    "AROW",
    "BCFW",
    "EG",
    "EM",
    "LBFGS",
    "MIRA",
    "OPTIMIZERS",
    "OWLQN",
    "SAGA",
    "SGD",
    "STATES",
    "AdaGrad",
    "Adam",
    "AdamState",
    "Auto",
    "AutoState",
    "Boosted",
    "Boosting",
    "BoostingState",
    "DualPerceptron",
    "DualPerceptronState",
    "EMState",
    "EarlyEM",
    "GapState",
    "LBFGSState",
    "NewtonCG",
    "NewtonCGState",
    "NonlinearCG",
    "NonlinearCGState",
    "OWLQNState",
    "Objective",
    "OnlineState",
    "Optimizer",
    "PassiveAggressive",
    "Perceptron",
    "State",
    "Traits",
    "bytes_of",
    "find_optimizer",
    "is_over",
    "traits_of",
]
