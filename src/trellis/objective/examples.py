"""Training data in arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError
from trellis.features.packed import Packed
from trellis.labels import place_in
from trellis.lattice import Allowed
from trellis.lattice.parts import PartLattice
from trellis.lattice.rules import Rules
from trellis.lattice.segments import SpanAttributes, gathered
from trellis.losses import Target
from trellis.scoring.explicit import LatticeData

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

_SUM_TOLERANCE = 1e-6  # of the probabilities of a token's labels


class Imposed(Protocol):
    """What lattices must keep to, beyond rules, token by token or in a sentence as a whole."""

    @property
    def copies(self) -> int:
        """How many times larger the graphs of lattices become."""

    def on_parts(self, lattice: PartLattice) -> PartLattice:
        """The lattice of these tokens, constrained, with the same parts."""

    def part(self, first: int, last: int) -> Self:
        """Of tokens first..last."""

    def picked(self, tokens: I64) -> Self:
        """Of these tokens, I64[...], in this order."""


@dataclass(frozen=True)
class Examples:
    """Packed attributes, gold labels I32[tokens], offsets I64[sentences + 1]; attributes that bear on the transition
    into a token, if there are any, packed with their own numbers; which labels each token may have, if not all; and
    what else is known of the labels (see `Target`; its path is not read). `spans`: attributes of whole segments, for
    lattices of these. `rules`: what paths may do, if not all. `lattices`: where they are given arc by arc; their nodes
    are the tokens then. `imposed`: what else lattices must keep to. `blocks`: runs of sentences that are worked on at
    a time, where that must be the same for several shards."""

    indptr: I64
    ids: I32
    values: F64 | None
    gold: I32
    offsets: I64
    arcs: Packed | None = None
    allowed: Allowed | None = None
    more: Target | None = None
    spans: SpanAttributes | None = None
    rules: Rules | None = None
    lattices: LatticeData | None = None
    imposed: Imposed | None = None
    blocks: list[tuple[int, int]] | None = None

    def __post_init__(self) -> None:
        if self.more is not None:
            self._check_sentences(self.more)
            self._check_tokens(self.more)
        if self.allowed is not None:
            self._check_allowed(self.allowed)

    def check_labels(self, labels: int) -> None:
        """Refuses what is given for another number of labels."""
        more, allowed = self.more, self.allowed
        for what, size in (
            ("label sets", None if allowed is None else allowed.size),
            ("known labels", None if more is None or more.known is None else more.known.shape[1]),
            ("soft labels", None if more is None or more.soft is None else more.soft.shape[1]),
            ("evidence", None if more is None or more.evidence is None else more.evidence.shape[1]),
            ("pairs of labels", None if more is None or more.pairs is None else more.pairs.shape[1]),
            ("costs", None if more is None or more.costs is None else len(more.costs)),
        ):
            if size is not None and size != labels:
                raise DataError(f"{what} are given for {size} labels; there are {labels}")

    @property
    def target(self) -> Target:
        return Target(self.gold) if self.more is None else replace(self.more, path=self.gold)

    def part(self, first: int, last: int) -> Examples:
        """Sentences first..last."""
        a, b = int(self.offsets[first]), int(self.offsets[last])
        here = Packed(self.indptr, self.ids, self.values, self.arcs, self.allowed).part(a, b)
        target = self.target.part(self.offsets, first, last)
        offsets = self.offsets[first : last + 1] - a
        spans = None if self.spans is None else self.spans.part(a, b)
        lattices = None if self.lattices is None else self.lattices.part(first, last)
        return Examples(
            here.indptr, here.ids, here.values, target.path, offsets, here.arcs, here.allowed, target, spans,
            self.rules, lattices, None if self.imposed is None else self.imposed.part(a, b),
        )  # fmt: skip

    def of_sentences(self, which: NDArray[np.bool_]) -> Examples:
        """The sentences marked in BOOL[sentences]."""
        return self.picked(np.flatnonzero(which))

    def picked(self, sentences: I64) -> Examples:
        """These sentences, I64[...], in this order."""
        offsets, tokens = gathered(self.offsets, sentences)
        here = Packed(self.indptr, self.ids, self.values, self.arcs, self.allowed, self.spans).picked(tokens)
        more, gold = self.more, self.gold[tokens]
        if more is not None:
            more = more.picked(sentences, tokens, gold)
        return Examples(
            here.indptr, here.ids, here.values, gold, offsets, here.arcs, here.allowed, more, here.spans, self.rules,
            imposed=None if self.imposed is None else self.imposed.picked(tokens),
        )  # fmt: skip

    def _check_sentences(self, more: Target) -> None:
        if more.weights is not None:
            _check_amounts("weight", "sentence", more.weights, 1)
            if len(more.weights) != len(self.offsets) - 1:
                raise DataError(f"weights are given for {len(more.weights)} of {len(self.offsets) - 1} sentences")
        if more.costs is not None:
            _check_amounts("cost", "label number", more.costs, 0)

    def _check_tokens(self, more: Target) -> None:
        for what, given in (("known", more.known), ("soft", more.soft)):
            if given is None:
                continue
            if given.ndim != 2:
                raise DataError(f"{what} labels have the shape {given.shape}; expected [tokens, labels]")
            if len(given) != len(self.gold):
                raise DataError(f"{what} labels are given for {len(given)} of {len(self.gold)} tokens")
        if more.known is not None:
            self._check_known(more.known)
        if more.soft is not None:
            self._check_soft(more.soft)

    def _check_known(self, known: NDArray[np.bool_]) -> None:
        if known.dtype != np.bool_:
            raise DataError(f"known labels are {known.dtype}; expected truth values (bool)")
        for t in np.flatnonzero(~known.any(axis=1))[:1].tolist():
            raise DataError(f"{self._place(t)}: no label is known to be possible; where nothing is known, all are")

    def _check_soft(self, soft: F64) -> None:
        for t, j in np.argwhere(~(soft >= 0.0))[:1].tolist():
            found = f"the probability of label number {j} is {soft[t, j]:g}"
            raise DataError(f"{self._place(t)}: {found}; expected a number from 0 to 1")
        sums = soft.sum(axis=1)
        for t in np.flatnonzero(~(np.abs(sums - 1.0) <= _SUM_TOLERANCE))[:1].tolist():
            raise DataError(
                f"{self._place(t)}: the probabilities of its labels sum to {sums[t]:.7g}; expected 1 to within "
                f"{_SUM_TOLERANCE:g}; divide them by their sum"
            )

    def _check_allowed(self, allowed: Allowed) -> None:
        if len(allowed) != len(self.gold):
            raise DataError(f"allowed labels are given for {len(allowed)} of {len(self.gold)} tokens")
        if self.more is not None and self.more.known is not None:
            if self.more.known.shape[1] != allowed.size:
                return  # see `check_labels`
            for t in np.flatnonzero(~(self.more.known & allowed.mask()).any(axis=1))[:1].tolist():
                raise DataError(
                    f"{self._place(t)}: none of the labels known to be possible is among the labels allowed there; "
                    "loosen what is allowed, or what is known"
                )
            return
        if self.more is not None and self.more.soft is not None:
            if self.more.soft.shape[1] != allowed.size:
                return
            for t in np.flatnonzero(~((self.more.soft > 0.0) & allowed.mask()).any(axis=1))[:1].tolist():
                raise DataError(
                    f"{self._place(t)}: the labels allowed there have no probability among its soft labels; allow one "
                    "that has"
                )
            return
        t = allowed.first_outside(self.gold)
        if t is not None:
            raise DataError(
                f"{self._place(t)}: its own label, number {self.gold[t]}, "
                "is not among the labels allowed there; allow it, or leave the word out of the tag dictionary"
            )

    def _place(self, t: int) -> str:
        return place_in(self.offsets, t)


def _check_amounts(what: str, of: str, values: F64, first: int) -> None:
    """A weight or a cost each; `first`: the number of the first."""
    if values.ndim != 1:
        raise DataError(f"{what}s have the shape {values.shape}; expected one number for each {of.split()[0]}")
    for k in np.flatnonzero(~(np.isfinite(values) & (values >= 0.0)))[:1].tolist():
        raise DataError(f"{of} {k + first}: its {what} is {values[k]:g}; expected a finite number >= 0")
