"""v2 of the ladder: a hidden Markov model, by counting, by EM, or both."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Self

from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError
from trellis.markov import MOST_OF_ORDER_2
from trellis.models.batches import Sentences
from trellis.models.development import Development
from trellis.models.em_fitting import EMFitting
from trellis.models.ending import warn_of_scores, warn_of_stop
from trellis.models.gold import Labels
from trellis.models.hidden_chain import HiddenChain
from trellis.models.hidden_learning import Ready, Sizes, from_labels, from_nothing
from trellis.models.hidden_serial import hidden_description_of, hidden_model_from
from trellis.models.known import weights_of
from trellis.models.learning import given_labels
from trellis.models.probable import ProbableTagger
from trellis.models.settings import check_settings
from trellis.models.words import WORD, corpus_of_words, words_column
from trellis.training import Progress

_STEPS = 3  # of EM beside labels, if not given: on 100 and 500 sentences of CoNLL-2000 the best were 1 to 3


class HMM(ProbableTagger[HiddenChain]):
    """Labels follow one another and emit words, by probabilities that are counted (see `trellis.markov.tables`).

    It looks at one column, the words. Sentences may also be lists of words. Segments that it writes may be ill-formed
    unless `smoothing` is 0: what labels may follow each other is a setting of other models.

    target: the column to predict (for a corpus; lists bring their labels as `y`).
    words: the column of the words; `word`, or the only one beside the target, if not given.
    order: 1, or 2 for labels that depend on the two before.
    smoothing: so many observations are added to each distribution of labels, spread as in one that knows less; 0 for
    counts alone, where what was never seen is impossible.
    suffix: words that were never seen are told by their shape and up to so many of their last letters.
    rare: words that occur at most so often teach what unknown words are like.
    states: learn so many labels from text that has none (Baum-Welch); the target is the name that they get.
    raw_weight: how much a sentence of raw text counts beside one with labels (see `fit`).
    steps: of EM on raw text. Beside labels it is 3 if not given: the text gets likelier with every step, the labels
    soon get worse (Merialdo 1994); with a dev set many steps may be given, and those of the best score are kept. With
    `states` there is no such end: EM goes on until a step gains less than `tol` of the objective, or for `max_iter`.
    patience: with a dev set, steps of EM without a better score there.
    seed: of what `states` begin with.
    threads: how many to use; None for all. Results do not depend on it.

    After `fit`: `classes_`, `columns_`, `objective_` (minus the log-likelihood of labels and words, and of raw text
    that of the words, with the prior's share), `converged_`, `iterations_` (steps of EM), `seconds_`, and with a dev
    set `stopped_early_`, `dev_score_`.
    """

    ignores: ClassVar = {"features": "an hmm looks at words alone", "l2": "an hmm counts; see the option smoothing"}
    # settings of other models that labels and trainings are looked at with
    tag_dictionary: int | None = None
    partial: bool = False
    l1 = 0.0
    l2 = 0.0

    def __init__(
        self,
        target: str | None = None,
        words: str | None = None,
        order: int = 1,
        smoothing: float = 10.0,
        suffix: int = 4,
        rare: int = 10,
        states: int | None = None,
        raw_weight: float = 1.0,
        steps: int | None = None,
        max_iter: int = 1000,
        tol: float = 1e-5,
        patience: int = 10,
        seed: int = 0,
        threads: int | None = None,
    ):
        self.target = target
        self.words = words
        self.order = order
        self.smoothing = smoothing
        self.suffix = suffix
        self.rare = rare
        self.states = states
        self.raw_weight = raw_weight
        self.steps = steps
        self.max_iter = max_iter
        self.tol = tol
        self.patience = patience
        self.seed = seed
        self.threads = threads

    _written = staticmethod(hidden_description_of)
    _read = staticmethod(hidden_model_from)

    def fit(
        self,
        X: Sentences,
        y: Labels | None = None,
        *,
        raw: Sentences | None = None,
        sample_weight: Any = None,
        dev: Sentences | None = None,
        dev_y: Labels | None = None,
        checkpoint: str | Path | None = None,
        resume: bool = False,
        checkpoint_every: int | None = None,
        log: str | Path | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Self:
        """Counts in a corpus, or in lists of words with their labels `y`.

        raw: text without labels; then counting is followed by EM on both, which begins with what was counted.
        sample_weight: how much each sentence of X counts; 2 is as if it were given twice.
        dev, dev_y, checkpoint, resume, checkpoint_every, log, progress: as for `CRF.fit`; an iteration is a step of EM.
        """
        from trellis.optim import EM, EarlyEM

        check_settings(self)
        if self.order not in (1, 2):
            raise SettingError(f"order is {self.order}; an HMM has order 1 or 2")
        fitting = EMFitting(self, checkpoint, resume, checkpoint_every, log, progress)
        ready = self._ready(X, y, raw, sample_weight)
        held_out = None if dev is None else Development(ready.model, dev, dev_y, self.target)
        fitting.describe_hidden(ready, held_out)
        steps = self.steps or (None if self.states else _STEPS)
        optimizer = EM(float(self.tol)) if steps is None else EarlyEM(float(self.tol), int(steps))
        outcome = fitting.train(ready.expectation, optimizer, ready.model.weights, held_out, [X, ready.model])
        columns = [] if not isinstance(X, Corpus) else list(X.file_columns or X.columns)
        self._adopt(ready.model.with_weights(outcome.theta), outcome, columns)
        warn_of_scores(outcome)
        warn_of_stop(outcome, optimizer)
        return self

    def _ready(self, X: Sentences, y: Labels | None, raw: Sentences | None, sample_weight: Any) -> Ready:
        sizes = Sizes(int(self.order), float(self.smoothing), int(self.suffix), int(self.rare), float(self.raw_weight))
        if self.states is not None:
            if y is not None or raw is not None or sample_weight is not None:
                raise SettingError("with `states` there is text alone: leave y, raw and sample_weight out")
            self._check_labels(int(self.states))
            corpus = corpus_of_words(X, self.words or WORD)
            if not corpus.tokens:
                raise DataError("there is no token to learn from", corpus.path)
            column = words_column(corpus, self.words, self.target)
            return from_nothing(corpus, column, int(self.states), sizes, int(self.seed), self._threads)
        given = given_labels(self, X, y)
        if given.kind != "gold":
            raise SettingError("an HMM counts, so it needs one label for each token; give what has none as raw text")
        self._check_labels(len(given.labels))
        if len(given.labels) == 1:
            warnings.warn(f"'{given.labels[0]}' is the only label; the model can answer nothing else", stacklevel=3)
        corpus = corpus_of_words(X, self.words or WORD)
        column = words_column(corpus, self.words, self.target if y is None else None)
        more = None if raw is None else corpus_of_words(raw, column)
        if more is not None and not more.tokens:
            raise DataError("there is no token in the raw text", more.path)
        if more is None and not (self.steps is None and self.raw_weight == 1.0):
            warnings.warn("steps and raw_weight are for raw text, and none is given", stacklevel=3)
        weights = weights_of(sample_weight, len(corpus))
        return from_labels(corpus, more, column, given, sizes, weights, self._threads)

    def _check_labels(self, labels: int) -> None:
        if self.order == 2 and labels > MOST_OF_ORDER_2:
            raise SettingError(f"{labels} labels are too many for order 2, which has room for {MOST_OF_ORDER_2}")
