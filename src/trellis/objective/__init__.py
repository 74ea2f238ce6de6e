"""One shard of an objective, and priors."""

from trellis.objective.prior import L2, Prior
from trellis.objective.shard import Examples, Shard, cut_into_shards

__all__ = ["L2", "Examples", "Prior", "Shard", "cut_into_shards"]
