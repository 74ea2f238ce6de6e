"""What a model with support tokens is said to consist of adds up."""

from __future__ import annotations

import numpy as np
import pytest

from trellis import KernelPerceptron
from trellis.report import inspect_supports


@pytest.fixture(scope="module")
def model(corpus):
    return KernelPerceptron("chunk", "word[-1:1] + pos[0]", degree=3).fit(corpus)


def test_sizes_and_kernel(model):
    found = inspect_supports(model)
    supports = model.model_.supports
    assert (found.supports, found.coefficients) == (supports.size, len(supports.coefficients))
    assert found.attributes == model.model_.features.attributes
    assert found.kernel == {"degree": 3, "offset": 1.0, "scale": 1.0, "cosine": False}
    assert found.per_token is None


def test_the_strongest_come_first_and_have_names(model):
    found = inspect_supports(model, top=5)
    sizes = [abs(one.coefficient) for one in found.strongest]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == np.abs(model.model_.supports.coefficients).max()
    names = set(model.model_.features.names())
    for one in found.strongest:
        assert len(one.attributes) == 4
        assert set(one.attributes) <= names
        assert one.label in model.classes_
    matrix = model.model_.transitions
    first = found.transitions[0]
    assert matrix[model.classes_.index(first.feature), model.classes_.index(first.label)] == first.weight
    assert abs(first.weight) == np.abs(matrix).max()


def test_how_much_of_some_data_is_known(model, corpus, heldout):
    assert inspect_supports(model, corpus).per_token == 4.0
    assert 0.0 < inspect_supports(model, heldout).per_token <= 4.0


def test_of_lists_and_hashed_attributes(corpus):
    lists = KernelPerceptron().fit([[["a", "b"], ["c"]]], [["X", "Y"]])
    assert inspect_supports(lists, top=1).strongest[0].attributes in (["a", "b"], ["c"])
    hashed = KernelPerceptron("chunk", "word[0]", hash_size=50).fit(corpus)
    assert len(inspect_supports(hashed, top=1).strongest[0].attributes) == 1
