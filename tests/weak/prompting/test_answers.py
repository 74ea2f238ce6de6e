"""Whatever a model writes is read without an error, and no text gets an answer that nobody gave."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.weak.prompting.answers import Reader

ITEMS, SPANS = Reader("items", {"A": "", "B b": ""}), Reader("spans", {"A": "", "B": ""})

_values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 5) | st.floats() | st.sampled_from(["A", "b B", "B b", "1", "²", "x"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["number", "label", "spans", "answers", "phrase", "type", "text"]), inner, max_size=4
        )
    ),
    max_leaves=20,
)
_pieces = (
    st.text(max_size=20)
    | _values.map(json.dumps)
    | st.sampled_from(["```json\n", "</think>", "<think>", "{", '{"number":1'])
)
_contents = st.lists(_pieces, max_size=6).map("".join)


@given(_contents, st.integers(0, 4), st.booleans())
def test_every_text_has_an_answer_or_a_reason_and_no_other_text_has_one(content, texts, cut):
    for reader in (ITEMS, SPANS):
        read = reader.read(content, texts, cut)
        assert sorted([*read.answers, *read.reasons]) == list(range(texts))
        for at, answer in read.answers.items():
            assert any(
                f'"number": {spelt}' in content or f'"number":{spelt}' in content for spelt in (at + 1, f'"{at + 1}"')
            )
            kinds = [kind for _, kind in answer] if isinstance(answer, list) else [answer]
            assert all(kind in ("A", "B", "B b", None) for kind in kinds)


@given(st.lists(st.sampled_from(["A", "B b", None]), min_size=1, max_size=6), st.data())
def test_what_is_whole_in_an_answer_that_is_cut_off_counts(labels, data):
    whole = json.dumps({"answers": [{"number": n, "label": label} for n, label in enumerate(labels, 1)]})
    at = data.draw(st.integers(0, len(whole)))
    read = ITEMS.read(whole[:at], len(labels), cut=True)
    assert read.answers == dict(enumerate(labels[: whole[:at].count("}")]))
    assert set(read.reasons.values()) <= {"answer cut off"}


@given(st.lists(st.lists(st.sampled_from(["A", "B"]), max_size=3), min_size=1, max_size=4), st.data())
def test_so_do_phrases(kinds, data):
    spans = [[{"phrase": "x", "type": kind} for kind in some] for some in kinds]
    elements = [json.dumps({"number": n, "spans": some, "sure": "yes"}) for n, some in enumerate(spans, 1)]
    whole = f'{{"answers": [{", ".join(elements)}]}}'
    at = data.draw(st.integers(0, len(whole)))
    read = SPANS.read(whole[:at], len(kinds), cut=True)
    complete = sum(at >= whole.index(element) + len(element) for element in elements)
    assert read.answers == {n: [("x", kind) for kind in kinds[n]] for n in range(complete)}


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ('{"number": 1, "label": "C"}', "unknown label"),
        ('{"number": 1, "label": 3}', "unreadable answer"),
        ('{"number": 1}', "unreadable answer"),
        ('{"answers": [], "number": null}', "no answer"),
        ('{"number": 2, "label": "A"}', "numbers of other texts"),
        ('{"number": 1, "label": "A"}{"number": 0, "label": "A"}', "numbers of other texts"),
        ("hello", "unreadable answer"),
        ('{"number": 1, "label": "A"}{"number": 1, "label": null}', "contradictory answers"),
    ],
)
def test_why_there_is_no_answer_is_said(said, reason):
    assert ITEMS.read(said, 1).reasons == {0: reason}


def test_case_counts_where_it_alone_tells_labels_apart():
    reader = Reader("items", {"us": "", "US": "", "Other": ""})
    assert [reader.known(label) for label in ("us", "US", "Us", " other")] == ["us", "US", None, "Other"]


def test_spans_of_unknown_types_or_none_are_left_out_and_counted():
    spans = [{"phrase": "x", "type": "a"}, {"phrase": "y", "type": "C"}, {"phrase": 1, "type": "A"}, "z"]
    read = SPANS.read(json.dumps({"number": 1, "spans": spans}), 1)
    assert read.answers == {0: [("x", "A")]}
    assert read.dropped[0] == {"unknown type": 1, "no phrase and type": 2}


DRAFT = '{"answers": [{"number": 1, "label": "A"}, {"number": 2, "label": "A"}]}'


@pytest.mark.parametrize(
    ("said", "cut"),
    [
        (f"<think>Let me try {DRAFT} hmm, no,", False),
        (f"<think>Let me try {DRAFT} hmm, no,", True),
        (f"<thinking>{DRAFT}", True),
        (f"{DRAFT} wait, corrected:", True),
        (f"{DRAFT} {{", True),
        (f'{DRAFT}\n{{"answers": [{{"number": 1, "la', True),
        ('Text 1 maybe {"number": 1, "label": "A"}? Or', True),
        ('{"number": 1, "label": "A"}, {"number": 2, "label": "A"} no', True),
    ],
)
def test_a_draft_is_no_answer(said, cut):
    assert ITEMS.read(said, 2, cut).answers == {}


@pytest.mark.parametrize(
    ("said", "cut"),
    [
        (DRAFT, True),
        (f"Here you are:\n```json\n{DRAFT}\n```", True),
        (f"<think>{DRAFT.replace('A', 'B b')}</think>{DRAFT}", True),
        (f"{DRAFT.replace('A', 'B b')} or so </think>{DRAFT}", False),
        ('{"number": 1, "label": "A"}\n{"number": 2, "label": "A"}\n', True),
        ('{"answers": [{"number": 1, "label": "A"}, {"number": 2, "label": "A"}, {"num', True),
    ],
)
def test_an_answer_behind_a_draft_or_cut_off_behind_what_is_whole(said, cut):
    assert ITEMS.read(said, 2, cut).answers == {0: "A", 1: "A"}


@pytest.mark.parametrize("phrase", ["</think>", "<think>"])
def test_tags_of_thoughts_in_a_text_are_words(phrase):
    spans = [{"phrase": phrase, "type": "A"}]
    said = json.dumps({"answers": [{"number": 1, "spans": spans}, {"number": 2, "spans": []}]})
    assert SPANS.read(said, 2).answers == {0: [(phrase, "A")], 1: []}


def test_who_counts_from_0_is_believed_about_one_text_only():
    assert ITEMS.read('{"number": 0, "label": "A"}', 1).answers == {0: "A"}
    read = ITEMS.read('{"number": 0, "label": "A"} {"number": 1, "label": "A"}', 2)
    assert set(read.reasons.values()) == {"numbers of other texts"}


@pytest.mark.parametrize("said", ["null", "None", "NULL"])
def test_null_as_text_is_none_where_no_label_is_called_so(said):
    assert ITEMS.read(json.dumps({"number": 1, "label": said}), 1).answers == {0: None}
    called = Reader("items", {"none": "", "A": ""})
    assert called.read('{"number": 1, "label": "None"}', 1).answers == {0: "none"}
