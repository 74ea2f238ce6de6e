"""Chains that are normalised label by label (see `kernels.history`): what sequential classifiers are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError, NoLegalPathError, SettingError
from trellis.jit import worthwhile
from trellis.lattice import history_plain as plain
from trellis.lattice.chain import F64, I32, I64, Chain
from trellis.lattice.plain import log_sum

_MOST_STATES = 1 << 22  # histories: 34 MB in each of several arrays
_MOST_WAYS = 1 << 30  # tokens of a sentence times histories: 2 GB
_BEAM = "give a `beam`, for which only some are kept, or a lower order"


@dataclass(frozen=True)
class Pieces:
    """Weights of longer pieces of a history, as the kernels have them: `keys`, `cut`, `start: I64`, `label: I32`,
    `weight: F64`."""

    keys: I64
    cut: I64
    start: I64
    label: I32
    weight: F64

    @property
    def for_loops(self) -> tuple[I64, I64, I64, I32, F64]:
        return self.keys, self.cut, self.start, self.label, self.weight


@dataclass(frozen=True)
class HistoryChain:
    """`scores: F64[tokens, labels]`, `transitions: F64[labels, labels]` or one block a token, as those of a `Chain`;
    `pieces` of histories for orders above 1. -inf forbids; see `of`."""

    scores: F64
    transitions: F64
    pieces: Pieces
    order: int
    offsets: I64

    @classmethod
    def of(cls, scores: F64, transitions: F64, pieces: Pieces, order: int, offsets: I64) -> HistoryChain:
        """Without dead ends: who goes from left to right chooses among labels that have a way to the end. (Forbidden
        labels among the scores become more.)"""
        if np.isneginf(transitions).any():
            blocks = transitions.reshape((-1, *transitions.shape[-2:]))
            each = int(transitions.ndim == 3)
            if worthwhile(len(scores)):
                from trellis.lattice.kernels.history import close_dead_ends

                close_dead_ends(scores, blocks, each, offsets)
            else:
                plain.close_dead_ends(scores, blocks, each, offsets)
        return cls(scores, transitions, pieces, order, offsets)

    @property
    def labels(self) -> int:
        return int(self.scores.shape[1])

    @property
    def states(self) -> int:
        """How many histories there are."""
        return int(self.labels**self.order)

    def best(self, beam: int | None = None) -> tuple[I32, F64]:
        """A labelling I32[tokens], and log P of each sentence's, F64[sentences]: with a `beam`, the best of so many
        histories that are kept at each token; without, the most probable of all."""
        paths, totals = np.zeros(len(self.scores), np.int32), np.zeros(len(self.offsets) - 1)
        exact = beam is None or beam >= self.states
        longest = int(np.diff(self.offsets).max(initial=0))
        if beam is not None and not exact and beam * longest > _MOST_WAYS:
            raise SettingError(
                f"a beam of {beam:,} is too wide for a sentence of {longest:,} tokens; give a smaller one"
            )
        if exact and self.order == 1:
            paths, totals = self.chain().best()
            return paths, np.minimum(totals, 0.0)  # what is above is rounding
        if exact:
            self._check_states(longest)
        if not self._compiled(self.states if exact else int(beam or 1)):
            for s, (a, b) in enumerate(self._spans):
                totals[s], labels = plain.beam(b - a, self.order, self._given(a), None if exact else beam)
                paths[a : a + len(labels)] = labels
        else:
            from trellis.lattice.kernels.history import beam_histories, exact_histories

            if exact:
                exact_histories(*self._for_loops, paths, totals)
            else:
                assert beam is not None
                beam_histories(*self._for_loops, int(beam), paths, totals)
        self._require_ways(totals, narrow=not exact)
        return paths, totals

    def marginals(self) -> F64:
        """P(y_t = j), F64[tokens, labels]."""
        if self.order == 1:
            return self.chain().marginals().nodes
        self._check_states(1)
        nodes, log_z = np.empty_like(self.scores), np.zeros(len(self.offsets) - 1)
        if not self._compiled(self.states):
            for s, (a, b) in enumerate(self._spans):
                nodes[a:b], log_z[s] = plain.marginals(b - a, self.order, self._given(a), self.labels)
        else:
            from trellis.lattice.kernels.history import forward_histories

            forward_histories(*self._for_loops, nodes, log_z)
        self._require_ways(log_z, narrow=False)
        return nodes

    def sample(self, rng: np.random.Generator) -> I32:
        """A labelling of each sentence, drawn from left to right: I32[tokens]."""
        paths = np.zeros(len(self.scores), np.int32)
        self._require_ways(self._followed(paths, rng.random(len(paths))), narrow=False)
        return paths

    def log_probabilities(self, paths: I32) -> F64:
        """log P of a labelling of each sentence, F64[sentences]."""
        return self._followed(paths, np.zeros(0))

    def chain(self) -> Chain:
        """The same probabilities as those of a chain (order 1): a label pays for the choice that comes after it.

        S(y) = sum_t s_t[y_t] + transitions[y_(t-1), y_t] - Z_t[y_(t-1)]      Z_t[i] = log sum_j exp(...)
        """
        if self.order != 1:
            raise SettingError(
                f"order {self.order}: a sequential classifier has the best labels, marginals and the probability of "
                "labels; k best labellings, spans, samples, entropies and constraints are there for order 1 alone"
            )
        sums = self._log_sums()
        scores = self.scores.copy()
        first = np.zeros(len(scores), bool)
        first[self.offsets[:-1][np.diff(self.offsets) > 0]] = True
        scores[first] -= np.where(sums[first] > -np.inf, sums[first], 0.0)
        inner = np.flatnonzero(~first)
        scores[inner - 1] -= np.where(sums[inner] > -np.inf, sums[inner], 0.0)
        return Chain(scores, self.transitions, self.offsets)

    def _log_sums(self) -> F64:
        """Z of every token by the label before it, F64[tokens, labels]."""
        out = np.empty_like(self.scores)
        if worthwhile(len(self.scores)):
            from trellis.lattice.kernels.history import log_sums

            log_sums(self.scores, self._blocks, int(self._positional), self.offsets, out)
            return out
        for a, b in self._spans:
            for t in range(a, b):
                rows = self.scores[t] + (self._blocks[t * self._positional] if t > a else 0.0)
                out[t] = log_sum(np.broadcast_to(rows, (self.labels, self.labels)), axis=1)
        return out

    def _followed(self, paths: I32, uniform: F64) -> F64:
        log_p = np.zeros(len(self.offsets) - 1)
        if worthwhile(len(self.scores)):
            from trellis.lattice.kernels.history import follow_histories

            follow_histories(*self._for_loops, uniform, paths, log_p)
            return log_p
        for s, (a, b) in enumerate(self._spans):
            drawn = uniform[a:b] if len(uniform) else None
            log_p[s] = plain.followed(b - a, self.order, self._given(a), paths[a:b], drawn)
        return log_p

    def _given(self, first: int) -> Callable[[int, tuple[int, ...]], F64]:
        """log P(label | history) of the sentence that begins there, as `history_plain` asks for it."""
        pieces = self.pieces
        rows: dict[tuple[int, tuple[int, ...]], F64] = {}

        def given(t: int, history: tuple[int, ...]) -> F64:
            if (t, history) not in rows:
                row = self.scores[first + t].copy()
                if history:
                    row += self._blocks[(first + t) * self._positional, history[-1]]
                for m in range(len(history) - 1):
                    key = 0
                    for label in history[-m - 2 :]:
                        key = key * self.labels + label
                    a, b = pieces.cut[m : m + 2].tolist()
                    k = a + int(np.searchsorted(pieces.keys[a:b], key))
                    if k < b and pieces.keys[k] == key:
                        own = slice(int(pieces.start[k]), int(pieces.start[k + 1]))
                        row[pieces.label[own]] += pieces.weight[own]
                high = float(row.max())
                # not both at once: far from 0 the sum of the two would be a rounded one
                rows[t, history] = (row - high) - log_sum(row - high, axis=0) if high > -np.inf else row
            return rows[t, history]

        return given

    @property
    def _positional(self) -> bool:
        return self.transitions.ndim == 3

    @cached_property
    def _blocks(self) -> F64:
        return self.transitions.reshape((-1, self.labels, self.labels))

    @property
    def _for_loops(self) -> tuple[F64, F64, int, I64, I64, I64, I32, F64, int, I64]:
        return self.scores, self._blocks, int(self._positional), *self.pieces.for_loops, self.order, self.offsets

    @property
    def _spans(self) -> list[tuple[int, int]]:
        return list(zip(self.offsets.tolist(), self.offsets[1:].tolist(), strict=False))

    def _compiled(self, histories: int) -> bool:
        """Whether to use kernels where so many histories are kept: each is as much work as a token."""
        return worthwhile(len(self.scores) * histories)

    def _check_states(self, tokens: int) -> None:
        """SettingError where there are too many histories, for themselves or for that number of tokens."""
        if self.states > _MOST_STATES or self.states * tokens > _MOST_WAYS:
            where = f" at each of {tokens:,} tokens" if self.states <= _MOST_STATES else ""
            raise SettingError(f"order {self.order} means {self.states:,} histories{where}, which is too many; {_BEAM}")

    def _require_ways(self, totals: NDArray[np.float64], narrow: bool) -> None:
        """NoLegalPathError for the first sentence that ends nowhere."""
        for s in np.flatnonzero(totals == -np.inf)[:1].tolist():
            why = " within the beam; give a wider one, or none" if narrow else ": every label is forbidden somewhere"
            raise NoLegalPathError(f" has no legal path{why}", s)
        if not np.isfinite(totals).all():
            raise DataError("scores add up to more than a number can hold; make them smaller")
