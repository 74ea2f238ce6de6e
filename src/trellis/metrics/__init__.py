"""How good a labelling is: token accuracy and segments, counted by a scheme that is named; how sure that is, and what
goes wrong.

What models do not need themselves is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.lazy import lazily
from trellis.metrics.compare import compare
from trellis.metrics.report import Report, TypeScore, evaluate
from trellis.metrics.segments import Counts, segment_counts, segment_types, segments

if TYPE_CHECKING:
    from trellis.metrics.comparison import Comparison, compare_two
    from trellis.metrics.confusions import Confused, Confusion, confusion
    from trellis.metrics.known import ByKnowledge, WordScore, by_knowledge, known_words
    from trellis.metrics.matching import MODES, Matches, Matching, match_segments
    from trellis.metrics.randomisation import Randomised, approximate_randomisation
    from trellis.metrics.resampling import Interval, intervals
    from trellis.metrics.significance import Difference, McNemar, differences, mcnemar
    from trellis.metrics.tally import METRICS, tallies
    from trellis.metrics.wholes import compare_wholes

_HOMES = {
    "METRICS": "tally",
    "MODES": "matching",
    "ByKnowledge": "known",
    "Comparison": "comparison",
    "Confused": "confusions",
    "Confusion": "confusions",
    "Difference": "significance",
    "Interval": "resampling",
    "Matches": "matching",
    "Matching": "matching",
    "McNemar": "significance",
    "Randomised": "randomisation",
    "WordScore": "known",
    "approximate_randomisation": "randomisation",
    "by_knowledge": "known",
    "compare_two": "comparison",
    "compare_wholes": "wholes",
    "confusion": "confusions",
    "differences": "significance",
    "intervals": "resampling",
    "known_words": "known",
    "match_segments": "matching",
    "mcnemar": "significance",
    "tallies": "tally",
}

__all__ = [
    "METRICS",
    "MODES",
    "ByKnowledge",
    "Comparison",
    "Confused",
    "Confusion",
    "Counts",
    "Difference",
    "Interval",
    "Matches",
    "Matching",
    "McNemar",
    "Randomised",
    "Report",
    "TypeScore",
    "WordScore",
    "approximate_randomisation",
    "by_knowledge",
    "compare",
    "compare_two",
    "compare_wholes",
    "confusion",
    "differences",
    "evaluate",
    "intervals",
    "known_words",
    "match_segments",
    "mcnemar",
    "segment_counts",
    "segment_types",
    "segments",
    "tallies",
]

__getattr__, __dir__ = lazily(__name__, _HOMES)
