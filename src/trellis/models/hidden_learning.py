"""What a hidden Markov model learns from: words by number, counts of labelled sentences, a start for raw ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column, Corpus, concatenate
from trellis.errors import DataError
from trellis.features import TemplateFeatures, templates_for
from trellis.features.numbering import Numbering
from trellis.labels import runs
from trellis.markov import Events, Expectation, Prior, UnknownWords, Vocabulary, counted
from trellis.markov.expected import Raw
from trellis.models.hidden_chain import HiddenChain, numbers_of
from trellis.models.known import Known

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
BOOL = NDArray[np.bool_]

_BATCH = 8192  # tokens whose lattices are solved at a time by one thread


@dataclass(frozen=True)
class Sizes:
    """The settings that are looked at here: see `HMM`."""

    order: int
    smoothing: float
    suffix: int
    rare: int
    raw_weight: float


@dataclass(frozen=True)
class Ready:
    """All that training needs: the model to be, with the counts it begins with, and the expectation."""

    model: HiddenChain
    expectation: Expectation
    tokens: int
    sentences: int


def from_labels(
    corpus: Corpus, raw: Corpus | None, column: str, given: Known, sizes: Sizes, weights: F64 | None, threads: int
) -> Ready:
    """Counts of labelled sentences, and of raw ones what their words alone say, if there are any."""
    labels, offsets, gold = len(given.labels), corpus.offsets, given.gold
    features, numbers = _learnt(corpus, raw, column, sizes.suffix, threads)
    own, more = numbers[: len(gold)], numbers[len(gold) :]
    words = own[:, 0]
    times = np.repeat(np.ones(len(offsets) - 1) if weights is None else weights, np.diff(offsets))
    rare = np.bincount(words, times, features.attributes)[words] <= sizes.rare
    classes = features.attributes - _words(features)
    unknown = UnknownWords.learn(own[:, 1:], gold, rare, classes, times, labels)
    seen = np.unique((words.astype(np.int64) * labels + gold)[times > 0])
    vocabulary = Vocabulary.of_keys(seen, _words(features), labels)
    tagged = counted(words, gold, offsets, labels, sizes.order, vocabulary, weights)
    prior = Prior.of(sizes.smoothing, tagged)
    if raw is None:
        start, batches = tagged, []
    else:
        vocabulary, tagged, start = _with_raw(vocabulary, tagged, more, unknown, sizes.raw_weight)
        batches = _cut(more[:, 0], raw.offsets)
    model = HiddenChain(tuple(given.labels), features, vocabulary, start, prior, unknown)
    expectation = Expectation(tagged, batches, sizes.raw_weight, prior, vocabulary, threads)
    sentences = len(corpus) + (0 if raw is None else len(raw))
    return Ready(model, expectation, len(numbers), sentences)


def from_nothing(corpus: Corpus, column: str, states: int, sizes: Sizes, seed: int, threads: int) -> Ready:
    """So many labels that nobody has named; they begin with counts at random, as they must not be all the same."""
    features, numbers = _learnt(corpus, None, column, 0, threads)
    words, rng = numbers[:, 0], np.random.default_rng(seed)
    keys = np.arange(_words(features) * states, dtype=np.int64)
    vocabulary = Vocabulary.of_keys(keys, _words(features), states)
    none = Events.none(sizes.order, states, len(keys))
    counts = np.repeat(np.bincount(words, minlength=_words(features)), states)
    follow = rng.exponential(len(words) / none.follow.size, none.follow.shape)
    first, last = rng.exponential(len(corpus) / states, (2, states))
    start = Events(first, last, follow, counts * rng.exponential(1.0 / states, len(keys)))
    prior = Prior.even(sizes.smoothing, states, sizes.order)
    labels = tuple(f"S{k}" for k in range(1, states + 1))
    model = HiddenChain(labels, features, vocabulary, start, prior, None)
    expectation = Expectation(none, _cut(words, corpus.offsets), 1.0, prior, vocabulary, threads)
    return Ready(model, expectation, len(words), len(corpus))


def _learnt(corpus: Corpus, raw: Corpus | None, column: str, suffix: int, threads: int) -> tuple[TemplateFeatures, I32]:
    """Features of words and their classes, and these numbers of all tokens, those of `raw` last (see `numbers_of`)."""
    parts = [_only(part, column) for part in (corpus, raw) if part is not None]
    both = concatenate(parts)
    shape = f"%short_shape[0,{column}]"
    classes = [shape, *(f"{shape}/%suffix[0,{column},{n}]" for n in range(1, suffix + 1))] if suffix else []
    lines = [f"U{n}:{part}" for n, part in enumerate([f"%x[0,{column}]", *classes])]
    templates = templates_for("\n".join(lines), [column], "", None)
    features, packed = TemplateFeatures.learn(both, templates, threads=threads)
    return features, numbers_of(packed, features)


def _only(corpus: Corpus, column: str) -> Corpus:
    if column not in corpus.columns:
        raise DataError(f"there is no column '{column}' in the raw text: {', '.join(corpus.columns)}", corpus.path)
    words = corpus[column].compact()
    return Corpus({column: Column(words.ids, words.strings)}, corpus.offsets)


def _words(features: TemplateFeatures) -> int:
    """How many words are known."""
    assert isinstance(features.labels, Numbering)
    return len(features.labels.groups[0].values)


def _with_raw(
    seen: Vocabulary, tagged: Events, raw: I32, unknown: UnknownWords, weight: float
) -> tuple[Vocabulary, Events, Events]:
    """The vocabulary with words that only the raw text has, counts in it, and the counts to begin with: a word of the
    raw text has each label as often as it has it elsewhere, or as its classes say."""
    labels, words = seen.labels, raw[:, 0]
    new = np.flatnonzero(np.diff(seen.start)[words] == 0)
    p = unknown.probabilities(raw[new, 1:])
    token, label = np.nonzero(p)
    keys, which = np.unique(words[new][token].astype(np.int64) * labels + label, return_inverse=True)
    old = seen.keys
    every = np.union1d(old, keys)
    vocabulary = Vocabulary.of_keys(every, seen.words, labels)
    emit = np.zeros(len(every))
    emit[np.searchsorted(every, old)] = tagged.emit
    tagged = Events(tagged.first, tagged.last, tagged.follow, emit)
    more = np.zeros(len(every))
    more[np.searchsorted(every, keys)] = np.bincount(which.ravel(), p[token, label], len(keys))
    totals = np.add.reduceat(np.append(emit, 0.0), vocabulary.start[:-1])
    often = np.bincount(words, minlength=seen.words)
    of_word = np.repeat(np.arange(seen.words), np.diff(vocabulary.start))
    share = np.divide(emit, totals[of_word], out=np.zeros_like(emit), where=totals[of_word] > 0)
    start = Events(tagged.first, tagged.last, tagged.follow, emit + weight * (more + often[of_word] * share))
    return vocabulary, tagged, start


def _cut(words: I32, offsets: I64) -> list[Raw]:
    """Batches of whole sentences."""
    out = []
    for first, last in runs(offsets, _BATCH):
        a, b = int(offsets[first]), int(offsets[last])
        out.append(Raw(words[a:b], offsets[first : last + 1] - a))
    return out
