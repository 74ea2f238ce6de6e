"""Labels are given back to sentences that pruning left without a path, where longer tuples of labels may be forbidden.

Whether pairs of labels leave a path is seen at once (see `Pruner.with_paths`); of longer tuples the lattice itself has
to be asked. A sentence without a path gets twice as many labels a token, the most probable ones, until it has one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trellis.errors import NoLegalPathError, SettingError
from trellis.features import Packed
from trellis.lattice import Allowed
from trellis.models.probabilities import best_in

if TYPE_CHECKING:
    from trellis.models.constraints import Prepared
    from trellis.models.linear import LinearChain

BOOL = NDArray[np.bool_]
I64 = NDArray[np.int64]


def widened(model: LinearChain, pruned: Packed, packed: Packed, offsets: I64, imposed: Prepared | None) -> Packed:
    """Sentences `pruned`, with labels of theirs, `packed`, that were left out, where a path needs them."""
    if _has_paths(model, pruned, offsets, imposed):
        return pruned
    assert pruned.allowed is not None
    mask = pruned.allowed.mask()
    for s, (a, b) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
        own = None if imposed is None else imposed.part(a, b)
        one, stays = packed.part(a, b), mask[a:b]
        if b == a or _has_paths(model, replace(one, allowed=Allowed.of_mask(stays)), offsets[s : s + 2] - a, own):
            continue
        more = _wider(model, one, stays, own)
        if more is not None:
            mask[a:b] = more
    return replace(pruned, allowed=Allowed.of_mask(mask))


def _wider(model: LinearChain, one: Packed, stays: BOOL, imposed: Prepared | None) -> BOOL | None:
    """Labels of a sentence with a path; None if there are no such."""
    assert model.pruner is not None
    assert model.rules is not None
    tokens, labels = stays.shape
    own = np.array([0, tokens])
    rank = np.argsort(np.argsort(-model.pruner.chain.marginals_of_packed(one, own), axis=1, kind="stable"), axis=1)
    may = ~model.rules.forbidden(own)
    possible = None if imposed is None else imposed.possible(tokens)
    for mask in (possible, None if one.allowed is None else one.allowed.mask()):
        may = may if mask is None else may & mask
    most = max(1, int(stays.sum(axis=1).min()))
    while most < labels:
        most *= 2
        more = stays | ((rank < most) & may)
        try:
            if _has_paths(model, replace(one, allowed=Allowed.of_mask(more)), own, imposed):
                return more
        except SettingError:  # more tuples of labels than a lattice may have
            return None
    return None


def _has_paths(model: LinearChain, packed: Packed, offsets: I64, imposed: Prepared | None) -> bool:
    lattice = model.lattice_of_packed(packed, offsets, narrowed=True)
    try:
        best_in(lattice if imposed is None else imposed.on(lattice))
    except NoLegalPathError:
        return False
    return True
