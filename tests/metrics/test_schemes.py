"""Reports by scheme: conlleval's and the strict one, which is seqeval's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import classification_report
from seqeval.scheme import IOB2, IOBES

from trellis.corpus import Column
from trellis.errors import SettingError
from trellis.metrics import compare, evaluate, tallies
from trellis.metrics.tally import metric_of

TAGS = {"iob2": "BI", "bioes": "BIES"}
SCHEMES = {"iob2": IOB2, "bioes": IOBES}


@st.composite
def two_columns(draw: st.DrawFn):
    encoding = draw(st.sampled_from(sorted(TAGS)))
    labels = ["O", *(f"{p}-{kind}" for p in TAGS[encoding] for kind in "XY")]
    tag = st.integers(0, len(labels) - 1)
    rows = draw(st.lists(st.lists(st.tuples(tag, tag, st.booleans()), min_size=1, max_size=8), min_size=1, max_size=4))
    gold = [[g for g, _, _ in row] for row in rows]
    guess = [[g if same else p for g, p, same in row] for row in rows]
    return encoding, labels, gold, guess


@given(two_columns())
def test_strict_reports_equal_seqevals(columns):
    encoding, labels, gold, guess = columns
    offsets = np.cumsum([0, *map(len, gold)])
    found = evaluate(np.concatenate(gold), np.concatenate(guess), labels, offsets, "strict", encoding)
    named = [[[labels[i] for i in row] for row in column] for column in (gold, guess)]
    if not found.by_type:  # seqeval divides by no types at all
        assert (found.f1, found.macro) == (0.0, {"precision": 0.0, "recall": 0.0, "f1": 0.0})
        return
    theirs = classification_report(
        *named, output_dict=True, mode="strict", scheme=SCHEMES[encoding], zero_division=0
    )  # fmt: skip
    for name, score in found.by_type.items():
        ours = (score.precision, score.recall, score.f1, score.gold)
        assert ours == pytest.approx(tuple(theirs[name].values()))
    micro, macro = theirs["micro avg"], theirs["macro avg"]
    assert (found.precision, found.recall, found.f1) == pytest.approx(tuple(micro.values())[:3])
    assert tuple(found.macro.values()) == pytest.approx(tuple(macro.values())[:3])
    assert (found.scheme, found.encoding) == ("strict", encoding)


@given(two_columns(), st.sampled_from(["conlleval", "strict"]))
def test_tallies_of_sentences_add_up_to_the_scores_of_all(columns, scheme):
    encoding, labels, gold, guess = columns
    how = (scheme, encoding if scheme == "strict" else None)
    data = (np.concatenate(gold), np.concatenate(guess), labels, np.cumsum([0, *map(len, gold)]))
    report, sums = evaluate(*data, *how), tallies(*data, *how).sum(axis=0)
    for metric in ("accuracy", "precision", "recall", "f1"):
        assert metric_of(sums, metric) == pytest.approx(getattr(report, metric))
    for s, (right, found) in enumerate(zip(gold, guess, strict=True)):
        alone = evaluate(right, found, labels, [0, len(right)], *how)
        assert metric_of(tallies(*data, *how)[s], "f1") == pytest.approx(alone.f1)


def columns_of(gold: str, guess: str):
    return Column.of(gold.split()), Column.of(guess.split()), np.array([0, len(gold.split())])


def test_ill_formed_segments_count_by_scheme_and_the_report_says_which():
    data = columns_of("B-X I-X O B-X I-X", "B-X I-X O I-X I-X")
    lenient, strict = compare(*data), compare(*data, scheme="strict")
    assert (lenient.f1, lenient.scheme, lenient.encoding) == (1.0, "conlleval", None)
    assert (strict.precision, strict.recall) == (1.0, 0.5)
    assert lenient.as_text().endswith("counting scheme: conlleval")
    assert strict.as_text().endswith("counting scheme: strict, iob2")
    assert strict.as_json()["encoding"] == "iob2"


def test_the_encoding_is_that_of_the_gold_labels():
    iob1 = columns_of("I-X I-X B-X O I-X", "I-X I-X B-X O B-X")
    assert compare(*iob1, scheme="strict").encoding == "iob1"
    assert compare(*iob1, scheme="strict", encoding="iob2").encoding == "iob2"


def test_labels_without_segments_have_an_accuracy_by_any_scheme():
    report = compare(*columns_of("DT NN", "DT VB"), scheme="strict")
    assert (report.accuracy, report.f1, report.macro, report.encoding) == (0.5, None, None, None)


def test_macro_means_count_rare_types_as_much_as_frequent_ones():
    report = compare(*columns_of("B-X B-X B-X B-Y", "B-X B-X B-X O"))
    assert report.macro == {"precision": 0.5, "recall": 0.5, "f1": 0.5}
    assert report.f1 == pytest.approx(6 / 7)


def test_what_does_not_go_together_is_refused():
    data = columns_of("B-X", "B-X")
    with pytest.raises(SettingError, match="scheme is 'Strict'; expected one of conlleval, strict"):
        compare(*data, scheme="Strict")
    with pytest.raises(SettingError, match="the encoding 'iob2' is for scheme 'strict'; conlleval reads all"):
        compare(*data, encoding="iob2")
    with pytest.raises(SettingError, match="nope"):
        compare(*data, scheme="strict", encoding="nope")
    with pytest.raises(SettingError, match="'S-X'"):
        compare(*columns_of("B-X I-X O", "B-X I-X S-X"), scheme="strict")
    with pytest.raises(SettingError, match="'NN'"):
        compare(*columns_of("NN", "NN"), scheme="strict", encoding="iob2")
