"""Random patches, and the obvious way to use them: transitions written out token by token."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from trellis.lattice.kernels.patched import Kinds, fill_factors
from trellis.lattice.kernels.patches import Patches
from trellis.rows import padded


def random_patches(rng, tokens, labels, scale=1.0, valued=False):
    """One to four patches, each with weights for some pairs of labels; up to two of them on a token."""
    number = int(rng.integers(1, 5))
    has = rng.random((number, labels, labels)) < rng.random((number, 1, 1))
    start = np.concatenate([[0], np.cumsum(has.sum(axis=(1, 2)))]).astype(np.int64)
    _, source, target = np.nonzero(has)
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 3, tokens))]).astype(np.int64)
    ids = rng.integers(0, number, indptr[-1]).astype(np.int32)
    values = rng.normal(size=len(ids)) if valued else np.zeros(0)
    weights = rng.normal(size=len(source)) * scale
    reach = [np.ptp(np.append(weights[a:b], 0.0)) for a, b in pairwise(start)]
    with np.errstate(over="ignore"):
        powers = np.exp(weights)
    sides = source.astype(np.uint16), target.astype(np.uint16)
    return Patches(indptr, ids, values, start, *sides, weights, powers, np.array(reach))


def occurrences(patches):
    """Each token, value and slice of weights of a patch that is on it."""
    for t in range(len(patches.indptr) - 1):
        for k in range(patches.indptr[t], patches.indptr[t + 1]):
            a = patches.ids[k]
            yield t, patches.values[k] if len(patches.values) else 1.0, slice(patches.start[a], patches.start[a + 1])


def written_out(matrix, patches):
    """F64[tokens, labels, labels]."""
    out = np.tile(matrix, (len(patches.indptr) - 1, 1, 1))
    for t, value, here in occurrences(patches):
        out[t][patches.source[here], patches.target[here]] += value * patches.weights[here]
    return out


def gathered(patches, arcs, power=1):
    """The transpose: F64[tokens, labels, labels] -> F64[weights], times the values to some power."""
    out = np.zeros(len(patches.weights))
    for t, value, here in occurrences(patches):
        out[here] += value**power * arcs[t][patches.source[here], patches.target[here]]
    return out


def kinds_of(patches, transitions, ready):
    """If factors should be ready, kind a + 1 for tokens that have just the patch a, and that without a value."""
    width = padded(len(transitions))
    counts = np.diff(patches.indptr)
    kind = np.where(counts > 0, -1, 0).astype(np.int32)
    indptr, ids = np.zeros(2, np.int64), np.zeros(0, np.int32)
    if ready and not len(patches.values):
        single = np.flatnonzero(counts == 1)
        kind[single] = patches.ids[patches.indptr[single]] + 1
        ids = np.arange(len(patches.start) - 1, dtype=np.int32)
        indptr = np.concatenate([[0], np.arange(len(ids) + 1)]).astype(np.int64)
    factors = np.full((len(indptr) - 1, width, width), np.nan)
    of_kinds = patches._replace(indptr=indptr, ids=ids, values=np.zeros(0))
    kinds = Kinds(kind, of_kinds, factors, np.full_like(factors, np.nan))
    fill_factors(transitions, kinds)
    return kinds
