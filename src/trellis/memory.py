"""Memory that is free again is given back to the system.

What reading and feature extraction leave behind is kept by the C library for later, between what is still in use; for
a million tokens that is 100 MB, which a training would have beside its own. And what a training asks for, vectors as
long as theta, comes and goes in holes that others leave, and never quite fits; for a million tokens that is 50 MB more.
Memory in large pieces is therefore taken from the system and goes back there at once.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from typing import Any

_MMAP_THRESHOLD = -3  # of mallopt
_LARGE = 4 << 20  # bytes; for so many, NumPy asks for large pages, which are few to get and few to return


def give_back() -> None:
    """Where the C library can be asked to."""
    library = _glibc()
    if library is not None:
        library.malloc_trim(0)
        if "MALLOC_MMAP_THRESHOLD_" not in os.environ:  # whose owner knows better
            library.mallopt(_MMAP_THRESHOLD, _LARGE)


@cache
def _glibc() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    try:
        library = ctypes.CDLL(None)
        return library if library.malloc_trim and library.mallopt else None
    except (OSError, AttributeError):
        return None
