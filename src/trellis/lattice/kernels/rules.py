"""Which sentences have a path at all."""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import ordered_kernel

Array = Any


@ordered_kernel
def legal_sentences(
    start: Array, labels: Array, which: Array, offsets: Array, first: Array, last: Array, pairs: Array, legal: Array
) -> None:
    """Token t may have the labels labels[start[w]:start[w + 1]] with w = which[t]; first, last: BOOL[labels], what may
    begin and end a sentence; pairs: F64[labels, labels], -inf for what may not follow. Written: legal BOOL[sentences].
    """
    alive, before = np.zeros(len(first), np.bool_), np.zeros(len(first), np.bool_)
    for s in range(len(offsets) - 1):
        any_ = True
        for t in range(offsets[s], offsets[s + 1]):
            any_ = False
            for p in range(start[which[t]], start[which[t] + 1]):
                j = labels[p]
                here = first[j] if t == offsets[s] else False
                if t > offsets[s]:
                    for q in range(start[which[t - 1]], start[which[t - 1] + 1]):
                        here |= before[labels[q]] and pairs[labels[q], j] > -np.inf
                if t == offsets[s + 1] - 1:
                    here = here and last[j]
                alive[j] = here
                any_ |= here
            if not any_:
                break
            alive, before = before, alive
        legal[s] = any_
