"""Sentences as matrices [tokens, columns], dense or sparse: column j is the attribute named j."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from given_reference import unpacked
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from trellis.errors import DataError
from trellis.features import GivenFeatures, offsets_of

FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]
entries = st.one_of(st.just(0.0), st.just(1.0), st.floats(allow_nan=False, allow_infinity=False))


@st.composite
def matrices(draw, most=4):
    width = draw(st.integers(0, 3))
    lengths = draw(st.lists(st.integers(0, 3), max_size=most))
    return [draw(hnp.arrays(np.float64, (n, width), elements=entries)) for n in lengths]


def expected_of(data):
    return [[(str(j), v) for j, v in enumerate(row) if v != 0] for matrix in data for row in matrix.tolist()]


@given(data=matrices(), kind=st.sampled_from(FORMATS))
def test_entries_that_are_not_zero_are_attributes(data, kind):
    width = next((matrix.shape[1] for matrix in data if len(matrix)), 0)
    sparse = [sp.csr_array(matrix).asformat(kind) if matrix.size else sp.csr_array(matrix.shape) for matrix in data]
    for given_data in (data, sparse, [sp.csr_matrix(matrix) for matrix in sparse]):
        features, packed = GivenFeatures.learn(given_data)
        assert features.names() == [str(j) for j in range(width)]
        assert unpacked(packed, features.names()) == expected_of(data)
        assert offsets_of(given_data).tolist() == [0, *np.cumsum([len(matrix) for matrix in data]).tolist()]
        assert unpacked(features.transform(given_data), features.names()) == expected_of(data)
        assert (packed.indptr.dtype, packed.ids.dtype) == (np.int64, np.int32)
        assert packed.values is None or np.any(packed.values != 1.0)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.float32, np.longdouble])
def test_numbers_of_any_type(dtype):
    matrix = np.array([[1, 0, 1], [0, 0, 1]], dtype)
    for data in ([matrix], [matrix[:, ::-1][:, ::-1]], [np.asfortranarray(matrix)]):
        assert unpacked(GivenFeatures.learn(data)[1], "012") == [[("0", 1), ("2", 1)], [("2", 1)]]


def test_one_array_of_three_dimensions_is_sentences_of_equal_length():
    cube = np.arange(12.0).reshape(2, 3, 2)
    _, packed = GivenFeatures.learn(cube)
    assert unpacked(packed, "01") == expected_of(list(cube))
    assert offsets_of(cube).tolist() == [0, 3, 6]


def test_the_input_stays_as_it_is():
    """Also a matrix with entries given twice, unsorted, or stored zeros."""
    data, columns, starts = np.array([1.0, 2.0, 3.0, 0.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])
    matrix = sp.csr_array((data.copy(), columns.copy(), starts.copy()), shape=(2, 3))
    assert unpacked(GivenFeatures.learn([matrix])[1], "012") == [[("0", 2), ("2", 4)], []]
    assert (matrix.data.tolist(), matrix.indices.tolist()) == (data.tolist(), columns.tolist())
    frozen = np.array([[0.0, 2.0]])
    frozen.setflags(write=False)
    assert unpacked(GivenFeatures.learn([frozen])[1], "01") == [[("1", 2)]]


def test_sentences_without_tokens_may_be_anything_empty():
    data = [[], np.zeros(0), np.ones((1, 2)), np.zeros((0, 9)), ()]
    assert unpacked(GivenFeatures.learn(data)[1], "01") == [[("0", 1), ("1", 1)]]
    assert GivenFeatures(["0", "1"]).transform(data).ids.tolist() == [0, 1]


def test_rare_columns_keep_their_numbers():
    data = [np.array([[0, 5, 0, 1], [0, 0, 0, 2.0]])]
    features, packed = GivenFeatures.learn(data, min_count=2)
    assert features.names() == ["0", "1", "2", "3"]
    assert unpacked(packed, "0123") == [[("3", 1)], [("3", 2)]]


def test_a_dict_by_number_of_column_means_the_same():
    features, _ = GivenFeatures.learn([np.array([[1.0, 0, -2]])])
    assert unpacked(features.transform([[{"0": 0.5, 2: 3.0, "9": 1.0}]]), "012") == [[("0", 0.5), ("2", 3), (None, 1)]]


class Tensor:
    """Has what arrays of other libraries have."""

    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.rows, dtype)


def test_arrays_of_other_libraries():
    assert unpacked(GivenFeatures.learn([Tensor([[0.0, 2.0]])])[1], "01") == [[("1", 2)]]


class TestRefused:
    @pytest.mark.parametrize("make", [np.array, sp.csr_array, sp.coo_matrix], ids=lambda f: f.__name__)
    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    def test_what_is_not_finite(self, make, value):
        data = [make(np.ones((3, 2))), [], make(np.array([[1.0, 0.0], [0.0, value]]))]
        with pytest.raises(DataError, match=rf"^sentence 3, token 2, column 1: {value}; expected a finite number"):
            GivenFeatures.learn(data)
        with pytest.raises(DataError, match=r"^sentence 8, token 2, column 1: "):
            GivenFeatures(["0", "1"]).transform(data, first=5)

    def test_what_is_too_large_for_float64(self):
        with pytest.raises(DataError, match="column 0: inf"):
            GivenFeatures.learn([np.array([[np.longdouble("1e4000")]])])

    def test_another_number_of_columns(self):
        data = [np.ones((1, 2)), np.ones((1, 3))]
        with pytest.raises(DataError, match="sentence 2 has 3 columns; the sentences before it have 2"):
            GivenFeatures.learn(data)
        for wrong in (data[1:], [sp.csr_array(data[1])]):
            with pytest.raises(DataError, match="sentence 5 has 3 columns; the model was trained on 2"):
                GivenFeatures(["0", "1"]).transform(wrong, first=4)

    @pytest.mark.parametrize("other", [[["a"]], sp.csr_array(np.ones((1, 2))), np.array([["a", "b"]])], ids=type)
    def test_a_mixture_of_kinds(self, other):
        with pytest.raises(DataError, match=r"sentence 3 is .*, sentence 1 an array of numbers; expected one kind"):
            GivenFeatures.learn([np.ones((1, 2)), [], other])
        with pytest.raises(DataError, match="expected one kind"):
            offsets_of([np.ones((1, 2)), [], other])

    def test_other_dimensions(self):
        for sentence in (np.ones(3), np.ones((1, 2, 3))):
            with pytest.raises(DataError, match=r"sentence 1 .* the shape .*; expected \[tokens, columns\]"):
                GivenFeatures.learn([sentence])
        with pytest.raises(DataError, match="sentence 1 is an array of the shape"):
            GivenFeatures.learn(np.ones((2, 3)))
        with pytest.raises(DataError, match="sentence 1 is of the type float64"):
            GivenFeatures.learn(np.ones(3))
        with pytest.raises(DataError, match="sentence 1 is an array of the shape"):
            GivenFeatures.learn([sp.coo_array(np.ones(3))])

    @pytest.mark.parametrize("sentence", [np.ones((1, 2), complex), np.zeros((1, 2), "M8[s]")], ids=lambda a: a.dtype)
    def test_what_are_no_numbers(self, sentence):
        with pytest.raises(DataError, match=r"sentence 1 is an array of the type .*; expected numbers"):
            GivenFeatures.learn([sentence])

    def test_arrays_of_objects_are_read_as_tokens(self):
        with pytest.raises(DataError, match=r"sentence 1, token 1: .*one array"):
            GivenFeatures.learn([np.array([[1.0, 2.0]], dtype=object)])

    def test_masked_arrays(self):
        with pytest.raises(DataError, match="masked"):
            GivenFeatures.learn([np.ma.masked_equal(np.ones((2, 2)), 1)])

    def test_a_single_sparse_matrix(self):
        with pytest.raises(DataError, match="not one sparse matrix"):
            offsets_of(sp.csr_array(np.ones((2, 2))))

    def test_matrices_where_names_were_learnt(self):
        for names in (["word:dog"], ["1", "0"], ["0", "2"]):
            with pytest.raises(DataError, match="trained on attributes with names"):
                GivenFeatures(names).transform([np.ones((1, 2))])


def test_scipy_is_not_needed_for_arrays():
    script = (
        "import sys, numpy as np; from trellis.features import GivenFeatures\n"
        "GivenFeatures.learn([np.ones((2, 2))])[0].transform([[{'0': 1.0}]]); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert {"scipy", "numba"}.isdisjoint(done.stdout.split())
