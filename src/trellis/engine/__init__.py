"""Where shards run and how their results are added up."""

from trellis.engine.threads import ThreadedObjective, threads_available

__all__ = ["ThreadedObjective", "threads_available"]
