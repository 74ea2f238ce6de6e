"""What a label model believes of neighbours, in pieces of bounded size, each of one sentence at least."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from trellis.labels import runs

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

Walk = tuple[F64, F64, I64]
"""A run of sentences: P(label), F64[tokens, labels], P(label before, label), F64[tokens, labels, labels] (nothing of
use at first tokens), and offsets I64[sentences + 1]."""

_PAIRS = 1 << 20  # of labels, in an array: 8 MB


def tokens_at_once(labels: int) -> int:
    """As many as may have a block of pairs of labels each, of `labels_`, as which they may be spelt."""
    return max(1, _PAIRS // labels**2)


def independent_walks(chances: F64, offsets: I64, spelt: int) -> Iterator[Walk]:
    """Of tokens that do not depend on each other; chances: F64[tokens, labels]; `spelt`: as how many labels."""
    for first, last in runs(offsets, tokens_at_once(spelt)):
        own = offsets[first : last + 1]
        nodes = chances[own[0] : own[-1]]
        arcs = np.zeros((len(nodes), *chances.shape[1:] * 2))
        arcs[1:] = nodes[:-1, :, None] * nodes[1:, None, :]
        yield nodes, arcs, own - own[0]
