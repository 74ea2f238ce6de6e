"""theta -> arc scores, and back."""

from trellis.scoring.layout import WeightLayout, observed_layout, of_order, with_observed_arcs
from trellis.scoring.plain import plain_scores, plain_transitions

__all__ = ["WeightLayout", "observed_layout", "of_order", "plain_scores", "plain_transitions", "with_observed_arcs"]
