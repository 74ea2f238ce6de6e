"""Chains: one label a token, arcs between neighbours. The four questions of every lattice, over packed sentences."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError, NoLegalPathError, SettingError
from trellis.jit import worthwhile
from trellis.labels import check_packed
from trellis.lattice import plain
from trellis.rows import padded

if TYPE_CHECKING:
    from trellis.lattice.written import WrittenChain

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class Marginals:
    """`log_z: F64[sentences]`; `nodes: F64[tokens, labels]`, P(y_t = j); `arcs`: None if not asked for,
    F64[labels, labels] expected transitions of the whole, or F64[tokens, labels, labels] one block a token."""

    log_z: F64
    nodes: F64
    arcs: F64 | None


@dataclass(frozen=True)
class Covariance:
    """Cov[H, 1_e]: `nodes: F64[tokens, labels]`, `arcs` in the shape of the transitions (summed over tokens
    when those are one matrix); `expectation: F64[sentences]`, E[H]."""

    nodes: F64
    arcs: F64
    expectation: F64


@dataclass(frozen=True)
class Chain:
    """Chains over the tokens of many sentences.

    `scores: F64[tokens, labels]`; `transitions: F64[labels, labels]`, row = label before, or
    F64[tokens, labels, labels] whose block t leads into token t (those of first tokens are not read);
    `offsets: I64[sentences + 1]`. A score of -inf forbids; a label mask is scores of -inf.
    """

    scores: F64
    transitions: F64
    offsets: I64

    def __post_init__(self) -> None:
        tokens, labels = self.scores.shape
        if self.transitions.shape not in ((labels, labels), (tokens, labels, labels)):
            raise DataError(f"transitions of shape {self.transitions.shape} do not fit {labels} labels")
        for name, values in (("score", self.scores), ("transition", self.transitions)):
            if not np.all(values < np.inf):  # also false for NaN
                raise DataError(f"a {name} is NaN or +inf; scores must be finite, or -inf to forbid")
        check_packed(np.zeros(tokens, np.int32), self.offsets, 1, "chain")

    @property
    def positional(self) -> bool:
        """Whether transitions depend on the position."""
        return self.transitions.ndim == 3

    def best(self) -> tuple[I32, F64]:
        """The best path of each sentence, I32[tokens], and its score, F64[sentences]."""
        paths, totals = np.zeros(len(self.scores), np.int32), np.zeros(len(self.offsets) - 1)
        if self._compiled:
            from trellis.lattice.kernels.best import best_paths

            best_paths(self.scores, self._blocks, int(self.positional), self.offsets, paths, totals)
        else:
            for s, (a, b) in enumerate(self._spans):
                totals[s] = plain.best_path(self.scores[a:b], self._transition(a), paths[a:b])
        self._require_paths(totals)
        return paths, totals

    def marginals(self, arcs: bool = False, each_arc: bool = False) -> Marginals:
        """log Z, node marginals, and arc marginals if asked for: summed, or per token with `each_arc`
        (always per token when transitions depend on the position)."""
        tokens, labels = len(self.scores), self.transitions.shape[-1]
        arcs = arcs or each_arc
        per_token = self.positional or each_arc
        out = np.zeros((tokens if per_token else 1, labels, labels)) if arcs else np.zeros((1, 1, 1))
        log_z = np.zeros(len(self.offsets) - 1)
        if self._compiled:
            nodes = self._scaled_marginals(arcs, per_token, out, log_z)
        else:
            nodes = self.scores.copy()
            self._log_marginals(self.scores, np.arange(len(log_z)), arcs, nodes, out, log_z)
        self._require_paths(log_z)
        if not arcs:
            return Marginals(log_z, nodes, None)
        return Marginals(log_z, nodes, out if per_token else out[0])

    def covariance(self, node_h: F64, arc_h: F64 | None = None) -> Covariance:
        """Cov[H, 1_e] for every node and arc, where H adds up `node_h: F64[tokens, labels]` and `arc_h`
        (F64[labels, labels] or F64[tokens, labels, labels]) along the path."""
        tokens, labels = self.scores.shape
        if arc_h is None:
            arc_h = np.zeros((labels, labels))
        if node_h.shape != (tokens, labels) or arc_h.shape not in ((labels, labels), (tokens, labels, labels)):
            raise DataError(
                f"h of shapes {node_h.shape} and {arc_h.shape} does not fit {tokens} tokens, {labels} labels"
            )
        out = np.zeros((tokens if self.positional else 1, labels, labels))
        nodes, expectation = np.zeros((tokens, labels)), np.zeros(len(self.offsets) - 1)
        if self._compiled:
            from trellis.lattice.kernels.logdomain import covariance

            each, h_each = int(self.positional), int(arc_h.ndim == 3)
            h = arc_h.reshape((-1, labels, labels))
            covariance(self.scores, self._blocks, each, self.offsets, node_h, h, h_each, nodes, out, expectation)
        else:
            for s, (a, b) in enumerate(self._spans):
                nodes[a:b], parts, expectation[s] = plain.covariance(
                    self.scores[a:b], self._transition(a), node_h[a:b], _block_of(arc_h, a)
                )
                for t, part in enumerate(parts, a + 1):
                    out[t if self.positional else 0] += part
        self._require_paths(None)
        return Covariance(nodes, out if self.positional else out[0], expectation)

    def sample(self, count: int, rng: np.random.Generator) -> I32:
        """Paths drawn from the distribution: I32[count, tokens]."""
        return self.sample_with(rng.random((count, len(self.scores))))

    def sample_with(self, uniform: F64) -> I32:
        """The same from random numbers from 0 to 1, F64[count, tokens]."""
        return self._sample(uniform)[0]

    def entropy(self) -> F64:
        """H(y) of each sentence in nats, F64[sentences]."""
        return self._sample(np.zeros((0, len(self.scores))))[1]

    def expectation(self, node_h: F64, arc_h: F64 | None = None) -> F64:
        """E of the sum of h along the path (see `covariance`), F64[sentences]."""
        return self.covariance(node_h, arc_h).expectation

    def kbest(self, k: int) -> list[list[tuple[I32, float]]]:
        """For each sentence its k best paths (fewer where there are no more), best first, with their scores."""
        return self._written_out.kbest(k)

    def paths(self, sentence: int) -> Iterator[tuple[I32, float]]:
        """All paths of a sentence, best first, each found when it is asked for."""
        return self._written_out.paths(sentence)

    def posterior(self) -> tuple[I32, F64]:
        """The path with the highest sum of the probabilities of its labels at all tokens, and that sum: the most
        labels right, of a legal path, as far as the model knows."""
        scores = np.where(self.scores > -np.inf, self.marginals().nodes, -np.inf)
        return Chain(scores, np.where(self.transitions > -np.inf, 0.0, -np.inf), self.offsets).best()

    def beam(self, width: int) -> tuple[I32, F64, F64]:
        """A good path, found by keeping the `width` best labels of each token; its score; and a bound that no path's
        score exceeds."""
        from trellis.lattice.kernels.beam import beam_paths

        if width < 1:
            raise SettingError(f"a beam of width {width}; expected 1 or more")
        paths, (totals, bounds) = np.zeros(len(self.scores), np.int32), np.empty((2, len(self.offsets) - 1))
        beam_paths(self.scores, self._blocks, int(self.positional), self.offsets, width, paths, totals, bounds)
        for s in np.flatnonzero(~np.isfinite(totals))[:1].tolist():
            self._require_paths(self.best()[1])
            raise NoLegalPathError(f": a beam of width {width} loses every legal path; widen it", s)
        return paths, totals, bounds

    @property
    def _written_out(self) -> WrittenChain:
        from trellis.lattice.written import WrittenChain

        return WrittenChain(
            self.scores.ravel(), self._blocks.ravel(), self.offsets, self.scores.shape[1], self.positional
        )

    def path_scores(self, paths: I32) -> F64:
        """S(y) of one path a sentence, F64[sentences]."""
        check_packed(paths, self.offsets, self.scores.shape[1], "paths")
        totals = np.zeros(len(self.offsets) - 1)
        if self._compiled:
            from trellis.lattice.kernels.paths import path_scores

            path_scores(self.scores, self._blocks, int(self.positional), self.offsets, paths, totals)
        else:
            for s, (a, b) in enumerate(self._spans):
                transition, path = self._transition(a), paths[a:b]
                totals[s] = self.scores[np.arange(a, b), path].sum()
                totals[s] += sum(transition(t)[path[t - 1], path[t]] for t in range(1, b - a))
        return totals

    @property
    def _compiled(self) -> bool:
        return worthwhile(len(self.scores))

    @property
    def _spans(self) -> list[tuple[int, int]]:
        cuts = self.offsets.tolist()
        return list(itertools.pairwise(cuts))

    @property
    def _blocks(self) -> F64:
        """The transitions as F64[1 or tokens, labels, labels]."""
        return self.transitions.reshape((-1, *self.transitions.shape[-2:]))

    def _transition(self, first: int) -> plain.Transition:
        return _block_of(self.transitions, first)

    def _scaled_marginals(self, arcs: bool, per_token: bool, out: F64, log_z: F64) -> F64:
        tokens, labels = self.scores.shape
        nodes = np.full((tokens, padded(labels)), -np.inf)
        nodes[:, :labels] = self.scores
        if per_token:
            from trellis.lattice.kernels.positional import positional_marginals

            flags = np.zeros(len(log_z), bool)
            each = int(self.positional)
            positional_marginals(nodes, self._blocks, each, self.offsets, arcs, nodes, out, log_z, flags)
            redo = np.flatnonzero(flags)
        else:
            sums = out[0] if arcs else np.zeros((labels, labels))
            redo = in_place_marginals(nodes, self.transitions, self.offsets, arcs, sums, log_z)
        trimmed = np.ascontiguousarray(nodes[:, :labels])
        if len(redo):
            self._log_marginals(self.scores, redo, arcs, trimmed, out, log_z)
        return trimmed

    def _log_marginals(self, scores: F64, which: I64, arcs: bool, nodes: F64, out: F64, log_z: F64) -> None:
        if self._compiled:
            from trellis.lattice.kernels.logdomain import log_marginals

            each = int(self.positional)
            log_marginals(scores, self._blocks, each, self.offsets, which, arcs, nodes, out, log_z)
            return
        for s in which.tolist():
            a, b = self._spans[s]
            transition = self._transition(a)
            alpha, log_z[s] = plain.forward(scores[a:b], transition)
            if log_z[s] == -np.inf:
                continue
            beta = plain.backward(scores[a:b], transition)
            nodes[a:b] = plain.nodes_of(alpha, beta)
            for t in range(1, (b - a) * arcs):
                out[a + t if len(out) > 1 else 0] += plain.arc_of(scores[a:b], transition, alpha, beta, t)

    def _sample(self, uniform: F64) -> tuple[I32, F64]:
        paths = np.zeros(uniform.shape, np.int32)
        entropy = np.zeros(len(self.offsets) - 1)
        if self._compiled:
            from trellis.lattice.kernels.logdomain import sample_and_entropy

            sample_and_entropy(self.scores, self._blocks, int(self.positional), self.offsets, uniform, paths, entropy)
        else:
            for s, (a, b) in enumerate(self._spans):
                found = plain.sample_and_entropy(self.scores[a:b], self._transition(a), uniform[:, a:b], paths[:, a:b])
                entropy[s] = 0.0 if found is None else found
        self._require_paths(None)
        return paths, entropy

    def _require_paths(self, totals: F64 | None) -> None:
        """Raises for the first sentence without a legal path, naming the token where the last one dies."""
        if totals is not None and np.isfinite(totals).all():
            return
        if totals is None and not self._may_lack_paths:
            return
        for s, (a, b) in enumerate(self._spans):
            alive: NDArray[np.bool_] = np.ones(self.scores.shape[1], bool)
            for t in range(a, b):
                if t > a:
                    block = self._transition(a)(t - a) > -np.inf
                    alive = np.asarray((alive[:, None] & block).any(axis=0))
                alive = np.asarray(alive & (self.scores[t] > -np.inf))
                if not alive.any():
                    raise NoLegalPathError(
                        f" has no legal path: every label of token {t - a + 1} is forbidden, by itself or after what "
                        "can come before it",
                        s,
                    )
        if totals is not None:
            raise DataError("scores add up to more than a number can hold; make them smaller")

    @property
    def _may_lack_paths(self) -> bool:
        return bool(np.any(self.scores == -np.inf) or np.any(self.transitions == -np.inf))


def quick_best(scores: F64, transitions: F64, offsets: I64) -> I32:
    """The best paths, I32[tokens], for scores F64[tokens, width >= labels] that are known to be finite."""
    from trellis.lattice.kernels.best import best_paths

    paths = np.zeros(len(scores), np.int32)
    best_paths(scores, transitions[None], 0, offsets, paths, np.empty(len(offsets) - 1))
    return paths


def in_place_marginals(scores: F64, transitions: F64, offsets: I64, want_arcs: bool, arcs: F64, log_z: F64) -> I64:
    """The quick way, for loops that own their memory: scores F64[tokens, width] become node marginals.

    The width is the number of labels rounded up to whole registers, with -inf in the padding. Expected
    transitions are added to `arcs: F64[labels, labels]`. Returns the sentences that have to be redone from their
    scores by `log_marginals` (see `kernels.scaled`); their rows hold nothing of use.
    """
    from trellis.lattice.kernels.scaled import scaled_marginals

    redo, nowhere = np.zeros(len(log_z), bool), np.empty(0, np.int64)
    order, nothing = np.argsort(np.diff(offsets), kind="stable"), np.empty((0, 0))
    scaled_marginals(
        scores, transitions, offsets, order, want_arcs, scores, arcs, log_z, redo, nowhere, nothing, nothing, nothing
    )
    return np.flatnonzero(redo)


def _block_of(blocks: F64, first: int) -> plain.Transition:
    """t -> the block that leads into token first + t."""
    if blocks.ndim == 3:
        return lambda t: blocks[first + t]
    return lambda t: blocks
