"""Chains whose transitions change from token to token by patches (see `kernels.patches`), in memory that is used up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError
from trellis.lattice.chain import F64, I32, I64, Covariance, Marginals
from trellis.lattice.kernels.patched import Kinds, patched_marginals
from trellis.lattice.kernels.patched_kept import Kept, keep
from trellis.lattice.kernels.patched_log import patched_log_marginals
from trellis.lattice.kernels.patched_paths import (
    add_patched_means,
    add_patched_scores,
    patched_best_paths,
    subtract_patched_path,
)
from trellis.lattice.kernels.patches import Patches
from trellis.lattice.patched_solved import PatchedSolved
from trellis.lattice.solved import renormalised
from trellis.lattice.work import WorkChain


@dataclass
class PatchedChain(WorkChain):
    """A work chain with patches on the transitions into its tokens, and the ready factors of kinds of tokens, filled
    from the same transitions. `gradient: F64[weights of the patches]` is added to: expected values by `marginals`,
    less those of a path by `subtract_path`, the difference of two paths by `path_gradient`; None if nothing is asked
    about arcs. Chains that come of this one, constrained or solved, add to the same gradient."""

    patches: Patches
    kinds: Kinds
    gradient: F64 | None

    def mean_scores(self, soft: F64) -> F64:
        soft = renormalised(soft, self._open)
        totals = super().mean_scores(soft)
        add_patched_means(self.offsets, self.patches, soft, totals)
        return totals

    def path_scores(self, paths: I32) -> F64:
        totals = super().path_scores(paths)
        add_patched_scores(self.offsets, self.patches, paths, totals)
        return totals

    def best(self) -> tuple[I32, F64]:
        paths, totals = np.zeros(len(self.scores), np.int32), np.empty(len(self.offsets) - 1)
        patched_best_paths(self.scores, self.transitions, self.offsets, self.patches, paths, totals)
        return paths, totals

    def path_gradient(self, plus: I32, minus: I32, weights: F64 | None) -> tuple[F64, F64]:
        if self.gradient is not None:
            each = np.ones(len(self.offsets) - 1) if weights is None else weights
            subtract_patched_path(self.offsets, self.patches, plus, -each, self.gradient)
            subtract_patched_path(self.offsets, self.patches, minus, each, self.gradient)
        return super().path_gradient(plus, minus, weights)

    def marginals(self) -> Marginals:
        """log Z, nodes F64[tokens, width] in the memory of the scores, expected transitions F64[labels, labels]
        whatever their patches (zeros if nothing is asked about arcs)."""
        log_z, redo = np.empty(len(self.offsets) - 1), np.zeros(len(self.offsets) - 1, bool)
        arcs = np.zeros_like(self.transitions)
        want, gradient = self.gradient is not None, np.zeros(0) if self.gradient is None else self.gradient
        patched_marginals(
            self.scores, self.transitions, self.offsets, self.patches, self.kinds,
            want, self.scores, arcs, gradient, log_z, redo,
        )  # fmt: skip
        which = np.flatnonzero(redo)
        if len(which):
            patched_log_marginals(
                self.scores, self.transitions, self.offsets, which, self.patches,
                want, self.scores, arcs, gradient, log_z,
            )  # fmt: skip
        return Marginals(log_z, self.scores, arcs)

    def dual_marginals(self, node_h: F64, arc_h: F64, weights: F64 | None = None) -> Covariance:
        raise SettingError("there is no pass on dual numbers for attributes on transitions")

    def subtract_path(self, answer: Marginals, path: I32) -> None:
        assert self.gradient is not None
        super().subtract_path(answer, path)
        ones = np.ones(len(self.offsets) - 1)
        subtract_patched_path(self.offsets, self.patches, path, ones, self.gradient)

    def solve(self) -> PatchedSolved:
        sentences, rows = len(self.offsets) - 1, np.empty((3, *self.scores.shape))
        kept = Kept(rows, np.empty(sentences, bool), np.empty(sentences), self.transitions, self.offsets)
        keep(self.scores, self.patches, self.kinds, kept)
        return PatchedSolved(kept, self.patches, self.kinds, self.gradient, self._open)

    @property
    def _open(self) -> NDArray[np.bool_]:
        return np.asarray(self.scores[:, : self.labels] > -np.inf)


def patched_best(scores: F64, transitions: F64, offsets: I64, patches: Patches) -> I32:
    """The best paths, I32[tokens], for scores F64[tokens, width >= labels] that are known to be finite."""
    paths = np.zeros(len(scores), np.int32)
    patched_best_paths(scores, transitions, offsets, patches, paths, np.empty(len(offsets) - 1))
    return paths
