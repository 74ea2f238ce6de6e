"""theta -> arc scores, and back."""

from trellis.scoring.layout import WeightLayout, observed_layout, with_observed_arcs
from trellis.scoring.plain import plain_scores, plain_transitions

__all__ = ["WeightLayout", "observed_layout", "plain_scores", "plain_transitions", "with_observed_arcs"]
