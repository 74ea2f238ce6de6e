"""Cascades: stages, what upper ones read of lower ones, and all of them trained as one."""

from __future__ import annotations

from trellis.cascade.cascade import Cascade
from trellis.cascade.stage import Smooth, Stage
from trellis.models import MODELS, load

MODELS[Cascade.__name__] = Cascade  # so that `load` knows it

__all__ = ["Cascade", "Smooth", "Stage", "load"]
