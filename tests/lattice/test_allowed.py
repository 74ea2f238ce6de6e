"""Label sets per token: what they say, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from trellis.errors import DataError
from trellis.lattice import Allowed


def sets(which, *lists):
    start = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return Allowed(np.array(which, np.int32), start, np.array([j for labels in lists for j in labels], np.int32))


def test_a_token_may_have_the_labels_of_its_set():
    allowed = sets([1, 0, 2], [0, 1, 2], [1], [0, 2])
    assert (len(allowed), allowed.size) == (3, 3)
    assert allowed.mask().tolist() == [[False, True, False], [True, True, True], [True, False, True]]
    assert allowed.counts.tolist() == [1, 3, 2]
    assert allowed.places.tolist() == [0, 1, 4, 6]
    assert allowed.open.tolist() == [False, True, True]


def test_places_and_where_they_are_in_full_rows():
    allowed = sets([1, 0, 2], [0, 1, 2, 3, 4], [1], [0, 2])
    token, label = allowed.sites
    assert token.tolist() == [0, 1, 1, 1, 1, 1, 2, 2]
    assert label.tolist() == [1, 0, 1, 2, 3, 4, 0, 2]
    assert allowed.width == 8
    assert allowed.in_rows.tolist() == [1, 8, 9, 10, 11, 12, 16, 18]
    assert len(allowed.part(2, 2).in_rows) == 0


def test_a_part_has_the_sets_of_its_tokens():
    allowed = sets([1, 0, 2], [0, 1, 2], [1], [0, 2])
    part = allowed.part(1, 3)
    np.testing.assert_array_equal(part.mask(), allowed.mask()[1:])
    assert part.places.tolist() == [0, 3, 5]
    assert len(allowed.part(2, 2)) == 0
    assert allowed.part(2, 2).places.tolist() == [0]


@pytest.mark.parametrize(
    ("path", "outside"), [([1, 0, 2], None), ([1, 2, 1], 2), ([0, 0, 0], 0), ([1, 3, 0], 1), ([1, 1, 7], 2)]
)
def test_the_first_label_that_is_not_allowed_is_found(path, outside):
    allowed = sets([1, 0, 2], [0, 1, 2], [1], [0, 2])
    assert allowed.first_outside(np.array(path, np.int32)) == outside


@pytest.mark.parametrize(
    ("which", "lists", "message"),
    [
        ([0], [[0, 1], []], "label set 1 is empty"),
        ([0], [[1, 0]], "set 0 must have all labels"),
        ([0], [[0, 1], [1, 0]], "must rise"),
        ([0], [[0, 1], [1, 1]], "must rise"),
        ([0], [[0, 1], [2]], "below 2"),
        ([0], [[0, 1], [-1]], "below 2"),
        ([2], [[0, 1], [1]], "2 to 2 of 2"),
        ([-1], [[0, 1], [1]], "-1 to -1 of 2"),
    ],
)
def test_sets_that_make_no_sense_are_refused(which, lists, message):
    with pytest.raises(DataError, match=message):
        sets(which, *lists)


def test_bounds_that_do_not_fit_the_labels_are_refused():
    with pytest.raises(DataError, match="label sets need"):
        Allowed(np.zeros(1, np.int32), np.array([0, 3]), np.array([0, 1], np.int32))
    with pytest.raises(DataError, match="label sets need"):
        Allowed(np.zeros(1, np.int32), np.zeros(1, np.int64), np.zeros(0, np.int32))
