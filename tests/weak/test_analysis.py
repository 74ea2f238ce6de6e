"""What is said of functions is what a loop over tokens and pairs of functions finds."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError
from trellis.labels import read_segments, segment_types
from trellis.metrics import evaluate
from trellis.weak.analysis import analyze
from trellis.weak.columns import gold_of, votes_of
from trellis.weak.conflicts import conflict_examples
from trellis.weak.space import Space
from trellis.weak.votes import Votes

COARSE = {"ENT": ["PER", "LOC"]}


@pytest.fixture
def corpus():
    return Corpus.from_lists(
        {
            "word": [["Ann", "Lee", "saw", "Paris"], ["Paris", "Hilton"]],
            "gold": [["B-PER", "I-PER", "O", "B-LOC"], ["B-PER", "I-PER"]],
            "lf:names": [["B-PER", "I-PER", "_", "_"], ["_", "B-PER"]],
            "lf:places": [["_", "_", "O", "B-LOC"], ["B-LOC", "_"]],
            "lf:capitals": [["B-ENT", "B-ENT", "O", "B-ENT"], ["B-ENT", "I-ENT"]],
            "lf:wrong": [["_", "B-LOC", "_", "B-PER"], ["_", "B-LOC"]],
            "lf:mute": [["_", "_", "_", "_"], ["_", "_"]],
            "link:two": [["1", "1", "_", "0"], ["_", "1"]],
        }
    )


@pytest.fixture
def votes(corpus):
    return votes_of(corpus, coarse=COARSE)


@pytest.fixture
def gold(corpus, votes):
    return gold_of(corpus, "gold", votes.space)


def by_name(analysis):
    return {one.name: one for one in (*analysis.functions, *analysis.linkers)}


def test_what_a_function_votes_for_is_named_by_types(votes):
    found = by_name(analyze(votes))
    assert found["names"].polarity == ("PER",)
    assert found["places"].polarity == ("O", "LOC")
    assert found["capitals"].polarity == ("O", "ENT")
    assert found["mute"].polarity == ()


def test_shares_are_of_all_tokens(votes):
    names = by_name(analyze(votes))["names"]
    assert (names.votes, names.coverage, names.overlaps, names.conflicts) == (3, 3 / 6, 3 / 6, 2 / 6)


def test_a_coarse_vote_contradicts_only_what_it_cannot_mean(votes):
    analysis = analyze(votes)
    assert by_name(analysis)["capitals"].conflicts == 0
    names, places, wrong = (votes.functions.index(name) for name in ("names", "places", "wrong"))
    assert analysis.pairs[names, wrong] == analysis.pairs[wrong, names] == 2
    assert analysis.pairs[places, wrong] == 1
    assert analysis.pairs.sum() == 6


def test_borders_are_no_conflict_and_no_mistake():
    space = Space.of_types(["X"])
    values = np.array([[1, 1], [2, 1]], np.int32)
    analysis = analyze(Votes(values, ("a", "b"), space, np.array([0, 2])), np.array([1, 2], np.int32))
    assert analysis.conflicts == 0
    assert [one.accuracy for one in analysis.functions] == [1.0, 1.0]
    assert [one.precision for one in analysis.functions] == [1.0, 0.0]


def test_spans_are_right_when_borders_and_type_are(votes, gold):
    found = by_name(analyze(votes, gold))
    assert (found["names"].spans, found["names"].precision, found["names"].recall) == (2, 1 / 2, 1 / 3)
    assert found["names"].f1 == pytest.approx(0.4)
    assert (found["wrong"].precision, found["wrong"].f1) == (0.0, 0.0)


def test_a_coarse_span_is_right_for_any_type_it_stands_for(votes, gold):
    capitals = by_name(analyze(votes, gold))["capitals"]
    assert (capitals.spans, capitals.precision, capitals.recall) == (4, 2 / 4, 2 / 3)
    assert capitals.accuracy == 1.0


def test_without_gold_labels_nothing_is_said_of_accuracy(votes):
    names = by_name(analyze(votes))["names"]
    assert (names.correct, names.accuracy, names.precision, names.learned_accuracy) == (None,) * 4
    assert names.spans == 2


def test_unknown_gold_labels_are_left_out_with_the_spans_that_touch_them(votes, gold):
    known = gold.copy()
    known[4:] = -1
    names = by_name(analyze(votes, known))["names"]
    assert (names.correct, names.incorrect, names.precision, names.recall) == (2, 0, 1.0, 1 / 2)


def test_where_there_is_nothing_to_divide_by_nothing_is_said(votes, gold):
    mute = by_name(analyze(votes, gold))["mute"]
    assert (mute.correct, mute.accuracy, mute.precision, mute.recall, mute.f1) == (0, None, None, 0.0, None)


def test_learned_accuracy_is_the_mean_probability_of_what_a_vote_admits(votes):
    labels = list(votes.labels)
    p = np.zeros((6, len(labels)))
    p[:, labels.index("B-PER")], p[:, labels.index("I-PER")], p[:, labels.index("B-LOC")] = 0.5, 0.2, 0.3
    by_types = np.zeros((6, 3))
    by_types[:, votes.in_io().labels.index("I-PER")], by_types[:, votes.in_io().labels.index("I-LOC")] = 0.7, 0.3
    for learnt in (p, by_types):
        found = by_name(analyze(votes, probabilities=learnt))
        assert found["names"].learned_accuracy == pytest.approx(0.7)
        assert found["capitals"].learned_accuracy == pytest.approx(5 / 6)
        assert found["mute"].learned_accuracy is None


def test_linkers_are_judged_by_whether_the_gold_segment_goes_on(votes, gold):
    two = by_name(analyze(votes, gold))["two"]
    assert (two.votes, two.coverage, two.together) == (4, 4 / 6, 3 / 4)
    assert (two.correct, two.incorrect) == (2, 1)  # the first token of a sentence goes on with nothing
    assert two.accuracy == pytest.approx(2 / 3)


def test_linkers_of_labels_that_are_no_segments_ask_for_the_same_label():
    links = np.array([[1], [1], [1], [1]], np.int8)
    votes = Votes(np.zeros((4, 0), np.int32), (), Space.of_labels(["A", "B"]), np.array([0, 3, 4]), links, ("l",))
    assert analyze(votes, np.array([0, 0, 1, 1], np.int32)).linkers[0].correct == 1


def test_silent_functions_and_those_that_are_alone_are_listed(votes):
    assert analyze(votes).silent == ["mute"]
    assert analyze(votes).alone == []
    apart = Votes.of_items([["A", None, "A"], ["A", None, None], [None, "B", None]], ["A", "B"], ["a", "b", "c"])
    assert analyze(apart).alone == ["b"]


def test_the_table_has_the_headings_of_what_is_known(votes, gold):
    plain = ["Function", *"Polarity Coverage Overlaps Conflicts Spans".split()]
    assert analyze(votes).headings() == plain
    items = Votes.of_items([["A", None], ["A", "B"]], ["A", "B"])
    judged = analyze(items, np.array([0, 1], np.int32), np.full((2, 2), 0.5))
    assert judged.headings() == [*plain[:-1], "Correct", "Incorrect", "Emp. Acc.", "Learned Acc."]
    assert judged.rows()[0] == ["f0", "A", "100.00", "50.00", "50.00", "1", "1", "50.00", "50.00"]
    assert {"Prec.", "Rec.", "F1"} <= set(analyze(votes, gold).headings())


def test_the_text_says_who_never_votes(votes, gold):
    text = analyze(votes, gold).as_text()
    assert "never vote: mute" in text
    assert "mute      never votes" in text
    assert "link, 75% together" in text
    assert "of 6 tokens, 100.00% have a vote" in text


def test_json_is_plain_and_has_fractions(corpus, votes, gold):
    examples = conflict_examples(votes, corpus, gold)
    found = json.loads(json.dumps(analyze(votes, gold, examples=examples).as_json(), allow_nan=False))
    assert found["tokens"] == 6
    assert found["sentences"] == 2
    assert found["conflicts"] == 3 / 6
    assert found["functions"][1]["polarity"] == ["O", "LOC"]
    assert found["functions"][4]["accuracy"] is None
    assert found["linkers"][0]["name"] == "two"
    assert found["pairs"][0][3] == 2
    assert found["examples"][0]["functions"] == ["names", "wrong"]


def test_nothing_at_all_can_be_analysed():
    empty = Votes(np.zeros((0, 2), np.int32), ("a", "b"), Space.of_types(["X"]), np.array([0]))
    analysis = analyze(empty, np.zeros(0, np.int32), np.zeros((0, 3)))
    assert (analysis.coverage, analysis.silent) == (0.0, ["a", "b"])
    assert analysis.as_text()
    nobody = Votes(np.zeros((2, 0), np.int32), (), Space.of_labels([]), np.array([0, 2]))
    assert analyze(nobody).pairs.shape == (0, 0)
    assert analyze(nobody).as_text()


def test_arrays_that_do_not_fit_are_refused(votes, gold):
    with pytest.raises(DataError, match=r"gold labels of the shape \(5,\)"):
        analyze(votes, gold[:5])
    with pytest.raises(DataError, match="gold labels go from 99 to 99"):
        analyze(votes, np.full(6, 99, np.int32))
    with pytest.raises(DataError, match=r"probabilities of the shape \(6, 4\)"):
        analyze(votes, probabilities=np.zeros((6, 4)))
    with pytest.raises(DataError, match="no finite"):
        analyze(votes, probabilities=np.full((6, 5), np.nan))


@st.composite
def cases(draw):
    """Votes, coarse ones among them, with gold labels of which some are unknown, and links."""
    space = draw(
        st.sampled_from(
            [
                Space.of_types(["A", "B", "C"], {"AB": ["A", "B"], "BC": ["B", "C"]}),
                Space.of_labels(["A", "B", "C"], {"AB": ["A", "B"]}),
                Space.of_types(["A"]),
                Space.of_types([""]),
            ]
        )
    )
    lengths = draw(st.lists(st.integers(0, 5), max_size=5))
    functions, tokens = draw(st.integers(0, 4)), sum(lengths)
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    values = rng.integers(-1, len(space.names), (tokens, functions)).astype(np.int32)
    values[rng.random(values.shape) < draw(st.sampled_from([0.0, 0.3, 0.8]))] = -1
    gold = rng.integers(draw(st.sampled_from([-1, 0])), len(space.labels), tokens).astype(np.int32)
    links = rng.integers(-1, 2, (tokens, 1)).astype(np.int8)
    offsets = np.cumsum([0, *lengths]).astype(np.int64)
    return Votes(values, tuple(f"f{j}" for j in range(functions)), space, offsets, links, ("link",)), gold


@given(cases())
def test_shares_and_pairs_are_those_of_a_loop(case):
    votes, _ = case
    types, analysis = votes.in_io(), analyze(*case)
    admits, tokens, functions = types.space.admits, votes.tokens, len(votes.functions)
    overlaps, conflicts = np.zeros(functions), np.zeros(functions)
    pairs, contradicted = np.zeros((functions, functions), np.int64), 0
    for t in range(tokens):
        row = types.values[t]
        clash = np.zeros((functions, functions), bool)
        for i in range(functions):
            for j in range(functions):
                if i != j and row[i] >= 0 and row[j] >= 0:
                    clash[i, j] = not (admits[row[i]] & admits[row[j]]).any()
        pairs += clash
        conflicts += clash.any(axis=1)
        contradicted += clash.any()
        overlaps += (row >= 0) & ((row >= 0).sum() > 1)
    assert analysis.pairs.tolist() == pairs.tolist()
    assert analysis.conflicts == pytest.approx(contradicted / max(1, tokens))
    for j, one in enumerate(analysis.functions):
        assert one.overlaps == pytest.approx(overlaps[j] / max(1, tokens))
        assert one.conflicts == pytest.approx(conflicts[j] / max(1, tokens))
        assert one.votes == (votes.values[:, j] >= 0).sum()


@given(cases())
def test_accuracies_are_those_of_a_loop(case):
    votes, gold = case
    space, types = votes.in_io().space, votes.in_io().values
    truth = Votes(gold[:, None], ("gold",), votes.space, votes.offsets).in_io().values[:, 0]
    p = np.random.default_rng(0).random((votes.tokens, len(space.labels)))
    for j, one in enumerate(analyze(votes, gold, p).functions):
        judged = [bool(space.admits[v, g]) for v, g in zip(types[:, j], truth, strict=True) if v >= 0 and g >= 0]
        assert (one.correct, one.incorrect) == (sum(judged), len(judged) - sum(judged))
        assert one.accuracy == (pytest.approx(np.mean(judged)) if judged else None)
        learned = [p[t, space.admits[types[t, j]]].sum() for t in range(votes.tokens) if types[t, j] >= 0]
        assert one.learned_accuracy == (pytest.approx(np.mean(learned)) if learned else None)


@given(cases())
def test_spans_are_those_of_a_loop(case):
    votes, gold = case
    if votes.space.encoding is None:
        return
    kinds = segment_types(votes.names)
    members = {kind: {kind} for kind in kinds}
    members |= {name[2:]: {one[2:] for one in some} for name, some in votes.space.coarse.items()}

    def read(ids):
        found = read_segments(np.maximum(ids, 0), votes.names, votes.offsets)
        return {(start, end): kinds[k] for start, end, k in zip(*found, strict=True)}

    right = read(gold)
    for j, one in enumerate(analyze(votes, gold).functions):
        found = read(votes.values[:, j])
        seen = {place: kind for place, kind in found.items() if (gold[slice(*place)] >= 0).all()}
        correct = sum(place in right and right[place] in members[kind] for place, kind in seen.items())
        assert one.spans == len(found)
        assert one.precision == (correct / len(seen) if seen else None)
        assert one.recall == (correct / len(right) if right else None)


@given(cases())
def test_spans_without_coarse_types_are_scored_as_evaluate_does(case):
    votes, gold = case
    if votes.space.encoding is None or votes.space.coarse:
        return
    gold = np.maximum(gold, 0)
    for j, one in enumerate(analyze(votes, gold).functions):
        report = evaluate(gold, np.maximum(votes.values[:, j], 0), votes.labels, votes.offsets)
        assert (one.precision or 0.0, one.recall or 0.0) == (report.precision, report.recall)
        assert (one.f1 or 0.0) == pytest.approx(report.f1)


@given(cases())
def test_linkers_are_those_of_a_loop(case):
    votes, gold = case
    starts, ends, _ = (
        read_segments(np.maximum(gold, 0), votes.labels, votes.offsets) if votes.space.encoding else ([],) * 3
    )
    same = {t for a, b in zip(starts, ends, strict=True) for t in range(a + 1, b)}
    judged = []
    for first, last in zip(votes.offsets, votes.offsets[1:], strict=False):
        for t in range(first, last):
            if votes.links[t, 0] == 1 and gold[t] >= 0 and (t == first or gold[t - 1] >= 0):
                alike = t > first and gold[t] == gold[t - 1]
                judged.append(t in same if votes.space.encoding else alike)
    one = analyze(votes, gold).linkers[0]
    assert (one.correct, one.incorrect) == (sum(judged), len(judged) - sum(judged))


@given(cases())
def test_kinds_of_conflict_add_up_to_the_pairs(case):
    votes, gold = case
    words = [f"w{t}" for t in range(votes.tokens)]
    kinds = conflict_examples(votes, words, gold, many=1000, each=1)
    sums = np.zeros((len(votes.functions),) * 2, np.int64)
    for kind in kinds:
        i, j = map(votes.functions.index, kind.functions)
        sums[i, j] += kind.count
        assert sum(kind.right) <= kind.count
        assert kind.examples
    assert (sums + sums.T).tolist() == analyze(votes).pairs.tolist()
    assert [kind.count for kind in kinds] == sorted((kind.count for kind in kinds), reverse=True)


def test_examples_show_who_said_what_where(corpus, votes, gold):
    first, *_ = conflict_examples(votes, corpus, gold, width=1)
    assert (first.functions, first.said, first.count, first.right) == (("names", "wrong"), ("PER", "LOC"), 2, (2, 0))
    assert [(one.place, one.before, one.words, one.after, one.gold) for one in first.examples] == [
        ("sentence 1, token 2", ("Ann",), ("Lee",), ("saw",), "I-PER"),
        ("sentence 2, token 2", ("Paris",), ("Hilton",), (), "I-PER"),
    ]
    assert first.examples[0].votes == {"names": "I-PER", "capitals": "B-ENT", "wrong": "B-LOC"}


def test_neighbouring_tokens_of_one_conflict_are_one_example():
    values = np.array([[1, 3], [2, 4], [0, 0], [1, 3]], np.int32)
    votes = Votes(values, ("a", "b"), Space.of_types(["X", "Y"]), np.array([0, 3, 4]))
    (kind,) = conflict_examples(votes, [["New", "York", "is"], ["big"]])
    assert (kind.count, kind.right) == (3, None)
    assert [one.words for one in kind.examples] == [("New", "York"), ("big",)]
    assert len(conflict_examples(votes, ["New", "York", "is", "big"], each=1)[0].examples) == 1


def test_examples_of_items_have_their_numbers_and_the_beginnings_of_their_texts():
    votes = Votes.of_items([["B-side", "C"], ["C", "C"], ["B-side", "C"]], ["B-side", "C"])
    (kind,) = conflict_examples(votes, ["one\n\x1b[31mline", "two", "x" * 1000], np.array([1, 0, -1]))
    assert (kind.said, kind.right) == (("B-side", "C"), (0, 1))
    assert [one.place for one in kind.examples] == ["item 1", "item 3"]
    assert len(kind.examples[1].words[0]) < 200
    assert "\x1b" not in kind.as_text()
    assert kind.as_text().count("\n") == 4


def test_words_that_were_not_voted_on_are_refused(votes, corpus):
    for words in (["too", "few"], [["a", "b", "c"], ["d", "e", "f"]], corpus.slice(0, 1)):
        with pytest.raises(DataError, match="the words are not those that were voted on"):
            conflict_examples(votes, words)
    with pytest.raises(SettingError, match="many is -1"):
        conflict_examples(votes, corpus, many=-1)
