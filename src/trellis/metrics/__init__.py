"""How good a labelling is: token accuracy, and segments counted as CoNLL's conlleval counts them."""

from trellis.metrics.compare import compare
from trellis.metrics.report import Report, TypeScore, evaluate
from trellis.metrics.segments import Counts, segment_counts, segment_types, segments

__all__ = ["Counts", "Report", "TypeScore", "compare", "evaluate", "segment_counts", "segment_types", "segments"]
