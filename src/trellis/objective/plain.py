"""A shard whose tokens may have any label: dense rows of scores; attributes on arcs as patches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trellis.lattice import WorkChain
from trellis.lattice.solved import ArcH
from trellis.losses import LOSSES, Loss
from trellis.objective.examples import I64, Examples
from trellis.objective.shard import Shard
from trellis.objective.space import Space
from trellis.scoring.hybrid import HybridScoring
from trellis.scoring.layout import WeightLayout
from trellis.scoring.occurrences import ByToken, Occurrences
from trellis.scoring.occurring import Appearances, number_by_appearance

if TYPE_CHECKING:
    from trellis.scoring.arcs import ArcChains

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class Point:
    """Weights ready to score with: `weights: F64[local]`, `rows: F64[rows, width]`, `transitions: F64[labels, labels]`,
    and how chains get their patches, if there are any."""

    weights: F64
    rows: F64
    transitions: F64
    patching: Callable[[WorkChain, int, int], WorkChain] | None = None


class Rows(Shard):
    """What shards have in common whose scores are dense rows. Forbidden labels have scores of -inf."""

    def __init__(
        self,
        layout: WeightLayout,
        examples: Examples,
        loss: Loss,
        space: Space | None = None,
        appearances: Appearances | None = None,
    ):
        """`space` for what is used up within a question; its own, if not given. `appearances`: of attributes in the
        shards before this one."""
        super().__init__(examples, loss)
        self.space = Space() if space is None else space
        appearances = Appearances(layout.attributes) if appearances is None else appearances
        ids, attributes = appearances.show(examples.ids)
        self.arcs, arc_attributes = _bound(examples, layout)
        local, self.index = layout.restricted(attributes, arc_attributes)
        self.scoring = HybridScoring(local, np.bincount(ids, minlength=local.attributes))
        self.at = self.scoring.bind(examples.indptr, ids, examples.values, share=True)
        self.scoring.outline()
        self._whole = layout
        self.rules = examples.rules
        self.forbidden = None if examples.allowed is None else ~examples.allowed.mask()
        if self.rules is not None:
            closed = self.rules.forbidden(examples.offsets)
            self.forbidden = closed if self.forbidden is None else self.forbidden | closed
        self._longest = max((b - a for a, b in map(self._tokens, range(len(self.blocks)))), default=0)
        self._arc_sums = np.zeros((local.labels, local.labels))

    @property
    def detailed(self) -> WeightLayout:
        """The layout of its weights with what they are weights of, made anew; where `index` is as it was made."""
        attribute = np.searchsorted(self._whole.pair_start, self.index[: self.scoring.layout.pairs], side="right") - 1
        first = np.concatenate([[True], attribute[1:] != attribute[:-1]]) if len(attribute) else np.zeros(0, bool)
        return self._whole.restricted(attribute[first])[0]

    @property
    def occurrences(self) -> ByToken:
        """What each token has, made anew."""
        return self.at.by_token()

    @cached_property
    def squared(self) -> Occurrences:
        """With the squares of all values."""
        at = self.at
        return replace(at, row_value=at.row_value**2, pair_value=at.pair_value**2)

    @property
    def _singles(self) -> bool:
        """Whether directions are in single precision."""
        return False

    @property
    def _scores(self) -> F64:
        """Memory for the scores of a block."""
        return self.space.rows("scores", self._longest, self.scoring.width)

    @property
    def answers_stay(self) -> bool:
        # chains with attributes on arcs add what they find to the shard's answer, also those that are kept
        return self.space.keeps_answers or self.arcs is not None

    @property
    def _gradient(self) -> F64:
        return self._own_gradient if self.answers_stay else self.space.numbers("gradient", len(self.index))

    @cached_property
    def _own_gradient(self) -> F64:
        return np.empty(len(self.index))

    @property
    def _row_gradient(self) -> F64:
        return self.space.rows("row gradient", self.scoring.rows_with(self.at), self.scoring.width)

    def _load(self, theta: F64) -> Point:
        point = self._point(theta, "weights", np.float64)
        return point if self.rules is None else replace(point, transitions=point.transitions + self.rules.pairs)

    def _load_direction(self, direction: F64) -> Point:
        return self._point(direction, "direction", self._kind_of_directions)

    @property
    def _kind_of_directions(self) -> Any:
        return np.float32 if self._singles else np.float64

    def _point(self, theta: F64, name: str, kind: Any) -> Point:
        layout, scoring = self.scoring.layout, self.scoring
        weights = self.space.numbers(name, len(self.index), kind)
        rows = self.space.rows(f"{name} in rows", scoring.rows_with(self.at), scoring.width, kind)
        self._taken(theta, weights)
        transitions = layout.transition_matrix(weights[layout.pairs : layout.arcs_at])
        return Point(weights, self.scoring.rows_of(weights, rows, self.at), transitions)

    def _h(self, along: Point, block: int) -> tuple[F64, ArcH]:
        a, b = self._tokens(block)
        h = self.space.rows("h", b - a, self.scoring.width, self._kind_of_directions)
        self.scoring.scores(along.rows, along.weights, self.at, a, b, h)
        if self.added_h is not None:
            h += self.added_h
        return h, along.transitions

    def on_labels(self, nodes: F64, block: int) -> F64:
        return nodes

    def on_nodes(self, rows: F64, block: int) -> F64:
        return rows.copy()

    def _begin(self) -> None:
        self._gradient.fill(0.0)
        self._row_gradient.fill(0.0)
        self._arc_sums.fill(0.0)

    def _add(self, nodes: F64, arcs: F64, block: int, squared: bool = False) -> None:
        self._arc_sums += arcs
        at = self.squared if squared else self.at
        self.scoring.add_gradient(nodes, at, *self._tokens(block), self._row_gradient, self._gradient)

    def _scores_again(self, point: Point, a: int, b: int) -> F64:
        scores = np.empty((b - a, self.scoring.width))
        self._score(point, a, b, scores)
        return scores

    def _score(self, point: Point, a: int, b: int, scores: F64) -> None:
        self.scoring.scores(point.rows, point.weights, self.at, a, b, scores)
        if self.added is not None:
            scores += self.added
        if self.forbidden is not None:
            scores[:, : self.forbidden.shape[1]][self.forbidden[a:b]] = -np.inf


class PlainShard(Rows):
    """Chains of first order. Labels are forbidden where patches are in the way of `RestrictedShard`."""

    @property
    def has_duals(self) -> bool:
        """Whether `dual_hessian_vector` can be asked."""
        return self.loss is LOSSES["log"] and self.arcs is None

    def dual_hessian_vector(self, theta: F64, direction: F64) -> F64:
        """`hessian_vector` by forward-backward on dual numbers: from the scores on each time, with nothing kept."""
        point, along = self._load(theta), self._load_direction(direction)
        self._begin()
        for n, target in enumerate(self.targets):
            node_h, _ = self._h(along, n)
            answer = self._chain(point, n).dual_marginals(node_h, along.transitions, target.weights)
            self._add(answer.nodes, answer.arcs, n)
        return self._collected()

    @property
    def _singles(self) -> bool:
        """Whether lattices are kept in single precision: then directions need no more."""
        return self.keeping > 0 and self._narrows and self.arcs is None

    def _load(self, theta: F64) -> Point:
        point = super()._load(theta)
        if self.arcs is None:
            return point
        from trellis.scoring.arcs import patches_of

        layout = self.scoring.layout
        patches = patches_of(layout, point.weights[layout.arcs_at :])
        patching = self.arcs.patching(patches, point.transitions, self._gradient[layout.arcs_at :])
        return replace(point, patching=patching)

    def _chain(self, point: Point, block: int, keep: bool = False) -> WorkChain:
        (first, last), (a, b) = self.blocks[block], self._tokens(block)
        scores = self._scores[: b - a]
        self._score(point, a, b, scores)
        again = partial(self._scores_again, point, a, b)
        space = self._spaces.setdefault(block if keep and not self._narrows else -1, [])
        chain = WorkChain(scores, point.transitions, self.offsets[first : last + 1] - a, again, space=space)
        return chain if point.patching is None else point.patching(chain, a, b)

    def _h(self, along: Point, block: int) -> tuple[F64, ArcH]:
        h, transitions = super()._h(along, block)
        if self.arcs is None:
            return h, transitions
        layout, (a, b) = self.scoring.layout, self._tokens(block)
        return h, self.arcs.arc_h(layout, along.transitions, along.weights[layout.arcs_at :])(a, b)

    def add_arcs(self, by_patch: F64) -> None:
        if self.arcs is not None:
            self._gradient[self.scoring.layout.arcs_at :] += by_patch

    def _collected(self) -> F64:
        layout = self.scoring.layout
        self.scoring.collect(self._row_gradient, self._gradient, self.at)
        self._gradient[layout.pairs : layout.arcs_at] = self._arc_sums[layout.source, layout.target]
        return self._gradient


def _bound(examples: Examples, layout: WeightLayout) -> tuple[ArcChains | None, I64 | None]:
    """Arc attributes under new numbers, in order of appearance, and the old number of each."""
    if examples.arcs is None:
        return None, None
    from trellis.scoring.arcs import ArcChains, ArcOccurrences

    arcs, offsets = examples.arcs, examples.offsets
    at = ArcOccurrences.effective(arcs.indptr, arcs.ids, arcs.values, offsets)
    ids, old = number_by_appearance(at.ids, layout.arc_attributes)
    return ArcChains(layout.labels, replace(at, ids=ids)), old
