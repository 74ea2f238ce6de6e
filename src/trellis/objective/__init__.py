"""One shard of an objective, and priors."""

from trellis.objective.cutting import cut_into_shards
from trellis.objective.examples import Examples
from trellis.objective.plain import PlainShard
from trellis.objective.prior import L2, Around, Hyperbolic, Prior, Priors, PriorsOfParts
from trellis.objective.shard import Shard

__all__ = [
    "L2",
    "Around",
    "Examples",
    "Hyperbolic",
    "PlainShard",
    "Prior",
    "Priors",
    "PriorsOfParts",
    "Shard",
    "cut_into_shards",
]
