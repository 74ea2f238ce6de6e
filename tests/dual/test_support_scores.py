"""Scores by support tokens are sums of kernels, computed in either way."""

from __future__ import annotations

import numpy as np
import pytest
from dual_reference import ATTRIBUTES, dense, kernel_of, packed
from hypothesis import given
from hypothesis import strategies as st

from trellis.dual import Coefficients, Polynomial, Supports
from trellis.features.packed import Packed

LABELS = 3

values = st.sampled_from([1.0, 0.25, -3.0, 0.0])
tokens = st.lists(st.lists(st.tuples(st.integers(0, ATTRIBUTES - 1), values), max_size=4), min_size=1, max_size=5)
binary = st.lists(st.lists(st.tuples(st.integers(0, ATTRIBUTES - 1), st.just(1.0)), max_size=4), min_size=1, max_size=5)
kernels = st.builds(
    Polynomial,
    degree=st.integers(1, 4),
    offset=st.sampled_from([0.0, 0.3, 1.0]),
    scale=st.sampled_from([1.0, 0.1]),
    cosine=st.booleans(),
)


def supports_of(some, a, kernel):
    """Those of the tokens that have a coefficient other than 0 in a: F64[tokens, labels]."""
    codes = np.flatnonzero(a.ravel())
    found = Coefficients(codes, a.ravel()[codes], np.zeros((LABELS, LABELS)))
    return Supports.of(found, packed(some), kernel, ATTRIBUTES)


@pytest.mark.parametrize("compiled", [False, True])
@given(trained=st.one_of(tokens, binary), asked=st.one_of(tokens, binary), kernel=kernels, seed=st.integers(0, 99))
def test_a_score_is_a_sum_of_kernels(compiled, trained, asked, kernel, seed):
    a = np.random.default_rng(seed).integers(-2, 3, (len(trained), LABELS)).astype(np.float64)
    found = supports_of(trained, a, kernel).scores(packed(asked), compiled)
    expected = [sum(kernel_of(kernel, x, z) * a[s] for s, z in enumerate(trained)) for x in asked]
    scale = 1.0 + max(np.abs(expected).max(), kernel_of(kernel, trained[0], trained[0]))
    np.testing.assert_allclose(found, expected, atol=1e-9 * scale)


@pytest.mark.parametrize("compiled", [False, True])
def test_attributes_that_are_not_known_say_nothing(compiled):
    supports = supports_of([[(0, 1.0), (1, 1.0)]], np.array([[1.0, -1.0, 0.0]]), Polynomial(2, 1.0, 1.0))
    asked = Packed(np.array([0, 3, 4]), np.array([-1, 1, -1, -1], np.int32))
    np.testing.assert_allclose(supports.scores(asked, compiled), [[4, -4, 0], [1, -1, 0]])


@pytest.mark.parametrize("compiled", [False, True])
def test_without_supports_every_score_is_zero(compiled):
    supports = supports_of([[(0, 1.0)]], np.zeros((1, LABELS)), Polynomial())
    assert supports.size == 0
    np.testing.assert_array_equal(supports.scores(packed([[(0, 1.0)], []]), compiled), np.zeros((2, LABELS)))


def test_more_tokens_than_fit_into_memory_at_once(monkeypatch):
    some = [[(t % ATTRIBUTES, 1.0), (0, 1.0)] for t in range(20)]
    a = np.random.default_rng(1).integers(-2, 3, (20, LABELS)).astype(np.float64)
    supports = supports_of(some, a, Polynomial(3))
    whole = supports.scores(packed(some), compiled=False)
    monkeypatch.setattr("trellis.dual.plain._CELLS", 50)
    np.testing.assert_array_equal(supports.scores(packed(some), compiled=False), whole)


def test_the_factors_of_a_cosine():
    some = [[(0, 1.0), (0, 1.0)], [], [(1, 3.0)]]
    data = packed(some)
    expected = [kernel_of(Polynomial(3, 1.0, 0.5), x, x) ** -0.5 for x in some]
    found = Polynomial(3, 1.0, 0.5, cosine=True).factors(data.indptr, data.ids, data.values)
    np.testing.assert_allclose(found, expected)
    assert Polynomial(2, 0.0, 1.0, cosine=True).factors(data.indptr, data.ids, data.values)[1] == 0.0
    assert [dense(token) @ dense(token) for token in some] == [4.0, 0.0, 9.0]
