"""What trains a chain of labels with weights: features + scoring + chain + loss + optimiser, put together."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import SettingError
from trellis.models.batches import Sentences
from trellis.models.coarse import Pruned, learn_pruners
from trellis.models.constraints import Constraints
from trellis.models.development import Development
from trellis.models.ending import warn_of_scores, warn_of_stop
from trellis.models.fitting import Fitting
from trellis.models.gold import Labels, token_offsets
from trellis.models.imposing import best_within, check_kept, check_paths, imposed_by, narrowed, remaining
from trellis.models.known import Known, costs_of, weights_of
from trellis.models.learning import given_labels, learn_features
from trellis.models.linear import LinearChain
from trellis.models.path_rules import check_gold, encoding_of, rules_of, rules_with
from trellis.models.probable import ProbableTagger
from trellis.models.recipe import loss_of, optimizer_of, prior_of
from trellis.models.serial import description_of, model_from
from trellis.models.settings import USUAL_L2, check_settings
from trellis.models.warm import carried_over
from trellis.scoring import WeightLayout, observed_layout, of_order, with_observed_arcs
from trellis.training import Progress

if TYPE_CHECKING:
    from trellis.features import Choice, FeatureKind, Packed
    from trellis.features.template import Template

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


class ChainTagger(ProbableTagger[LinearChain]):
    """What a CRF does, under whatever name. Settings that a name has none of are as they are here; what they mean is
    said at `CRF`."""

    features: Choice = "chunking"
    loss: str | None = None
    optimizer: str = "auto"
    options: Mapping[str, Any] | None = None
    l2: float = USUAL_L2
    l1: float = 0.0
    hyperbolic: float = 0.0
    costs: float | Mapping[str, float] | None = None
    max_iter: int = 1000
    tol: float = 1e-5
    patience: int = 10
    min_count: int = 1
    hash_size: int | None = None
    tag_dictionary: int | None = None
    order: int = 1
    prune: float | None = None
    encoding: str | None = None
    only_seen: bool = False
    all_pairs: bool = False
    all_transitions: bool = False
    partial: bool = False
    warm_start: bool = False
    seed: int = 0

    _sees: Callable[[Template], bool] | None = None  # which templates there is a place for, if not for all

    _written = staticmethod(description_of)
    _read = staticmethod(model_from)

    def fit(
        self,
        X: Sentences,
        y: Labels | None = None,
        *,
        sample_weight: Any = None,
        soft: Sequence[NDArray[Any]] | None = None,
        labels: Sequence[str] | None = None,
        dev: Sentences | None = None,
        dev_y: Labels | None = None,
        constraints: Constraints | None = None,
        start: ChainTagger | None = None,
        checkpoint: str | Path | None = None,
        resume: bool = False,
        checkpoint_every: int | None = None,
        log: str | Path | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Self:
        """Trains on a corpus, or on sentences of attribute lists, dicts or arrays with their labels `y`, where None
        is a label that is not known and a set one of several.

        sample_weight: how much each sentence counts; 2 is as if it were given twice.
        soft, labels: probabilities in place of labels, an array [tokens, labels] for each sentence, and their names.
        dev, dev_y: training stops once the score there has not risen for `patience` iterations, and keeps the weights
        of the best one.
        constraints: what labellings of the training data must keep to: no others are possible in training. `allowed` is
        of these data; the rest holds for the development data, too. Give them to predictions as well.
        start: a trained model whose weights to begin with, by the names of attributes and labels; the rest is 0.
        checkpoint: a folder; the state of the training is kept there now and then (or every `checkpoint_every`
        iterations), and at the end. With `resume` the training goes on from it, to the same bits.
        log: a file; a JSON object a line at the start, after each iteration and at the end.
        progress: is called after each iteration.
        """
        from trellis.losses import Target
        from trellis.objective import Examples, cut_into_shards
        from trellis.optim import traits_of

        self._check_settings()
        fitting = Fitting(self, checkpoint, resume, checkpoint_every, log, progress)
        earlier, optimizer, prior = self._earlier(start), optimizer_of(self, self._own_options()), prior_of(self)
        given = given_labels(self, X, y, soft, labels)
        costs = costs_of(self.costs, given.labels)
        loss = loss_of(self, given.kind, costs is not None)
        offsets, gold = token_offsets(X), given.gold
        encoding = encoding_of(self.encoding, self.order, given, offsets)
        if encoding is not None and given.kind == "gold":
            check_gold(X, given, offsets, encoding)
        imposed = imposed_by(constraints, given.labels, offsets)
        if imposed is not None and given.kind == "gold":
            check_kept(X, gold, given.labels, offsets, imposed)
        features, packed = learn_features(self, X, given, self._threads, self._sees)
        if len(given.labels) == 1:
            warnings.warn(f"'{given.labels[0]}' is the only label; the model can answer nothing else", stacklevel=2)
        layout, packed = self._layout(given, packed, offsets, features), narrowed(packed, imposed)
        rules = rules_of(encoding, self.only_seen, given.labels, layout)
        weights, pruner = weights_of(sample_weight, len(offsets) - 1), None
        pruning: list[Pruned] = []
        if self.prune is not None and self.order > 0:
            pruner, packed, pruning = learn_pruners(
                self.order, self.prune, given, features, packed, offsets, layout, weights, self.l2, self._threads,
                rules, imposed,
            )  # fmt: skip
        if self.order != 1:
            layout = of_order(layout, self.order, gold, offsets, given.seen, self.all_transitions)
        model = LinearChain(
            tuple(given.labels), features, layout, np.zeros(layout.size), pruner, rules, encoding, self.only_seen
        )
        if given.possible is not None and not (imposed is None and rules is None):
            pruned = replace(model, pruner=None)  # the data have been
            check_paths(X, pruned.lattice_of_packed, packed, offsets, given.possible, imposed)
        target = Target(gold, weights, costs, given.known, given.soft)
        examples = Examples(
            packed.indptr, packed.ids, packed.values, gold, offsets, packed.arcs, packed.allowed, target,
            rules=rules_with(rules, imposed), imposed=remaining(imposed),
        )  # fmt: skip
        shards = cut_into_shards(layout, examples, loss, plain=traits_of(type(optimizer)).is_online)
        theta = model.weights if earlier is None else carried_over(model, earlier)
        best = best_within(imposed)
        held_out = None if dev is None else Development(model, dev, dev_y, self.target, self.partial, best)
        fitting.describe(model, examples, held_out, theta)
        del packed, examples
        outcome = fitting.minimised(shards, prior, optimizer, theta, held_out, [X, model], self._threads)
        columns = [] if not isinstance(X, Corpus) else list(X.file_columns or X.columns)
        self._adopt(model.with_weights(outcome.theta), outcome, columns)
        self.pruning_ = pruning if pruner is None or held_out is None else held_out.pruned(pruner, pruning)
        warn_of_scores(outcome)
        warn_of_stop(outcome, optimizer)
        return self

    def _own_options(self) -> dict[str, Any]:
        """Settings of the optimizer that are this model's own settings."""
        return {}

    def _check_settings(self) -> None:
        check_settings(self)
        if self.only_seen and (self.all_transitions or self.order == 0):
            other = "all_transitions" if self.all_transitions else "order 0"
            raise SettingError(f"only_seen has no meaning with {other}; leave one of them out")
        if self.hash_size is not None and self.min_count > 1:
            raise SettingError("min_count has no meaning with hash_size, where nothing is counted; give one of them")

    def _layout(self, given: Known, packed: Packed, offsets: I64, features: FeatureKind) -> WeightLayout:
        """Weights for what the training data shows, of first order."""
        layout = observed_layout(
            packed.indptr, packed.ids, given.gold, offsets, features.attributes, len(given.labels),
            self.all_pairs, self.all_transitions, packed.allowed, given.seen,
        )  # fmt: skip
        if packed.arcs is None:
            return layout
        if self.order != 1 or self.prune is not None:
            raise SettingError("attributes on transitions go together with order 1 and no pruning; leave one out")
        return with_observed_arcs(
            layout, packed.arcs.indptr, packed.arcs.ids, given.gold, offsets, features.arc_attributes, self.all_pairs
        )

    def _earlier(self, start: ChainTagger | None) -> LinearChain | None:
        """The model whose weights to begin with."""
        if start is not None and not isinstance(start, ChainTagger):
            raise SettingError(
                f"start is a {type(start).__name__}; expected a trained CRF or one of its kind (trellis.load)"
            )
        if start is None:
            return getattr(self, "model_", None) if self.warm_start else None
        return start._model
