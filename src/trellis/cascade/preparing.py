"""A stage made ready for training: labels, features, what it reads, and weights for all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.annotated import warn_of_few
from trellis.cascade.context import context_columns
from trellis.cascade.monomials import Curve
from trellis.cascade.packing import StageModel, is_chain, with_wires
from trellis.cascade.parting import check_columns, check_pairs, parted
from trellis.cascade.plan import Beliefs, gold_beliefs
from trellis.cascade.stage import Estimator, Stage
from trellis.cascade.wiring import Wiring
from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError, TemplateError
from trellis.features import Packed, TagDictionary, TemplateFeatures
from trellis.features.hints import written
from trellis.features.spans import SpanFeatures, parse_spans
from trellis.features.template import Template
from trellis.lattice.rules import Rules
from trellis.losses import Loss, Target
from trellis.models import NeuralCRF, SemiCRF
from trellis.models.chain_ready import chain_layout
from trellis.models.known import Known, costs_of
from trellis.models.learning import given_labels, words_of
from trellis.models.linear import LinearChain
from trellis.models.neural_chain import NeuralChain
from trellis.models.neural_learning import begun, with_inputs
from trellis.models.path_rules import check_gold, encoding_of, rules_of
from trellis.models.recipe import loss_of
from trellis.models.segment_model import SegmentModel
from trellis.models.segmenting import Segmented, segmented
from trellis.models.words import words_column
from trellis.objective import Examples
from trellis.scoring import of_order
from trellis.scoring.occurring import Occurring

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
BOOL = NDArray[np.bool_]


@dataclass(frozen=True)
class Ready:
    """`model` has weights of zero; its layout has the stage's own attributes first, those of `wiring` behind. `packed`:
    the data in its own attributes; `columns`: in the contexts of the wiring. `gold: I32[tokens]`, labels as lattices
    have them, of which there are `labels`; `known: BOOL[tokens]`, where there is one label; `fits: BOOL[sentences]`,
    which sentences count."""

    stage: Stage
    model: StageModel
    packed: Packed
    wiring: Wiring | None
    columns: I32 | None
    gold: I32
    labels: tuple[str, ...]
    known: BOOL
    target: Target
    rules: Rules | None
    loss: Loss
    offsets: I64

    @property
    def curve(self) -> Curve | None:
        return None if self.stage.smooth is None else self.stage.smooth.curve

    @property
    def gold_beliefs(self) -> Beliefs:
        return gold_beliefs(self.gold, len(self.labels), self.offsets, self.known)

    @property
    def is_chain(self) -> bool:
        """Whether labels of neighbouring tokens have a probability together that can be asked for."""
        return is_chain(self.model)

    @property
    def reads_arcs(self) -> bool:
        """Whether what is read bears on transitions."""
        return self.wiring is not None and bool(self.wiring.transitions)

    def examples(self, occurring: tuple[Occurring, Occurring | None] | None) -> Examples:
        """The training data, with what was read of lower stages, if anything."""
        packed = self.packed if occurring is None else with_wires(self.packed, self.model.features, *occurring)
        return self._examples(packed, self.packed.arcs if occurring is None else packed.arcs)

    def own_examples(self, weight: float) -> Examples:
        """The same without that, with a weight for the stage's loss. Attributes on transitions are with what is read,
        if that bears on transitions."""
        arcs = None if self.reads_arcs else self.packed.arcs
        examples, weights = self._examples(self.packed, arcs), self.target.weights
        if weights is None and weight == 1.0:
            return examples
        weights = np.full(len(self.offsets) - 1, weight) if weights is None else weight * weights
        return replace(examples, more=replace(examples.target, weights=weights))

    def _examples(self, packed: Packed, arcs: Packed | None) -> Examples:
        return Examples(
            packed.indptr, packed.ids, packed.values, self.gold, self.offsets, arcs, packed.allowed, self.target,
            packed.spans, rules=self.rules,
        )  # fmt: skip


def prepared(
    stage: Stage, corpus: Corpus, lower: Sequence[Ready], targets: Sequence[str], seed: int, threads: int
) -> Ready:
    """`lower`: all stages that may be read; `targets`: of all stages."""
    estimator = stage.estimator(seed, threads)
    try:
        read = [one for one in lower if one.stage.target in stage.reads]
        ready = _prepared(stage, estimator, corpus, read, targets, threads)
        warn_of_few(stage, ready.known, read)
        check_columns(ready.model.features, ready.wiring, targets)
        return ready
    except (SettingError, TemplateError) as error:
        raise type(error)(f"stage '{stage.target}': {error}") from None
    except DataError as error:
        error.add_note(f"in stage '{stage.target}'")
        raise


def _prepared(
    stage: Stage,
    estimator: Estimator,
    corpus: Corpus,
    lower: Sequence[Ready],
    targets: Sequence[str],
    threads: int,
) -> Ready:
    offsets = corpus.offsets
    given = given_labels(estimator, corpus, None)
    features, packed, wired, functions = _own_features(stage, estimator, corpus, given, targets, threads)
    wiring, columns = None, None
    if lower:
        names = {one.stage.target: one.labels for one in lower}
        beliefs = [one.gold_beliefs for one in lower]
        check_pairs(wired, {one.stage.target: one.is_chain for one in lower})
        wiring = Wiring.learn(wired, corpus, stage.target, names, beliefs, functions, estimator.min_count)
        columns = None if wiring.context is None else context_columns(wiring.context, corpus)
    if isinstance(estimator, SemiCRF):
        return _segments(stage, estimator, corpus, given, features, packed, wiring, columns, lower)
    costs = costs_of(estimator.costs, given.labels)
    loss = loss_of(estimator, given.kind, costs is not None)
    encoding = encoding_of(estimator.encoding, estimator.order, given, offsets)
    if encoding is not None and given.kind == "gold":
        check_gold(corpus, given, offsets, encoding)
    seen = _as_seen(packed, features, wiring, columns, lower, offsets)
    layout = chain_layout(estimator, given, seen, offsets, _Counts.of(features, wiring))
    rules = rules_of(encoding, estimator.only_seen, given.labels, layout)
    if estimator.order != 1:
        layout = of_order(layout, estimator.order, given.gold, offsets, given.seen, estimator.all_transitions)
    linear = LinearChain(
        tuple(given.labels), features, layout, np.zeros(layout.size), None, rules, encoding, estimator.only_seen
    )
    model: StageModel = linear
    if isinstance(estimator, NeuralCRF):
        features, encoder = begun(estimator, features, len(given.labels))
        model = NeuralChain.of(replace(linear, features=features), encoder)
    known, weights = _known(given, offsets)
    target = Target(given.gold, weights, costs, given.known)
    return Ready(
        stage, model, packed, wiring, columns, given.gold, tuple(given.labels), known,
        target, rules, loss, offsets,
    )  # fmt: skip


def _segments(
    stage: Stage,
    estimator: SemiCRF,
    corpus: Corpus,
    given: Known,
    features: TemplateFeatures,
    packed: Packed,
    wiring: Wiring | None,
    columns: I32 | None,
    lower: Sequence[Ready],
) -> Ready:
    from trellis.labels.encode import labels_of

    offsets = corpus.offsets
    if packed.arcs is not None or (wiring is not None and wiring.arc_attributes):
        raise SettingError("attributes on transitions have no place in a semi-crf; leave them out")
    loss = loss_of(estimator, given.kind, False)
    segs: Segmented = segmented(given, offsets, estimator.longest)
    parts = parse_spans(estimator.segments)
    if parts:
        column = words_of(corpus, stage.target, [one.stage.target for one in lower])
        short = segs.end - segs.start <= segs.types.longest[0]
        spans = SpanFeatures.learn(
            column, parts, corpus[column], segs.start[short], segs.end[short], estimator.min_count
        )
        features = replace(features, spans=spans)
        packed = replace(packed, spans=spans.transform(corpus[column], offsets))
    seen = _as_seen(packed, features, wiring, columns, lower, offsets)
    layout = estimator._layout(segs, seen, offsets, _Counts.of(features, wiring))
    model = SegmentModel.of(segs.kinds, segs.encoding, features, layout, np.zeros(layout.size))
    if not segs.fits.any():
        raise DataError("every sentence has a segment that is longer than `longest` allows; allow longer ones")
    known, weights = _known(given, offsets)
    weights = np.where(segs.fits, 1.0 if weights is None else weights, 0.0)
    target = Target(segs.gold, None if np.all(weights == 1.0) else weights, None, segs.known)
    return Ready(
        stage, model, packed, wiring, columns, segs.gold, tuple(labels_of(segs.kinds, "iob2")), known,
        target, None, loss, offsets,
    )  # fmt: skip


@dataclass(frozen=True)
class _Counts:
    """How many attributes there are: what layouts ask of features."""

    attributes: int
    arc_attributes: int
    spans: SpanFeatures | None

    @classmethod
    def of(cls, features: TemplateFeatures, wiring: Wiring | None) -> Any:
        more, arcs = (0, 0) if wiring is None else (wiring.attributes, wiring.arc_attributes)
        return cls(features.attributes + more, features.arc_attributes + arcs, features.spans)


def _as_seen(
    packed: Packed,
    features: TemplateFeatures,
    wiring: Wiring | None,
    columns: I32 | None,
    lower: Sequence[Ready],
    offsets: I64,
) -> Packed:
    """With what would be read if lower stages were right: weights exist for what goes together then."""
    if wiring is None:
        return packed
    labels, arcs = wiring.expand([one.gold_beliefs for one in lower], columns, offsets, 0.0)
    return with_wires(packed, features, labels.occurring, None if arcs is None else arcs.occurring)


def _known(given: Known, offsets: I64) -> tuple[BOOL, F64 | None]:
    """Tokens with one label, BOOL[tokens], and which sentences have any, as weights; None if all have."""
    if given.known is None:
        return np.ones(len(given.gold), bool), None
    known = np.asarray(given.known.sum(axis=1) == 1)
    informed = ~given.known.all(axis=1)
    sentence = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    some = np.bincount(sentence, weights=informed, minlength=len(offsets) - 1) > 0
    return known, None if some.all() else some.astype(np.float64)


def _own_features(
    stage: Stage, estimator: Estimator, corpus: Corpus, given: Known, targets: Sequence[str], threads: int
) -> tuple[TemplateFeatures, Packed, tuple[Template, ...], Mapping[str, Any]]:
    """What the stage sees of the input, learnt, and its templates that read lower stages."""
    from trellis.features import callables_of, templates_for

    compact, functions = corpus.compact(), callables_of(estimator.features)
    templates: tuple[Template, ...] = ()
    if not isinstance(estimator, NeuralCRF) or estimator.features != "":
        templates = templates_for(estimator.features, list(compact.columns), stage.target, compact.file_columns)
    own, wired = parted(templates, stage.reads)
    for name in stage.reads:
        if not any(part.view.column == name for template in wired for part in template.parts):
            wired += templates_for(
                "{0}[-2:2] + ({0}[-1] & {0}[0]) + ({0}[0] & {0}[1])".format(written(name)),
                list(compact.columns),
                stage.target,
            )
    features, packed = TemplateFeatures.learn(
        compact, own, stage.target, functions, estimator.min_count, estimator.hash_size, threads
    )
    if estimator.tag_dictionary is not None:
        column = words_of(compact, stage.target, stage.reads)
        words, labels = compact[column], len(given.labels)
        known = TagDictionary.learn(column, words, given.gold, labels, estimator.tag_dictionary)
        features, packed = replace(features, dictionary=known), replace(packed, allowed=known.allowed(words))
    if isinstance(estimator, NeuralCRF):
        column = words_column(
            compact, estimator.words, stage.target, [name for name in targets if name != stage.target]
        )
        features, packed = with_inputs(estimator, compact, column, features, packed, targets)
    return features, packed, wired, functions
