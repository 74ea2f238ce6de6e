"""Counts that are expected in sentences without labels: the E step of Baum and Welch (Baum et al. 1970).

With them, and the counts of sentences that have labels, the M step is counting as ever (`tables.Tables.of`). What both
never lower is

    log P(labelled sentences) + weight * log P(raw sentences) + s sum m log P     (the last: see `tables`)

whose negative is the objective here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError
from trellis.labels import first_tokens
from trellis.lattice.windows import WindowChain
from trellis.markov.events import Events, Vocabulary, shape_of, sums
from trellis.markov.tables import Prior, Tables, lattice_of

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


class Raw(NamedTuple):
    """Sentences without labels: `words: I32[tokens]`, numbers in the vocabulary; `offsets: I64[sentences + 1]`."""

    words: I32
    offsets: I64


class Expectation:
    """`tagged`: what was counted in sentences with labels, of which there may be none; `raw`: the others, in batches
    whose sums are added up in order, so that the number of threads changes nothing."""

    def __init__(
        self,
        tagged: Events,
        raw: Sequence[Raw],
        weight: float,
        prior: Prior,
        vocabulary: Vocabulary,
        threads: int,
    ):
        self.tagged, self.raw, self.weight, self.prior = tagged, raw, weight, prior
        self.vocabulary, self.threads = vocabulary, threads

    def __call__(self, vector: F64) -> tuple[float, F64]:
        """The objective with the probabilities that these counts give, and the counts that these probabilities lead
        to."""
        tables = Tables.of(self.tagged.of_vector(vector), self.prior, self.vocabulary)

        def one(raw: Raw) -> tuple[Events, float]:
            return expected(raw, tables, self.vocabulary)

        counts, likelihood = self.tagged.vector, tables.log_likelihood(self.tagged) + tables.log_prior(self.prior)
        with ThreadPoolExecutor(self.threads) as pool:
            # a few at a time: the events of all batches could be more than memory holds
            for first in range(0, len(self.raw), 2 * self.threads):
                for events, log_p in pool.map(one, self.raw[first : first + 2 * self.threads]):
                    counts = counts + self.weight * events.vector
                    likelihood += self.weight * log_p
        if not (math.isfinite(likelihood) and np.isfinite(counts).all()):
            raise DataError("training led to probabilities that are no numbers; are smoothing or weights extreme?")
        return -likelihood, counts


def expected(raw: Raw, tables: Tables, vocabulary: Vocabulary) -> tuple[Events, float]:
    """Expected events in raw sentences, and their log-likelihood."""
    token, pair = vocabulary.pairs_of(raw.words)
    label = vocabulary.label[pair]
    emissions = np.full((len(raw.words), vocabulary.labels), -np.inf)
    emissions[token, label] = tables.logs[3][pair]
    lattice = lattice_of(emissions, tables, raw.offsets)
    if isinstance(lattice, WindowChain):
        answer = lattice.marginals()
        lattice.require_paths(answer.log_z)
        nodes, follow = lattice.on_labels(answer.nodes), _triples(lattice, answer.arcs)
    else:
        answer = lattice.marginals(arcs=True)
        assert answer.arcs is not None
        nodes, follow = answer.nodes, answer.arcs
    begins = first_tokens(raw.offsets)
    ends = np.append(begins[1:], True)[: len(nodes)]
    emit = sums(pair, nodes[token, label], len(vocabulary.label))
    events = Events(nodes[begins].sum(axis=0), nodes[ends].sum(axis=0), follow, emit)
    return events, float(answer.log_z.sum())


def _triples(lattice: WindowChain, cells: F64 | None) -> F64:
    """Expected cells as events: F64[labels + 1, labels, labels]."""
    assert cells is not None
    labels = lattice.labels
    before, last, here = lattice.windows.cell_labels().astype(np.int64).T
    inner = last >= 0
    keys = (np.where(before < 0, labels, before) * labels + last) * labels + here
    shape = shape_of(2, labels)
    return sums(keys[inner], cells[inner], math.prod(shape)).reshape(shape)
