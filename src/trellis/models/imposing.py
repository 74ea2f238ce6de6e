"""Constraints in training: what they leave of the data, and whether the labels to learn from keep to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError, NoLegalPathError, SettingError
from trellis.features import Packed
from trellis.labels import first_tokens, place_in, runs
from trellis.lattice import Allowed, Chain
from trellis.lattice.once import MOST_ONCE
from trellis.metrics.segments import segment_types, segments
from trellis.models.batches import Sentences
from trellis.models.constraints import Prepared, SegmentsAs, checked
from trellis.models.development import Best
from trellis.models.known import place_of
from trellis.models.probabilities import Lattice, best_in

BOOL = NDArray[np.bool_]
F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

_BLOCK = 1024  # tokens whose lattices are looked at together
_OTHERWISE = "mend the labels, or loosen the constraints"


def imposed_by(
    constraints: object, labels: Sequence[str], offsets: I64, segments_as: SegmentsAs | None = None
) -> Prepared | None:
    """Constraints for training data, checked; None if there are none. See `Constraints.prepared`."""
    if constraints is None:
        return None
    prepared = checked(constraints).prepared(labels, np.diff(offsets).tolist(), segments_as)
    if len(prepared.once) > MOST_ONCE:
        raise SettingError(
            f"at_most_once has {len(prepared.once)} types, and training can keep to {MOST_ONCE} at most; name fewer "
            "here, and all of them in predictions"
        )
    return None if prepared.is_empty else prepared


def check_kept(X: Sentences, gold: I32, labels: Sequence[str], offsets: I64, constraints: Prepared) -> None:
    """DataError for labels I32[tokens] to learn from that constraints rule out."""
    possible = constraints.possible(len(gold))
    if possible is not None:
        for t in np.flatnonzero(~possible[np.arange(len(gold)), gold])[:1].tolist():
            raise _against(X, t, offsets, f"the constraints rule out its label '{labels[gold[t]]}'")
    here = np.flatnonzero(~first_tokens(offsets))
    for t in here[np.isneginf(constraints.pairs[gold[here - 1], gold[here]])][:1].tolist():
        pair = f"'{labels[gold[t]]}' after '{labels[gold[t - 1]]}'"
        raise _against(X, t, offsets, f"the constraints rule out {pair}")
    if not constraints.once:
        return
    start, _, kind = segments(gold, labels, offsets)
    once = np.flatnonzero(np.isin(kind, constraints.once))
    keys = np.searchsorted(offsets, start[once], side="right") * len(labels) + kind[once]
    again = np.ones(len(once), bool)
    again[np.unique(keys, return_index=True)[1]] = False
    for k in once[again][:1].tolist():
        name = segment_types(labels)[kind[k]]
        raise _against(X, int(start[k]), offsets, f"a second segment of the type '{name}', which may occur once")


def _against(X: Sentences, token: int, offsets: I64, what: str) -> DataError:
    return DataError(f"{place_in(offsets, token)}: {what}; {_OTHERWISE}", *place_of(X, token))


def check_paths(
    X: Sentences,
    lattice_of: Callable[[Packed, I64], Lattice],
    packed: Packed,
    offsets: I64,
    known: BOOL,
    constraints: Prepared | None,
) -> None:
    """NoLegalPathError for the first sentence to learn from of which labels that are `known` to be possible,
    BOOL[tokens, labels], leave no path. `lattice_of`: packed sentences and their offsets -> their lattice, whatever the
    weights."""
    for first, a, b, own in _pieces(offsets, constraints):
        lattice = lattice_of(packed.part(a, b), own)
        if constraints is not None:
            lattice = constraints.part(a, b).on(lattice)
        try:
            if isinstance(lattice, Chain):
                Chain(np.where(known[a:b], lattice.scores, -np.inf), lattice.transitions, lattice.offsets).best()
            else:
                best_in(lattice.constrained(known[a:b]))
        except NoLegalPathError as error:
            raise _placed(error.after(first), X, offsets) from None


def _placed(error: NoLegalPathError, X: Sentences, offsets: I64) -> NoLegalPathError:
    """With file and line of the sentence, where they are known."""
    path, line = (None, None) if error.sentence is None else place_of(X, int(offsets[error.sentence]))
    where = "" if path is None or line is None else f" ({path}:{line})"
    return NoLegalPathError(f"{where}{error.what}, as far as its labels are known", error.sentence)


def best_within(constraints: Prepared | None) -> Best | None:
    """How to find the best labels of development data under the constraints of a training: what they say of its own
    tokens is not of these. None for no constraints."""
    general = None if constraints is None else replace(constraints, mask=None)
    if general is None or general.is_empty:
        return None

    def best(model: Any, packed: Packed, offsets: I64) -> I32:
        found = [np.zeros(0, np.int32)]
        for first, a, b, own in _pieces(offsets, general):
            try:
                lattice = model.lattice_of_packed(packed.part(a, b), own, general)
                found.append(model.best_of_lattice(general.on(lattice)))
            except NoLegalPathError as error:
                raise error.after(first) from None
        return np.concatenate(found)

    return best


def _pieces(offsets: I64, constraints: Prepared | None) -> Iterator[tuple[int, int, int, I64]]:
    """A few sentences at a time: the number of the first, the tokens that they have, and their own offsets."""
    for first, last in runs(offsets, _BLOCK // (1 if constraints is None else constraints.copies)):
        a, b = int(offsets[first]), int(offsets[last])
        yield first, a, b, offsets[first : last + 1] - a


def narrowed(packed: Packed, constraints: Prepared | None) -> Packed:
    """The data with those labels alone that constraints leave to tokens."""
    possible = None if constraints is None else constraints.possible(len(packed.indptr) - 1)
    if possible is None:
        return packed
    mask = possible if packed.allowed is None else possible & packed.allowed.mask()
    return replace(packed, allowed=Allowed.of_mask(mask))


def remaining(constraints: Prepared | None) -> Prepared | None:
    """What is left to be imposed on lattices when labels are `narrowed` and rules are `ruled`; None for nothing."""
    if constraints is None:
        return None
    own = np.where(np.isneginf(constraints.own), 0.0, constraints.own)
    rest = replace(constraints, mask=None, own=own, pairs=np.zeros_like(constraints.pairs))
    return None if rest.is_empty else rest
