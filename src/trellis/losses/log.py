"""The log loss (Altun's F1; a CRF's negative log-likelihood): log Z - S(y)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trellis.lattice import TrainingChain

F64 = NDArray[np.float64]


def log_loss(chain: TrainingChain, gold: NDArray[np.int32]) -> tuple[F64, F64, F64]:
    """Per sentence log Z - S(gold), F64[sentences]; dL/ds = P - 1_gold on nodes, laid out as the scores, and
    added up over tokens on transitions, F64[labels, labels]. Uses the chain up."""
    gold_scores = chain.path_scores(gold)
    answer = chain.marginals()
    chain.subtract_path(answer, gold)
    assert answer.arcs is not None
    with np.errstate(invalid="ignore"):  # both may be infinite, see WorkChain.marginals
        return answer.log_z - gold_scores, answer.nodes, answer.arcs
