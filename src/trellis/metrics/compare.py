"""Two columns of labels over the same sentences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column
from trellis.metrics.report import Report, evaluate


def compare(gold: Column, predicted: Column, offsets: NDArray[np.int64]) -> Report:
    """Scores predicted labels against gold ones; the two may have different tables of strings."""
    index = {name: i for i, name in enumerate(dict.fromkeys([*gold.strings, *predicted.strings]))}
    return evaluate(gold.translated(index), predicted.translated(index), list(index), offsets)
