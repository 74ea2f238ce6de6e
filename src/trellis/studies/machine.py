"""Where figures were measured: without it they cannot be judged."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from trellis.jit import threads_available

_PACKAGES = ("numpy", "numba", "python-crfsuite")


def machine() -> dict[str, Any]:
    """Cores, what others are running just now (load of the last minute; None where unknown), and versions."""
    return {
        "cores": threads_available(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "platform": platform.platform(),
        "python": platform.python_version(),
        **{name: _version(name) for name in _PACKAGES},
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
