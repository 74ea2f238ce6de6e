"""Spans that nest or cross, in as many layers as are needed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from span_strategies import nested

from trellis.errors import DataError, SettingError
from trellis.labels import ENCODINGS, READINGS, SpanSet, illegal, read_layers, read_segments, write_gappy, write_layers
from trellis.labels.layers import layers_of

PRESIDENT = [("PER", [(0, 5)]), ("ORG", [(3, 5)])]


def words(layers):
    return [" ".join(labels[j] for j in ids) for ids, labels in layers]


@pytest.mark.parametrize("reading", READINGS)
@given(case=nested(), encoding=st.sampled_from([e for e in ENCODINGS if e not in ("io", "ioe1")]))
def test_spans_come_back(reading, case, encoding):
    spans, offsets = case
    layers = write_layers(spans, offsets, encoding)
    for ids, labels in layers:
        assert not illegal(labels, ids, offsets, encoding).size
    assert read_layers(layers, offsets, reading, encoding) == spans
    assert read_layers(layers[::-1], offsets, reading, encoding) == spans


@given(nested())
def test_there_are_as_many_layers_as_spans_at_the_busiest_token(case):
    spans, offsets = case
    busy = np.zeros(offsets[-1] + 1, np.int64)
    for _, ((start, end),) in spans.as_lists():
        busy[start:end] += 1
    assert len(write_layers(spans, offsets)) == max(1, busy.max())


@given(nested())
def test_without_crossing_a_span_lies_before_those_inside_it(case):
    spans, _ = case
    layer = layers_of(spans).tolist()
    pairs = [fragments[0] for _, fragments in spans.as_lists()]
    crossing = any(a < c < b < d for a, b in pairs for c, d in pairs)
    if not crossing:
        assert layer == [sum(c <= a and b <= d for c, d in pairs[:k]) for k, (a, b) in enumerate(pairs)]


def test_the_outer_one_is_on_the_first_layer():
    layers = write_layers(SpanSet.from_lists(PRESIDENT), [0, 5])
    assert words(layers) == ["B-PER I-PER I-PER I-PER I-PER", "O O O B-ORG I-ORG"]
    assert words(write_layers(SpanSet.from_lists(PRESIDENT), [0, 5], "bioes", layers=3)) == [
        "B-PER I-PER I-PER I-PER E-PER",
        "O O O B-ORG E-ORG",
        "O O O O O",
    ]


def test_without_spans_there_is_one_layer_of_o():
    ((ids, labels),) = write_layers(SpanSet.from_lists([]), [0, 2])
    assert (ids.tolist(), labels) == ([0, 0], ["O"])
    assert len(read_layers([], [0, 2])) == 0


def test_layers_of_different_encodings_may_be_gappy_and_repeat_each_other():
    one = ([1, 2, 0, 3], ["O", "B-X", "I-X", "B-Y"])
    other = ([0, 1, 2, 3], ["O", "B-Z", "o", "I-Z"])
    bioes = ([1, 2, 0, 0], ["O", "B-X", "E-X"])
    found = read_layers([one, other, bioes], [0, 4])
    assert found.as_lists() == [("X", [(0, 2)]), ("Z", [(1, 2), (3, 4)]), ("Y", [(3, 4)])]


def test_one_layer_is_its_segments():
    labels = ["O", "B-X", "I-X"]
    ids = np.random.default_rng(1).integers(0, 3, 60)
    for reading in READINGS:
        start, end, _ = read_segments(ids, labels, [0, 60], reading, "iob2")
        found = read_layers([(ids, labels)], [0, 60], reading, "iob2")
        assert (found.start.tolist(), found.end.tolist()) == (start.tolist(), end.tolist())


def test_what_layers_cannot_hold_is_refused():
    gap = SpanSet.from_lists([("X", [(0, 1), (2, 3)])])
    with pytest.raises(DataError, match="sentence 1, token 1: the span of type 'X' that begins there has a gap"):
        write_layers(gap, [0, 3])
    assert len(write_gappy(gap, [0, 3])[0]) == 3
    spans = SpanSet.from_lists(PRESIDENT)
    with pytest.raises(
        DataError, match=r"token 4: the span of type 'ORG' .* needs layer 2, but there are 1; 2 hold all"
    ):
        write_layers(spans, [0, 5], layers=1)
    with pytest.raises(DataError, match="goes on in another sentence"):
        write_layers(spans, [0, 3, 5])
    with pytest.raises(SettingError, match="unknown encoding"):
        write_layers(spans, [0, 5], "gappy")
