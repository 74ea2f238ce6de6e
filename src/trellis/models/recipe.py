"""Settings -> optimiser, loss and prior."""

from __future__ import annotations

import logging
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Protocol

from trellis.errors import SettingError
from trellis.models.improbable import Improbable
from trellis.models.settings import USUAL_L2

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from trellis.engine import ThreadedObjective
    from trellis.losses import Loss
    from trellis.objective import Prior
    from trellis.optim import Optimizer

    F64 = NDArray[np.float64]

_LOG = logging.getLogger(__name__)
_ROUGHLY = 1e-3  # tolerance of a solution that is only a start


class Settings(Protocol):
    """Those of an estimator that are looked at here."""

    loss: str | None
    optimizer: str
    options: Mapping[str, Any] | None
    tol: float
    l1: float
    l2: float
    hyperbolic: float
    seed: int


def optimizer_of(settings: Settings, more: Mapping[str, Any] | None = None) -> Optimizer:
    """The optimiser with its options, and `more` of them; the seed is a setting of its own for all that draw at
    random."""
    from trellis.optim import OPTIMIZERS, find_optimizer, traits_of

    options = {**(settings.options or {}), **(more or {})}
    for name in ("tol", "seed"):
        if name in options:
            raise SettingError(f"'{name}' is a setting of its own, not among the options of an optimizer")
    kind = OPTIMIZERS.get(settings.optimizer)
    if kind is not None and any(field.name == "seed" for field in fields(kind)):
        options["seed"] = settings.seed
    if kind is not None and getattr(settings, "order", 1) != 1 and traits_of(kind).learns:
        raise SettingError(
            f"optimizer '{settings.optimizer}' knows chains of order 1 only; use auto, lbfgs or newton-cg"
        )
    return find_optimizer(settings.optimizer, settings.tol, **options)


def loss_of(settings: Settings, known_as: str, with_costs: bool) -> Loss:
    """The loss that is named, or else the optimiser's own, for labels that are `gold`, known in `part`, or `soft`."""
    from trellis.losses import find_loss
    from trellis.optim import OPTIMIZERS, traits_of

    name, kind = loss_name(settings), OPTIMIZERS.get(settings.optimizer)
    own = kind is not None and bool(traits_of(kind).learns)  # another loss would need another optimiser
    if own and known_as != "gold" and isinstance(settings, Improbable):
        raise SettingError(f"a {type(settings).__name__} needs one label for each token; use a CRF")
    if own and known_as != "gold":
        raise SettingError(
            f"optimizer '{settings.optimizer}' needs one label for each token; use lbfgs or auto with the loss log"
        )
    loss = find_loss(name, known_as)
    if with_costs and not loss.uses_costs:
        what, by = (f"optimizer '{settings.optimizer}'", " with lbfgs or auto") if own else (f"loss '{name}'", "")
        raise SettingError(f"{what} knows no costs; use softmax-margin, hinge or a pointwise loss{by}")
    if settings.optimizer == "cg" and loss.curvature_is is None:
        raise SettingError(f"the loss '{name}' has corners, where cg stops; use lbfgs or auto")
    return loss


def loss_name(settings: Settings) -> str:
    """The loss that is named; if none is, the optimiser's own."""
    from trellis.optim import OPTIMIZERS, traits_of

    kind = OPTIMIZERS.get(settings.optimizer)
    learns = () if kind is None else traits_of(kind).learns
    if settings.loss is None:
        return learns[0] if learns else "log"
    if learns and settings.loss not in learns:
        raise SettingError(
            f"optimizer '{settings.optimizer}' does not minimise the loss '{settings.loss}'; its own is "
            f"{' or '.join(learns)}, which is meant where no loss is given"
        )
    if settings.loss == "perceptron" and not learns:
        raise SettingError("the loss 'perceptron' has its minimum at zero weights; use the optimizer 'perceptron'")
    return settings.loss


def prior_of(settings: Settings) -> Prior:
    """What is penalised besides l1, which is the optimiser's business; nothing for those that know no prior."""
    from trellis.objective import L2, Hyperbolic, Priors
    from trellis.optim import OPTIMIZERS, traits_of

    kind = OPTIMIZERS.get(settings.optimizer)
    if kind is not None and not traits_of(kind).uses_prior:
        if settings.l1 or settings.hyperbolic:
            name = "l1" if settings.l1 else "hyperbolic"
            raise SettingError(f"optimizer '{settings.optimizer}' knows no prior, and {name} is given; leave it out")
        if settings.l2 not in (0.0, USUAL_L2):  # who compares optimisers may give it to all of them
            _LOG.info("optimizer '%s' knows no prior: l2 has no effect", settings.optimizer)
        return L2(0.0)

    if settings.hyperbolic == 0:
        return L2(settings.l2)
    return Priors([L2(settings.l2), Hyperbolic(settings.hyperbolic)])


def begun(objective: ThreadedObjective, optimizer: Optimizer, theta: F64, seed: int = 0) -> F64:
    """Where training begins: theta, or from zero the solution of the loss that the objective's own loss begins with,
    unless the optimiser has a way of its own with its loss."""
    from trellis.losses import find_loss
    from trellis.optim import Auto, traits_of
    from trellis.training import train

    first = objective.shards[0].loss.begins_with if objective.shards else None
    if first is None or theta.any() or objective.l1 or traits_of(type(optimizer)).learns:
        return theta
    own = [shard.loss for shard in objective.shards]
    for shard in objective.shards:
        shard.loss = find_loss(first)
    try:
        _LOG.info("training begins with the loss '%s'", first)
        return train(objective, Auto(tol=_ROUGHLY, seed=seed), theta, 500).theta
    finally:
        objective.forget()
        for shard, loss in zip(objective.shards, own, strict=True):
            shard.loss = loss
