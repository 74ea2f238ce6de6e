"""A conditional random field with an encoder beside its sparse features (Huang et al. 2015; Ma and Hovy 2016)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import DataError
from trellis.features import TemplateFeatures
from trellis.models.batches import Sentences
from trellis.models.chain_ready import Learnt, ready_chain
from trellis.models.constraints import Constraints
from trellis.models.development import Development
from trellis.models.ending import warn_of_scores
from trellis.models.gold import Labels, gold_of
from trellis.models.known import Known, Soft
from trellis.models.learning import learn_features
from trellis.models.neural_chain import NeuralChain
from trellis.models.neural_fitting import NeuralFitting
from trellis.models.neural_learning import begun, seen_by, with_inputs
from trellis.models.neural_serial import neural_description_of, neural_model_from
from trellis.models.neural_training import trained
from trellis.models.probable import ProbableTagger
from trellis.models.settings import USUAL_L2, check_chain_settings
from trellis.models.words import WORD, corpus_of_words, words_column
from trellis.neural import require_torch
from trellis.training import Progress

if TYPE_CHECKING:
    from trellis.features import Choice

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


class NeuralCRF(ProbableTagger[NeuralChain]):
    """A CRF whose labels are scored by sparse features and by an encoder, which learn together: an LSTM that reads the
    words, their letters and other columns from either end. Training needs PyTorch; what has been trained does not.

    target: the column to predict (for a corpus; sentences may also be lists of words, with their labels as `y`).
    features: the sparse ones, as for `CRF`; "" for none.
    words: the column of the words; `word`, or the only one beside the target, if not given.
    inputs: further columns that the encoder sees, with + between them; "" for none; those that the sparse features
    read, if not given.
    embedding, letters, filters, hidden, layers: the sizes of a word's vector and a letter's, the number of filters over
    letters, and the size of the LSTM in either direction and its layers.
    dropout: the share of the numbers that go into and out of the LSTM which are left out at random in training.
    vectors: a file of word vectors to begin with (word2vec as text, GloVe, fastText), `embedding` numbers each.
    l2: of the sparse weights: the penalty is l2/2 * |theta|^2.
    epochs: how often training goes through the data; with a dev set it ends `patience` epochs after its best one.
    batch_size: sentences of a step; 32 if not given, or fewer where there are few, so that an epoch has about a hundred
    steps.
    step_size, decay: of the encoder (Adam); divided by 1 + decay k after k epochs. sparse_step: of the sparse weights
    (AdaGrad). clip: the longest step's gradient, for a sentence.
    average: what is kept is an average over about so many epochs; 0 for where training ended.
    sparse_first: the sparse weights are trained by themselves first, as a CRF's, and then go on together with the
    encoder: better where there are few data.
    sparse_dropout: the share of steps in which the encoder learns without the sparse features: it would leave to them
    what it could learn itself, and two that know the whole know more together.
    seed: of what is drawn at random. threads: how many to use; None for all. Results do not depend on it.
    loss, costs, min_count, hash_size, tag_dictionary, order, encoding, only_seen, all_pairs, all_transitions, partial:
    as for `CRF`.

    After `fit`: as for `CRF`. (The objective of an epoch, as the log and `progress` have it, is the loss of each batch
    before its own step, with what was left out.)
    """

    ignores: ClassVar[Mapping[str, str]] = {}
    # settings of other models that trainings are looked at with
    optimizer = "auto"
    options: Mapping[str, Any] | None = None
    prune: float | None = None
    l1 = 0.0
    hyperbolic = 0.0
    tol = 1e-5
    max_iter = 1_000_000  # `epochs` says when to stop

    def __init__(
        self,
        target: str | None = None,
        features: Choice = "chunking",
        words: str | None = None,
        inputs: str | None = None,
        embedding: int = 100,
        letters: int = 30,
        filters: int = 50,
        hidden: int = 100,
        layers: int = 1,
        dropout: float = 0.5,
        vectors: str | Path | None = None,
        loss: str | None = None,
        l2: float = USUAL_L2,
        costs: float | Mapping[str, float] | None = None,
        epochs: int = 15,
        batch_size: int | None = None,
        step_size: float = 0.002,
        sparse_step: float = 0.05,
        decay: float = 0.05,
        clip: float = 5.0,
        average: float = 2.0,
        sparse_first: bool = True,
        sparse_dropout: float = 0.5,
        patience: int = 10,
        min_count: int = 1,
        hash_size: int | None = None,
        tag_dictionary: int | None = None,
        order: int = 1,
        encoding: str | None = None,
        only_seen: bool = False,
        all_pairs: bool = False,
        all_transitions: bool = False,
        partial: bool = False,
        seed: int = 0,
        threads: int | None = None,
    ):
        self.target = target
        self.features = features
        self.words = words
        self.inputs = inputs
        self.embedding = embedding
        self.letters = letters
        self.filters = filters
        self.hidden = hidden
        self.layers = layers
        self.dropout = dropout
        self.vectors = vectors
        self.loss = loss
        self.l2 = l2
        self.costs = costs
        self.epochs = epochs
        self.batch_size = batch_size
        self.step_size = step_size
        self.sparse_step = sparse_step
        self.decay = decay
        self.clip = clip
        self.average = average
        self.sparse_first = sparse_first
        self.sparse_dropout = sparse_dropout
        self.patience = patience
        self.min_count = min_count
        self.hash_size = hash_size
        self.tag_dictionary = tag_dictionary
        self.order = order
        self.encoding = encoding
        self.only_seen = only_seen
        self.all_pairs = all_pairs
        self.all_transitions = all_transitions
        self.partial = partial
        self.seed = seed
        self.threads = threads

    _written = staticmethod(neural_description_of)
    _read = staticmethod(neural_model_from)

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
        """Trains on a corpus, or on lists of words with their labels `y`; the rest is as for `CRF.fit`. An iteration is
        an epoch."""
        check_chain_settings(self)
        require_torch()
        fitting = NeuralFitting(self, checkpoint, resume, checkpoint_every, log, progress)
        column = self.words or WORD
        corpus = corpus_of_words(X, column)
        if y is None and soft is None:
            if not isinstance(X, Corpus) and self.target is None:
                raise DataError("lists of words need their labels; give y, a list of labels for each sentence")
            gold_of(corpus, None, self.target)  # says what is missing
        column = words_column(corpus, self.words, self.target)
        learn = self._learner(corpus, column, self.target if y is None else None)
        ready = ready_chain(self, corpus, y, sample_weight, soft, labels, constraints, self._threads, learn=learn)
        assert isinstance(ready.model.features, TemplateFeatures)
        assert ready.inputs is not None
        features, encoder = begun(self, ready.model.features, len(ready.model.labels))
        model = NeuralChain.of(replace(ready.model, features=features), encoder)
        held_out = None if dev is None else Development(model, dev, dev_y, self.target, self.partial, ready.best)
        fitting.describe(model, ready.examples, held_out, model.weights, {"seen": seen_by(model, ready.inputs)})
        outcome = trained(fitting, self, model, ready.examples, ready.inputs, ready.loss, held_out, [X], self._threads)
        columns = list(X.file_columns or X.columns) if isinstance(X, Corpus) else []
        self._adopt(model.with_weights(outcome.theta), outcome, columns)
        warn_of_scores(outcome)
        return self

    def _learner(self, corpus: Corpus, column: str, target: str | None) -> Callable[[Known], Learnt]:
        def learn(given: Known) -> Learnt:
            features, packed = learn_features(self, corpus, given, self._threads, may_lack=True)
            assert isinstance(features, TemplateFeatures)
            return with_inputs(self, corpus.compact(), column, features, packed, [] if target is None else [target])

        return learn
