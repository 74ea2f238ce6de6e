"""Training data that does not fit together is refused before it is trained on, with the place of the mistake."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from trellis.errors import DataError
from trellis.features import Packed
from trellis.lattice import Allowed
from trellis.losses import Target, find_loss
from trellis.objective import Examples, cut_into_shards
from trellis.scoring import observed_layout

GOLD = np.array([0, 1, 2, 0, 2], np.int32)
OFFSETS = np.array([0, 2, 2, 5])
KNOWN = np.eye(3, dtype=bool)[GOLD]
BARE = Examples(np.arange(6), np.zeros(5, np.int32), None, GOLD, OFFSETS)
LAYOUT = observed_layout(BARE.indptr, BARE.ids, GOLD, OFFSETS, 1, 3, True, True)
ARCS = Packed(np.arange(6), np.zeros(5, np.int32), None)
# every label, or the last two
ALLOWED = Allowed(np.array([0, 1, 0, 0, 1], np.int32), np.array([0, 3, 5]), np.array([0, 1, 2, 1, 2], np.int32))


def given(**more):
    return replace(BARE, more=Target(GOLD, **more))


def changed(array, *place_and_value):
    *place, value = place_and_value
    out = array.copy()
    out[tuple(place)] = value
    return out


def test_what_is_good_is_taken():
    given(weights=np.array([0.0, 1.0, 2.5]), costs=np.array([0.0, 1.0, 2.0]), known=KNOWN)
    given(soft=np.full((5, 3), 1 / 3))
    given(soft=KNOWN.astype(float) + 1e-9)
    replace(given(known=KNOWN), allowed=ALLOWED, arcs=ARCS)


def test_parts_are_taken_too():
    whole = replace(given(weights=np.array([1.0, 2.0, 3.0]), known=KNOWN), allowed=ALLOWED)
    part = whole.part(1, 3)
    assert part.target.weights.tolist() == [2.0, 3.0]
    np.testing.assert_array_equal(part.target.known, KNOWN[2:])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"weights": np.ones(4)}, r"weights are given for 4 of 3 sentences"),
        ({"weights": np.ones((3, 1))}, r"weights have the shape \(3, 1\); expected one number for each sentence"),
        ({"weights": np.array([1.0, -0.5, 1.0])}, r"sentence 2: its weight is -0\.5; expected a finite number >= 0"),
        ({"weights": np.array([1.0, 1.0, np.nan])}, r"sentence 3: its weight is nan"),
        ({"weights": np.array([np.inf, 1.0, 1.0])}, r"sentence 1: its weight is inf"),
        ({"costs": np.array([1.0, -1.0, 1.0])}, r"label number 1: its cost is -1; expected a finite number >= 0"),
        ({"costs": np.array([1.0, 1.0, np.inf])}, r"label number 2: its cost is inf"),
        ({"costs": np.ones((3, 3))}, r"costs have the shape \(3, 3\); expected one number for each label"),
        ({"known": KNOWN[1:]}, r"known labels are given for 4 of 5 tokens"),
        ({"known": KNOWN[:, 0]}, r"known labels have the shape \(5,\); expected \[tokens, labels\]"),
        ({"known": KNOWN.astype(int)}, r"known labels are int64; expected truth values \(bool\)"),
        (
            {"known": changed(KNOWN, 3, 0, False)},
            r"sentence 3, token 2: no label is known to be possible; where nothing is known, all are",
        ),
        ({"soft": np.full((4, 3), 1 / 3)}, r"soft labels are given for 4 of 5 tokens"),
        ({"soft": np.ones(5)}, r"soft labels have the shape \(5,\); expected \[tokens, labels\]"),
        (
            {"soft": changed(KNOWN.astype(float), 4, [0, 1, 2], [1.5, -0.5, 0.0])},
            r"sentence 3, token 3: the probability of label number 1 is -0\.5; expected a number from 0 to 1",
        ),
        ({"soft": changed(KNOWN.astype(float), 1, 2, np.nan)}, r"sentence 1, token 2: .* label number 2 is nan"),
        (
            {"soft": changed(KNOWN.astype(float), 2, 2, 0.99)},
            r"sentence 3, token 1: the probabilities of its labels sum to 0\.99; expected 1",
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_is_known_of_labels_has_to_make_sense(more, message):
    with pytest.raises(DataError, match=message):
        given(**more)


@pytest.mark.parametrize(
    ("more", "kind", "message"),
    [
        ({"known": np.ones((5, 4), bool)}, "part", "known labels are given for 4 labels; there are 3"),
        ({"soft": np.full((5, 2), 0.5)}, "soft", "soft labels are given for 2 labels; there are 3"),
        ({"costs": np.ones(2)}, "gold", "costs are given for 2 labels; there are 3"),
    ],
)
def test_numbers_of_labels_have_to_agree(more, kind, message):
    with pytest.raises(DataError, match=message):
        cut_into_shards(LAYOUT, given(**more), find_loss("log", kind))


def test_label_sets_of_other_labels_are_refused_with_and_without_arc_attributes():
    more = Allowed(np.zeros(5, np.int32), np.array([0, 4]), np.arange(4, dtype=np.int32))
    for arcs in (None, ARCS):
        with pytest.raises(DataError, match="label sets are given for 4 labels; there are 3"):
            cut_into_shards(LAYOUT, replace(BARE, allowed=more, arcs=arcs), find_loss("log"))


class TestKnownAndAllowed:
    def test_have_to_have_a_label_in_common(self):
        with pytest.raises(
            DataError, match="sentence 3, token 3: none of the labels known to be possible is among the labels allowed"
        ):
            replace(given(known=changed(KNOWN, 4, [0, 1, 2], [True, False, False])), allowed=ALLOWED)

    def test_one_of_several_is_enough(self):
        replace(given(known=changed(KNOWN, 4, [0, 1, 2], [True, True, False])), allowed=ALLOWED)

    def test_leave_the_gold_label_out_of_it(self):
        """It is not read where labels are known in part."""
        gold = changed(GOLD, 4, 0)
        replace(given(known=KNOWN), gold=gold, allowed=ALLOWED)
        with pytest.raises(DataError, match="sentence 3, token 3: its own label, number 0, is not among the labels"):
            replace(BARE, gold=gold, allowed=ALLOWED)


def test_some_label_that_is_allowed_must_have_a_probability():
    soft = np.zeros((5, 3))
    soft[:, 0] = 1.0
    with pytest.raises(DataError, match="no probability among its soft labels"):
        replace(given(soft=soft), allowed=ALLOWED)
