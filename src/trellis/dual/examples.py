"""Training data of the perceptron in the dual, and what an epoch makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trellis.dual.events import Events
from trellis.dual.kernel import Polynomial
from trellis.errors import DataError
from trellis.features.packed import Packed
from trellis.rows import padded

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U32 = NDArray[np.uint32]


@dataclass(frozen=True)
class Progression:
    """Where a training is between two epochs: all events so far, the scores that tokens have kept (see
    `epoch_kernels`), transitions with the sums of their changes, and of the last epoch its loss."""

    events: Events
    kept: F64
    transitions: F64
    sums: F64
    epochs: int = 0
    loss: float = 0.0


@dataclass(frozen=True)
class DualExamples:
    """Packed attributes, gold labels I32[tokens], offsets I64[sentences + 1]; so many attributes and labels."""

    packed: Packed
    gold: I32
    offsets: I64
    attributes: int
    labels: int
    kernel: Polynomial

    @property
    def sentences(self) -> int:
        return len(self.offsets) - 1

    def start(self) -> Progression:
        """Before the first epoch: every score is 0."""
        labels = self.labels
        kept = np.zeros((len(self.gold), labels))
        return Progression(Events.none(), kept, np.zeros((labels, labels)), np.zeros((labels, labels)))

    def epoch(self, so_far: Progression, seed: int) -> Progression:
        """One more, over the sentences in an order of its own."""
        from trellis.dual.epoch_kernels import epoch

        number, past = so_far.epochs, so_far.events
        latest = past.from_visit(1 + (number - 1) * self.sentences)
        known = np.searchsorted(latest.visits, self._visits(number - 1, seed)) if number else np.zeros(self.sentences)
        events, lists, before = self._room_after(latest), self._lists(latest), len(latest)
        kept, block, sums = so_far.kept.copy(), _padded(so_far.transitions), so_far.sums.copy()
        kernel = (int(self.kernel.degree), float(self.kernel.offset), float(self.kernel.scale))
        count, loss, unbounded = epoch(
            (self.packed.indptr, self.packed.ids, self._values, self.gold, self.offsets), self._start, self._factors,
            kernel, self._order(number, seed), known.astype(np.int64), events, before, lists,
            1 + number * self.sentences, kept, past.balance(self.gold, self._factors, self.labels), block, sums,
        )  # fmt: skip
        if unbounded < 0 and not np.isfinite(kept).all():
            token = np.flatnonzero(~np.isfinite(kept).all(axis=1))[0]
            unbounded = int(np.searchsorted(self.offsets, token, side="right")) - 1
        if unbounded >= 0:
            raise DataError(
                f"sentence {unbounded + 1}: its scores are more than a number can hold; make feature values or the "
                "kernel's degree smaller"
            )
        tokens, wrong, visits = events[0][before:count], events[2][before:count], events[3][before:count]
        more = Events(tokens.astype(np.int32), wrong.astype(np.uint16), visits.copy())
        transitions = block[: self.labels, : self.labels].copy()
        return Progression(past.with_more(more), kept, transitions, sums, number + 1, loss)

    def check(self, progression: Progression) -> None:
        """ValueError where it cannot be that of a training on these data."""
        events, labels, tokens = progression.events, self.labels, len(self.gold)
        if progression.kept.shape != (tokens, labels):
            raise ValueError("shape of the scores")
        if not progression.transitions.shape == progression.sums.shape == (labels, labels):
            raise ValueError("shape of the transitions")
        if not events.tokens.shape == events.labels.shape == events.visits.shape == (len(events.visits),):
            raise ValueError("sizes of events")
        if not 0 <= progression.epochs < 1 << 32:
            raise ValueError("number of epochs")
        last = progression.epochs * self.sentences
        for values, least, most in (
            (events.tokens, 0, tokens - 1),
            (events.labels, 0, labels - 1),
            (events.visits, 1, last),
        ):
            if len(values) and not (values.min() >= least and values.max() <= most):
                raise ValueError("events out of range")
        if np.any(events.visits[1:] < events.visits[:-1]) or np.any(self.gold[events.tokens] == events.labels):
            raise ValueError("events that cannot be")
        epoch = (events.visits - 1) // max(1, self.sentences)
        if len(np.unique(epoch * tokens + events.tokens)) < len(events.tokens):
            raise ValueError("a token twice in an epoch")

    def _order(self, epoch: int, seed: int) -> I64:
        return np.random.default_rng([seed, epoch]).permutation(self.sentences)

    def _visits(self, epoch: int, seed: int) -> I64:
        """The number of each sentence's visit in an epoch; visits are counted from 1."""
        visits = np.empty(self.sentences, np.int64)
        visits[self._order(epoch, seed)] = 1 + epoch * self.sentences + np.arange(self.sentences)
        return visits

    def _room_after(self, latest: Events) -> tuple[U32, U32, U32, I64]:
        """The events of an epoch, and room for those of the next: tokens, gold labels, wrong labels, visits. Without
        a sign, so that compiled loops need not ask whether an index counts from the end: they take two thirds of the
        time."""
        room = np.zeros((3, len(latest) + len(self.gold)), np.uint32)
        room[:, : len(latest)] = latest.tokens, self.gold[latest.tokens], latest.labels
        return room[0], room[1], room[2], np.zeros(room.shape[1], np.int64)

    def _lists(self, latest: Events) -> tuple[U32, F64, I64]:
        """Those of an epoch's events, and empty ones for the next."""
        from trellis.dual.epoch_kernels import file_events

        packed, values = self.packed, self._values
        lists, filled = np.zeros((2, len(packed.ids)), np.uint32), np.zeros((2, self.attributes), np.int64)
        beside = np.zeros((2, len(values)))
        file_events(latest.tokens, packed.indptr, packed.ids, values, self._start, lists[0], beside[0], filled[0])
        return lists, beside, filled

    @property
    def _values(self) -> F64:
        return np.zeros(0) if self.packed.values is None else self.packed.values

    @cached_property
    def _start(self) -> I64:
        """Where the list of each attribute begins."""
        counts = np.bincount(self.packed.ids, minlength=self.attributes)
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    @cached_property
    def _factors(self) -> F64:
        return self.kernel.factors(self.packed.indptr, self.packed.ids, self.packed.values)


def _padded(transitions: F64) -> F64:
    """In whole vectors, as the best path is looked for in; labels that do not exist are forbidden."""
    labels = len(transitions)
    block = np.full((padded(labels),) * 2, -np.inf)
    block[:labels, :labels] = transitions
    return block
