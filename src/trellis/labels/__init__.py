"""What labels mean: segment encodings, how to recognise, read and convert them, which label may follow which; spans
with gaps, and spans in layers."""

from trellis.labels.convert import REPAIRS, convert
from trellis.labels.encoding import ENCODINGS, detect, illegal, legal_transitions, split
from trellis.labels.gaps import is_gappy, read_gappy, write_gappy
from trellis.labels.layers import read_layers, write_layers
from trellis.labels.packed import check_packed, first_tokens, place_in, runs
from trellis.labels.reading import READINGS, read_segments, segment_types
from trellis.labels.spans import SpanSet

__all__ = [
    "ENCODINGS",
    "READINGS",
    "REPAIRS",
    "SpanSet",
    "check_packed",
    "convert",
    "detect",
    "first_tokens",
    "illegal",
    "is_gappy",
    "legal_transitions",
    "place_in",
    "read_gappy",
    "read_layers",
    "read_segments",
    "runs",
    "segment_types",
    "split",
    "write_gappy",
    "write_layers",
]
