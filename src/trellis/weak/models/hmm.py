"""A hidden Markov model of the votes on a sentence: the true labels are a chain, and each token's votes depend on its
label (after Nguyen et al. 2017 and Lison et al. 2020).

    P(votes, y) = start(y_1)  prod_t follow(y_t | y_(t-1))  prod_t prod over voters v of P(outcome of v at t | y_t)

Fitted by EM: forward-backward over the sentences (`lattice.Chain`), whose scores are those of patterns of votes.
Labels are IOB2, as are votes, so it is learnt where functions begin segments too early or too late; with `space="io"`
only types count.

Started from majority vote and left alone, EM soon finds states that explain the votes better than the labels do. What
keeps it with them is the anchor (see `emissions`): so many times the counts of majority vote are added to those of
every step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError
from trellis.jit import announce, threads_available, worthwhile
from trellis.labels import first_tokens, legal_transitions, runs
from trellis.lattice import Chain
from trellis.weak.em import check_settings, climb
from trellis.weak.emissions import Evidence
from trellis.weak.models.contract import LabelModel
from trellis.weak.models.dawid_skene import check_positive
from trellis.weak.models.majority import shares, tally
from trellis.weak.models.tensors import emissions_from, emissions_in, shares_of
from trellis.weak.models.walks import Walk, tokens_at_once
from trellis.weak.space import Space
from trellis.weak.structure import Structure
from trellis.weak.votes import Votes

BOOL = NDArray[np.bool_]
F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

Piece = tuple[int, int]
Ask = Callable[[Callable[[Piece], Any], Iterable[Piece]], Iterable[Any]]

_USUAL = 10  # steps of EM, more or less
_AT_ONCE = 1 << 14  # tokens of a piece


class HMMAggregator(LabelModel):
    """structure: see `structure`; anchor and smoothing: see `emissions`; space: "iob2" or "io"."""

    name = "hmm"
    independent = False

    def __init__(
        self,
        space: str = "iob2",
        structure: Structure = "learned",
        anchor: float = 10.0,
        smoothing: float = 5.0,
        max_iter: int = 200,
        tol: float | None = 1e-6,
    ):
        self.space = space
        self.structure = structure
        self.anchor = anchor
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.tol = tol

    def _in_own_space(self, votes: Votes) -> Votes:
        if self.space not in ("io", "iob2"):
            raise SettingError(f"the space is {self.space!r}; expected 'io' or 'iob2'")
        return votes if self.space == "iob2" else votes.in_io()

    def _learn(self, votes: Votes) -> None:
        check_settings(self.max_iter, self.tol, anchor=self.anchor, smoothing=self.smoothing)
        check_positive("smoothing", self.smoothing)
        announce(votes.tokens * min(_USUAL, self.max_iter))
        patterns = votes.patterns
        start = shares(tally(patterns.rows, votes.space), votes.space)
        weights = start * patterns.counts[:, None]
        evidence = Evidence(votes, patterns, weights, self.structure, self.anchor, self.smoothing)
        self.groups_ = [[votes.functions[j] for j in group] for group in evidence.voters.groups]
        legal = legal_of(votes.space)
        nodes = start[patterns.of]
        begins = first_tokens(votes.offsets)
        inner = np.flatnonzero(~begins)
        first, follow = nodes[begins].sum(axis=0), nodes[inner - 1].T @ nodes[inner]
        believed = [
            self.anchor * counts * ok + even(ok, self.smoothing)
            for counts, ok in zip((first, follow), legal, strict=True)
        ]
        self._start_links(votes, nodes)
        logs = np.zeros((0, 0))

        def steps(ask: Ask) -> Iterator[float]:
            nonlocal weights, first, follow, logs
            while True:
                logs, prior = evidence.estimate(weights)
                self.start_ = _shares((first + believed[0]) * legal[0])
                self.follow_ = _shares((follow + believed[1]) * legal[1])
                prior += sum_of(believed[0], self.start_) + sum_of(believed[1], self.follow_)
                nodes, follow, likelihood, more = self._expected(evidence.scores(logs), votes, ask)
                weights, first = patterns.sums(nodes), nodes[begins].sum(axis=0)
                yield likelihood + prior + more

        with asking(len(self._pieces(votes))) as ask:
            self.climb_ = climb(steps(ask), self.max_iter, self.tol, type(self).__name__)
        self.emissions_ = evidence.emissions(logs, weights, self.smoothing)

    def _start_links(self, votes: Votes, nodes: F64) -> None:
        """For models that hear linking functions."""

    def _expected(self, scores: F64, votes: Votes, ask: Ask) -> tuple[F64, F64, float, float]:
        """P(label) of each token, expected transitions, log P(votes), and the log prior of what else was learnt."""
        nodes = np.empty((votes.tokens, scores.shape[1]))

        def solved(piece: Piece) -> tuple[F64, F64, float]:
            chain = self._chain(scores, votes, piece)
            answer = chain.marginals(arcs=True)
            assert answer.arcs is not None
            a = int(votes.offsets[piece[0]])
            nodes[a : a + len(answer.nodes)] = answer.nodes
            return (*self._told(answer.arcs, chain, votes.space), float(answer.log_z.sum()))

        # in order, so that sums are the same however many threads there are
        arcs, joined, likelihoods = zip(*ask(solved, self._pieces(votes)), strict=True)
        prior = self._learn_links(votes, np.concatenate(joined))
        return nodes, np.sum(arcs, axis=0), float(sum(likelihoods)), prior

    def _told(self, arcs: F64, chain: Chain, space: Space) -> tuple[F64, F64]:
        """Expected transitions of a piece, F64[labels, labels], and, for models that hear links, how probably each of
        its tokens belongs with the one before it."""
        return arcs, np.zeros(0)

    def _learn_links(self, votes: Votes, joined: F64) -> float:
        """For models that hear linking functions; the log prior of what is learnt of these."""
        return 0.0

    def _pieces(self, votes: Votes) -> list[Piece]:
        """Sentences first up to but not including last: the same for any number of threads."""
        return runs(votes.offsets, _AT_ONCE)

    def _chain(self, scores: F64, votes: Votes, piece: Piece) -> Chain:
        """The paths of the sentences of a piece; scores F64[patterns, labels]: log P(votes | label)."""
        first, last = piece
        a, b = int(votes.offsets[first]), int(votes.offsets[last])
        own, offsets = scores[votes.patterns.of[a:b]], votes.offsets[first : last + 1] - a
        own[first_tokens(offsets)] += _log(self.start_)
        return Chain(own, _log(self.follow_), offsets)

    def _chains(self, votes: Votes, most: int | None = None) -> Iterator[Chain]:
        """The paths of all sentences, in pieces, of so many tokens at most if that is said, to be asked."""
        scores = self.emissions_.scores(votes.patterns.rows, votes.space.admits)
        for piece in self._pieces(votes) if most is None else runs(votes.offsets, most):
            yield self._chain(scores, votes, piece)

    def _walks(self, votes: Votes) -> Iterator[Walk]:
        for chain in self._chains(votes, tokens_at_once(len(self.labels_))):
            answer = chain.marginals(each_arc=True)
            assert answer.arcs is not None
            yield answer.nodes, answer.arcs, chain.offsets

    def _probabilities(self, votes: Votes) -> F64:
        nothing = np.zeros((0, len(self.own_labels)))
        return np.concatenate([nothing, *(chain.marginals().nodes for chain in self._chains(votes))])

    def _decoded(self, votes: Votes) -> I32:
        return np.concatenate([np.zeros(0, np.int32), *(chain.best()[0] for chain in self._chains(votes))])

    def _frequency(self) -> F64:
        return self.start_

    def _learnt(self) -> dict[str, NDArray[Any]]:
        return {"start": self.start_, "follow": self.follow_, **emissions_in(self.emissions_, self.functions_)}

    def _restore(self, learnt: dict[str, NDArray[Any]]) -> None:
        check_settings(self.max_iter, self.tol, anchor=self.anchor, smoothing=self.smoothing)
        check_positive("smoothing", self.smoothing)
        labels = len(self.own_labels)
        if learnt["follow"].shape != (labels, labels):  # before a table of that size is made
            raise ValueError("transitions")
        start, follow = legal_of(self.own_space_)
        self.start_, self.follow_ = (
            shares_of(learnt, "start", (labels,), start),
            shares_of(learnt, "follow", (labels, labels), follow),
        )
        self.emissions_, self.groups_ = emissions_from(learnt, self.functions_, self.own_space_, self.structure)


@contextmanager
def asking(pieces: int) -> Iterator[Ask]:
    """Something like `map`, by threads where there is more than one piece, and kernels that let each other run."""
    many = min(threads_available(), pieces)
    if many < 2 or not worthwhile(0):
        yield map
        return
    with ThreadPoolExecutor(many) as pool:
        yield pool.map


def legal_of(space: Space) -> tuple[BOOL, BOOL]:
    """Which labels may begin a sentence, BOOL[labels], and which may follow which, BOOL[labels, labels]."""
    labels = len(space.labels)
    if space.encoding is None:
        return np.ones(labels, np.bool_), np.ones((labels, labels), np.bool_)
    start, follow, _ = legal_transitions(space.labels, space.encoding)
    return start, follow


def even(legal: BOOL, many: float) -> F64:
    """So many observations, spread evenly over what is legal, in each row."""
    return np.asarray(legal * (many / legal.sum(axis=-1, keepdims=True)))


def _shares(counts: F64) -> F64:
    return np.asarray(counts / counts.sum(axis=-1, keepdims=True))


def _log(shares: F64) -> F64:
    with np.errstate(divide="ignore"):
        return np.log(shares)


def sum_of(counts: F64, shares: F64) -> float:
    """Sum of counts * log shares; what is impossible is never counted."""
    there = counts > 0
    return float((counts[there] * np.log(shares[there])).sum())
