"""Constraints that come with the data: labels that are known, penalties, types that occur once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError, SettingError, shown
from trellis.labels import detect
from trellis.labels.encode import labels_of
from trellis.lattice import Chain
from trellis.lattice.once import MOST_ONCE, AtMostOnce
from trellis.lattice.parts import PartLattice
from trellis.lattice.relaxed import ManyOnce
from trellis.lattice.segments import SegmentChain
from trellis.lattice.spelling import Spelling
from trellis.lattice.windows import WindowChain
from trellis.lattice.written import WrittenChain
from trellis.metrics.segments import segment_types, spelling_of
from trellis.models.probabilities import Lattice
from trellis.models.segment_rows import on_segments

F64 = NDArray[np.float64]
BOOL = NDArray[np.bool_]

ARROW = " -> "

SegmentsAs = tuple[tuple[str, ...], str]  # types of segments by name, and the encoding that writes them as labels


@dataclass(frozen=True)
class Constraints:
    """What labels must keep to, in predictions and, if they are given there, in training.

    allowed: for each sentence a list with, for each token, the label that it has, a set of labels one of which it has,
    or None where nothing is known.
    penalties: numbers that are added to the score of a label (`{"O": -1.0}`) or of one label after another
    (`{"O -> I-NP": -5.0}`), -inf to forbid.
    at_most_once: types of segments of which a sentence has one at most. Answers are exact for up to four types; with
    more of them there are the best labels alone, and `predict_near` says how near to the best they are.
    """

    allowed: Sequence[Sequence[Any]] | None = None
    penalties: Mapping[str, float] | None = None
    at_most_once: Sequence[str] = ()

    def prepared(
        self, labels: Sequence[str], lengths: Sequence[int], segments_as: SegmentsAs | None = None
    ) -> Prepared:
        """For a model with these labels and sentences of these lengths, checked. `segments_as`: if it is one of
        segments."""
        number = {label: j for j, label in enumerate(labels)}
        mask = None if self.allowed is None else _mask(self.allowed, number, lengths)
        own, pairs = _penalties(self.penalties or {}, number)
        if segments_as is not None and pairs.any():
            raise SettingError("a SemiCRF has no penalties of one label after another; give some of labels")
        within = tuple(labels if segments_as is None else labels_of(segments_as[0], "iob2"))
        return Prepared(within, mask, own, pairs, _kinds(self.at_most_once, within), segments_as)


@dataclass(frozen=True)
class Prepared:
    """`mask: BOOL[tokens, labels]`, None for no constraint; penalties of labels F64[labels] and of pairs F64[labels,
    labels]; numbers of the types that occur once, in the labels `within` a lattice; how segments are written, if
    lattices are of these."""

    within: tuple[str, ...]
    mask: BOOL | None
    own: F64
    pairs: F64
    once: tuple[int, ...]
    segments_as: SegmentsAs | None = None

    @property
    def is_empty(self) -> bool:
        return self.mask is None and not self.once and not self.own.any() and not self.pairs.any()

    @property
    def copies(self) -> int:
        """How many times larger the graphs of lattices become."""
        return 1 << len(self.once) if len(self.once) <= MOST_ONCE else 1

    def on(self, lattice: Lattice) -> Lattice:
        """The lattice of these tokens, constrained."""
        if isinstance(lattice, Chain):
            scores = lattice.scores + self._rows(len(lattice.scores))
            lattice = Chain(scores, lattice.transitions + self.pairs, lattice.offsets)
            return self._once(_written(lattice)) if self.once else lattice
        return self.on_parts(lattice)

    def on_parts(self, lattice: PartLattice) -> PartLattice:
        """The same for a lattice of parts, which keeps them."""
        if self.mask is not None or self.own.any():
            lattice = replace(lattice, node_scores=lattice.node_scores + self._on_nodes(lattice))
        if self.pairs.any():
            lattice = replace(lattice, arc_scores=lattice.arc_scores + self._on_arcs(lattice))
        return self._once(lattice) if self.once else lattice

    def possible(self, tokens: int) -> BOOL | None:
        """Labels that tokens may have, BOOL[tokens, labels]; None for all."""
        closed = np.isneginf(self.own)
        if not closed.any():
            return self.mask
        return np.tile(~closed, (tokens, 1)) if self.mask is None else self.mask & ~closed

    def once_alone(self) -> Prepared:
        """Without what is said of labels and pairs of labels."""
        return replace(self, mask=None, own=np.zeros_like(self.own), pairs=np.zeros_like(self.pairs))

    def part(self, first: int, last: int) -> Prepared:
        """Tokens first..last."""
        return self if self.mask is None else replace(self, mask=self.mask[first:last])

    def picked(self, tokens: NDArray[np.int64]) -> Prepared:
        """These tokens, I64[...], in this order."""
        return self if self.mask is None else replace(self, mask=self.mask[tokens])

    def _once(self, lattice: PartLattice) -> PartLattice:
        kind = AtMostOnce if len(self.once) <= MOST_ONCE else ManyOnce
        return kind.of(lattice, Spelling(*spelling_of(self.within)), self.once)

    def _rows(self, tokens: int) -> F64:
        """What is added to the scores of labels, F64[tokens, labels]."""
        rows = np.tile(self.own, (tokens, 1))
        if self.mask is not None:
            rows[~self.mask] = -np.inf
        return rows

    def _on_nodes(self, lattice: PartLattice) -> F64:
        rows = self._rows(int(lattice.offsets[-1]))
        if self.segments_as is None:
            return lattice.on_nodes(rows)
        assert isinstance(lattice, SegmentChain)
        return on_segments(rows, lattice.types, *self.segments_as)

    def _on_arcs(self, lattice: PartLattice) -> F64:
        assert isinstance(lattice, WindowChain)
        return lattice.on_pairs(self.pairs)


def checked(constraints: object) -> Constraints:
    if not isinstance(constraints, Constraints):
        raise SettingError(f"constraints is {shown(constraints)}; expected trellis.Constraints(...)")
    return constraints


def _written(chain: Chain) -> WrittenChain:
    width = chain.scores.shape[1]
    return WrittenChain(chain.scores.ravel(), chain.transitions.ravel(), chain.offsets, width, chain.positional)


def _mask(allowed: Sequence[Sequence[Any]], number: Mapping[str, int], lengths: Sequence[int]) -> BOOL:
    if isinstance(allowed, str | Mapping) or not hasattr(allowed, "__len__"):
        raise DataError(f"allowed is {shown(allowed)}; expected a list for each sentence")
    if len(allowed) != len(lengths):
        raise DataError(f"allowed has {len(allowed)} sentences, the data {len(lengths)}")
    mask = np.ones((sum(lengths), len(number)), bool)
    t = 0
    for s, (row, length) in enumerate(zip(allowed, lengths, strict=True), 1):
        if isinstance(row, str) or not hasattr(row, "__len__"):
            raise DataError(f"sentence {s}: allowed has {shown(row)}; expected a list with an entry for each token")
        if len(row) != length:
            raise DataError(f"sentence {s}: allowed has {len(row)} tokens, the sentence {length}")
        for k, one in enumerate(row, 1):
            if one is not None:
                several = list(one) if isinstance(one, tuple | list | AbstractSet) else [one]
                unknown = [label for label in several if not isinstance(label, str) or label not in number]
                if unknown or not several:
                    found = f"the label {shown(unknown[0])}" if unknown else "an empty set of labels"
                    raise DataError(
                        f"sentence {s}, token {k}: allowed has {found}; the model's labels are: {', '.join(number)}"
                    )
                mask[t] = False
                mask[t, [number[label] for label in several]] = True
            t += 1
    return mask


def _penalties(penalties: Mapping[str, float], number: Mapping[str, int]) -> tuple[F64, F64]:
    if not isinstance(penalties, Mapping):
        raise SettingError(f"penalties is {shown(penalties)}; expected a dict of labels and numbers")
    own, pairs = np.zeros(len(number)), np.zeros((len(number), len(number)))
    for name, value in penalties.items():
        sides = [name] if name in number else name.split(ARROW) if isinstance(name, str) else []
        if not 1 <= len(sides) <= 2 or any(side not in number for side in sides):
            raise SettingError(
                f"penalties has {name!r}; expected a label or two with ' -> ' between, of: {', '.join(number)}"
            )
        if not _is_penalty(value):
            raise SettingError(f"the penalty of {name!r} is {shown(value)}; expected a number, or -inf to forbid")
        if len(sides) == 1:
            own[number[sides[0]]] = value
        else:
            pairs[number[sides[0]], number[sides[1]]] = value
    return own, pairs


def _is_penalty(value: object) -> bool:
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and float(value) < np.inf  # false for NaN
    except OverflowError:  # a whole number that no float can hold
        return False


def _kinds(names: Sequence[str], labels: tuple[str, ...]) -> tuple[int, ...]:
    if isinstance(names, str | Mapping) or not hasattr(names, "__len__") or not hasattr(names, "__iter__"):
        raise SettingError(f"at_most_once is {shown(names)}; expected a list of types")
    if not len(names):
        return ()
    types = segment_types(labels)
    if detect(labels) is None:
        raise SettingError("at_most_once is about segments, and the labels spell none; leave it out")
    for name in names:
        if name not in types:
            raise SettingError(f"at_most_once names the type '{name}'; the types are: {', '.join(types)}")
    return tuple(sorted({types.index(name) for name in names}))
