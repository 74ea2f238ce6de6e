"""Settings -> what paths may do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError, SettingError
from trellis.labels import detect, illegal, legal_transitions
from trellis.lattice.rules import Rules
from trellis.models.batches import Sentences
from trellis.models.known import Known, place_of

AUTO = "auto"


def encoding_of(encoding: str | None, order: int, given: Known, offsets: NDArray[np.int64]) -> str | None:
    """The name of an encoding; `auto` is the one that the labels are of."""
    if encoding is None:
        return None
    if order == 0:
        raise SettingError("an encoding says which label may follow which, and with order 0 none follows another")
    if encoding != AUTO:
        return encoding
    found = detect(given.labels, given.gold, offsets) if given.kind == "gold" else detect(given.labels)
    if found is None:
        some = ", ".join(given.labels[:3])
        raise SettingError(f"encoding is 'auto', but the labels ({some}, ...) spell no segments; leave it out")
    return found


def rules_of(encoding: str | None, labels: Sequence[str]) -> Rules | None:
    """Only well-formed sequences of the encoding are paths."""
    return None if encoding is None else Rules.of_masks(*legal_transitions(labels, encoding))


def check_gold(X: Sentences, given: Known, offsets: NDArray[np.int64], encoding: str) -> None:
    """DataError for labels to learn from that are no path."""
    for token in illegal(given.labels, given.gold, offsets, encoding)[:1].tolist():
        s = int(np.searchsorted(offsets, token, side="right"))
        where = f"sentence {s}, token {token - int(offsets[s - 1]) + 1}"
        raise DataError(
            f"{where}: the label '{given.labels[given.gold[token]]}' may not stand there in {encoding}; mend the "
            "labels (`trellis data check` lists such places), or leave the encoding out",
            *place_of(X, token),
        )
