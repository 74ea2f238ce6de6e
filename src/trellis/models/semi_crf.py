"""Semi-Markov conditional random field: segments as wholes (Sarawagi and Cohen 2005)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError
from trellis.features import FeatureKind, TemplateFeatures
from trellis.features.spans import SpanFeatures, parse_spans
from trellis.labels.encode import encoded, labels_of
from trellis.models.batches import Sentences
from trellis.models.constraints import Constraints
from trellis.models.development import Development
from trellis.models.ending import warn_of_scores, warn_of_stop
from trellis.models.fitting import Fitting
from trellis.models.gold import Labels, token_offsets
from trellis.models.imposing import best_within, check_kept, check_paths, imposed_by
from trellis.models.known import WORTH_A_WEIGHT, Soft, weights_of, without_pairs
from trellis.models.learning import given_labels, learn_features, words_of
from trellis.models.probable import ProbableTagger
from trellis.models.recipe import loss_of, optimizer_of, prior_of
from trellis.models.segment_model import SegmentModel
from trellis.models.segment_serial import segment_description_of, segment_model_from
from trellis.models.segmenting import Segmented, segmented
from trellis.models.settings import USUAL_L2, check_settings
from trellis.scoring import observed_layout
from trellis.training import Progress

if TYPE_CHECKING:
    from trellis.features import Choice, Packed
    from trellis.scoring.segments import SegmentLayout

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


class SemiCRF(ProbableTagger[SegmentModel]):
    """A CRF over segments: a path is a sequence of segments, with features of their tokens and of them as wholes.

    target: the column to predict, whose labels spell segments (B-NP, I-NP, O or another encoding).
    features: of tokens, as for `CRF`; a token's label is then B of its segment's type, I, or O.
    segments: features of whole segments, with + between them: surface, lower, shape, words, length, gazetteer(FILE);
    "" for none. Sentences given as lists have none.
    longest: the most tokens of a segment, or a dict of these by type; None for as long as any in training.
    The rest is as for `CRF`.
    """

    order = 2  # for optimisers: more than those know that go by single sentences
    learns_evidence = False  # probabilities alone, where labels are soft

    def __init__(
        self,
        target: str | None = None,
        features: Choice = "chunking",
        segments: str = "length",
        longest: int | Mapping[str, int] | None = None,
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
        all_pairs: bool = False,
        partial: bool = False,
        seed: int = 0,
        threads: int | None = None,
    ):
        self.target = target
        self.features = features
        self.segments = segments
        self.longest = longest
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
        self.all_pairs = all_pairs
        self.partial = partial
        self.seed = seed
        self.threads = threads

    tag_dictionary: int | None = None
    hash_size: int | None = None

    _written = staticmethod(segment_description_of)
    _read = staticmethod(segment_model_from)

    def fit(
        self,
        X: Sentences,
        y: Labels | None = None,
        *,
        sample_weight: Any = None,
        soft: Soft | None = None,
        labels: Sequence[str] | None = None,
        dev: Sentences | None = None,
        dev_y: Labels | None = None,
        constraints: Constraints | None = None,
        checkpoint: str | Path | None = None,
        resume: bool = False,
        checkpoint_every: int | None = None,
        log: str | Path | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Self:
        """Trains; see `CRF.fit`."""
        from trellis.losses import Target
        from trellis.objective import Examples, cut_into_shards

        check_settings(self)
        fitting = Fitting(self, checkpoint, resume, checkpoint_every, log, progress)
        optimizer, prior, parts = optimizer_of(self), prior_of(self), parse_spans(self.segments)
        given = given_labels(self, X, y, soft, labels)
        if given.kind == "paths":
            given = without_pairs(given, True)
        loss = loss_of(self, given.kind, False)
        offsets = token_offsets(X)
        segs = segmented(given, offsets, self.longest)
        written = labels_of(segs.kinds, segs.encoding)
        imposed = imposed_by(constraints, written, offsets, (segs.kinds, segs.encoding))
        if imposed is not None and given.kind == "gold":
            gold, _ = encoded(segs.start, segs.end, segs.kind, segs.kinds, offsets, segs.encoding)
            check_kept(X, gold, written, offsets, imposed)
        features, packed = learn_features(self, X, given, self._threads)
        if packed.arcs is not None:
            raise SettingError("attributes on transitions have no place in a SemiCRF; leave them out")
        if isinstance(X, Corpus) and isinstance(features, TemplateFeatures) and parts:
            column = words_of(X, str(self.target or ""))
            short = segs.end - segs.start <= segs.types.longest[0]
            spans = SpanFeatures.learn(column, parts, X[column], segs.start[short], segs.end[short], self.min_count)
            features = replace(features, spans=spans)
            packed = replace(packed, spans=spans.transform(X[column], offsets))
        layout = self._layout(segs, packed, offsets, features)
        weights = weights_of(sample_weight, len(offsets) - 1, given.weights)
        target = Target(segs.gold, weights, None, segs.known, segs.soft)
        examples = Examples(
            packed.indptr, packed.ids, packed.values, segs.gold, offsets, None, None, target, packed.spans,
            imposed=imposed,
        )  # fmt: skip
        if not segs.fits.any():
            raise DataError("every sentence has a segment that is longer than `longest` allows; allow longer ones")
        if not segs.fits.all():
            examples = examples.of_sentences(segs.fits)
        shards = cut_into_shards(layout, examples, loss)
        model = SegmentModel.of(segs.kinds, segs.encoding, features, layout, np.zeros(layout.size))
        if segs.possible is not None:
            check_paths(X, model.lattice_of_packed, packed, offsets, segs.possible, imposed)
        best = best_within(imposed)
        held_out = None if dev is None else Development(model, dev, dev_y, self.target, self.partial, best)
        fitting.describe(model, examples, held_out, model.weights)
        del packed, examples
        outcome = fitting.minimised(shards, prior, optimizer, model.weights, held_out, [X, model], self._threads)
        columns = [] if not isinstance(X, Corpus) else list(X.file_columns or X.columns)
        self._adopt(model.with_weights(outcome.theta), outcome, columns)
        warn_of_scores(outcome)
        warn_of_stop(outcome, optimizer)
        return self

    def _names(self, path: I32) -> list[str]:
        written = self._model.written(path, np.array([0, len(path)]))
        return super()._names(written)

    def _within(self, labels: I32, offsets: I64) -> I32:
        return self._model.within(labels, offsets)

    def _layout(self, segs: Segmented, packed: Packed, offsets: I64, features: FeatureKind) -> SegmentLayout:
        """Weights for what the training data shows."""
        from trellis.scoring.segments import observed_segments

        seen = None if segs.soft is None else segs.soft >= WORTH_A_WEIGHT
        if segs.known is not None:  # where nothing is known, nothing is seen
            seen = segs.known & ~np.all(segs.known, axis=1, keepdims=True)
        tokens = observed_layout(
            packed.indptr, packed.ids, segs.gold, offsets, features.attributes, segs.types.labels, self.all_pairs,
            False, None, seen,
        )  # fmt: skip
        spans = getattr(features, "spans", None)
        return observed_segments(
            tokens.lower(0), segs.types, segs.gold, offsets, packed.spans, 0 if spans is None else spans.attributes,
            seen is not None, segs.encoding == "io",
        )  # fmt: skip


__all__ = ["SemiCRF"]
