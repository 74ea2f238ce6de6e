"""Memory that is free again is given back to the system.

What reading and feature extraction leave behind is kept by the C library for later, between what is still in use; for
a million tokens that is 100 MB, which a training would have beside its own.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any


def give_back() -> None:
    """Where the C library can be asked to."""
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    try:
        return ctypes.CDLL(None).malloc_trim  # of glibc
    except (OSError, AttributeError):
        return None
