"""Scores equal seqeval's on random tags, mostly ill-formed: its default reading and its strict one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval import scheme
from seqeval.metrics import f1_score, precision_score, recall_score

from trellis.errors import SettingError
from trellis.labels.encoding import PREFIXES
from trellis.metrics import Counts, segment_counts

STRICT = {
    "iob1": scheme.IOB1,
    "iob2": scheme.IOB2,
    "ioe1": scheme.IOE1,
    "ioe2": scheme.IOE2,
    "bioes": scheme.IOBES,
    "bilou": scheme.BILOU,
}
ALPHABETS = {name: ["O", *(f"{p}-{t}" for p in prefixes for t in ("X", "X-Y"))] for name, prefixes in PREFIXES.items()}
BARE = {name: ["O", *prefixes] for name, prefixes in PREFIXES.items()}


@st.composite
def columns(draw, tags):
    """Gold tags, and predicted ones that are a damaged copy of them."""
    gold = draw(st.lists(st.lists(st.sampled_from(tags), min_size=1, max_size=9), min_size=1, max_size=4))
    return gold, [[tag if draw(st.integers(0, 3)) else draw(st.sampled_from(tags)) for tag in s] for s in gold]


def check(gold, predicted, seqeval, **reading):
    """Precision, recall and F1, by type and over all types."""
    labels = sorted({tag for column in (gold, predicted) for sentence in column for tag in sentence})
    ids = [np.array([labels.index(tag) for sentence in column for tag in sentence]) for column in (gold, predicted)]
    counts = segment_counts(*ids, labels, np.cumsum([0, *map(len, gold)]), **reading)
    by_type = np.array(list(counts.values()), float).reshape(-1, 3)
    for average, (there, found, right) in ((None, by_type.T), ("micro", by_type.sum(axis=0))):
        ours = right / np.maximum(found, 1), right / np.maximum(there, 1), 2 * right / np.maximum(there + found, 1)
        for score, value in zip((precision_score, recall_score, f1_score), ours, strict=True):
            theirs = score(gold, predicted, average=average, zero_division=0, **seqeval)
            np.testing.assert_allclose(value, theirs, rtol=1e-13)


@pytest.mark.parametrize("encoding", ["io", "iob2", "ioe2", "bioes"])
@pytest.mark.parametrize("alphabets", [ALPHABETS, BARE], ids=["typed", "bare"])
@given(data=st.data())
def test_the_default_reading_is_seqevals(alphabets, encoding, data):
    gold, predicted = data.draw(columns(alphabets[encoding]))
    check(gold, predicted, {})


@pytest.mark.parametrize("encoding", STRICT)
@pytest.mark.parametrize("alphabets", [ALPHABETS, BARE], ids=["typed", "bare"])
@settings(max_examples=150)
@given(data=st.data())
def test_the_strict_reading_is_seqevals(alphabets, encoding, data):
    gold, predicted = data.draw(columns(alphabets[encoding]))
    seqeval = {"mode": "strict", "scheme": STRICT[encoding]}
    check(gold, predicted, seqeval, reading="strict", encoding=encoding)


def counted(gold, predicted, **given):
    labels = sorted({*gold.split(), *predicted.split()})
    ids = [[labels.index(tag) for tag in column.split()] for column in (gold, predicted)]
    return segment_counts(*ids, labels, [0, len(ids[0])], reading="strict", **given)


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        ("B-X I-X O B-X", "B-X I-X O I-X", Counts(2, 1, 1)),  # iob2: I after O is none
        ("I-X I-X O I-X", "I-X B-X O I-X", Counts(2, 3, 1)),  # gold without B: iob1, as what is predicted has B
        ("B-X E-X O S-X", "B-X I-X O S-X", Counts(2, 1, 1)),
        ("U-X O B-X L-X", "U-X O U-X L-X", Counts(2, 2, 1)),
        ("I-X E-X O E-X", "I-X I-X O E-X", Counts(2, 1, 1)),
    ],
)
def test_the_encoding_is_that_of_the_gold_labels(gold, predicted, expected):
    assert counted(gold, predicted) == {"X": expected}


def test_predicted_labels_must_be_of_the_encoding_of_the_gold_ones():
    with pytest.raises(SettingError, match="'E-X' is not iob2"):
        counted("B-X I-X O", "B-X E-X O")
    with pytest.raises(SettingError, match="'B-X' is not ioe2"):
        counted("B-X I-X O", "B-X I-X O", encoding="ioe2")
