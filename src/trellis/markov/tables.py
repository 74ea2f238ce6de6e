"""Counts -> probabilities, and the lattice of sentences under them.

    P(x, y) = first(y_1)  prod_t emit(x_t | y_t)  prod_t follow(y_t | y_(t-1))  stop(y_n)

(the lecture's v2; order 2 has follow(y_t | y_(t-2), y_(t-1))). Counts are normalised: of all times that a label
occurred, how often was it followed by that other one, or by the end of the sentence? So that what was never seen is not
impossible, each distribution has s more observations, spread as in a distribution that knows less: with the mean m

    follow(k | j) = (c(j, k) + s m_k) / (c(j) + s)        m: how frequent labels are, whatever stands before

and likewise with triples, whose mean are these pairs. s = 0 is counting alone. (These are also the most probable
parameters under Dirichlet priors with s m_k + 1, which is why EM with them never lowers its objective.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trellis.labels import first_tokens
from trellis.lattice import Allowed, Chain
from trellis.lattice.windows import WindowChain, Windows
from trellis.markov.events import Events, Vocabulary, sums

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

MOST_OF_ORDER_2 = 256  # labels: 134 MB of triples


@dataclass(frozen=True)
class Prior:
    """`strength`: s above; `mean: F64[labels + 1]`, how frequent labels and, last, ends of sentences are; for order 2
    `pairs: F64[labels, labels]`, how frequent labels are after another one that does not end the sentence."""

    strength: float
    mean: F64
    pairs: F64 | None = None

    @classmethod
    def of(cls, strength: float, events: Events) -> Prior:
        """As frequent as in these."""
        follow = events.follow if events.order == 1 else events.follow.sum(axis=0)
        mean = np.append(events.first + follow.sum(axis=0), events.last.sum())
        mean = mean / mean.sum()
        if events.order == 1:
            return cls(strength, mean)
        return cls(strength, mean, _shares(follow + strength * _of_labels(mean)))

    @classmethod
    def even(cls, strength: float, labels: int, order: int) -> Prior:
        """All equally frequent."""
        pairs = np.full((labels, labels), 1.0 / labels) if order == 2 else None
        return cls(strength, np.full(labels + 1, 1.0 / (labels + 1)), pairs)


@dataclass(frozen=True)
class Tables:
    """Probabilities of what `Events` counts, with the same shapes; `third: F64[labels + 1, labels, labels]`, for order
    2: P(label | two before, the sentence goes on). Rows without any observation are 0."""

    first: F64
    stop: F64
    follow: F64
    emit: F64
    third: F64 | None = None

    @classmethod
    def of(cls, events: Events, prior: Prior, vocabulary: Vocabulary) -> Tables:
        s, labels = prior.strength, len(events.first)
        first = _shares(events.first + s * _of_labels(prior.mean))
        totals = sums(vocabulary.label, events.emit, labels)[vocabulary.label]
        emit = np.divide(events.emit, totals, out=np.zeros_like(totals), where=totals > 0)
        if events.order == 1:
            outcomes = np.concatenate([events.follow, events.last[:, None]], axis=1) + s * prior.mean
            shares = _shares(outcomes)
            return cls(first, shares[:, -1], np.ascontiguousarray(shares[:, :-1]), emit)
        assert prior.pairs is not None
        goes_on = events.follow.sum(axis=(0, 2)) + s * (1.0 - prior.mean[-1])
        stop = _shares(np.stack([goes_on, events.last + s * prior.mean[-1]], axis=1))
        third = _shares(events.follow + s * prior.pairs)
        return cls(first, stop[:, 1], third * stop[:, :1], emit, third)

    @cached_property
    def logs(self) -> tuple[F64, F64, F64, F64]:
        """Logarithms of first, stop, follow and emit; -inf for what is impossible."""
        with np.errstate(divide="ignore"):
            return np.log(self.first), np.log(self.stop), np.log(self.follow), np.log(self.emit)

    def log_likelihood(self, events: Events) -> float:
        """log P of labelled sentences in which these events were counted."""
        first, stop, follow, emit = self.logs
        pairs = ((events.first, first), (events.last, stop), (events.follow, follow), (events.emit, emit))
        return float(sum(_sum_of(counts, logs) for counts, logs in pairs))

    def log_prior(self, prior: Prior) -> float:
        """What the s observations of each distribution add, times log P."""
        first, stop, follow, _ = self.logs
        s, mean, labels = prior.strength, prior.mean, len(self.first)
        if s == 0.0:
            return 0.0
        total = s * _sum_of(_of_labels(mean), first) + s * _sum_of(np.full(labels, mean[-1]), stop)
        if self.third is None:
            return float(total + s * _sum_of(np.broadcast_to(mean[:-1], (labels, labels)), follow))
        assert prior.pairs is not None
        with np.errstate(divide="ignore"):
            going_on, third = np.log1p(-self.stop), np.log(self.third)
        total += s * _sum_of(np.full(labels, 1.0 - mean[-1]), going_on)
        return float(total + s * _sum_of(np.broadcast_to(prior.pairs, third.shape), third))


def lattice_of(emissions: F64, tables: Tables, offsets: I64) -> Chain | WindowChain:
    """The paths of sentences whose tokens emit with the log-probabilities F64[tokens, labels], -inf where a label is
    not possible. log Z is log P(x)."""
    follow, scores = tables.logs[2], emissions.copy()
    add_ends(scores, tables, offsets)
    if tables.third is None:
        return Chain(scores, follow, offsets)
    allowed = Allowed.of_mask(emissions > -np.inf)
    windows = Windows.of(2, allowed, offsets)
    before, last, here = windows.cell_labels().T
    # -1 before the sentence is the last row; cells of first tokens are on no arc
    cells = np.where(last >= 0, follow[before, last, here], 0.0)
    return WindowChain(scores[allowed.sites], cells, offsets, windows)


def add_ends(scores: F64, tables: Tables, offsets: I64) -> None:
    """Adds what it costs to begin and to end a sentence with a label to the scores of first and last tokens."""
    begins = first_tokens(offsets)
    scores[begins] += tables.logs[0]
    scores[np.append(begins[1:], True)[: len(scores)]] += tables.logs[1]


def _of_labels(mean: F64) -> F64:
    """Without the end of the sentence."""
    total = mean[:-1].sum()
    return np.asarray(mean[:-1] / total) if total > 0 else np.zeros(len(mean) - 1)


def _shares(counts: F64) -> F64:
    """Rows as shares of their sums; rows of nothing stay 0."""
    totals = counts.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0))


def _sum_of(counts: F64, logs: F64) -> float:
    """Sum of counts * logs; what was not counted adds nothing, impossible or not."""
    there = counts > 0
    return float((counts[there] * logs[there]).sum())
