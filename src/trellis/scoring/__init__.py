"""theta -> arc scores, and back."""

from trellis.scoring.layout import WeightLayout, observed_layout
from trellis.scoring.plain import plain_scores

__all__ = ["WeightLayout", "observed_layout", "plain_scores"]
