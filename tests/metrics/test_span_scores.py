"""Spans with gaps and spans in layers: scored when fragments and type are the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.corpus import Column
from trellis.errors import DataError, SettingError
from trellis.labels import SpanSet, write_layers
from trellis.metrics import Counts, compare
from trellis.metrics.span_scores import score_gappy, score_layers, span_counts


def columns(*texts):
    return [Column.of(text.split()) for text in texts]


def counts(report):
    return {name: Counts(one.gold, one.predicted, one.correct) for name, one in report.by_type.items()}


def test_a_span_with_a_gap_is_right_with_all_its_fragments():
    gold, same, other = columns(
        "B-V o b-N i-N I-V O B-N",
        "B-V o b-N i-N I-V O B-N",
        "B-V o b-N I-V I-V O B-N",
    )
    offsets = np.array([0, 7])
    report = score_gappy(gold, same, offsets)
    assert (report.f1, report.accuracy, counts(report)) == (1.0, 1.0, {"N": Counts(2, 2, 2), "V": Counts(1, 1, 1)})
    report = score_gappy(gold, other, offsets)
    assert counts(report) == {"N": Counts(2, 2, 1), "V": Counts(1, 1, 0)}
    assert (report.precision, report.recall, report.accuracy) == (1 / 3, 1 / 3, 6 / 7)
    assert (report.tokens, report.sentences, report.correct_tokens) == (7, 1, 6)
    assert report.as_text().endswith("counting scheme: conlleval, gappy")
    assert "processed 7 tokens with 3 phrases; found: 3 phrases; correct: 1." in report.as_text()


def test_ill_formed_spans_with_gaps_do_not_count_strictly():
    gold, predicted = columns("B-V o I-V O", "B-V o I-V I-N")
    assert counts(score_gappy(gold, predicted, np.array([0, 4]))) == {"N": Counts(0, 1, 0), "V": Counts(1, 1, 1)}
    assert counts(score_gappy(gold, predicted, np.array([0, 4]), "strict")) == {"V": Counts(1, 1, 1)}


@given(st.lists(st.tuples(*[st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"])] * 2), min_size=1, max_size=12))
def test_without_gaps_and_with_one_layer_scores_are_those_of_segments(rows):
    gold, predicted = (Column.of(tags) for tags in zip(*rows, strict=True))
    offsets = np.array([0, len(rows) // 2, len(rows)])
    for scheme in ("conlleval", "strict"):
        expected = compare(gold, predicted, offsets, scheme, "iob2" if scheme == "strict" else None)
        for report in (
            score_gappy(gold, predicted, offsets, scheme),
            score_layers([gold], [predicted], offsets, scheme, expected.encoding),
        ):
            assert report.by_type == expected.by_type
            assert (report.precision, report.recall, report.f1) == (expected.precision, expected.recall, expected.f1)
        assert score_gappy(gold, predicted, offsets, scheme).accuracy == expected.accuracy


def test_layers_may_be_in_another_order_and_number():
    gold = columns("B-PER I-PER I-PER I-PER", "O O B-ORG I-ORG")
    predicted = columns("O O B-ORG I-ORG", "O O O O", "B-PER I-PER I-PER I-PER")
    report = score_layers(gold, predicted, np.array([0, 4]))
    assert (report.f1, report.accuracy) == (1.0, 1.0)
    assert (report.scheme, report.encoding) == ("conlleval", "layers")


def test_tokens_of_wrong_spans_are_wrong():
    gold = columns("B-PER I-PER I-PER I-PER O", "O O B-ORG I-ORG O")
    predicted = columns("B-PER I-PER I-PER I-PER O", "O O O B-ORG O")
    report = score_layers(gold, predicted, np.array([0, 5]))
    assert counts(report) == {"ORG": Counts(1, 1, 0), "PER": Counts(1, 1, 1)}
    assert (report.correct_tokens, report.accuracy, report.recall) == (3, 3 / 5, 1 / 2)
    assert report.as_json()["encoding"] == "layers"


def test_the_encoding_of_strict_layers_is_that_of_all_gold_ones():
    gold = columns("I-X I-X O O", "I-X B-X O O")  # the first alone could be io
    predicted = columns("I-X I-X O B-X", "I-X B-X O O")
    report = score_layers(gold, predicted, np.array([0, 4]), "strict")
    assert (counts(report), report.encoding) == ({"X": Counts(3, 3, 3)}, "iob1 layers")
    assert counts(score_layers(gold, predicted, np.array([0, 4]))) == {"X": Counts(3, 4, 3)}


def test_what_was_written_is_found_again():
    spans = SpanSet.from_lists([("A", [(0, 5)]), ("B", [(1, 3)]), ("A", [(2, 4)]), ("A", [(6, 7)])])
    layers = [Column(*layer) for layer in write_layers(spans, [0, 5, 8], "bioes")]
    report = score_layers(layers, layers, np.array([0, 5, 8]), "strict")
    assert counts(report) == span_counts(spans, spans) == {"A": Counts(3, 3, 3), "B": Counts(1, 1, 1)}
    assert (report.sentences, report.tokens) == (2, 8)


def test_no_spans_at_all_give_zeros():
    (nothing,) = columns("O O")
    report = score_layers([nothing], [nothing], np.array([0, 2]))
    assert (report.f1, report.accuracy, report.by_type) == (0.0, 1.0, {})
    assert score_gappy(nothing, nothing, np.array([0, 2])).f1 == 0.0


def test_what_does_not_fit_is_refused():
    one, other = columns("O B-X", "O")
    with pytest.raises(DataError, match="predicted has 1 tokens but offsets end at 2"):
        score_gappy(one, other, np.array([0, 2]))
    with pytest.raises(DataError, match="a predicted layer has 1 tokens"):
        score_layers([one], [other], np.array([0, 2]))
    with pytest.raises(DataError, match="1 gold and 0 predicted layers"):
        score_layers([one], [], np.array([0, 2]))
    with pytest.raises(SettingError, match="scheme is 'loose'"):
        score_gappy(one, one, np.array([0, 2]), "loose")
