"""Label models that know one accuracy of each function, and how frequent labels are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trellis.weak.models.contract import LabelModel

F64 = NDArray[np.float64]


class Accuracies(LabelModel):
    """`right_ F64[functions]`, how often a vote is right; `balance_ F64[labels]`, how frequent labels are."""

    right_: F64
    balance_: F64

    @property
    def accuracies_(self) -> dict[str, float]:
        """How often the votes of each function are right."""
        self._check_fitted()
        return dict(zip(self.functions_, self.right_.tolist(), strict=True))

    @property
    def class_balance_(self) -> dict[str, float]:
        """How frequent labels are; of triplets, among what is voted on."""
        self._check_fitted()
        return dict(zip(self.own_labels, self.balance_.tolist(), strict=True))

    def _frequency(self) -> F64:
        return self.balance_
