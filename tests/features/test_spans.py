"""Attributes of spans."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.corpus import Column
from trellis.errors import DataError, SettingError
from trellis.features.spans import SpanFeatures, parse_spans

ALL = ("surface", "lower", "shape", "words", "length")


def attributes(features, spans, token, length):
    """The names of what a span has."""
    at = token * spans.longest + length - 1
    names = features.all_names()
    return sorted(names[i] for i in spans.ids[spans.start[at] : spans.start[at + 1]])


words = st.lists(st.sampled_from(["New", "new", "York", "of", "A B", "7"]), max_size=12)


@given(words=words, cuts=st.sets(st.integers(0, 12), max_size=3), seed=st.integers(0, 99))
def test_all_spans_equal_a_loop(words, cuts, seed):
    offsets = np.array([0, *sorted(c for c in cuts if 0 < c < len(words)), len(words)], np.int64)
    rng = np.random.default_rng(seed)
    start, end = [], []
    for a, b in pairwise(offsets.tolist()):
        for t in range(a, b):
            if rng.random() < 0.4:
                start.append(t)
                end.append(min(b, t + rng.integers(1, 4)))
    start, end = np.array(start, np.int64), np.array(end, np.int64)
    column = Column.of(words)
    features = SpanFeatures.learn("word", ALL, column, start, end)
    spans = features.transform(column, offsets)
    known = set(features.all_names())
    assert len(known) == features.attributes
    for a, b in pairwise(offsets.tolist()):
        for t in range(a, b):
            for length in range(1, features.longest + 1):
                expected = []
                if t - length + 1 >= a:
                    span = words[t - length + 1 : t + 1]
                    shapes = ["".join(_shape(word)) for word in span]
                    expected = [f"surface={' '.join(span)}", f"lower={' '.join(span).lower()}"]
                    expected += [f"shape={' '.join(shapes)}", f"length={length}"]
                    expected += [f"words={word.lower()}" for word in span]
                found = attributes(features, spans, t, length)
                # "A B" and "A", "B" look the same in names, but not within
                if "A B" not in words:
                    assert found == sorted(name for name in expected if name in known)


def _shape(word):
    out = ""
    for c in word:
        kind = "X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c
        out += kind if not out.endswith(kind) else ""
    return out


def test_lists_of_phrases(tmp_path):
    (tmp_path / "places.txt").write_text("city\tNew York\nNew\n")
    column = Column.of(["New", "York", "is", "New"])
    part = f"gazetteer({tmp_path / 'places.txt'})"
    features = SpanFeatures.learn("word", parse_spans(part), column, np.array([0]), np.array([2]))
    spans = features.transform(column, np.array([0, 4]))
    assert attributes(features, spans, 1, 2) == [f"{part}=city"]
    assert attributes(features, spans, 3, 1) == [f"{part}=places"]
    assert attributes(features, spans, 2, 1) == []


def test_rare_parts_are_left_out():
    column = Column.of(["a", "b", "a", "c"])
    start, end = np.array([0, 2, 3]), np.array([1, 3, 4])
    assert SpanFeatures.learn("word", ("surface",), column, start, end, min_count=2).names == (["a"],)


@pytest.mark.parametrize("text", ["surfaces", "surface + ", "length + surface", ""])
def test_what_can_be_asked_for(text):
    if text == "surfaces":
        with pytest.raises(SettingError, match="surface, lower, shape"):
            parse_spans(text)
        return
    assert set(parse_spans(text)) <= {"surface", "length"}


def test_a_missing_list_and_a_part_given_twice_are_refused():
    with pytest.raises((DataError, OSError), match="nowhere"):
        SpanFeatures.learn(
            "word", parse_spans("gazetteer(nowhere.txt)"), Column.of(["a"]), np.array([0]), np.array([1])
        )
    with pytest.raises(SettingError, match="twice"):
        parse_spans("length + length")
