"""Interning: compiled and plain give the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trellis.corpus import parse_conll
from trellis.corpus.intern import Bytes, intern


def fields_of(words):
    data = b" ".join(words)
    end = np.cumsum([len(word) + 1 for word in words], dtype=np.int64) - 1
    start = end - np.array([len(word) for word in words], np.int64)
    return Bytes(data), start[:, None], end[:, None]


@given(words=st.lists(st.binary(max_size=3) | st.binary(min_size=7, max_size=18), max_size=30))
@example(words=[])
@example(words=[b"", b"a", b""])
@pytest.mark.parametrize("way", ["plain", "compiled"])
def test_numbers_fields_in_order_of_first_appearance(words, way, computing):
    with computing(way):
        ids, first = intern(*fields_of(words))
    distinct = list(dict.fromkeys(words))
    assert ids.tolist() == [distinct.index(word) for word in words]
    assert first.tolist() == [words.index(word) for word in distinct]
    assert (ids.dtype, first.dtype) == (np.int32, np.int64)


def test_many_distinct_fields_make_the_table_grow(computing):
    rng = np.random.default_rng(0)
    words = [b"%d" % n for n in rng.integers(0, 3000, 6000)]
    with computing("plain"):
        plain = intern(*fields_of(words))
    with computing("compiled"):
        compiled = intern(*fields_of(words))
    for a, b in zip(plain, compiled, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_file_is_the_same_corpus_either_way(computing):
    data = "é x\nb y\né z\n\nb x\n".encode()
    corpora = []
    for way in ("plain", "compiled"):
        with computing(way):
            corpora.append(parse_conll(data))
    for name in ("c0", "c1"):
        np.testing.assert_array_equal(corpora[0][name].ids, corpora[1][name].ids)
        assert corpora[0][name].strings == corpora[1][name].strings
