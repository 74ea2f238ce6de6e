"""Whether layers are annotated where they have to be."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError

if TYPE_CHECKING:
    from trellis.cascade.preparing import Ready
    from trellis.cascade.stage import Stage

_FEW = 4  # times as many tokens have a label as have labels of lower stages, too


def check_annotated(ready: Sequence[Ready], read: AbstractSet[int]) -> None:
    """That stages whose annotation is read have one at all tokens."""
    for s in sorted(read):
        unknown = int((~ready[s].known).sum())
        if unknown:
            raise DataError(
                f"the wire 'gold' reads the annotation of '{ready[s].stage.target}', which {unknown:,} tokens do not "
                "have; use another wire"
            )


def warn_of_few(stage: Stage, known: NDArray[np.bool_], lower: Sequence[Ready]) -> None:
    """If weights for what is read cannot exist for much of the data."""
    both = known.copy()
    for one in lower:
        both &= one.known
    if _FEW * both.sum() < known.sum() and not stage.settings.get("all_pairs"):
        warnings.warn(
            f"stage '{stage.target}': only {both.sum():,} of {known.sum():,} tokens with a label have one of "
            f"{' and '.join(one.stage.target for one in lower)} as well; what is read has weights only for what occurs "
            "together there, all_pairs=True gives it all of them",
            stacklevel=2,
        )
