"""Functions of a user's own: decorators, and what is said of those that go wrong."""

from __future__ import annotations

import pickle

import pytest
from voting import corpus_of, voted

from trellis.corpus import parse_conll
from trellis.errors import DataError, SettingError
from trellis.weak.applying import apply
from trellis.weak.functions import items, links, spans, tokens
from trellis.weak.sentence import Sentence, sentences_of


@spans
def titles(sentence):
    """Who comes behind a title."""
    for t, word in enumerate(sentence):
        if word == "Mr." and t + 1 < len(sentence):
            yield t + 1, t + 2, "PER"


def test_spans_become_votes_and_silence_is_no_vote():
    assert voted(titles, "so Mr. Smith left", "Mr.") == ["_ _ B-PER _", "_"]


def test_what_is_decorated_can_be_called_and_has_its_name_and_doc():
    assert list(titles(Sentence.of(["Mr.", "X"]))) == [(1, 2, "PER")]
    assert titles.name == titles.__name__ == "titles"
    assert titles.__doc__ == "Who comes behind a title."
    assert pickle.loads(pickle.dumps(titles)) is titles
    assert "'titles' on spans" in repr(titles)


def test_a_name_may_be_given():
    @tokens(name="nouns")
    def f(sentence):
        return ["NN" if tag == "N" else None for tag in sentence["pos"]]

    assert f.name == "nouns"
    assert voted(f, "the dog", "it", pos=["D N", "P"]) == ["_ NN", "_"]


def test_tokens_vote_any_encoding_or_o_and_none_is_to_abstain():
    @tokens
    def f(sentence):
        return {"New": ["S-LOC", "B-PER", "E-PER", "O", None]}.get(sentence[0])

    assert voted(f, "New a b c d", "other words") == ["B-LOC B-PER I-PER O _", "_ _"]


def test_of_spans_that_overlap_the_leftmost_and_then_the_longest_stays():
    @spans
    def f(sentence):
        return [(1, 4, "C"), (1, 2, "D"), (0, 1, "A"), (0, 2, "B"), (3, 5, "E"), (4, 5, "F")]

    assert voted(f, "a b c d e") == ["B-B I-B _ B-E I-E"]


def test_a_span_may_vote_that_there_is_nothing():
    @spans
    def f(sentence):
        return [(0, 2, "O"), (2, 3, "X")]

    assert voted(f, "a b c d") == ["O O B-X _"]


def test_links_say_who_belongs_with_the_token_before_and_nothing_of_first_tokens():
    @links
    def f(sentence):
        return [True if word.isupper() else None if word == "?" else False for word in sentence]

    votes = apply(f, corpus_of("A B c ?", "D"))
    assert votes.linkers == ("f",)
    assert votes.links[:, 0].tolist() == [-1, 1, 0, -1, -1]


def test_items_may_be_any_python_objects():
    @items
    def long(item):
        return "long" if len(item) > 2 else None

    @items
    def kind(item):
        return type(item).__name__

    votes = apply([long, kind], ["abc", {"a": 1}, [1, 2, 3]])
    assert votes.labels == ("dict", "list", "long", "str")
    assert votes.values.tolist() == [[2, 3], [-1, 0], [2, 1]]
    assert len(votes) == 3


def test_sentences_have_words_columns_text_and_a_number():
    first, second = sentences_of(corpus_of("New York", "a b c", pos=["N N", "D N V"]), first=10)
    assert (second.words, second["pos"], second.text) == (["a", "b", "c"], ["D", "N", "V"], "a b c")
    assert (len(second), second[0], second[-1], second[1:], list(first)) == (3, "a", "c", ["b", "c"], ["New", "York"])
    assert (first.number, second.number, second.columns) == (11, 12, ["word", "pos"])
    assert repr(first) == "<Sentence 11: 'New York'>"
    with pytest.raises(SettingError, match="no column 'x'"):
        first["x"]


FAILING = [
    (spans, lambda s: [(0, 9, "X")], "sentence 2, token 1 .'c'.*'f' votes for the tokens 0 to 9 of a sentence of 2"),
    (spans, lambda s: [(1, 1, "X")], "sentence 2, token 2 .'d'.*expected 0 <= start < end <= 2"),
    (spans, lambda s: [(-1, 1, "X")], "sentence 2: .*votes for the tokens -1 to 1"),
    (spans, lambda s: [(1, 2, 5)], "sentence 2, token 2 .'d'.*votes 5; expected a label"),
    (spans, lambda s: [(1, 2, "a b")], "token 2.*votes 'a b'; expected a label: text without spaces"),
    (spans, lambda s: [(1, 2)], r"sentence 2: .*votes \(1, 2\); expected \(start, end, label\)"),
    (spans, lambda s: [(0.5, 2, "X")], "sentence 2: .*expected .start, end, label."),
    (spans, lambda s: 7, "sentence 2: .*answers 7; expected .start, end, label. of each span"),
    (tokens, lambda s: ["X"], "sentence 2, token 2 .'d'.*answers 1 values for 2 tokens"),
    (tokens, lambda s: "XY", "sentence 2: .*answers 'XY'; expected a list"),
    (tokens, lambda s: ["X", 3], "sentence 2, token 2 .'d'.*votes 3; expected a label"),
    (links, lambda s: [None, 1], "sentence 2, token 2 .'d'.*says 1; expected True, False or None"),
    (links, lambda s: [None] * 3, "sentence 2, token 2.*answers 3 values for 2 tokens"),
]


@pytest.mark.parametrize(("kind", "answer", "message"), FAILING)
def test_a_wrong_answer_is_an_error_with_function_sentence_and_token(kind, answer, message):
    function = kind(name="f")(lambda s: answer(s) if s.number == 2 else None)
    with pytest.raises(DataError, match=message):
        apply(function, corpus_of("a b", "c d"))


def test_what_a_function_raises_is_chained_and_placed_in_the_file():
    corpus = parse_conll(b"a\n\nb\nc\n", ["word"], "train.txt")

    @tokens
    def f(sentence):
        return [1 / 0 for _ in sentence] if sentence.number == 2 else None

    message = r"^train.txt:3: sentence 2: the labeling function 'f' failed \(.*\.py:\d+\): ZeroDivisionError"
    with pytest.raises(DataError, match=message) as caught:
        apply(f, corpus)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    late = tokens(name="g")(lambda s: ["X", 5] if len(s) > 1 else None)
    with pytest.raises(
        DataError, match=r"^train.txt:4: sentence 2, token 2 \('c'\): the labeling function 'g' votes 5"
    ):
        apply(late, corpus)


def test_an_item_that_goes_wrong_is_named():
    with pytest.raises(DataError, match=r"item 2: the labeling function 'f' failed \(.*\.py:\d+\): KeyError: 'text'"):
        apply(items(name="f")(lambda item: item["text"]), [{"text": "A"}, {}])
    with pytest.raises(DataError, match="item 1: the labeling function 'f' votes 1; expected a label"):
        apply(items(name="f")(lambda item: 1), [0])


def test_what_is_no_function_or_no_name_is_refused():
    with pytest.raises(SettingError, match="@spans stands before 3"):
        spans(3)
    with pytest.raises(SettingError, match="'a b' cannot name a labeling function"):
        spans(name="a b")(print)
