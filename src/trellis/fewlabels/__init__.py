"""Making the most of few labels: more sentences out of those there are, what more labels would bring, and which
sentences to label next.

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.lazy import lazily

if TYPE_CHECKING:
    from trellis.fewlabels.augment import METHODS, augmented, copy_weights, parse_table
    from trellis.fewlabels.curve import Curve, learning_curve
    from trellis.fewlabels.ranking import RANKINGS, uncertainty
    from trellis.fewlabels.selection import next_batch, rest_of
    from trellis.fewlabels.simulation import simulate

SIZES = (0.0625, 0.125, 0.25, 0.5, 1.0)  # parts that a learning curve is usually made of: here, where it costs nothing

_HOMES = {
    "METHODS": "augment",
    "RANKINGS": "ranking",
    "Curve": "curve",
    "augmented": "augment",
    "copy_weights": "augment",
    "learning_curve": "curve",
    "next_batch": "selection",
    "parse_table": "augment",
    "rest_of": "selection",
    "simulate": "simulation",
    "uncertainty": "ranking",
}

__all__ = [
    "METHODS",
    "RANKINGS",
    "SIZES",
    "Curve",
    "augmented",
    "copy_weights",
    "learning_curve",
    "next_batch",
    "parse_table",
    "rest_of",
    "simulate",
    "uncertainty",
]

__getattr__, __dir__ = lazily(__name__, _HOMES)
