"""Labels of tokens -> segments to learn from: their types, how long these may be, and labels within a semi-CRF."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError
from trellis.labels import detect, split
from trellis.labels.encode import encoded, labels_of
from trellis.lattice.segments import SegmentTypes
from trellis.metrics.segments import segment_types, segments
from trellis.models.known import Known
from trellis.models.settings import MOST_LENGTH

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
BOOL = NDArray[np.bool_]

USUAL_LONGEST = 8  # tokens of a segment, where no segment is known for certain


@dataclass(frozen=True)
class Segmented:
    """`kinds`: the types of segments by name, without O; `types`: the same for a lattice, and O; `gold: I32[tokens]`,
    labels within (see `SegmentModel`); `start`, `end`, `kind`: I64[segments]; `known`, `soft`: as in `Target`; `fits:
    BOOL[sentences]`, whether no segment is longer than its type may be."""

    encoding: str
    kinds: tuple[str, ...]
    types: SegmentTypes
    gold: I32
    start: I64
    end: I64
    kind: I64
    known: BOOL | None
    soft: F64 | None
    fits: BOOL

    @property
    def possible(self) -> BOOL | None:
        """As in `Known`."""
        return self.known if self.soft is None else self.soft > 0.0


def segmented(given: Known, offsets: I64, longest: int | Mapping[str, int] | None) -> Segmented:
    """`longest`: of all types, or by type; None for as long as segments are in the data."""
    encoding = detect(given.labels, given.gold, offsets) if given.kind == "gold" else detect(given.labels)
    if encoding is None:
        some = ", ".join(given.labels[:3])
        raise SettingError(f"the labels ({some}, ...) spell no segments such as B-NP, I-NP, O; use a CRF for them")
    kinds = tuple(segment_types(given.labels))
    if given.evidence is not None:
        raise SettingError("segments are not learnt from evidence; give probabilities of labels, or use a CRF")
    if given.kind != "gold" and encoding != "iob2":
        raise SettingError(
            f"labels known in part, or soft, have to be of the encoding iob2 for segments, not {encoding}"
        )
    if given.kind == "gold":
        start, end, kind = segments(given.gold, given.labels, offsets)
        most = np.zeros(len(kinds), np.int64)
        np.maximum.at(most, kind, end - start)
        most = np.clip(most, 1, MOST_LENGTH)
    else:
        start, end, kind = (np.zeros(0, np.int64) for _ in range(3))
        most = np.full(len(kinds), USUAL_LONGEST)
    limit = _limits(longest, kinds, most)
    inner = labels_of(kinds, "iob2")
    types = SegmentTypes.of([*limit, 1], [*range(1, len(inner), 2), 0], [*range(2, len(inner) + 1, 2), -1], len(inner))
    gold, _ = encoded(start, end, kind, kinds, offsets, "iob2")
    fits = np.ones(len(offsets) - 1, bool)
    owner = np.searchsorted(offsets, start, side="right") - 1
    fits[owner[end - start > limit[kind]]] = False
    if not fits.all():
        warnings.warn(
            f"{int((~fits).sum())} of {len(fits)} sentences have a segment that is longer than `longest` allows; they "
            "are not learnt from",
            stacklevel=3,
        )
    return Segmented(
        encoding, kinds, types, gold, start, end, kind,
        _columns(given.known, given, inner, True), _columns(given.soft, given, inner, False), fits,
    )  # fmt: skip


def _limits(longest: int | Mapping[str, int] | None, kinds: tuple[str, ...], most: I64) -> I64:
    if longest is None:
        return most
    if isinstance(longest, Mapping):
        unknown = [name for name in longest if name not in kinds]
        if unknown:
            raise SettingError(f"longest names the type '{unknown[0]}'; the types are: {', '.join(kinds)}")
        return np.array([longest.get(name, n) for name, n in zip(kinds, most.tolist(), strict=True)], np.int64)
    return np.full(len(kinds), int(longest))


def _columns(rows: NDArray[Any] | None, given: Known, inner: list[str], all_: bool) -> NDArray[Any] | None:
    """Columns for the labels given -> for the labels within; `all_`: where all labels are possible, so are those that
    are not given."""
    if rows is None:
        return None
    number = {label: j for j, label in enumerate(inner)}
    out = np.zeros((len(rows), len(inner)), rows.dtype)
    for j, label in enumerate(given.labels):
        prefix, kind = split(label)
        out[:, number[label if kind or prefix == "O" else prefix]] = rows[:, j]
    if all_:
        out[np.asarray(rows, bool).all(axis=1)] = True
    return out
