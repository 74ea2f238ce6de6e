"""One file a loss. A loss takes a chain and the gold path and gives values and their gradient in the scores."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError
from trellis.lattice import TrainingChain
from trellis.losses.log import log_loss

F64 = NDArray[np.float64]
Loss = Callable[[TrainingChain, NDArray[np.int32]], tuple[F64, F64, F64]]

LOSSES: dict[str, Loss] = {"log": log_loss}


def find_loss(name: str) -> Loss:
    """The loss of that name."""
    if name not in LOSSES:
        raise SettingError(f"loss '{name}' is not known; the losses are: {', '.join(LOSSES)}")
    return LOSSES[name]
