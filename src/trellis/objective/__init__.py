"""One shard of an objective, and priors."""

from trellis.objective.appearance import Order, order_by_appearance
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
    "Order",
    "PlainShard",
    "Prior",
    "Priors",
    "PriorsOfParts",
    "Shard",
    "cut_into_shards",
    "order_by_appearance",
]
