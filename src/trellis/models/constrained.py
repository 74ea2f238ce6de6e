"""Predictions under constraints that come with the data: labels that are known, penalties, types that occur once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError, SettingError, shown
from trellis.labels import detect
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

F64 = NDArray[np.float64]
BOOL = NDArray[np.bool_]

ARROW = " -> "


@dataclass(frozen=True)
class Constraints:
    """What predictions must keep to.

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

    def prepared(self, labels: tuple[str, ...], within: tuple[str, ...], lengths: Sequence[int]) -> Prepared:
        """For a model with these labels, lattices of the labels `within`, and sentences of these lengths, checked."""
        number = {label: j for j, label in enumerate(labels)}
        mask = None if self.allowed is None else _mask(self.allowed, number, lengths)
        own, pairs = _penalties(self.penalties or {}, number)
        return Prepared(within, mask, own, pairs, _kinds(self.at_most_once, within))


@dataclass(frozen=True)
class Prepared:
    """`mask: BOOL[tokens, labels]`, None for no constraint; penalties of labels F64[labels] and of pairs F64[labels,
    labels]; numbers of the types that occur once, in the labels `within` a lattice."""

    within: tuple[str, ...]
    mask: BOOL | None
    own: F64
    pairs: F64
    once: tuple[int, ...]

    def on(self, lattice: Lattice, first: int, last: int, on_nodes: Callable[[PartLattice, F64], F64]) -> Lattice:
        """The lattice of tokens first..last of the data, constrained. `on_nodes`: puts numbers on the labels of tokens,
        F64[tokens, labels], on the nodes of a lattice."""
        rows = np.tile(self.own, (last - first, 1))
        if self.mask is not None:
            rows[~self.mask[first:last]] = -np.inf
        if isinstance(lattice, Chain):
            lattice = Chain(lattice.scores + rows, lattice.transitions + self.pairs, lattice.offsets)
        else:
            lattice = replace(
                lattice,
                node_scores=lattice.node_scores + on_nodes(lattice, rows),
                arc_scores=lattice.arc_scores + self._on_arcs(lattice),
            )
        if not self.once:
            return lattice
        kind = AtMostOnce if len(self.once) <= MOST_ONCE else ManyOnce
        return kind.of(_by_parts(lattice), Spelling(*spelling_of(self.within)), self.once)

    def _on_arcs(self, lattice: PartLattice) -> F64 | float:
        if not self.pairs.any():
            return 0.0
        if isinstance(lattice, SegmentChain):
            raise SettingError("a SemiCRF has no penalties of one label after another; give some of labels")
        assert isinstance(lattice, WindowChain)
        return lattice.on_pairs(self.pairs)


def _by_parts(lattice: Lattice) -> PartLattice:
    if isinstance(lattice, Chain):
        blocks = lattice.transitions.ravel()
        return WrittenChain(
            lattice.scores.ravel(), blocks, lattice.offsets, lattice.scores.shape[1], lattice.positional
        )
    return lattice


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
        sides = name.split(ARROW) if isinstance(name, str) else []
        if not 1 <= len(sides) <= 2 or any(side not in number for side in sides):
            raise SettingError(
                f"penalties has {name!r}; expected a label or two with ' -> ' between, of: {', '.join(number)}"
            )
        if not isinstance(value, Real) or isinstance(value, bool) or not float(value) < np.inf:  # also false for NaN
            raise SettingError(f"the penalty of {name!r} is {shown(value)}; expected a number, or -inf to forbid")
        if len(sides) == 1:
            own[number[sides[0]]] = value
        else:
            pairs[number[sides[0]], number[sides[1]]] = value
    return own, pairs


def _kinds(names: Sequence[str], labels: tuple[str, ...]) -> tuple[int, ...]:
    if isinstance(names, str) or not hasattr(names, "__len__") or not hasattr(names, "__iter__"):
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
