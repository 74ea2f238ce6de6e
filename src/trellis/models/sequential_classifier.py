"""v1 of the ladder: a classifier that goes from left to right and looks back at its own labels."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import SettingError
from trellis.features import Packed
from trellis.models.batches import Sentences
from trellis.models.constraints import Constraints
from trellis.models.development import Development
from trellis.models.ending import warn_of_scores, warn_of_stop
from trellis.models.gold import Labels, gold_of, token_offsets
from trellis.models.histories import local_layout
from trellis.models.keeping import Keeping
from trellis.models.known import Known, weights_of
from trellis.models.learning import given_labels, learn_features
from trellis.models.linear import LinearChain
from trellis.models.path_rules import check_gold, encoding_of, rules_of
from trellis.models.probabilities import numbered
from trellis.models.probable import ProbableTagger
from trellis.models.recipe import loss_of, optimizer_of, prior_of
from trellis.models.sequential_chain import SequentialChain
from trellis.models.sequential_serial import sequential_description_of, sequential_model_from
from trellis.models.settings import USUAL_L2, check_settings
from trellis.models.warm import carried_over
from trellis.scoring import WeightLayout, observed_layout
from trellis.training import Outcome, Progress

if TYPE_CHECKING:
    from trellis.features import Choice
    from trellis.models.exploring import Labelled
    from trellis.optim import Optimizer

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


class SequentialClassifier(ProbableTagger[SequentialChain]):
    """Multinomial logistic regression for each token, given the labels before it:

        P(y | x) = prod_t P(y_t | x, y_(t-1), ..., y_(t-order))

    With `beam=1` it is greedy; with no beam it is a maximum-entropy Markov model with Viterbi decoding (McCallum,
    Freitag and Pereira 2000), label bias included (see docs/label-bias.md).

    order: how many labels before its own a label looks at, 1 to 4, with weights for the pieces of history seen.
    beam: how many histories are kept at each token in search of the best labels; None for all, which is exact. It can
    be changed after training: `model.set_params(beam=5)`.
    explore: so many times, the trained classifier labels the training sentences itself, drawing labels at random as it
    believes in them, and is trained again with these histories added: so that it learns what to do after mistakes.
    encoding, only_seen: what labels may follow which, as for a `CRF`; choices are made among these. (only_seen is about
    pairs of labels alone.)
    target, features, loss, optimizer, options, l2, l1, hyperbolic, max_iter, tol, patience, min_count, hash_size,
    tag_dictionary, all_pairs, seed, threads: as for a `CRF`; losses are of tokens.
    """

    # settings of other models that labels are looked at with
    partial: bool = False

    def __init__(
        self,
        target: str | None = None,
        features: Choice = "chunking",
        order: int = 1,
        beam: int | None = None,
        explore: int = 0,
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
        hash_size: int | None = None,
        tag_dictionary: int | None = None,
        encoding: str | None = None,
        only_seen: bool = False,
        all_pairs: bool = False,
        seed: int = 0,
        threads: int | None = None,
    ):
        self.target = target
        self.features = features
        self.order = order
        self.beam = beam
        self.explore = explore
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
        self.hash_size = hash_size
        self.tag_dictionary = tag_dictionary
        self.encoding = encoding
        self.only_seen = only_seen
        self.all_pairs = all_pairs
        self.seed = seed
        self.threads = threads

    _written = staticmethod(sequential_description_of)
    _read = staticmethod(sequential_model_from)

    @property
    def _model(self) -> SequentialChain:
        """With the beam as it is set now."""
        check_settings(self, "beam")
        model = super()._model
        return model if model.beam == self.beam else replace(model, beam=self.beam)

    def fit(
        self,
        X: Sentences,
        y: Labels | None = None,
        *,
        sample_weight: Any = None,
        dev: Sentences | None = None,
        dev_y: Labels | None = None,
        checkpoint: str | Path | None = None,
        resume: bool = False,
        checkpoint_every: int | None = None,
        log: str | Path | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Self:
        """Trains on a corpus, or on sentences of attribute lists, dicts or arrays with their labels `y`.

        sample_weight, dev, dev_y, checkpoint, resume, checkpoint_every, log, progress: as for `CRF.fit`. With `explore`
        each of the trainings keeps its checkpoint and its log under its own name: gold, explore-1, ...
        """
        from trellis.models.exploring import Labelled, layout_after

        self._check_settings()
        keeping = Keeping(checkpoint, resume, checkpoint_every, log, progress)
        optimizer, given = self._optimizer(), given_labels(self, X, y)
        if given.kind != "gold":
            raise SettingError("a sequential classifier needs one label for each token")
        offsets = token_offsets(X)
        encoding = encoding_of(self.encoding, int(self.order), given, offsets)
        if encoding is not None:
            check_gold(X, given, offsets, encoding)
        features, packed = learn_features(self, X, given, self._threads)
        if packed.arcs is not None and self.order != 1:
            raise SettingError("attributes on transitions go together with order 1; leave one out")
        if len(given.labels) == 1:
            warnings.warn(f"'{given.labels[0]}' is the only label; the model can answer nothing else", stacklevel=2)
        data = Labelled(packed, given.gold, offsets, weights_of(sample_weight, len(offsets) - 1))
        base = self._attributes(given, data, features.attributes, features.arc_attributes)
        histories: list[I32] = [given.gold]
        layout = layout_after(base, data, histories, int(self.order))
        rules = rules_of(encoding, self.only_seen, given.labels, layout)
        linear = LinearChain(
            tuple(given.labels), features, layout, np.zeros(layout.size), None, rules, encoding, self.only_seen
        )
        held_out = None if dev is None else Development(SequentialChain.of(linear, self.beam), dev, dev_y, self.target)
        outcome = self._trained(linear, data, histories, optimizer, keeping, "gold", held_out, X)
        for n in range(1, int(self.explore) + 1):
            before = linear.with_weights(outcome.theta)
            histories.append(_drawn(before, data, int(self.seed) + n))
            layout = layout_after(base, data, histories, int(self.order))
            linear = replace(linear, layout=layout, weights=np.zeros(layout.size), prepared=None)
            linear = linear.with_weights(carried_over(linear, before))
            held_out = (
                None if dev is None else Development(SequentialChain.of(linear, self.beam), dev, dev_y, self.target)
            )
            outcome = self._trained(linear, data, histories, optimizer, keeping, f"explore-{n}", held_out, X)
        model = SequentialChain.of(linear, self.beam).with_weights(outcome.theta)
        columns = [] if not isinstance(X, Corpus) else list(X.file_columns or X.columns)
        self._adopt(model, outcome, columns)
        warn_of_scores(outcome)
        warn_of_stop(outcome, optimizer)
        return self

    def log_probability(self, X: Sentences, y: Labels | None = None, constraints: Constraints | None = None) -> F64:
        """log P(labels) of each sentence, F64[sentences]; labels are `y`, or the target column of a corpus."""
        model = self._model
        if constraints is not None or model.order == 1:
            return super().log_probability(X, y, constraints)
        labels = numbered(model.labels, gold_of(X, y, self.target).values(), "the data")

        def answer(packed: Packed, own: I64, first: int) -> F64:
            return model.log_probabilities(packed, own, labels[first : first + int(own[-1])])

        return np.concatenate([np.zeros(0), *model.placed_batches(X, self._threads, answer)])

    def _trained(
        self,
        linear: LinearChain,
        data: Labelled,
        histories: list[I32],
        optimizer: Optimizer,
        keeping: Keeping,
        name: str,
        held_out: Development | None,
        X: Sentences,
    ) -> Outcome:
        """One training, on the histories so far."""
        from trellis.models.exploring import examples_after
        from trellis.objective import cut_into_shards

        fitting = keeping.fitting(self, name) if self.explore else keeping.only(self)
        examples = examples_after(data, linear.layout, histories, linear.rules)
        shards = cut_into_shards(local_layout(linear.layout), examples, loss_of(self, "gold", False))
        fitting.describe(linear, examples, held_out, linear.weights)
        del examples
        return fitting.minimised(shards, prior_of(self), optimizer, linear.weights, held_out, [X], self._threads)

    def _check_settings(self) -> None:
        check_settings(self)
        if self.order == 0:
            raise SettingError("order is 0: without labels before its own that is a LocalClassifier")
        if self.hash_size is not None and self.min_count > 1:
            raise SettingError("min_count has no meaning with hash_size, where nothing is counted; give one of them")

    def _optimizer(self) -> Optimizer:
        from trellis.optim import traits_of

        optimizer = optimizer_of(self)
        if traits_of(type(optimizer)).is_online or traits_of(type(optimizer)).learns:
            raise SettingError(
                f"optimizer '{self.optimizer}' goes sentence by sentence, and histories are of tokens; use auto, "
                "lbfgs, owlqn or newton-cg"
            )
        return optimizer

    def _attributes(self, given: Known, data: Labelled, attributes: int, arc_attributes: int) -> WeightLayout:
        """Weights for what the features show."""
        packed = data.packed
        layout = observed_layout(
            packed.indptr, packed.ids, given.gold, data.offsets, attributes, len(given.labels), self.all_pairs, False,
            packed.allowed,
        )  # fmt: skip
        return replace(layout, arc_start=np.zeros(arc_attributes + 1, np.int64))


def _drawn(linear: LinearChain, data: Labelled, seed: int) -> I32:
    """Labels that the classifier gives the training data, drawn from left to right."""
    rng, model = np.random.default_rng(seed), SequentialChain.of(linear)
    return np.concatenate([chain.sample(rng) for chain in model.histories(data.packed, data.offsets)])
