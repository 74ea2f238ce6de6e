"""Conditional random field over lattices that are given node by node, such as the words that a text may contain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError, SettingError
from trellis.features.lattices import Lattices
from trellis.metrics.report import Report
from trellis.models.agreeing import agreed_on, matches
from trellis.models.ending import warn_of_scores, warn_of_stop
from trellis.models.fitting import Fitting
from trellis.models.known import weights_of
from trellis.models.lattice_learning import lattice_layout, learn_arcs, learn_nodes
from trellis.models.lattice_model import LatticeModel
from trellis.models.lattice_paths import (
    Given,
    Known,
    LatticePath,
    LatticesHeldOut,
    NearPath,
    Segment,
    lattices_of,
    report_of,
    segments_of,
    those_that_fit,
)
from trellis.models.lattice_serial import lattice_description_of, lattice_model_from
from trellis.models.linear import MOST_LABELS
from trellis.models.probabilities import Span, kbest_in, log_probabilities_in
from trellis.models.recipe import loss_of, optimizer_of, prior_of
from trellis.models.settings import USUAL_L2, check_draws, check_probability, check_settings, is_count
from trellis.models.trained import Trained
from trellis.training import Progress

if TYPE_CHECKING:
    from trellis.features import Choice
    from trellis.lattice.explicit import ExplicitLattice

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]


class LatticeCRF(Trained[LatticeModel]):
    """A conditional random field over the paths of lattices, which say what is possible (see `Lexicon`, `Lattice`).

    features: of nodes, where these have columns as those of a lexicon do: a preset, an expression or templates, all at
    the node itself, [0]. Nodes that are given with lists of attributes bring their features.
    arcs: columns, with + between them, whose two values at neighbouring nodes together are features of arcs. That one
    label follows another is a feature always.
    all_nodes: weights for what any node has, not only those on right paths.
    all_transitions: weights for every pair of labels.
    partial: what is given in y is only part of a path.
    loss, optimizer, options, l2, l1, hyperbolic, max_iter, tol, patience, min_count, seed, threads: as for `CRF`.

    After `fit`: `classes_`, `objective_`, `converged_`, `iterations_`, `evaluations_`, `seconds_`, and with a dev set
    `stopped_early_`, `dev_score_`.
    """

    order = 2  # for optimisers: more than those know that go by single sentences

    def __init__(
        self,
        features: Choice = "lexicon",
        arcs: str = "",
        loss: str | None = None,
        optimizer: str = "auto",
        options: Mapping[str, Any] | None = None,
        l2: float = USUAL_L2,
        l1: float = 0.0,
        hyperbolic: float = 0.0,
        max_iter: int = 1000,
        tol: float = 1e-5,
        patience: int = 10,
        min_count: int = 1,
        all_nodes: bool = False,
        all_transitions: bool = False,
        partial: bool = False,
        seed: int = 0,
        threads: int | None = None,
    ):
        self.features = features
        self.arcs = arcs
        self.loss = loss
        self.optimizer = optimizer
        self.options = options
        self.l2 = l2
        self.l1 = l1
        self.hyperbolic = hyperbolic
        self.max_iter = max_iter
        self.tol = tol
        self.patience = patience
        self.min_count = min_count
        self.all_nodes = all_nodes
        self.all_transitions = all_transitions
        self.partial = partial
        self.seed = seed
        self.threads = threads

    _written = staticmethod(lattice_description_of)
    _read = staticmethod(lattice_model_from)

    def fit(
        self,
        X: Given,
        y: Known | None = None,
        *,
        sample_weight: Any = None,
        soft: Sequence[Any] | None = None,
        dev: Given | None = None,
        dev_y: Known | None = None,
        checkpoint: str | Path | None = None,
        resume: bool = False,
        checkpoint_every: int | None = None,
        log: str | Path | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Self:
        """Trains on lattices and their right paths.

        y: for each lattice the segments of its path, each as (start, end, label) or as the number of a node. Of a label
        that is None or a set, any will do. With `partial`, segments that are not there are not known. Lattices that do
        not have a segment are not learnt from, with a warning.
        soft: in place of y, for each lattice the probability of each of its nodes.
        The rest is as for `CRF.fit`; the score of development data is the F1 of segments with their labels.
        """
        from trellis.losses import Target
        from trellis.objective import Examples, cut_into_shards

        check_settings(self)
        fitting = Fitting(self, checkpoint, resume, checkpoint_every, log, progress)
        optimizer, prior, data = optimizer_of(self), prior_of(self), lattices_of(X)
        given, weights = agreed_on(data, y, soft, self.partial), weights_of(sample_weight, len(data))
        loss = loss_of(self, given.kind, False)
        if not given.fits.all():
            data, given, weights = those_that_fit(data, given, weights)
        if not len(data.start):
            raise DataError("there is no node to learn from")
        if len(data.labels.strings) > MOST_LABELS:
            raise DataError(f"{len(data.labels.strings):,} different labels of nodes; at most {MOST_LABELS:,}")
        seen = np.ones(len(given.seen), bool) if self.all_nodes else given.seen
        features, nodes = learn_nodes(self, data, seen)
        arc_features = learn_arcs(self, data, seen)
        labels = data.labels  # of a lexicon all, also those of words that training does not meet
        layout = lattice_layout(data, labels, nodes, seen, features, arc_features, self.all_transitions)
        model = LatticeModel(tuple(labels.strings), features, arc_features, layout, np.zeros(layout.size))
        packed, lattices = model.packed(data)
        target = Target(given.path, weights, None, given.known, given.soft)
        examples = Examples(
            packed.indptr, packed.ids, packed.values, given.path, data.offsets, more=target, lattices=lattices
        )
        shards = cut_into_shards(layout, examples, loss)
        if dev is None and dev_y is not None:
            raise SettingError("dev_y is given without dev, the lattices that it belongs to")
        held_out = None if dev is None else LatticesHeldOut(model, lattices_of(dev), dev_y)
        fitting.describe(model, examples, held_out, model.weights)
        del packed, examples
        outcome = fitting.minimised(shards, prior, optimizer, model.weights, held_out, [data, model], self._threads)
        self._adopt(model.with_weights(outcome.theta), outcome, [])
        warn_of_scores(outcome)
        warn_of_stop(outcome, optimizer)
        return self

    def predict(self, X: Given) -> list[list[Segment]]:
        """The segments of the best path through each lattice."""
        data = lattices_of(X)
        return segments_of(data, self._best(data))

    def predict_nodes(self, X: Given) -> list[list[int]]:
        """The numbers of the nodes on the best path through each lattice."""
        data = lattices_of(X)
        on = self._best(data)
        return [np.flatnonzero(on[a:b]).tolist() for a, b in pairwise(data.offsets.tolist())]

    def predict_marginals(self, X: Given) -> list[F64]:
        """P(node) for each node of each lattice."""
        data = lattices_of(X)
        p = self._marginals(data)
        return [p[a:b] for a, b in pairwise(data.offsets.tolist())]

    def predict_kbest(self, X: Given, k: int = 5) -> list[list[LatticePath]]:
        """The k most probable paths through each lattice (fewer where there are no more), best first, with the
        logarithms of their probabilities. They are exact and all different."""
        if not is_count(k):
            raise SettingError(f"k is {k!r}; expected a whole number >= 1")
        data = lattices_of(X)

        def answer(lattice: ExplicitLattice) -> list[list[tuple[I32, float]]]:
            lattice.require_paths(lattice.best()[1])
            return kbest_in(lattice, int(k))

        found = [paths for batch in self._model.batches(data, self._threads, answer) for paths in batch]
        return [
            [LatticePath(segments_of(own, path)[0], log_p) for path, log_p in paths]
            for own, paths in ((data.part(s, s + 1), paths) for s, paths in enumerate(found))
        ]

    def predict_near(self, X: Given, beam: int) -> list[NearPath]:
        """The segments of a good path through each lattice, found by letting only the so many best nodes at a time go
        on, and how near it is to the best."""
        if not is_count(beam):
            raise SettingError(f"beam is {beam!r}; expected a whole number >= 1")
        data = lattices_of(X)
        found = self._model.batches(data, self._threads, lambda lattice: lattice.beam(int(beam)))
        paths = segments_of(data, np.concatenate([np.zeros(0, np.int32), *(path for path, _, _ in found)]))
        gaps = [gap for _, totals, bounds in found for gap in np.maximum(bounds - totals, 0.0).tolist()]
        return [NearPath(path, gap) for path, gap in zip(paths, gaps, strict=True)]

    def predict_posterior(self, X: Given) -> list[list[Segment]]:
        """The segments of the path with the highest sum of their probabilities."""
        data = lattices_of(X)
        paths = self._model.batches(data, self._threads, lambda lattice: lattice.posterior()[0])
        return segments_of(data, np.concatenate([np.zeros(0, np.int32), *paths]))

    def sample(self, X: Given, count: int = 1, seed: int = 0) -> list[list[list[Segment]]]:
        """For each lattice the segments of so many paths, drawn as often as they are probable."""
        check_draws(count, seed)
        data, rng = lattices_of(X), np.random.default_rng(seed)
        drawn = self._model.batches(data, 1, lambda lattice: lattice.sample(int(count), rng))
        paths = np.concatenate([np.zeros((int(count), 0), np.int32), *drawn], axis=1)
        return [list(each) for each in zip(*(segments_of(data, path) for path in paths), strict=True)]

    def entropy(self, X: Given) -> F64:
        """How unsure the model is of the path through each lattice, in nats: F64[lattices]."""
        found = self._model.batches(lattices_of(X), self._threads, lambda lattice: lattice.entropy())
        return np.concatenate([np.zeros(0), *found])

    def predict_spans(self, X: Given, min_confidence: float = 0.0) -> list[list[Span]]:
        """The segments of the best path with the probability that each is on the path, whatever else is; those with at
        least that probability."""
        data, least = lattices_of(X), check_probability("min_confidence", min_confidence)
        on, p = self._best(data), self._marginals(data)
        kept = on * (p >= least)
        return [
            [Span(*segment, q) for segment, q in zip(own, p[a:b][kept[a:b] == 1].tolist(), strict=True)]
            for own, (a, b) in zip(segments_of(data, kept), pairwise(data.offsets.tolist()), strict=True)
        ]

    def log_probability(self, X: Given, y: Known) -> F64:
        """Of the paths that are given, each in full, F64[lattices]; -inf for what is no path of the lattice."""
        data = lattices_of(X)
        given = agreed_on(data, y, None, False, check=False)
        if given.kind != "gold":
            raise DataError("log_probability needs one node for each segment; give numbers of nodes, or single labels")

        def answer(lattice: ExplicitLattice, node: int) -> F64:
            return log_probabilities_in(lattice, given.path[node : node + len(lattice.node_scores)])

        found = np.concatenate([np.zeros(0), *self._model.placed_batches(data, self._threads, answer)])
        return np.where(given.fits, found, -np.inf)

    def evaluate(self, X: Given, y: Known) -> Report:
        """Precision, recall and F1 of segments with their labels; accuracy is the share of them that are found."""
        data = lattices_of(X)
        matches(data, y)  # says what is wrong with y
        return report_of(data, self._best(data), y)

    def score(self, X: Given, y: Known) -> float:
        """The F1 of segments with their labels."""
        return self.evaluate(X, y).headline

    def _best(self, data: Lattices) -> I32:
        def answer(lattice: ExplicitLattice) -> I32:
            path, totals = lattice.best()
            lattice.require_paths(totals)
            return path

        return np.concatenate([np.zeros(0, np.int32), *self._model.batches(data, self._threads, answer)])

    def _marginals(self, data: Lattices) -> F64:
        def answer(lattice: ExplicitLattice) -> F64:
            found = lattice.marginals()
            lattice.require_paths(found.log_z)
            return found.nodes

        return np.concatenate([np.zeros(0), *self._model.batches(data, self._threads, answer)])
