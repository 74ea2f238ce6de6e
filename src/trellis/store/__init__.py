"""The model file, checkpoints and the log of a run."""

from trellis.store.checkpoint import CheckpointFile
from trellis.store.file import Tensors, from_bytes, read_model, to_bytes, write_model
from trellis.store.log import RunLog
from trellis.store.strings import get_strings, put_strings

__all__ = [
    "CheckpointFile",
    "RunLog",
    "Tensors",
    "from_bytes",
    "get_strings",
    "put_strings",
    "read_model",
    "to_bytes",
    "write_model",
]
