"""How good a labelling can be, at most, that has a label which pruning left out.

A label's score u_t(j) = s_t(j) + the most that can be added for it after any labels before it; a path scores sum_t
u_t(y_t) at most. With a label that was left out at one token at least, that is

    sum_t max_j u_t(j)  -  min over t of [ max over all j of u_t(j)  -  max over j left out at t of u_t(j) ]

It takes the scores of all labels, but no more than that: nothing grows with the square of their number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trellis.features import Packed
from trellis.lattice import Chain
from trellis.models.probabilities import Lattice

if TYPE_CHECKING:
    from trellis.models.linear import LinearChain

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


def bounds_left_out(model: LinearChain, packed: Packed, offsets: I64, lattice: Lattice) -> F64:
    """F64[sentences], -inf where nothing was left out; comparable with the scores in `lattice`, the pruned one."""
    totals = np.full(len(offsets) - 1, -np.inf)
    narrowed = model.narrowed(packed, offsets).allowed
    assert narrowed is not None
    kept = narrowed.mask()
    u = model.scores_of_labels(packed)
    # lattices over allowed labels do not score tokens that have but one
    unscored = np.where(kept.sum(axis=1) == 1, np.where(kept, u, 0.0).sum(axis=1), 0.0)
    unscored = np.zeros(len(u)) if isinstance(lattice, Chain) else unscored
    first = np.zeros(len(u), bool)
    first[offsets[:-1][np.diff(offsets) > 0]] = True
    u[~first] += _most_before(model)
    out = np.where(kept, -np.inf, u).max(axis=1, initial=-np.inf)
    top = u.max(axis=1, initial=-np.inf)
    for s, (a, b) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
        if b > a and np.isfinite(top[a:b]).all():
            totals[s] = top[a:b].sum() + (out[a:b] - top[a:b]).max() - unscored[a:b].sum()
    return totals


def _most_before(model: LinearChain) -> F64:
    """The most that can be added to the score of each label for the labels before it, F64[labels]."""
    layout, theta = model.layout, model.weights
    best: F64 = model.transitions.max(axis=0)
    at = layout.tuples_at
    for rows in layout.tuples:
        own = np.zeros(layout.labels)  # tuples without a weight score 0
        np.maximum.at(own, rows[:, -1], theta[at : at + len(rows)])
        best = best + own
        at += len(rows)
    return best
