"""Shuffling within segments (Dai & Adel 2020, section 3): the tokens of a stretch change places among themselves.

A sentence is cut into stretches: segments, and what lies outside between two of them. Each is shuffled with
probability p. Labels stay where they are, so segments keep their places, lengths and types.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.fewlabels.augment.contract import Method, Source, Table
from trellis.labels import first_tokens


def change(source: Source, rng: np.random.Generator, p: float, table: Table | None = None) -> Corpus:
    """As above."""
    stretch = stretches(source)
    many = int(stretch[-1]) + 1 if len(stretch) else 0
    shuffled = (rng.random(many) < p)[stretch]
    key = np.where(shuffled, rng.random(len(stretch)), np.arange(len(stretch)))
    taken = np.lexsort((key, stretch))
    return source.rebuilt(taken, source.offsets, source.labels)


def stretches(source: Source) -> NDArray[np.int64]:
    """The number of each token's stretch, I64[tokens], from 0 on in order of the text."""
    begins = first_tokens(source.offsets)
    segments = source.segments
    for edges in (segments.start, segments.end):
        begins[edges[edges < len(begins)]] = True
    return np.cumsum(begins) - 1


METHOD = Method(change, 0.1, "the tokens of a segment, or between two of them, are shuffled")
