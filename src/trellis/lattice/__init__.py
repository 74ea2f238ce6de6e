"""What a lattice is, and the four questions: best, partition and marginals, covariance, sample and entropy."""

from trellis.lattice.chain import Chain, Covariance, Marginals, quick_best
from trellis.lattice.work import WorkChain

__all__ = ["Chain", "Covariance", "Marginals", "WorkChain", "quick_best"]
