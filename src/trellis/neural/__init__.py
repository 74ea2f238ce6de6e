"""Encoders beside sparse features, and lattices for encoders of your own, in PyTorch.

    from trellis.neural import ChainCRF, SegmentCRF     # layers
    from trellis.neural import Chains, log_partition    # functions of packed sentences

What needs PyTorch is imported when it is asked for; models that have learnt do without it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from trellis.errors import SettingError
from trellis.lazy import lazily

if TYPE_CHECKING:
    from trellis.lattice.segments import SegmentTypes
    from trellis.neural.functions import log_partition, marginals, path_losses, path_scores, segment_scores
    from trellis.neural.lattices import Chains, Lattices, Segments
    from trellis.neural.layers import ChainCRF, SegmentCRF

_HOMES = {
    "ChainCRF": "layers",
    "Chains": "lattices",
    "Lattices": "lattices",
    "SegmentCRF": "layers",
    "SegmentTypes": "lattices",
    "Segments": "lattices",
    "log_partition": "functions",
    "marginals": "functions",
    "path_losses": "functions",
    "path_scores": "functions",
    "segment_scores": "functions",
}

__all__ = [
    "ChainCRF",
    "Chains",
    "Lattices",
    "SegmentCRF",
    "SegmentTypes",
    "Segments",
    "log_partition",
    "marginals",
    "path_losses",
    "path_scores",
    "segment_scores",
]


def require_torch() -> None:
    """SettingError where it is not installed."""
    try:
        import_module("torch")
    except ImportError:
        raise SettingError("this needs PyTorch: pip install 'trellis[neural]'") from None


_find, __dir__ = lazily(__name__, _HOMES)


def __getattr__(name: str) -> Any:
    if _HOMES.get(name, "lattices") != "lattices":
        require_torch()
    return _find(name)
