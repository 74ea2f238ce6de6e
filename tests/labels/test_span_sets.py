"""Sets of spans: one order, no span twice, compared by fragments and type."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from span_strategies import gappy, nested

from trellis.errors import DataError
from trellis.labels import SpanSet
from trellis.labels.spans import common

SPANS = [("V", [(0, 1), (4, 6)]), ("N", [(2, 4)]), ("N", [(7, 8)])]


def test_spans_are_kept_in_one_order_and_once():
    spans = SpanSet.from_lists([*SPANS[::-1], SPANS[1]])
    assert spans.as_lists() == SPANS
    assert spans.types == ("N", "V")
    assert (spans.kind.tolist(), spans.first.tolist()) == ([1, 0, 0], [0, 2, 3, 4])
    assert spans.begin.tolist() == [0, 2, 7]
    assert spans.behind.tolist() == [6, 4, 8]


def test_the_longer_one_comes_first_then_the_type():
    given_ = [("B", [(0, 2)]), ("A", [(0, 2)]), ("C", [(0, 1), (2, 3)]), ("C", [(0, 3)])]
    assert [name for name, _ in SpanSet.from_lists(given_).as_lists()] == ["C", "C", "A", "B"]


@given(st.one_of(gappy(), nested()), st.one_of(gappy(), nested()))
def test_sets_compare_as_pythons_do(one, other):
    a, b = one[0], other[0]

    def plain(spans):
        return [(name, tuple(fragments)) for name, fragments in spans.as_lists()]

    assert (a == b) == (set(plain(a)) == set(plain(b)))
    mine, theirs = common(a, b)
    assert mine.tolist() == [span in set(plain(b)) for span in plain(a)]
    assert theirs.tolist() == [span in set(plain(a)) for span in plain(b)]
    assert a == SpanSet.from_lists(a.as_lists()[::-1])


def test_types_without_spans_do_not_count():
    assert SpanSet.of([1], [0, 1], [3], [4], ["A", "B"]) == SpanSet.from_lists([("B", [(3, 4)])])
    assert SpanSet.of([0, 1], [0, 1, 2], [3, 3], [4, 4], ["B", "B"]) == SpanSet.from_lists([("B", [(3, 4)])])
    assert SpanSet.from_lists([]) == SpanSet.of([], [0], [], [], ["A"])
    assert SpanSet.from_lists([]) != 3


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (([0], [0, 1], [3], [3]), "must have tokens"),
        (([0], [0, 2], [3, 4], [4, 5]), "join those that touch"),
        (([0], [0, 2], [5, 1], [6, 2]), "in order"),
        (([0, 0], [0, 0, 1], [3], [4]), "no fragment"),
        (([0], [0, 1], [3], [4, 5]), "1 starts and 2 ends"),
        (([0], [0, 2], [3], [4]), "`first` must go from 0 to 1 in 2 numbers"),
        (([1], [0, 1], [3], [4]), "there are 1 types"),
        (([0], [0, 1], [3.5], [4]), "integers"),
    ],
)
def test_what_is_no_span_is_refused(arrays, message):
    with pytest.raises(DataError, match=message):
        SpanSet.of(*arrays, ["A"])


def test_spans_must_lie_within_a_sentence():
    spans = SpanSet.from_lists(SPANS)
    spans.check_within(np.array([0, 6, 6, 8]))
    with pytest.raises(
        DataError, match="sentence 1, token 1: the span of type 'V' that begins there goes on in another"
    ):
        spans.check_within(np.array([0, 5, 8]))
    with pytest.raises(DataError, match="8, but there are 7 tokens"):
        spans.check_within(np.array([0, 7]))
