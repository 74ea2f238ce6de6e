"""The model file."""

from trellis.store.file import Tensors, from_bytes, read_model, to_bytes, write_model
from trellis.store.strings import get_strings, put_strings

__all__ = [
    "Tensors",
    "from_bytes",
    "get_strings",
    "put_strings",
    "read_model",
    "to_bytes",
    "write_model",
]
