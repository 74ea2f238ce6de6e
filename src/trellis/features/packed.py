"""What every kind of feature ends as: attribute numbers per token, packed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.features.inputs import Inputs
from trellis.jit import worthwhile
from trellis.lattice import Allowed
from trellis.lattice.segments import SpanAttributes, gathered

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class Packed:
    """Token t has attributes `ids[indptr[t]:indptr[t + 1]]` (`I64[tokens + 1]`, `I32[occurrences]`).

    An id of -1 is an attribute the model has never seen. `values` is None when every value is 1. `arcs`: attributes
    of the transition into each token, where there are such; they have numbers of their own. `allowed`: the labels that
    each token may have, if not all. `spans`: attributes of spans of tokens, for models of segments. `inputs`: what an
    encoder sees, for models that have one.
    """

    indptr: NDArray[np.int64]
    ids: NDArray[np.int32]
    values: NDArray[np.float64] | None = None
    arcs: Packed | None = None
    allowed: Allowed | None = None
    spans: SpanAttributes | None = None
    inputs: Inputs | None = None

    def part(self, first: int, last: int) -> Packed:
        """Tokens first..last."""
        p, q = int(self.indptr[first]), int(self.indptr[last])
        return Packed(
            self.indptr[first : last + 1] - p,
            self.ids[p:q],
            None if self.values is None else self.values[p:q],
            None if self.arcs is None else self.arcs.part(first, last),
            None if self.allowed is None else self.allowed.part(first, last),
            None if self.spans is None else self.spans.part(first, last),
            None if self.inputs is None else self.inputs.part(first, last),
        )

    @classmethod
    def joined(cls, parts: Sequence[Packed]) -> Packed:
        """Runs of tokens one after the other, at least one; all or none have `arcs`, or `allowed`, and none `spans` or
        `inputs`."""
        bases = np.cumsum([0, *(len(part.ids) for part in parts)]).tolist()
        starts = [part.indptr[1:] + base for part, base in zip(parts, bases[:-1], strict=True)]
        values = [np.ones(len(part.ids)) if part.values is None else part.values for part in parts]
        arcs = [part.arcs for part in parts if part.arcs is not None]
        allowed = [part.allowed for part in parts if part.allowed is not None]
        return cls(
            np.concatenate([[0], *starts]).astype(np.int64),
            np.concatenate([part.ids for part in parts]),
            unless_ones(np.concatenate(values)),
            cls.joined(arcs) if arcs else None,
            Allowed.joined(allowed) if allowed else None,
        )

    def of_tokens(self, which: NDArray[np.bool_]) -> Packed:
        """The tokens marked in BOOL[tokens]."""
        return self.picked(np.flatnonzero(which))

    def picked(self, tokens: NDArray[np.int64]) -> Packed:
        """These tokens, I64[...], in this order."""
        indptr, taken = gathered(self.indptr, tokens)
        return Packed(
            indptr,
            self.ids[taken],
            None if self.values is None else self.values[taken],
            None if self.arcs is None else self.arcs.picked(tokens),
            None if self.allowed is None else self.allowed.of_tokens(self.allowed.which[tokens]),
            None if self.spans is None else self.spans.picked(tokens),
            None if self.inputs is None else self.inputs.picked(tokens),
        )

    def tokens_with(self, attributes: int) -> NDArray[np.int64]:
        """In how many tokens each of so many attributes occurs, I64[attributes]; twice in one token counts once."""
        token = np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))
        pairs = np.unique(token[self.ids >= 0] * attributes + self.ids[self.ids >= 0])
        return np.bincount(pairs % max(1, attributes), minlength=attributes)

    def with_constant(self, number: int) -> Packed:
        """One attribute more, of this number, at every token, with the value 1."""
        ends = self.indptr[1:]
        values = None if self.values is None else np.insert(self.values, ends, 1.0)
        return Packed(self.indptr + np.arange(len(self.indptr)), np.insert(self.ids, ends, number), values)

    def renumbered(self, number: NDArray[np.int32]) -> Packed:
        """Attribute a as `number[a]`; the occurrences of attributes whose new number is -1 are left out."""
        ids = number[self.ids]
        keep = ids >= 0
        before = np.concatenate([[0], np.cumsum(keep)]).astype(np.int64)  # occurrences kept before each
        return Packed(before[self.indptr], ids[keep], None if self.values is None else unless_ones(self.values[keep]))


def unless_ones(values: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Values as `Packed` holds them."""
    return values if np.any(values != 1.0) else None


