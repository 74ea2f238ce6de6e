"""The training of a chain with an encoder, by itself or as a stage of a cascade."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError
from trellis.models.neural_chain import NeuralChain
from trellis.models.recipe import begun
from trellis.neural import require_torch
from trellis.training import Outcome
from trellis.training.estimate import roughly_seconds, usual_evaluations

if TYPE_CHECKING:
    from trellis.features.inputs import Inputs
    from trellis.losses import Loss
    from trellis.models.fitting import HeldOut
    from trellis.models.neural_fitting import NeuralFitting
    from trellis.objective import Examples
    from trellis.optim import Adam

F64 = NDArray[np.float64]

_LOG = logging.getLogger("trellis.models.fitting")
_ROUGHLY, _MOST = 1e-4, 500  # how far the sparse weights are trained first: tolerance, iterations
_BATCH, _STEPS = 32, 100  # sentences of a batch, where that leaves so many steps to an epoch


class Settings(Protocol):
    """Those of an estimator that are looked at here: see `NeuralCRF`."""

    l2: float
    dropout: float
    epochs: int
    batch_size: int | None
    step_size: float
    sparse_step: float
    decay: float
    clip: float
    average: float
    sparse_first: bool
    sparse_dropout: float
    seed: int


def adam_of(settings: Settings) -> Adam:
    """The optimiser."""
    from trellis.optim import Adam

    return Adam(
        int(settings.epochs), float(settings.step_size), float(settings.sparse_step), float(settings.decay),
        float(settings.clip), float(settings.average),
    )  # fmt: skip


def batch_size_of(settings: Settings, sentences: int) -> int:
    """As it is set, or as suits so many sentences."""
    return max(1, min(_BATCH, sentences // _STEPS)) if settings.batch_size is None else int(settings.batch_size)


def trained(
    fitting: NeuralFitting,
    settings: Settings,
    model: NeuralChain,
    examples: Examples,
    inputs: Inputs,
    loss: Loss,
    held_out: HeldOut | None,
    data: Sequence[object],
    threads: int,
) -> Outcome:
    """From the weights that the model has. `data`: what is in memory beside it."""
    require_torch()
    from trellis.neural.batches import Batches
    from trellis.neural.objective import NeuralObjective

    shape, size, seed = model.encoder.shape, batch_size_of(settings, len(examples.offsets) - 1), int(settings.seed)
    batches = Batches(model.layout, examples, inputs, loss, shape, size, seed)
    layout = model.layout
    amounts = float(settings.l2), float(settings.dropout), float(settings.sparse_dropout) if layout.pairs else 0.0
    if settings.sparse_first and layout.attributes:
        fitting.first = partial(_sparse, settings, model, examples, loss, threads)
    _LOG.info("the encoder sees the columns %s", ", ".join(model.tables.columns))
    with NeuralObjective(batches, layout.size, layout.pairs, shape, *amounts, seed, threads) as objective:
        outcome = checked(fitting.train(objective, adam_of(settings), model.weights, held_out, [*data, model]))
    if held_out is not None and np.array_equal(outcome.theta[layout.size :], model.encoder.vector):
        warnings.warn(
            "no epoch was better on the development data than where training began: what is kept are the sparse "
            "weights alone, and the encoder adds nothing; try more epochs or patience, or a smaller step_size",
            stacklevel=3,
        )
    return outcome


def checked(outcome: Outcome) -> Outcome:
    """DataError for weights that are no numbers, also in single precision, which encoders are kept in."""
    with np.errstate(over="ignore"):
        is_finite = np.isfinite(outcome.theta.astype(np.float32)).all() and np.isfinite(outcome.objective)
    if not is_finite:
        raise DataError("training led to weights that are no numbers; try a smaller step_size or sparse_step")
    return outcome


def _sparse(settings: Settings, model: NeuralChain, examples: Examples, loss: Loss, threads: int) -> F64:
    """The sparse weights of a model without its encoder, roughly."""
    from trellis.engine import ThreadedObjective
    from trellis.objective import L2, cut_into_shards
    from trellis.optim import Auto
    from trellis.training import train

    shards, theta, seed = cut_into_shards(model.layout, examples, loss), model.linear.weights, int(settings.seed)
    optimizer = Auto(tol=_ROUGHLY, seed=seed)
    with ThreadedObjective(shards, len(theta), L2(float(settings.l2)), threads) as objective:
        if _LOG.isEnabledFor(logging.INFO):
            shards[0].value_and_gradient(theta)  # loads the kernels
            began = time.perf_counter()
            objective.value_and_gradient(theta)
            usual = usual_evaluations(len(examples.gold), float(settings.l2), _ROUGHLY, _MOST)
            seconds = (time.perf_counter() - began) * usual * optimizer.usual_work(objective)
            _LOG.info("training begins with the sparse weights alone, about %s", roughly_seconds(seconds))
        return train(objective, optimizer, begun(objective, optimizer, theta, seed), _MOST).theta
