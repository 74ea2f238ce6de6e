"""What can be voted for, and what the truth can be: labels, and coarse names for several of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError
from trellis.labels.encode import label_of, labels_of
from trellis.labels.encoding import OUTSIDE, split
from trellis.labels.reading import segment_types

BOOL = NDArray[np.bool_]

SILENCE = "_"  # how files spell that there is no vote, or that a gold label is not known


@dataclass(frozen=True)
class Space:
    """What can be voted for: `labels`, and `coarse` names that stand for several of them. `encoding` is that of the
    labels where they spell segments (iob2, or io), else None."""

    labels: tuple[str, ...]
    coarse: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    encoding: str | None = None

    @classmethod
    def of_types(cls, types: Sequence[str], coarse: Mapping[str, Sequence[str]] | None = None) -> Space:
        """Segments of these types, and of coarse ones: {"ENT": ["PER", "LOC"]}."""
        given = {name: tuple(members) for name, members in (coarse or {}).items()}
        every = sorted({*types, *(one for members in given.values() for one in members)} - set(given))
        _check_types([*given, *every])
        _check_coarse(given, every)
        spelt = {f"{p}-{name}": tuple(f"{p}-{one}" for one in members) for name, members in given.items() for p in "BI"}
        return cls(tuple(labels_of(every, "iob2")), spelt, "iob2")

    @classmethod
    def of_labels(cls, labels: Sequence[str], coarse: Mapping[str, Sequence[str]] | None = None) -> Space:
        """Labels that mean nothing but themselves, and coarse ones."""
        given = {name: tuple(members) for name, members in (coarse or {}).items()}
        every = sorted({*labels, *(one for members in given.values() for one in members)} - set(given))
        _check_coarse(given, every)
        return cls(tuple(every), given, None)

    def with_labels(self, labels: Sequence[str]) -> Space:
        """The same, where these (types, if labels are of segments) can be voted for as well."""
        if self.encoding is None:
            return Space.of_labels([*self.labels, *labels], self.coarse)
        types = {
            split(name)[1]: [split(one)[1] for one in members]
            for name, members in self.coarse.items()
            if split(name)[0] == "B"
        }
        return Space.of_types([*segment_types(self.labels), *labels], types)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return (*self.labels, *self.coarse)

    @cached_property
    def index(self) -> dict[str, int]:
        """name -> number."""
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def admits(self) -> BOOL:
        """BOOL[names, labels]: which labels a vote for the name may mean."""
        table = np.eye(len(self.names), len(self.labels), dtype=np.bool_)
        for name, members in self.coarse.items():
            table[self.index[name], [self.index[one] for one in members]] = True
        return table

    @cached_property
    def spelt_in_io(self) -> tuple[str, ...]:
        """The labels as they are called where only types count: I-X for B-X, too."""
        return self.labels if self.encoding is None else tuple(map(as_io, self.labels))

    @cached_property
    def joined(self) -> BOOL:
        """BOOL[labels before, labels]: whether two neighbours are of one segment; plain labels: are alike."""
        if self.encoding is None:
            return np.eye(len(self.labels), dtype=np.bool_)
        parts = [split(label) for label in self.labels]
        return np.array([[k[0] == "I" and i[1] == k[1] and i[0] != "O" for k in parts] for i in parts], np.bool_)

    @property
    def outside(self) -> int | None:
        """The number of O where labels spell segments; what no function says anything of is that."""
        return 0 if self.encoding is not None else None


def _check_types(types: Sequence[str]) -> None:
    for name in types:
        if name in (OUTSIDE, SILENCE) or name.startswith(("B-", "I-")) or any(map(str.isspace, name)):
            raise SettingError(
                f"{name!r} cannot be a type of segments; expected one such as PER, of which B-PER and I-PER are spelt"
            )


def _check_coarse(coarse: Mapping[str, Sequence[str]], labels: Sequence[str]) -> None:
    for name, members in coarse.items():
        nested = [one for one in members if one in coarse]
        if nested:
            raise SettingError(
                f"the coarse label {name!r} stands for {nested[0]!r}, which is coarse itself; list labels"
            )
        if not members:
            raise SettingError(f"the coarse label {name!r} stands for no label; say for which: {name}=A+B")
        unknown = [one for one in members if one not in labels]
        if unknown:
            raise SettingError(f"the coarse label {name!r} stands for {unknown[0]!r}, which is no label")


def in_io(space: Space) -> Space:
    """Of segments by type only; other labels as they are."""
    if space.encoding in (None, "io"):
        return space
    labels = tuple(dict.fromkeys(space.spelt_in_io))
    coarse = {as_io(name): tuple(dict.fromkeys(map(as_io, members))) for name, members in space.coarse.items()}
    return Space(labels, coarse, "io")


def as_io(name: str) -> str:
    return name if name == OUTSIDE else label_of("I", split(name)[1])
