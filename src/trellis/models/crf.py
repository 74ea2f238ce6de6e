"""Conditional random field: features + scoring + chain + loss + optimiser, put together under one name."""

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

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


class CRF(ProbableTagger[LinearChain]):
    """A chain of labels whose probability depends on the data: a conditional random field.

    target: the column to predict (for a corpus; lists bring their labels as `y`).
    features: a preset (`chunking`), a template file, or template lines.
    loss: log, exp, pointwise-log, pointwise-exp, hinge or softmax-margin (see docs/training.md); None for the
    optimizer's own if it has one, such as the perceptron, and log for all others.
    optimizer: auto, lbfgs, owlqn, cg or newton-cg; sentence by sentence sgd, adagrad, saga, eg, perceptron, pa, arow,
    mira or bcfw; weight by weight boosting. options: its own settings by name, e.g. {"memory": 50}.
    l2: 1/sigma^2 of a Gaussian prior; the penalty is l2/2 * |theta|^2.
    l1: the penalty l1 * |theta|_1, under which many weights are 0; needs the optimizer owlqn, which auto takes, or
    adagrad.
    hyperbolic: strength of a prior between the two, with the penalty of l1 for large weights and that of l2 near 0.
    costs: what a mistake costs, one number or a dict of them by the token's label, 1 where not named; for hinge and
    softmax-margin their margin, for the pointwise losses the weight of a token.
    min_count: attributes that occur less often in training are left out.
    hash_size: number attributes by a hash into so many places rather than keep them all (see docs/features.md).
    tag_dictionary: words seen at least so often may only have the labels they were seen with, in training and after.
    order: how many labels before its own the label of a token depends on; 0 for none. Above 1 there are weights for the
    tuples of labels seen, up to that length.
    prune: labels whose probability in a chain of lower order (0, 1, ...) is less than this are left out before the next
    order is trained or asked; 0.001 is a good number where there are hundreds of labels, or an order above 1. None: no
    label is left out.
    encoding: only well-formed sequences of this encoding of segments are possible, in training and after (no I-X after
    O in iob2): its name, or auto for the one that the labels are of.
    only_seen: labels may only follow each other as they do in training: pairs, and longer tuples up to the order. By
    default what was not seen scores 0.
    all_pairs, all_transitions: weights for every (attribute, label) and every transition, not only those seen.
    partial: in the target column `?` is a token whose label is not known and `A|B` one that is A or B.
    warm_start: a further `fit` begins with the weights of the last one, by the names of attributes and labels.
    seed: of whatever optimisers draw at random.
    threads: how many to use; None for all. Results do not depend on it.

    After `fit`: `classes_`, `columns_` (of the training file, by position), `objective_` (regularised, summed over the
    corpus), `converged_`, `iterations_`, `evaluations_`, `seconds_`, with a dev set `stopped_early_`, `dev_score_`, and
    `pruning_`, what each order of pruning left and lost.
    """

    def __init__(
        self,
        target: str | None = None,
        features: Choice = "chunking",
        loss: str | None = None,
        optimizer: str = "auto",
        options: Mapping[str, Any] | None = None,
        l2: float = USUAL_L2,
        l1: float = 0.0,
        hyperbolic: float = 0.0,
        costs: float | Mapping[str, float] | None = None,
        max_iter: int = 1000,
        tol: float = 1e-5,
        patience: int = 10,
        min_count: int = 1,
        hash_size: int | None = None,
        tag_dictionary: int | None = None,
        order: int = 1,
        prune: float | None = None,
        encoding: str | None = None,
        only_seen: bool = False,
        all_pairs: bool = False,
        all_transitions: bool = False,
        partial: bool = False,
        warm_start: bool = False,
        seed: int = 0,
        threads: int | None = None,
    ):
        self.target = target
        self.features = features
        self.loss = loss
        self.optimizer = optimizer
        self.options = options
        self.l2 = l2
        self.l1 = l1
        self.hyperbolic = hyperbolic
        self.costs = costs
        self.max_iter = max_iter
        self.tol = tol
        self.patience = patience
        self.min_count = min_count
        self.hash_size = hash_size
        self.tag_dictionary = tag_dictionary
        self.order = order
        self.prune = prune
        self.encoding = encoding
        self.only_seen = only_seen
        self.all_pairs = all_pairs
        self.all_transitions = all_transitions
        self.partial = partial
        self.warm_start = warm_start
        self.seed = seed
        self.threads = threads

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
        start: CRF | None = None,
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
        earlier, optimizer, prior = self._earlier(start), optimizer_of(self), prior_of(self)
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
        features, packed = learn_features(self, X, given, self._threads)
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

    def _earlier(self, start: CRF | None) -> LinearChain | None:
        """The model whose weights to begin with."""
        if start is not None and not isinstance(start, CRF):
            raise SettingError(f"start is a {type(start).__name__}; expected a trained CRF (trellis.load reads one)")
        if start is None:
            return getattr(self, "model_", None) if self.warm_start else None
        return start._model
