"""What a lattice is, and the four questions: best, partition and marginals, covariance, sample and entropy."""

from trellis.lattice.allowed import Allowed
from trellis.lattice.chain import Chain, Covariance, Marginals, quick_best
from trellis.lattice.restricted import RestrictedWorkChain
from trellis.lattice.work import TrainingChain, WorkChain

__all__ = [
    "Allowed",
    "Chain",
    "Covariance",
    "Marginals",
    "RestrictedWorkChain",
    "TrainingChain",
    "WorkChain",
    "quick_best",
]
