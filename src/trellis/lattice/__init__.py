"""What a lattice is, and the four questions: best, partition and marginals, covariance, sample and entropy."""

from trellis.lattice.chain import Chain, Covariance, Marginals, by_length

__all__ = ["Chain", "Covariance", "Marginals", "by_length"]
