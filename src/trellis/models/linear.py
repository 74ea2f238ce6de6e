"""A trained chain of labels: features, weights, labels. Immutable, so that many threads may use one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeGuard

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError
from trellis.features import FeatureKind, Packed
from trellis.jit import worthwhile
from trellis.lattice import Allowed, Chain, RestrictedWorkChain, quick_best
from trellis.lattice.local import LocalChain
from trellis.lattice.pairs import PairChain
from trellis.lattice.restricted import MANY
from trellis.lattice.rules import Rules
from trellis.lattice.windows import WindowChain, Windows
from trellis.models.answers import Answers
from trellis.models.arcs import ArcAttributes
from trellis.models.probabilities import Lattice
from trellis.models.pruning import Pruner
from trellis.scoring import WeightLayout, plain_scores

if TYPE_CHECKING:
    from trellis.models.constraints import Prepared
    from trellis.scoring.hybrid import HybridScoring

F64 = NDArray[np.float64]

MOST_LABELS = 4096  # a chain has a score for every pair of labels: 134 MB in each of several matrices


@dataclass(frozen=True)
class LinearChain(Answers):
    """`weights: F64[layout.size]` over the attributes of `features` and the labels by name; `pruner`: what narrows the
    choice of labels down first, if anything does; `rules`: what paths may do, if not all; `encoding`: of which
    segments they are well-formed sequences; `only_seen`: whether labels may only follow each other as in training."""

    labels: tuple[str, ...]
    features: FeatureKind
    layout: WeightLayout
    weights: F64
    pruner: Pruner | None = None
    rules: Rules | None = None
    encoding: str | None = None
    only_seen: bool = False
    prepared: HybridScoring | None = field(default=None, repr=False, compare=False)

    def best_of_packed(self, packed: Packed, offsets: NDArray[np.int64]) -> NDArray[np.int32]:
        """`best` for features that are already packed."""
        packed = self.narrowed(packed, offsets)
        if self.rules is not None and self.layout.order == 1:
            return self.best_of_lattice(self.lattice_of_packed(packed, offsets, narrowed=True))
        if self.layout.order == 0:
            return LocalChain(self._rows_of_scores(packed), len(self.labels), offsets).best()[0]
        if self.layout.order > 1:
            return self.best_of_lattice(self._windows(packed, offsets))
        if self._needs(packed.arcs):
            return self._arcs.best(self._scores_for_arcs(packed, offsets), offsets, packed.arcs)
        if packed.allowed is not None and worthwhile(int(offsets[-1])):
            scores = self._allowed_scores(packed, packed.allowed)
            return RestrictedWorkChain(scores, packed.allowed, self.transitions, offsets).best()[0]
        if not worthwhile(int(offsets[-1])):
            return self._chain(packed, offsets).best()[0]
        return quick_best(self._padded_scores(packed), self.transitions, offsets)

    def marginals_of_packed(self, packed: Packed, offsets: NDArray[np.int64]) -> F64:
        """`marginals` for features that are already packed."""
        packed = self.narrowed(packed, offsets)
        if self.layout.order == 0:
            rows = self._rows_of_scores(packed)
            return LocalChain(rows, len(self.labels), offsets).marginals().nodes[:, : len(self.labels)]
        if self.layout.order > 1:
            chain = self._windows(packed, offsets)
            answer = chain.marginals()
            chain.require_paths(answer.log_z)
            return chain.on_labels(answer.nodes)
        if self.rules is not None and (packed.allowed is None or packed.arcs is not None):
            lattice = self.lattice_of_packed(packed, offsets, narrowed=True)
            assert isinstance(lattice, Chain)
            return lattice.marginals().nodes
        if packed.allowed is not None and not self._needs(packed.arcs) and worthwhile(int(offsets[-1])):
            allowed, rows = packed.allowed, np.zeros((int(offsets[-1]), len(self.labels)))
            scores = self._allowed_scores(packed, allowed)
            answer = RestrictedWorkChain(scores, allowed, self.transitions, offsets).marginals()
            if not np.isfinite(answer.log_z).all():
                return self._chain(packed, offsets).marginals().nodes  # which says where paths end
            rows[allowed.sites] = answer.nodes
            return rows
        if self._needs(packed.arcs):
            return self._arcs.marginals(self._scores_for_arcs(packed, offsets), offsets, packed.arcs)
        return self._chain(packed, offsets).marginals().nodes

    def lattice_of_packed(
        self,
        packed: Packed,
        offsets: NDArray[np.int64],
        imposed: Prepared | None = None,
        narrowed: bool = False,
    ) -> Lattice:
        """The lattice of sentences that are already packed, for any question. `imposed`: what pruning must leave a path
        for; `narrowed`: labels have been left out already."""
        packed = packed if narrowed else self.narrowed(packed, offsets, imposed)
        if self.layout.order > 1:
            return self._windows(packed, offsets)
        if self.layout.order == 0:
            scores = np.ascontiguousarray(self._rows_of_scores(packed)[:, : len(self.labels)])
            return Chain(scores, np.zeros((len(self.labels), len(self.labels))), offsets)
        if self._needs(packed.arcs):
            scores = plain_scores(self.layout, self.weights, packed.indptr, packed.ids, packed.values)
            _forbid(scores, packed.allowed)
            self._close_ends(scores, offsets)
            return Chain(scores, self.transitions_of(packed), offsets)
        if packed.allowed is not None and len(self.labels) > MANY:
            return PairChain.of(self._allowed_scores(packed, packed.allowed), packed.allowed, self.transitions, offsets)
        return self._chain(packed, offsets)

    def bounds_left_out(self, packed: Packed, offsets: NDArray[np.int64], lattice: Lattice) -> F64 | float:
        """What labellings with labels that pruning left out would score at most in `lattice`, F64[sentences]."""
        if self.pruner is None:
            return -np.inf
        from trellis.models.left_out import bounds_left_out

        return bounds_left_out(self, packed, offsets, lattice)

    @property
    def summary(self) -> str:
        return f"{self.layout.size:,} weights"

    def with_weights(self, weights: F64) -> LinearChain:
        """The same model with other weights; what was prepared for scoring is shared."""
        return replace(self, weights=weights, prepared=self._scoring)

    def scores_of_labels(self, packed: Packed) -> F64:
        """Of every label at every token, F64[tokens, labels], pruned or not; -inf for what is not allowed."""
        return np.array(self._rows_of_scores(packed)[:, : len(self.labels)])

    def scores_in(self, packed: Packed, offsets: NDArray[np.int64]) -> F64:
        """The same where tokens stand: -inf, too, for what rules forbid at the ends of sentences."""
        scores = self.scores_of_labels(packed)
        self._close_ends(scores, offsets)
        return scores

    def transitions_of(self, packed: Packed) -> F64:
        """What one label after another scores, with rules: F64[labels, labels], or a block for each token."""
        if not self._needs(packed.arcs):
            return self.transitions
        blocks = self._arcs.blocks(packed.arcs)
        return blocks if self.rules is None else blocks + self.rules.pairs

    def narrowed(self, packed: Packed, offsets: NDArray[np.int64], imposed: Prepared | None = None) -> Packed:
        """With the labels that pruning and rules leave; pruning leaves a path that keeps to what is imposed."""
        whole = packed
        if self.pruner is not None:
            packed = self.pruner.narrowed(packed, offsets, self.rules, imposed)
        if self.rules is not None and packed.allowed is not None:
            packed = replace(packed, allowed=self.rules.within(packed.allowed, offsets))
        if self.pruner is not None and self.rules is not None and self.rules.closed and self.layout.order > 1:
            from trellis.models.widening import widened

            packed = widened(self, packed, whole, offsets, imposed)
        return packed

    def _windows(self, packed: Packed, offsets: NDArray[np.int64]) -> WindowChain:
        from trellis.scoring.tuples import TupleScoring, fixed_cells

        allowed = packed.allowed
        if allowed is None:
            allowed = Allowed.all_of(int(offsets[-1]), len(self.labels))
            allowed = allowed if self.rules is None else self.rules.within(allowed, offsets)
        windows = Windows.of(self.layout.order, allowed, offsets)
        tuples = TupleScoring(self.layout, windows)
        cells = tuples.scores(self.weights[tuples.index])
        if self.rules is not None:
            cells += fixed_cells(self.rules, windows, tuples)
        return WindowChain(self._allowed_scores(packed, allowed), cells, offsets, windows)

    def _rows_of_scores(self, packed: Packed) -> F64:
        """F64[tokens, labels or more], -inf for what is not allowed."""
        if worthwhile(len(packed.indptr) - 1):
            scores = self._padded_scores(packed)
        else:
            scores = plain_scores(self.layout, self.weights, packed.indptr, packed.ids, packed.values)
        _forbid(scores, packed.allowed)
        return scores

    def _chain(self, packed: Packed, offsets: NDArray[np.int64]) -> Chain:
        if worthwhile(int(offsets[-1])):
            scores = np.ascontiguousarray(self._padded_scores(packed)[:, : len(self.labels)])
        else:
            scores = plain_scores(self.layout, self.weights, packed.indptr, packed.ids, packed.values)
        _forbid(scores, packed.allowed)
        self._close_ends(scores, offsets)
        return Chain(scores, self.transitions, offsets)

    def _close_ends(self, scores: F64, offsets: NDArray[np.int64]) -> None:
        if self.rules is not None:
            self.rules.close_ends(scores, offsets)

    def _needs(self, arcs: Packed | None) -> TypeGuard[Packed]:
        if arcs is None and self.layout.arc_attributes:
            raise DataError("this model has weights for attributes on transitions; it was given none of these")
        return self.layout.arc_attributes > 0

    def _scores_for_arcs(self, packed: Packed, offsets: NDArray[np.int64]) -> F64:
        if self._arcs.compiled(offsets):
            scores = self._padded_scores(packed)
        else:
            scores = plain_scores(self.layout, self.weights, packed.indptr, packed.ids, packed.values)
        _forbid(scores, packed.allowed)
        return scores

    def _padded_scores(self, packed: Packed) -> F64:
        return self._scoring.scores_of_packed(self._rows, self.weights, packed.indptr, packed.ids, packed.values)

    def _allowed_scores(self, packed: Packed, allowed: Allowed) -> F64:
        from trellis.scoring.restricted import allowed_scores_of_packed

        return allowed_scores_of_packed(
            self._scoring, self._rows, self.weights, packed.indptr, packed.ids, packed.values, allowed
        )

    @cached_property
    def transitions(self) -> F64:
        """What one label after another scores, F64[labels, labels]."""
        matrix = self.layout.transition_matrix(self.weights[self.layout.pairs : self.layout.arcs_at])
        return matrix if self.rules is None else matrix + self.rules.pairs

    @cached_property
    def _arcs(self) -> ArcAttributes:
        return ArcAttributes(self.layout, self.weights)

    @cached_property
    def _scoring(self) -> HybridScoring:
        from trellis.scoring.hybrid import HybridScoring

        return self.prepared or HybridScoring(self.layout)

    @cached_property
    def _rows(self) -> F64:
        return self._scoring.rows_of(self.weights)


def _forbid(scores: F64, allowed: Allowed | None) -> None:
    """-inf for labels that a token may not have; scores: F64[tokens, labels or more]."""
    if allowed is not None:
        scores[:, : allowed.size][~allowed.mask()] = -np.inf