@dataclass(frozen=True)
class Some:
    """Occurrences of attributes `ids[n]` at `token[n]` with the value `weight[n]` (1, if None)."""

    ids: NDArray[np.int32]
    token: NDArray[np.int64]
    weight: NDArray[np.float64] | None = None


def pack(every: I32, some: Sequence[Some] = (), drop: bool = False) -> Packed:
    """Puts together, token by token, what templates found at every token, I32[templates, tokens], and at some. With
    `drop`, -1 is left out."""
    if not worthwhile(every.size):
        return _pack_plainly(every, some, drop)
    from trellis.features.kernels import count_every, place_every

    counts = np.zeros(every.shape[1] + 1, np.int64)
    count_every(every, drop, counts)
    return _placed(counts, lambda cursor, out: place_every(every, drop, cursor, out), some, drop)


def pack_written(width: int, tokens: int, write: Callable[[I64, I32], None], some: Sequence[Some]) -> Packed:
    """The same where so many templates that find something at every token write it themselves: `write(indptr, out)`
    puts their numbers for token t into `out[indptr[t]:indptr[t] + width]`."""
    counts = np.full(tokens + 1, width, np.int64)
    counts[0] = 0

    def place(cursor: I64, out: I32) -> None:
        write(cursor, out)
        cursor += width

    return _placed(counts, place, some, False)


def _placed(counts: I64, place: Callable[[I64, I32], None], some: Sequence[Some], drop: bool) -> Packed:
    """`counts[t + 1]`: how many numbers at token t are not from `some`; `place(cursor, out)` writes these and moves the
    cursors behind them."""
    from trellis.features.kernels import count_some, place_some

    for one in some:
        count_some(one.ids, one.token, drop, counts)
    indptr = np.cumsum(counts)
    out, cursor = np.empty(indptr[-1] + 1, np.int32), indptr[:-1].copy()
    values = np.ones(indptr[-1] if _valued(some) else 0)
    place(cursor, out)
    for one in some:
        weight = np.ones(len(one.ids)) if one.weight is None else one.weight
        place_some(one.ids, one.token, weight, drop, cursor, out, values)
    return Packed(indptr, out[:-1], values if _valued(some) else None)


def _valued(some: Sequence[Some]) -> bool:
    """Whether there is a value other than 1."""
    return any(one.weight is not None and bool(np.any(one.weight != 1.0)) for one in some)


def _pack_plainly(every: I32, some: Sequence[Some], drop: bool) -> Packed:
    """The same for small inputs, without a compiler."""
    templates, tokens = every.shape
    if not some and not drop:
        return Packed(np.arange(tokens + 1, dtype=np.int64) * templates, every.T.ravel())
    token = np.concatenate([np.repeat(np.arange(tokens), templates), *(one.token for one in some)])
    ids = np.concatenate([every.T.ravel(), *(one.ids for one in some)])
    ones = (np.ones(len(one.ids)) if one.weight is None else one.weight for one in some)
    weight = np.concatenate([np.ones(every.size), *ones])
    order = np.argsort(token, kind="stable")
    order = order[ids[order] >= 0] if drop else order
    indptr = np.concatenate([[0], np.cumsum(np.bincount(token[order], minlength=tokens))]).astype(np.int64)
    return Packed(indptr, ids[order], weight[order] if _valued(some) else None)
