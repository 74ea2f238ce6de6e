"""What labels mean: segment encodings, how to recognise them, which label may follow which."""

from trellis.labels.encoding import ENCODINGS, detect, illegal, legal_transitions, split
from trellis.labels.packed import check_packed, first_tokens, place_in, runs

__all__ = [
    "ENCODINGS",
    "check_packed",
    "detect",
    "first_tokens",
    "illegal",
    "legal_transitions",
    "place_in",
    "runs",
    "split",
]
