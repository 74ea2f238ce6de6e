"""Chains after forward-backward: what else can be asked of them without doing it again.

Sentence weights multiply a sentence's part of an answer; nodes are laid out as the chain's scores are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from trellis.labels import first_tokens
from trellis.lattice.chain import F64, I32, I64, Covariance
from trellis.lattice.entries import ArcEntries, EntriesH, NodeEntries, no_arcs

# what a loss passes on: F64[labels, labels] for plain chains, something of their own for others
ArcH = object


def renormalised(soft: F64, open_: NDArray[np.bool_]) -> F64:
    """Distributions over labels, F64[tokens, labels], without what is forbidden."""
    if open_.all():
        return soft
    left = np.where(open_, soft, 0.0)
    total: F64 = left.sum(axis=1, keepdims=True)
    return left / np.where(total > 0.0, total, 1.0)


class Solved(Protocol):
    """Any number of questions, in any order."""

    @property
    def log_z(self) -> F64: ...

    def expected(self, weights: F64 | None = None) -> tuple[F64, F64]:
        """P of nodes, in fresh memory, and of transitions, added up: F64[labels, labels]."""
        ...

    def node_marginals(self) -> F64:
        """P of nodes alone, not to be written to."""
        ...

    def variances(self, weights: F64 | None = None) -> tuple[F64, F64]:
        """P (1 - P) of nodes, and of transitions, added up."""
        ...

    def covariance(self, node_h: F64, arc_h: ArcH | None, weights: F64 | None = None) -> Covariance:
        """Cov[H, 1_e] of nodes, in the memory of node_h, and of transitions, added up; E[H] without weights."""
        ...

    def covariance_on(self, node_h: F64, arc_h: ArcH | None, path: I32) -> F64:
        """Cov[H, 1_node] of the nodes on one path a sentence, F64[tokens]. Uses node_h up."""
        ...

    def path_sums(self, node_h: F64, arc_h: ArcH | None, path: I32) -> F64:
        """H along one path a sentence, F64[sentences]."""
        ...

    def marginals_on(self, path: I32) -> F64:
        """P of the nodes on one path a sentence, one for each of its places: F64[tokens], but for lattices where a path
        is a set of nodes (see `explicit`)."""
        ...

    def narrowed(self) -> Self:
        """The same for Hessian-vector products alone, in memory of its own and in single precision where that will do
        (see `kernels.kept`); node_h may then be F32."""
        ...

    def sums(self, values: F64, path: I32) -> F64:
        """Numbers for the places of a path added up over each sentence, F64[sentences]."""
        ...

    def on_path(self, nodes: F64, path: I32) -> F64:
        """The numbers of the nodes on a path, one for each of its places."""
        ...

    def path_nodes(self, values: F64, path: I32) -> F64:
        """Numbers for the places of a path on its nodes, 0 on all others."""
        ...

    def subtract_path(self, nodes: F64, arcs: F64, path: I32, weights: F64 | None = None) -> None:
        """Takes a path away from what is expected."""
        ...

    def subtract_soft(self, nodes: F64, arcs: F64, soft: F64, weights: F64 | None = None) -> None:
        """Takes away what is expected under distributions over labels, F64[tokens, labels], of independent tokens."""
        ...


def sums_of(values: F64, offsets: I64) -> F64:
    """F64[tokens] added up over each sentence."""
    sentences = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return np.bincount(sentences, weights=values, minlength=len(offsets) - 1).astype(np.float64)


class NodesInRows(ABC):
    """What those have in common whose nodes are F64[tokens, width]."""

    @property
    @abstractmethod
    def width(self) -> int: ...

    def on_path(self, nodes: F64, path: I32) -> F64:
        return nodes[np.arange(len(nodes)), path]

    def path_nodes(self, values: F64, path: I32) -> F64:
        nodes = np.zeros((len(path), self.width))
        nodes[np.arange(len(nodes)), path] = values
        return nodes


@dataclass
class SolvedChain(NodesInRows):
    """A `WorkChain` after forward-backward. `order`, `base`, `alpha`, `beta`, `step`: see `kernels.kept`;
    `arcs`: expected transitions F64[labels, labels]; `apart`: sentences that had to be solved in the log domain, which
    are asked again there, with their scores and their node marginals, F64[tokens of the sentence, width] both."""

    log_z: F64
    transitions: F64
    offsets: I64
    order: I64
    base: I64
    alpha: NDArray[Any]
    beta: NDArray[Any]
    step: NDArray[Any]
    arcs: F64
    apart: dict[int, tuple[F64, F64]]

    def __post_init__(self) -> None:
        labels, width = len(self.transitions), self.alpha.shape[1]
        allowed = self.transitions[self.transitions > -np.inf]
        self._across = np.zeros((width, width), self.alpha.dtype)
        self._across[:labels, :labels] = np.exp(self.transitions - (allowed.max() if len(allowed) else 0.0))

    def narrowed(self) -> Self:
        from trellis.lattice.kernels.kept import narrow

        doubles = self.alpha, self.beta, self.step
        singles = [np.empty(kept.shape, np.float32) for kept in doubles]
        fits = [narrow(kept.ravel(), single.ravel()) for kept, single in zip(doubles, singles, strict=True)]
        alpha, beta, step = singles if all(fits) else map(np.copy, doubles)
        return replace(self, alpha=alpha, beta=beta, step=step)

    @property
    def width(self) -> int:
        return int(self.alpha.shape[1])

    def expected(self, weights: F64 | None = None) -> tuple[F64, F64]:
        return self._nodes(self._weights(weights)), (self.arcs.copy() if weights is None else self._summed(weights))

    def node_marginals(self) -> F64:
        return self._nodes(self._weights(None))

    def variances(self, weights: F64 | None = None) -> tuple[F64, F64]:
        each, p = self._weights(weights), self._nodes(np.ones(len(self.log_z)))
        arcs = self.arcs if weights is None else self._summed(weights)
        per_token = np.repeat(each, np.diff(self.offsets))[:, None]
        return per_token * (p * (1.0 - p)), arcs - self._summed(each, squared=True)

    def covariance(self, node_h: F64, arc_h: ArcH | None, weights: F64 | None = None) -> Covariance:
        return self._covariance(node_h, arc_h, weights, True)

    def covariance_on(self, node_h: F64, arc_h: ArcH | None, path: I32) -> F64:
        return self.on_path(self._covariance(node_h, arc_h, None, False).nodes, path)

    def path_sums(self, node_h: F64, arc_h: ArcH | None, path: I32) -> F64:
        from trellis.lattice.kernels.paths import path_scores

        totals = np.empty(len(self.log_z))
        path_scores(node_h, self._matrix(arc_h)[None], 0, self.offsets, path, totals)
        return totals

    def marginals_on(self, path: I32) -> F64:
        return self.on_path(self._nodes(self._weights(None)), path)

    def sums(self, values: F64, path: I32) -> F64:
        return sums_of(values, self.offsets)

    def subtract_path(self, nodes: F64, arcs: F64, path: I32, weights: F64 | None = None) -> None:
        from trellis.lattice.kernels.paths import subtract_path

        subtract_path(nodes, arcs[None], 0, self.offsets, path, self._weights(weights))

    def subtract_soft(self, nodes: F64, arcs: F64, soft: F64, weights: F64 | None = None) -> None:
        weighted = soft * np.repeat(self._weights(weights), np.diff(self.offsets))[:, None]
        nodes[:, : soft.shape[1]] -= weighted
        inner = np.flatnonzero(~first_tokens(self.offsets))
        # not BLAS: the sum must not depend on how many threads one has
        arcs -= np.einsum("ti,tj->ij", soft[inner - 1], weighted[inner])

    def subtract_paths(self, nodes: F64, arcs: F64, soft: F64, pairs: F64, weights: F64 | None = None) -> None:
        """Takes away what is expected under a distribution over paths (see `WorkChain.mean_path_scores`)."""
        each = self._weights(weights)
        nodes[:, : soft.shape[1]] -= soft * np.repeat(each, np.diff(self.offsets))[:, None]
        arcs -= np.einsum("s,sij->ij", each, pairs)

    def _weights(self, weights: F64 | None) -> F64:
        return np.ones(len(self.log_z)) if weights is None else weights

    def _matrix(self, arc_h: ArcH | None) -> F64:
        """h that is the same everywhere."""
        if isinstance(arc_h, EntriesH):
            arc_h = arc_h.matrix
        assert arc_h is None or isinstance(arc_h, np.ndarray)
        return np.zeros_like(self.transitions) if arc_h is None else arc_h

    def _nodes(self, weights: F64) -> F64:
        from trellis.lattice.kernels.kept import kept_nodes

        nodes = np.empty((int(self.offsets[-1]), self.alpha.shape[1]))
        kept_nodes(self.alpha, self.beta, self.offsets, self.order, self.base, weights, nodes)
        for s, (_, there) in self.apart.items():
            nodes[self.offsets[s] : self.offsets[s + 1]] = weights[s] * there
        return nodes

    def _summed(self, weights: F64, squared: bool = False, apart: bool = True) -> F64:
        """Weighted sums over tokens of P(transition), or of its square."""
        from trellis.lattice.kernels.kept import kept_arcs
        from trellis.lattice.kernels.logdomain import log_marginals

        arcs = np.zeros_like(self.transitions)
        kept_arcs(
            self.alpha, self.beta, self.step, self._across, self.offsets, self.order, self.base, weights, squared, arcs
        )
        for s, (scores, _) in self.apart.items() if apart else ():
            each = np.zeros((max(2, len(scores)), *arcs.shape))  # a block a token
            ends, one, ignored = np.array([0, len(scores)]), np.zeros(1, np.int64), np.zeros(1)
            log_marginals(scores, self.transitions[None], 0, ends, one, True, np.empty_like(scores), each, ignored)
            arcs += weights[s] * (each * each if squared else each).sum(axis=0)
        return arcs

    def _centred(self, arc_h: ArcH | None) -> tuple[F64, float]:
        """g less about its mean over arcs, and that: all paths of a sentence lose the same, so no covariance changes,
        but there is less to cancel."""
        g, arcs = self._matrix(arc_h), float(self.arcs.sum())
        mean = float(np.sum(self.arcs * g)) / arcs if arcs > 0.0 else 0.0
        return g - mean, mean

    def _blocks(self, g: F64, more: ArcEntries, s: int) -> F64:
        """h on the arcs of a sentence: F64[1, labels, labels], or a block a token where there is more than g."""
        a, b = int(self.offsets[s]), int(self.offsets[s + 1])
        here = slice(int(more.start[a]), int(more.start[b]))
        if here.start == here.stop:
            return g[None]
        blocks = np.repeat(g[None], b - a, axis=0)
        token = np.repeat(np.arange(b - a), np.diff(more.start[a : b + 1]))
        blocks[token, more.before[here], more.here[here]] += more.value[here]
        return blocks

    def list_arcs(self, nodes: NodeEntries, least: float) -> ArcEntries:
        """The arcs more probable than `least`, between nodes that are listed (all with more than that)."""
        from trellis.lattice.kernels.entries import list_kept_arcs

        out, none, nothing = np.zeros(int(self.offsets[-1]) + 1, np.int64), np.zeros(0, np.int32), np.zeros(0)
        order = np.where(np.isin(self.order, list(self.apart)), -1, self.order)
        kept = self.alpha, self.beta, self.step, self._across, self.offsets, order, self.base
        list_kept_arcs(*kept, nodes.start, nodes.label, least, out, none, none, nothing, False)
        apart = {s: self._arcs_apart(s, least) for s in self.apart}
        for token, *_ in apart.values():
            np.add.at(out, token + 1, 1)
        start = np.cumsum(out)
        before, here = np.empty((2, int(start[-1])), np.int32)
        value = np.empty(int(start[-1]))
        list_kept_arcs(*kept, nodes.start, nodes.label, least, start, before, here, value, True)
        for s, (_, i, j, p) in apart.items():
            own = slice(int(start[self.offsets[s]]), int(start[self.offsets[s + 1]]))
            before[own], here[own], value[own] = i, j, p
        return ArcEntries(start, before, here, value)

    def _arcs_apart(self, s: int, least: float) -> tuple[I64, I32, I32, F64]:
        """Token, labels before and here, and probability of the arcs of a sentence in the log domain."""
        from trellis.lattice.kernels.logdomain import log_marginals

        scores, labels = self.apart[s][0], len(self.transitions)
        each = np.zeros((max(2, len(scores)), labels, labels))
        ends, one, ignored = np.array([0, len(scores)]), np.zeros(1, np.int64), np.zeros(1)
        log_marginals(scores, self.transitions[None], 0, ends, one, True, np.empty_like(scores), each, ignored)
        token, i, j = np.nonzero(each > least)
        return token + int(self.offsets[s]), i.astype(np.int32), j.astype(np.int32), each[token, i, j]

    def _covariance(self, node_h: F64, arc_h: ArcH | None, weights: F64 | None, want_arcs: bool) -> Covariance:
        from trellis.lattice.kernels.kept import kept_covariance
        from trellis.lattice.kernels.logdomain import covariance

        each, (g, mean) = self._weights(weights), self._centred(arc_h)
        more = arc_h.entries if isinstance(arc_h, EntriesH) else no_arcs(int(self.offsets[-1]))
        arcs, expectation = np.zeros_like(self.transitions), np.empty(len(self.log_z))
        node_h[:, len(g) :] = 0.0
        apart = {s: node_h[self.offsets[s] : self.offsets[s + 1]].astype(np.float64) for s in self.apart}
        kept_covariance(
            self.alpha, self.beta, self.step, self._across, self.offsets, self.order, self.base,
            node_h, g, more, each, want_arcs, node_h, arcs, expectation,
        )  # fmt: skip
        if want_arcs and arc_h is not None:  # P(i, j) g[i, j], which the kernel leaves out
            arcs += g * (self.arcs if weights is None and not self.apart else self._summed(each, apart=False))
        for s, h in apart.items():
            scores, added = self.apart[s][0], np.zeros((1, *arcs.shape))
            ends, nodes, blocks = np.array([0, len(scores)]), np.zeros_like(h), self._blocks(g, more, s)
            covariance(
                scores, self.transitions[None], 0, ends, h, blocks, int(len(blocks) > 1), nodes, added,
                expectation[s : s + 1],
            )  # fmt: skip
            node_h[self.offsets[s] : self.offsets[s + 1]] = each[s] * nodes
            arcs += each[s] * added[0]
        expectation += np.where(self.log_z > -np.inf, mean * np.maximum(np.diff(self.offsets) - 1, 0), 0.0)
        return Covariance(node_h, arcs, expectation)
