"""Memory that is free again is given back to the system.

What reading and feature extraction leave behind is kept by the C library for later, between what is still in use; for
a million tokens that is 100 MB, which a training would have beside its own. And what a training asks for, vectors as
long as theta, comes and goes in holes that others leave, and never quite fits; for a million tokens that is 50 MB more.
For as long as a training lasts, memory in large pieces is therefore taken from the system and goes back there at once.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt
# Bytes: of so many NumPy asks for large pages, which are few to get and few to return; and what the C library comes to
# by itself where large pieces have been freed.
_LARGE, _LARGEST = 4 << 20, 32 << 20


@contextmanager
def given_back() -> Iterator[None]:
    """What is free is given back now, large pieces as soon as they are free, and the rest at the end, where the C
    library can be asked to."""
    library = _glibc()
    if library is None:
        yield
        return
    library.malloc_trim(0)
    _set_threshold(library, _LARGE)
    try:
        yield
    finally:
        _set_threshold(library, _LARGEST)
        library.malloc_trim(0)


def _set_threshold(library: Any, size: int) -> None:
    if "MALLOC_MMAP_THRESHOLD_" not in os.environ:  # whose owner knows better
        library.mallopt(_MMAP_THRESHOLD, size)
        library.mallopt(_TRIM_THRESHOLD, 2 * size)  # as the C library has it by itself


@cache
def _glibc() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    try:
        library = ctypes.CDLL(None)
        return library if library.malloc_trim and library.mallopt else None
    except (OSError, AttributeError):
        return None
