"""One file a loss. A loss takes a chain and what is known of its labels, and gives values, their gradient in the scores
and, where it exists, their curvature."""

from __future__ import annotations

from trellis.errors import SettingError
from trellis.losses.contract import Answer, Loss, Target
from trellis.losses.exp import ExpLoss
from trellis.losses.hinge import HingeLoss
from trellis.losses.log import LogLoss
from trellis.losses.partial import EvidenceLogLoss, PartialLogLoss
from trellis.losses.perceptron import PerceptronLoss
from trellis.losses.pointwise import PointwiseExpLoss, PointwiseLogLoss
from trellis.losses.soft import SoftLogLoss, SoftPathLogLoss
from trellis.losses.softmax_margin import SoftmaxMarginLoss

_ALL: list[type[Loss]] = [
    LogLoss, ExpLoss, PointwiseLogLoss, PointwiseExpLoss, HingeLoss, SoftmaxMarginLoss, PerceptronLoss,
]  # fmt: skip
LOSSES: dict[str, Loss] = {loss.name: loss() for loss in _ALL}
# what the same name means for labels that are known in part, or as probabilities
PARTIAL: dict[str, Loss] = {loss.name: loss() for loss in [PartialLogLoss]}
EVIDENCE: dict[str, Loss] = {loss.name: loss() for loss in [EvidenceLogLoss]}
SOFT: dict[str, Loss] = {loss.name: loss() for loss in [SoftLogLoss]}
PATHS: dict[str, Loss] = {loss.name: loss() for loss in [SoftPathLogLoss]}


def find_loss(name: str, labels: str = "gold") -> Loss:
    """The loss of that name for labels that are `gold`, known in `part` or by `evidence`, `soft`, or soft `paths`."""
    if name not in LOSSES:
        raise SettingError(f"loss '{name}' is not known; the losses are: {', '.join(LOSSES)}")
    losses = {"gold": LOSSES, "part": PARTIAL, "evidence": EVIDENCE, "soft": SOFT, "paths": PATHS}[labels]
    if name not in losses:
        what = "labels known in part" if labels in ("part", "evidence") else "soft labels"
        raise SettingError(f"loss '{name}' cannot learn from {what}; use {' or '.join(losses)}")
    return losses[name]


__all__ = ["EVIDENCE", "LOSSES", "PARTIAL", "PATHS", "SOFT", "Answer", "Loss", "Target", "find_loss"]
