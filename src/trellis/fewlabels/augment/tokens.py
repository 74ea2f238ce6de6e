"""Label-wise token replacement (Dai & Adel 2020, section 3): a token gives way to another one that has the same label.

Which tokens do is drawn one by one, with probability p; what takes their place is drawn from all tokens of the corpus
with that label, as often as they occur. All columns but the target come with it: its part of speech, too. Labels stay
as they are, so it is for any labels.
"""

from __future__ import annotations

import numpy as np

from trellis.corpus import Corpus
from trellis.fewlabels.augment.contract import Method, Source, Table
from trellis.fewlabels.augment.pieces import drawn_alike


def change(source: Source, rng: np.random.Generator, p: float, table: Table | None = None) -> Corpus:
    """As above."""
    labels = source.labels
    chosen = np.flatnonzero(rng.random(len(labels)) < p)
    taken = np.arange(len(labels))
    taken[chosen] = drawn_alike(labels.ids, labels.ids[chosen], rng)
    return source.rebuilt(taken, source.offsets, labels)


METHOD = Method(change, 0.1, "a token gives way to another one with the same label")
