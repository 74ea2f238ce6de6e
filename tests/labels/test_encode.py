"""Segments written as labels are read again as the same segments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.errors import SettingError
from trellis.labels import ENCODINGS, detect, illegal
from trellis.labels.encode import encoded, labels_of
from trellis.metrics.segments import segments


@st.composite
def segmentations(draw, kinds=2):
    """Segments that may touch, in sentences that may be empty."""
    lengths = draw(st.lists(st.integers(0, 6), max_size=4))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    found = []
    for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        while a < b:
            end = min(b, a + draw(st.integers(1, 3)))
            kind = draw(st.integers(-1, kinds - 1))
            if kind >= 0:
                found.append((a, end, kind))
            a = end
    return np.array(found, np.int64).reshape(-1, 3), offsets


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(case=segmentations())
def test_segments_come_back(encoding, case):
    found, offsets = case
    names = ["A", "B-side"]
    ids, labels = encoded(*found.T, names, offsets, encoding)
    assert labels == labels_of(names, encoding)
    assert not len(illegal(labels, ids, offsets, encoding))
    start, end, kind = segments(ids, labels, offsets)
    if encoding == "io":  # touching segments of one type are one
        assert set(start.tolist()) <= set(found[:, 0].tolist())
        return
    np.testing.assert_array_equal(np.stack([start, end, kind], axis=1), found)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_types_without_a_name(encoding):
    ids, labels = encoded(np.array([1]), np.array([3]), np.array([0]), [""], np.array([0, 4]), encoding)
    assert all(len(label) == 1 for label in labels)
    assert segments(ids, labels, np.array([0, 4]))[1].tolist() == [3]
    assert detect(labels) is not None


def test_unknown_encodings_are_refused():
    with pytest.raises(SettingError, match="iob2"):
        labels_of(["A"], "iob3")
