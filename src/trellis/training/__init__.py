"""The loop around an optimiser."""

from trellis.training.loop import Outcome, Progress, train

__all__ = ["Outcome", "Progress", "train"]
