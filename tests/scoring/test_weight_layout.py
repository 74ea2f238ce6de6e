"""Which weights there are: those that the training data shows, or all."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.errors import SettingError
from trellis.scoring import WeightLayout, observed_layout, with_observed_arcs


@st.composite
def training_data(draw):
    """indptr, ids, gold, offsets, number of attributes and of labels."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    labels, attributes = draw(st.sampled_from([1, 2, 5, 63, 64, 65, 130])), draw(st.integers(1, 8))
    lengths = draw(st.lists(st.integers(0, 4), max_size=5))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 4, offsets[-1]))]).astype(np.int64)
    ids = rng.integers(0, attributes, indptr[-1]).astype(np.int32)
    gold = rng.integers(0, labels, offsets[-1]).astype(np.int32)
    return indptr, ids, gold, offsets, attributes, labels


def pairs(layout):
    attribute = np.repeat(np.arange(layout.attributes), np.diff(layout.pair_start))
    return list(zip(attribute.tolist(), layout.pair_label.tolist(), strict=True))


def transitions(layout):
    return list(zip(layout.source.tolist(), layout.target.tolist(), strict=True))


@given(data=training_data())
def test_weights_are_for_what_was_seen_in_order(data):
    indptr, ids, gold, offsets, attributes, labels = data
    layout = observed_layout(*data)
    seen = {(int(a), int(gold[t])) for t in range(len(gold)) for a in ids[indptr[t] : indptr[t + 1]]}
    follow = {(int(gold[t - 1]), int(gold[t])) for a, b in pairwise(offsets.tolist()) for t in range(a + 1, b)}
    assert pairs(layout) == sorted(seen)
    assert transitions(layout) == sorted(follow)
    assert (layout.labels, layout.attributes) == (labels, attributes)
    assert layout.size == len(seen) + len(follow)


@given(data=training_data())
def test_all_pairs_and_all_transitions(data):
    attributes, labels = data[-2:]
    everything = observed_layout(*data, all_pairs=True, all_transitions=True)
    assert pairs(everything) == [(a, j) for a in range(attributes) for j in range(labels)]
    assert transitions(everything) == [(i, j) for i in range(labels) for j in range(labels)]
    assert transitions(observed_layout(*data, all_pairs=True)) == transitions(observed_layout(*data))
    assert pairs(observed_layout(*data, all_transitions=True)) == pairs(observed_layout(*data))


@given(data=training_data(), order=st.randoms(use_true_random=False))
def test_a_restricted_layout_knows_where_its_weights_are(data, order):
    layout = observed_layout(*data)
    chosen = [a for a in range(layout.attributes) if order.random() < 0.5]
    order.shuffle(chosen)
    part, index = layout.restricted(np.array(chosen, np.int64))
    whole = [*pairs(layout), *transitions(layout)]
    found = [whole[i] for i in index]
    assert found == [(chosen[a], j) for a, j in pairs(part)] + transitions(part)
    assert part.size == len(index)
    assert transitions(part) == transitions(layout)


def test_transitions_without_a_weight_score_zero():
    layout = WeightLayout(2, np.zeros(1, np.int64), *(np.array(a, np.int32) for a in ([], [0, 1], [1, 1])))
    assert layout.transition_matrix(np.array([3.0, -4.0])).tolist() == [[0.0, 3.0], [0.0, -4.0]]


def test_labels_across_a_sentence_end_do_not_follow_each_other():
    layout = observed_layout(
        np.zeros(4, np.int64), np.zeros(0, np.int32), np.array([0, 1, 2], np.int32), np.array([0, 0, 2, 2, 3, 3]), 0, 3
    )
    assert transitions(layout) == [(0, 1)]


@pytest.mark.parametrize("all_pairs", [False, True])
def test_no_attribute_at_all(all_pairs):
    layout = observed_layout(
        np.zeros(2, np.int64), np.zeros(0, np.int32), np.zeros(1, np.int32), np.array([0, 1]), 0, 1, all_pairs
    )
    assert (layout.attributes, layout.size) == (0, 0)


@st.composite
def arc_data(draw):
    """A layout, packed arc attributes (-1: unknown) and what they were seen with."""
    data = draw(training_data())
    gold, offsets = data[2:4]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    attributes = draw(st.integers(1, 6))
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 3, len(gold)))]).astype(np.int64)
    ids = rng.integers(-1, attributes, indptr[-1]).astype(np.int32)
    return observed_layout(*data), (indptr, ids, gold, offsets, attributes)


def arcs(layout):
    attribute = np.repeat(np.arange(layout.arc_attributes), np.diff(layout.arc_start))
    sides = np.divmod(layout.arc_pair, layout.labels)
    return list(zip(attribute.tolist(), *(side.tolist() for side in sides), strict=True))


@given(case=arc_data())
def test_arc_attributes_have_weights_for_the_label_pairs_seen_with_them(case):
    before, (indptr, ids, gold, offsets, attributes) = case
    layout = with_observed_arcs(before, indptr, ids, gold, offsets, attributes)
    seen = {
        (int(k), int(gold[t - 1]), int(gold[t]))
        for a, b in pairwise(offsets.tolist())
        for t in range(a + 1, b)
        for k in ids[indptr[t] : indptr[t + 1]]
        if k >= 0
    }
    assert arcs(layout) == sorted(seen)
    assert (pairs(layout), transitions(layout)) == (pairs(before), transitions(before))
    assert (layout.arcs_at, layout.size) == (before.size, before.size + len(seen))
    assert layout.arc_attributes == attributes


@given(case=arc_data())
def test_arc_attributes_with_all_label_pairs(case):
    before, data = case
    layout = with_observed_arcs(before, *data, all_pairs=True)
    every = range(layout.labels)
    assert arcs(layout) == [(a, i, j) for a in range(data[-1]) for i in every for j in every]


@given(case=arc_data(), order=st.randoms(use_true_random=False))
def test_a_restricted_layout_knows_where_its_arc_weights_are(case, order):
    layout = with_observed_arcs(case[0], *case[1])
    chosen = [a for a in range(layout.arc_attributes) if order.random() < 0.5]
    order.shuffle(chosen)
    part, index = layout.restricted(np.arange(layout.attributes), np.array(chosen, np.int64))
    whole = [*pairs(layout), *transitions(layout), *arcs(layout)]
    own = [*pairs(part), *transitions(part), *((chosen[a], i, j) for a, i, j in arcs(part))]
    assert [whole[i] for i in index] == own
    assert part.size == len(index)


def test_too_many_weights_are_refused_before_they_are_made():
    layout = WeightLayout(4096, np.zeros(1, np.int64), *np.zeros((3, 0), np.int32))
    nothing = (np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(1, np.int64))
    with pytest.raises(SettingError, match="too many"):
        with_observed_arcs(layout, *nothing, 200, all_pairs=True)
