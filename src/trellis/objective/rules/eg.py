"""The rule of exponentiated gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from trellis.objective.kernels.places import Vector
from trellis.objective.online import I64, OnlineShard, Ran


@dataclass(frozen=True)
class EGRule:
    """Stores: log-potentials of labels F64[tokens, labels] and of transitions F64[sentences, labels, labels], rates
    F64[sentences, 1]. Vectors: theta; if `fresh`, zeros, which become theta, and the weights of which a `share` of the
    scores is mixed into the potentials, together with a `bonus` for gold labels. Tally: by how much the dual rose,
    steps that failed, sentences that stayed as they were."""

    l2: float
    fresh: bool = False
    share: float = 0.0
    bonus: float = 0.0
    in_fours: ClassVar[bool] = False
    stores: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("tokens", "labels"),
        ("sentences", "labels", "labels"),
        ("sentences", "one"),
    )

    def run(self, shard: OnlineShard, order: I64, vectors: Sequence[Vector], stores: Sequence[Any], done: int) -> Ran:
        from trellis.objective.kernels.eg import eg_pass

        theta, source = vectors[0], vectors[-1]
        nodes, transitions, rates = stores
        return Ran(
            eg_pass(
                shard.tokens, order, theta, source, float(self.l2), nodes, transitions, rates,
                self.fresh, float(self.share), float(self.bonus),
            )
        )  # fmt: skip
