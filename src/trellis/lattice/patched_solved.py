"""Patched chains after forward-backward. What is asked about arcs is answered twice: for transitions, for patches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from trellis.labels import first_tokens
from trellis.lattice.chain import F64, I32, Covariance
from trellis.lattice.entries import ArcEntries, EntriesH, NodeEntries
from trellis.lattice.kernels.entries import list_patched_arcs
from trellis.lattice.kernels.patched import Kinds
from trellis.lattice.kernels.patched_answers import PatchedH, patched_covariance, patched_nodes, patched_sums
from trellis.lattice.kernels.patched_kept import Kept
from trellis.lattice.kernels.patched_paths import add_patched_scores, subtract_patched_path, subtract_patched_soft
from trellis.lattice.kernels.patches import Patches
from trellis.lattice.kernels.paths import path_scores, subtract_path
from trellis.lattice.kernels.third import listed_changes, patched_third
from trellis.lattice.solved import ArcH, NodesInRows, renormalised, sums_of


@dataclass
class PatchedSolved(NodesInRows):
    """A `PatchedChain` after forward-backward, as long as the weights of its patches stay as they are. h on arcs is a
    `PatchedH`, or F64[labels, labels] where patches have none.

    Transitions are answered whatever their patches. `gradient: F64[weights of the patches]` is added to by `expected`,
    `covariance` and, with the sign turned, `subtract_path`, a patch's value times the answer for its transition, and by
    `variances`, the square of its value times that; None if that is not wanted. Another one may be put in its place
    between questions. `open: BOOL[tokens, labels]`, what was not forbidden.
    """

    kept: Kept
    patches: Patches
    kinds: Kinds
    gradient: F64 | None
    open: NDArray[np.bool_]

    @property
    def log_z(self) -> F64:
        log_z: F64 = self.kept.log_z
        return log_z

    @property
    def width(self) -> int:
        return int(self.kept.rows.shape[2])

    def expected(self, weights: F64 | None = None) -> tuple[F64, F64]:
        return self._sums(weights, False, self._by_patch)

    def node_marginals(self) -> F64:
        nodes: F64 = np.empty_like(self.kept.rows[0])
        patched_nodes(self.kept, nodes)
        return nodes

    def variances(self, weights: F64 | None = None) -> tuple[F64, F64]:
        return self._sums(weights, True, self._by_patch)

    def covariance(self, node_h: F64, arc_h: ArcH | None, weights: F64 | None = None) -> Covariance:
        return self._covariance(node_h, arc_h, self._weights(weights), True)

    def covariance_on(self, node_h: F64, arc_h: ArcH | None, path: I32) -> F64:
        return self.on_path(self._covariance(node_h, arc_h, self._weights(None), False).nodes, path)

    def marginals_on(self, path: I32) -> F64:
        return self.on_path(self.node_marginals(), path)

    def narrowed(self) -> Self:
        return self  # which has memory of its own; there are no kernels for less than double precision

    def sums(self, values: F64, path: I32) -> F64:
        return sums_of(values, self.kept.offsets)

    def subtract_soft(self, nodes: F64, arcs: F64, soft: F64, weights: F64 | None = None) -> None:
        each, soft = self._weights(weights), renormalised(soft, self.open)
        weighted = soft * np.repeat(each, np.diff(self.kept.offsets))[:, None]
        nodes[:, : soft.shape[1]] -= weighted
        inner = np.flatnonzero(~first_tokens(self.kept.offsets))
        arcs -= np.einsum("ti,tj->ij", soft[inner - 1], weighted[inner])
        if self.gradient is not None:
            subtract_patched_soft(self.kept.offsets, self.patches, soft, each, self.gradient)

    def path_sums(self, node_h: F64, arc_h: ArcH | None, path: I32) -> F64:
        h, totals = self._h(arc_h), np.empty(len(self.log_z))
        path_scores(node_h, h.matrix[None], 0, self.kept.offsets, path, totals)
        add_patched_scores(self.kept.offsets, h.patches, path, totals)
        return totals

    def subtract_path(self, nodes: F64, arcs: F64, path: I32, weights: F64 | None = None) -> None:
        each = self._weights(weights)
        subtract_path(nodes, arcs[None], 0, self.kept.offsets, path, each)
        if self.gradient is not None:
            subtract_patched_path(self.kept.offsets, self.patches, path, each, self.gradient)

    @property
    def _by_patch(self) -> F64:
        return np.zeros(0) if self.gradient is None else self.gradient

    def _weights(self, weights: F64 | None) -> F64:
        return np.ones(len(self.log_z)) if weights is None else weights

    def list_arcs(self, nodes: NodeEntries, least: float) -> ArcEntries:
        """The arcs more probable than `least`, between nodes that are listed (all with more than that)."""
        out, none, nothing = np.zeros(int(self.kept.offsets[-1]) + 1, np.int64), np.zeros(0, np.int32), np.zeros(0)
        chain = self.kept, self.patches, self.kinds, nodes.start, nodes.label, least
        list_patched_arcs(*chain, out, none, none, nothing, False)
        start = np.cumsum(out)
        before, here = np.empty((2, int(start[-1])), np.int32)
        value = np.empty(int(start[-1]))
        list_patched_arcs(*chain, start, before, here, value, True)
        return ArcEntries(start, before, here, value)

    def third(self, node_h: F64, arc_h: ArcH | None, node_k: F64, arc_k: ArcH | None) -> Covariance:
        """How Cov[H, 1_e] changes when the scores do by k (see `kernels.third`)."""
        nodes, arcs = np.empty_like(node_h), np.zeros_like(self.kept.transitions)
        patched_third(
            self.kept, self.patches, self.kinds, node_h, self._h(arc_h), node_k, self._h(arc_k), nodes, arcs,
            self._by_patch,
        )  # fmt: skip
        return Covariance(nodes, arcs, np.zeros(0))

    def listed_changes(self, node_h: F64, arc_h: ArcH | None, arcs: ArcEntries) -> F64:
        """Cov[H, 1_e] of listed arcs."""
        out = np.zeros(len(arcs.value))
        listed_changes(
            self.kept, self.patches, self.kinds, node_h, self._h(arc_h), arcs.start, arcs.before, arcs.here, out
        )
        return out

    def _h(self, arc_h: ArcH | None) -> PatchedH:
        if isinstance(arc_h, PatchedH):
            return arc_h
        if isinstance(arc_h, EntriesH):  # at each token one patch
            entries, tokens = arc_h.entries, np.arange(len(arc_h.entries.start))
            unread = np.zeros(0), np.zeros(0)
            sides = entries.before.astype(np.uint16), entries.here.astype(np.uint16)
            patches = Patches(
                tokens, tokens[:-1].astype(np.int32), np.zeros(0), entries.start, *sides, entries.value, *unread
            )
            return PatchedH(arc_h.matrix, patches)
        assert arc_h is None or isinstance(arc_h, np.ndarray)
        matrix = np.zeros_like(self.kept.transitions) if arc_h is None else arc_h
        nowhere = np.zeros_like(self.patches.indptr)
        return PatchedH(matrix, self.patches._replace(indptr=nowhere))

    def _sums(self, weights: F64 | None, variances: bool, by_patch: F64) -> tuple[F64, F64]:
        nodes, arcs = np.empty_like(self.kept.rows[0]), np.zeros_like(self.kept.transitions)
        patched_sums(self.kept, self.patches, self.kinds, self._weights(weights), variances, nodes, arcs, by_patch)
        return nodes, arcs

    def _covariance(self, node_h: F64, arc_h: ArcH | None, weights: F64, want_arcs: bool) -> Covariance:
        arcs, expectation = np.zeros_like(self.kept.transitions), np.empty(len(self.log_z))
        node_h[:, len(arcs) :] = 0.0
        patched_covariance(
            self.kept, self.patches, self.kinds, self._h(arc_h), weights,
            want_arcs, node_h, arcs, self._by_patch, expectation,
        )  # fmt: skip
        return Covariance(node_h, arcs, expectation)
