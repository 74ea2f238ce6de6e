"""The model file."""

from trellis.store.atomic import check_writable, write_atomically
from trellis.store.file import Tensors, from_bytes, read_model, to_bytes, write_model
from trellis.store.strings import get_strings, put_strings

__all__ = [
    "Tensors",
    "check_writable",
    "from_bytes",
    "get_strings",
    "put_strings",
    "read_model",
    "to_bytes",
    "write_atomically",
    "write_model",
]
