"""The loop around an optimiser."""

from trellis.training.checkpoint import Checkpoint, Fingerprint, Schedule, reopened
from trellis.training.loop import Keeper, Outcome, Progress, Run, has_ended, train

__all__ = [
    "Checkpoint",
    "Fingerprint",
    "Keeper",
    "Outcome",
    "Progress",
    "Run",
    "Schedule",
    "has_ended",
    "reopened",
    "train",
]
