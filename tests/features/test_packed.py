"""Packed attributes: runs of tokens apart, and together again."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from trellis.features import Packed
from trellis.lattice import Allowed

TOKENS = 6


def packed(values, with_arcs, with_allowed):
    rng = np.random.default_rng(1)
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 3, TOKENS))]).astype(np.int64)
    ids = rng.integers(-1, 5, indptr[-1]).astype(np.int32)
    one = Packed(indptr, ids, rng.normal(size=len(ids)) if values else None)
    mask = rng.random((TOKENS, 3)) < 0.6
    mask[:, 0] = True
    return replace(
        one, arcs=packed(values, False, False) if with_arcs else None,
        allowed=Allowed.of_mask(mask) if with_allowed else None,
    )  # fmt: skip


def assert_same(one, other):
    for name in ("indptr", "ids"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert (one.values is None) == (other.values is None)
    if one.values is not None:
        np.testing.assert_array_equal(one.values, other.values)
    assert (one.arcs is None) == (other.arcs is None)
    if one.arcs is not None:
        assert_same(one.arcs, other.arcs)
    assert (one.allowed is None) == (other.allowed is None)
    if one.allowed is not None:
        np.testing.assert_array_equal(one.allowed.mask(), other.allowed.mask())


@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize(("with_arcs", "with_allowed"), [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize("cuts", [(0, 6), (0, 2, 6), (0, 0, 1, 5, 6)], ids=str)
def test_parts_together_are_the_whole(values, with_arcs, with_allowed, cuts):
    whole = packed(values, with_arcs, with_allowed)
    assert_same(Packed.joined([whole.part(a, b) for a, b in pairwise(cuts)]), whole)
