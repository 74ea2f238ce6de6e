"""Settings -> what paths may do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError, SettingError
from trellis.labels import detect, illegal, is_gappy, legal_transitions, place_in
from trellis.labels.gap_rules import GAPPY
from trellis.lattice.rules import Rules
from trellis.models.batches import Sentences
from trellis.models.constraints import Prepared
from trellis.models.known import Known, place_of
from trellis.scoring import WeightLayout

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
    if found is None and is_gappy(given.labels):
        return GAPPY
    if found is None:
        some = ", ".join(given.labels[:3])
        raise SettingError(f"encoding is 'auto', but the labels ({some}, ...) spell no segments; leave it out")
    return found


def rules_of(encoding: str | None, only_seen: bool, labels: Sequence[str], layout: WeightLayout) -> Rules | None:
    """Only well-formed sequences of the encoding are paths; with `only_seen`, only those whose labels follow each other
    as they do in training, up to the order of the chain."""
    if encoding is None and not only_seen:
        return None
    every = np.ones(len(labels), bool)
    first, pairs, last = every, np.ones((len(labels), len(labels)), bool), every
    if encoding is not None:
        first, pairs, last = legal_transitions(labels, encoding)
    if only_seen:
        seen = np.zeros_like(pairs)
        seen[layout.source, layout.target] = True
        pairs = pairs & seen
    return replace(Rules.of_masks(first, pairs, last), closed=only_seen)


def rules_with(rules: Rules | None, constraints: Prepared | None) -> Rules | None:
    """Rules with the penalties of pairs among constraints."""
    if constraints is None or not constraints.pairs.any():
        return rules
    rules = Rules.none(len(constraints.own)) if rules is None else rules
    return replace(rules, pairs=rules.pairs + constraints.pairs)


def check_gold(X: Sentences, given: Known, offsets: NDArray[np.int64], encoding: str) -> None:
    """DataError for labels to learn from that are no path."""
    for token in illegal(given.labels, given.gold, offsets, encoding)[:1].tolist():
        where = place_in(offsets, token)
        raise DataError(
            f"{where}: the label '{given.labels[given.gold[token]]}' may not stand there in {encoding}; mend the "
            "labels (`trellis data check` lists such places), or leave the encoding out",
            *place_of(X, token),
        )


def check_usable(labels: Sequence[str], encoding: str) -> None:
    """SettingError for labels, of which each token may have several, that no sequence has in this encoding: B-X where
    nothing ends an X."""
    first, pairs, last = legal_transitions(labels, encoding)
    begun, ends = first.copy(), last.copy()  # whether it can be reached, and whether an end can be reached from it
    for _ in labels:
        begun |= begun @ pairs
        ends |= pairs @ ends
    for label in np.flatnonzero(~(begun & ends))[:1].tolist():
        found = detect(labels)
        known = found is not None and found != encoding
        hint = f"they are spelt as {found}: leave the encoding out, or give that" if known else "leave the encoding out"
        raise SettingError(f"with these labels nothing in {encoding} can have the label '{labels[label]}'; {hint}")
