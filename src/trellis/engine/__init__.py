"""Where shards run and how their results are added up."""

from trellis.engine.threads import ThreadedObjective

__all__ = ["ThreadedObjective"]
