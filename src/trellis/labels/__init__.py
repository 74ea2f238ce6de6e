"""What labels mean: segment encodings, how to recognise, read and convert them, which label may follow which; spans
with gaps, and spans in layers.

What models do not need themselves is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.labels.encoding import ENCODINGS, PATH_ENCODINGS, detect, illegal, legal_transitions, split
from trellis.labels.packed import by_sentence, check_packed, first_tokens, place_in, runs
from trellis.labels.reading import READINGS, read_segments, segment_types
from trellis.lazy import lazily

if TYPE_CHECKING:
    from trellis.labels.conversion import REPAIRS, convert
    from trellis.labels.gaps import is_gappy, read_gappy, write_gappy
    from trellis.labels.layers import read_layers, write_layers
    from trellis.labels.spans import SpanSet

_HOMES = {
    "REPAIRS": "conversion",
    "SpanSet": "spans",
    "convert": "conversion",
    "is_gappy": "gaps",
    "read_gappy": "gaps",
    "read_layers": "layers",
    "write_gappy": "gaps",
    "write_layers": "layers",
}

__all__ = [
    "ENCODINGS",
    "PATH_ENCODINGS",
    "READINGS",
    "REPAIRS",
    "SpanSet",
    "by_sentence",
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

__getattr__, __dir__ = lazily(__name__, _HOMES)
