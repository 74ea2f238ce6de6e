"""The linked hidden Markov model (Safranchik et al. 2020): as `hmm`, and linking functions tell which neighbours belong
together.

What a linking function says of a token and the one before it depends on whether both are of one segment:

    P(votes, links, y) = P(votes, y) prod_t prod over linkers l of P(link of l at t | joined(y_(t-1), y_t))

so it speaks about arcs, not about labels: "these two words are one name", whatever kind of name. Its three outcomes
(abstains, apart, together) have two distributions, learnt with all else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError
from trellis.labels import first_tokens, runs
from trellis.lattice import Chain
from trellis.weak.models.hmm import Ask, HMMAggregator, Piece, sum_of
from trellis.weak.models.tensors import shares_of
from trellis.weak.space import Space
from trellis.weak.votes import Votes

BOOL = NDArray[np.bool_]
F64 = NDArray[np.float64]

_AT_ONCE = 1 << 20  # numbers of positional transitions in memory, for each thread


class LinkedHMM(HMMAggregator):
    """As above; the parameters are those of HMMAggregator."""

    name = "linked-hmm"
    hears_links = True

    def _learn(self, votes: Votes) -> None:
        if not votes.linkers:
            raise SettingError("no linking function votes here; use hmm, or add one (links, or columns named link:...)")
        super()._learn(votes)

    def _start_links(self, votes: Votes, nodes: F64) -> None:
        chance = np.zeros(votes.tokens)
        inner = np.flatnonzero(~first_tokens(votes.offsets))
        chance[inner] = ((nodes[inner - 1] @ votes.space.joined) * nodes[inner]).sum(axis=1)
        self._believed = self.anchor * link_counts(votes, chance) + self.smoothing / 3.0
        self._together = link_counts(votes, chance)

    def _expected(self, scores: F64, votes: Votes, ask: Ask) -> tuple[F64, F64, float, float]:
        counts = self._together + self._believed
        self.links_ = counts / counts.sum(axis=-1, keepdims=True)
        return super()._expected(scores, votes, ask)

    def _told(self, arcs: F64, chain: Chain, space: Space) -> tuple[F64, F64]:
        inner, joined = np.flatnonzero(~first_tokens(chain.offsets)), np.zeros(len(arcs))
        joined[inner] = (arcs[inner] * space.joined).sum(axis=(1, 2))
        return np.asarray(arcs[inner].sum(axis=0)), joined

    def _learn_links(self, votes: Votes, joined: F64) -> float:
        self._together = link_counts(votes, joined)
        return sum_of(self._believed, self.links_)

    def _pieces(self, votes: Votes) -> list[Piece]:
        """So many sentences as fit in memory: one block of transitions a token."""
        return runs(votes.offsets, max(1, _AT_ONCE // len(votes.labels) ** 2))

    def _chain(self, scores: F64, votes: Votes, piece: Piece) -> Chain:
        """With what links say of the arcs."""
        whole = super()._chain(scores, votes, piece)
        a, b = int(votes.offsets[piece[0]]), int(votes.offsets[piece[1]])
        logs, links = np.log(self.links_), votes.links[a:b].astype(np.int64) + 1
        says = np.zeros((b - a, 2))  # log P(links | not joined), log P(links | joined)
        for i in range(len(votes.linkers)):
            says += logs[i].T[links[:, i]]
        blocks = whole.transitions + np.where(votes.space.joined, says[:, 1, None, None], says[:, 0, None, None])
        return Chain(whole.scores, blocks, whole.offsets)

    def _chains(self, votes: Votes, most: int | None = None) -> Iterator[Chain]:
        missing = [name for name in self.linkers_ if name not in votes.linkers]
        if missing:
            raise SettingError(f"the model knows the linking function {missing[0]!r}, which does not vote here")
        at = [votes.linkers.index(name) for name in self.linkers_]
        return super()._chains(replace(votes, links=votes.links[:, at], linkers=self.linkers_), most)

    def _learnt(self) -> dict[str, NDArray[Any]]:
        return {**super()._learnt(), "links": self.links_}

    def _restore(self, learnt: dict[str, NDArray[Any]]) -> None:
        super()._restore(learnt)
        if not self.linkers_:
            raise ValueError("no linking function")
        self.links_ = shares_of(learnt, "links", (len(self.linkers_), 2, 3))


def link_counts(votes: Votes, chance: F64) -> F64:
    """What linkers say of neighbours that are (not) joined, F64[linkers, 2, 3]; chance F64[tokens] that they are."""
    inner = ~first_tokens(votes.offsets)
    out = np.empty((len(votes.linkers), 2, 3))
    for i in range(len(votes.linkers)):
        says = votes.links[inner, i].astype(np.int64) + 1
        out[i, 0] = np.bincount(says, 1.0 - chance[inner], 3)
        out[i, 1] = np.bincount(says, chance[inner], 3)
    return out
