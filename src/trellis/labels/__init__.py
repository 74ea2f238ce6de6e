"""What labels mean: segment encodings, how to recognise them, which label may follow which."""

from trellis.labels.convert import REPAIRS, convert
from trellis.labels.encoding import ENCODINGS, detect, illegal, legal_transitions, split
from trellis.labels.packed import check_packed, first_tokens, place_in, runs
from trellis.labels.reading import READINGS, read_segments, segment_types

__all__ = [
    "ENCODINGS",
    "READINGS",
    "REPAIRS",
    "check_packed",
    "convert",
    "detect",
    "first_tokens",
    "illegal",
    "legal_transitions",
    "place_in",
    "read_segments",
    "runs",
    "segment_types",
    "split",
]
