"""Small sentences of words and labels as numbers, with what is counted in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from trellis.markov import Events, Vocabulary, counted
from trellis.markov.expected import Raw


@dataclass
class Problem:
    labels: int
    order: int
    vocabulary: Vocabulary
    events: Events
    raw: Raw


def vocabulary_of(words, gold, labels):
    keys = np.unique(np.asarray(words, np.int64) * labels + np.asarray(gold))
    return Vocabulary.of_keys(keys, int(max(words)) + 1, labels)


def counted_in(words, gold, offsets, labels, order, weights=None):
    arrays = np.array(words, np.int32), np.array(gold, np.int32), np.array(offsets, np.int64)
    return counted(*arrays, labels, order, vocabulary_of(words, gold, labels), weights)


@st.composite
def problems(draw, orders=(1, 2)):
    """Sentences with labels, in which every label and word occurs, and raw ones of the same words."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    labels, words, order = draw(st.integers(1, 3)), draw(st.integers(1, 4)), draw(st.sampled_from(orders))
    lengths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    pairs = rng.integers(0, [words, labels], (sum(lengths), 2))
    every = np.array([(w, j) for w in range(words) for j in range(labels) if w == 0 or j == 0 or rng.random() < 0.7])
    pairs = np.concatenate([pairs, every])
    offsets = np.cumsum([0, *lengths, *([1] * len(every))]).astype(np.int64)
    own = pairs[:, 0].astype(np.int32), pairs[:, 1].astype(np.int32)
    vocabulary = vocabulary_of(*own, labels)
    events = counted(*own, offsets, labels, order, vocabulary)
    lengths = draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
    raw = Raw(rng.integers(0, words, sum(lengths)).astype(np.int32), np.cumsum([0, *lengths]).astype(np.int64))
    return Problem(labels, order, vocabulary, events, raw)
