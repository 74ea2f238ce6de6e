"""Functions -> votes: label spaces, processes, progress, streams."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from voting import corpus_of, named

from trellis.errors import DataError, SettingError
from trellis.weak.applying import apply, apply_stream
from trellis.weak.functions import (
    column,
    consistent,
    gazetteer,
    items,
    linked,
    links,
    pattern,
    running,
    shape,
    spans,
    tokens,
    words,
)
from trellis.weak.space import Space


@spans
def capitals(sentence):
    return [(t, t + 1, "ENT") for t, word in enumerate(sentence) if word[0].isupper()]


@tokens
def endings(sentence):
    return ["B-LOC" if word.endswith("b") else "O" if word == "c" else None for word in sentence]


@links
def together(sentence):
    return [word == "b" or None for word in sentence]


ALL = [capitals, endings, together, pattern("a b", "PER"), shape("x", "ORG"), linked(capitals, name="l")]


def same(one, other):
    assert (one.functions, one.linkers, one.space) == (other.functions, other.linkers, other.space)
    assert np.array_equal(one.values, other.values)
    assert np.array_equal(one.links, other.links)
    assert np.array_equal(one.offsets, other.offsets)


def test_functions_keep_their_order_and_coarse_votes_are_of_several_types():
    votes = apply(ALL, corpus_of("A b c", "a b"), coarse={"ENT": ["PER", "LOC"]})
    assert votes.functions == ("capitals", "endings", "pattern-PER", "shape-ORG")
    assert votes.linkers == ("together", "l")
    assert votes.labels == ("O", "B-LOC", "I-LOC", "B-ORG", "I-ORG", "B-PER", "I-PER")
    assert named(votes, 0) == ["B-ENT _ _", "_ _"]
    assert named(votes, 1) == ["_ B-LOC O", "_ B-LOC"]
    assert votes.space.coarse["B-ENT"] == ("B-PER", "B-LOC")


def test_labels_may_be_there_that_nobody_votes_for():
    assert apply(capitals, corpus_of("a"), labels=["PER"]).labels == ("O", "B-PER", "I-PER")
    assert apply(capitals, corpus_of("a"), labels=["B-PER", "O"]).labels == ("O", "B-PER", "I-PER")
    assert apply(words(["a"], "DT"), corpus_of("a"), labels=["NN"]).labels == ("DT", "NN")
    nobody = tokens(name="nobody")(lambda sentence: None)
    assert apply(nobody, corpus_of("a"), labels=["DT"]).labels == ("DT",)
    assert apply(items(name="f")(lambda item: None), [1], labels=["spam"]).labels == ("spam",)
    with pytest.raises(SettingError, match="labels are 'PER'; expected a list"):
        apply(capitals, corpus_of("a"), labels="PER")


def test_labels_of_one_letter_are_segments_where_all_of_them_say_so():
    votes = apply([column("x"), column("y")], corpus_of("a b", x=["B I"], y=["B _"]))
    assert votes.space.encoding == "iob2"
    assert (named(votes, 0), named(votes, 1)) == (["B I"], ["B _"])


def test_what_does_not_go_together_is_refused():
    corpus, text = corpus_of("a b"), items(name="text")(str)
    with pytest.raises(
        SettingError, match="'capitals' votes spans, and 'words-DT' votes labels of tokens such as 'DT'"
    ):
        apply([capitals, words(["a"], "DT")], corpus)
    with pytest.raises(SettingError, match="'text' votes on items, 'capitals' on spans"):
        apply([capitals, text], corpus)
    with pytest.raises(SettingError, match="'text' votes on items, but a corpus is given"):
        apply(text, corpus)
    with pytest.raises(SettingError, match=r"'capitals' votes on spans of sentences; expected a Corpus .*found list"):
        apply(capitals, ["a b"])
    with pytest.raises(DataError, match="items are of the type str"):
        apply(text, "abc")
    with pytest.raises(SettingError, match="two labeling functions are called 'capitals'"):
        apply([capitals, capitals], corpus)
    with pytest.raises(SettingError, match="no labeling function is given"):
        apply([], corpus)
    with pytest.raises(SettingError, match="is no labeling function; decorate it"):
        apply([len], corpus)
    with pytest.raises(SettingError, match="workers is 0"):
        apply(capitals, corpus, workers=0)


sentences = st.lists(st.lists(st.sampled_from(["a", "b", "c", "A"]), max_size=4).map(" ".join), max_size=6)


@given(sentences)
@settings(max_examples=6)
def test_votes_do_not_depend_on_the_number_of_processes_threads_or_batches(texts):
    corpus = corpus_of(*texts)
    expected = apply(ALL, corpus, threads=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "_TOKENS", 3)
        patch.setattr(running, "_FEW", 1)
        same(apply(ALL, corpus, workers=2, threads=3), expected)
        same(apply(ALL, corpus), expected)


def test_items_in_processes_need_not_be_sent_back(monkeypatch):
    monkeypatch.setattr(running, "_ITEMS", 2)
    monkeypatch.setattr(running, "_FEW", 1)
    long = items(name="long")(lambda item: "long" if len(item()) > 2 else None)  # neither can be pickled
    given = [lambda n=n: "x" * n for n in range(5)]
    assert named(apply(long, given, workers=2)) == ["_", "_", "_", "long", "long"]


def test_errors_in_processes_are_those_of_the_first_sentence(monkeypatch):
    monkeypatch.setattr(running, "_TOKENS", 1)
    monkeypatch.setattr(running, "_FEW", 1)

    @tokens
    def f(sentence):
        return None if sentence.number < 3 else [1 // 0]

    with pytest.raises(
        DataError, match=r"sentence 3: the labeling function 'f' failed \(.*\.py:\d+\): ZeroDivisionError"
    ):
        apply(f, corpus_of("a", "b", "c", "d"), workers=2)


def test_a_process_that_ends_by_itself_is_an_error_not_a_riddle(monkeypatch):
    monkeypatch.setattr(running, "_TOKENS", 1)
    monkeypatch.setattr(running, "_FEW", 1)
    f = tokens(name="f")(lambda sentence: os._exit(3))
    with pytest.raises(DataError, match="a process that runs labeling functions has ended"):
        apply(f, corpus_of("a", "b"), workers=2)


def test_without_forks_what_cannot_be_sent_runs_in_one_process_with_a_warning(monkeypatch):
    monkeypatch.setattr(running, "_TOKENS", 1)
    monkeypatch.setattr(running, "_FEW", 1)
    monkeypatch.setattr("multiprocessing.get_all_start_methods", lambda: ["spawn"])
    f = tokens(name="f")(lambda sentence: ["X"])
    with pytest.warns(UserWarning, match="run in one process: they cannot be sent to others"):
        votes = apply(f, corpus_of("a", "b"), workers=2)
    assert named(votes) == ["X", "X"]


def test_functions_of_a_module_can_be_sent_to_processes_that_begin_anew(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from trellis.weak.functions import tokens\n@tokens\ndef f(s):\n    return ['X'] * len(s)\n"
    )
    script = (
        "import multiprocessing\nfrom mine import f\nfrom trellis.corpus import Corpus\n"
        "from trellis.weak.applying import apply\nfrom trellis.weak.functions import running\n"
        "if __name__ == '__main__':\n"
        "    multiprocessing.get_all_start_methods = lambda: ['spawn']\n    running._TOKENS = 1\n"
        "    votes = apply(f, Corpus.from_lists({'word': [['a'], ['b']]}), workers=2)\n"
        "    print(votes.values.ravel().tolist())\n"
    )
    (tmp_path / "run.py").write_text(script)
    done = subprocess.run([sys.executable, tmp_path / "run.py"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[0, 0]"


def test_progress_ends_with_all_sentences(monkeypatch):
    monkeypatch.setattr(running, "_TOKENS", 2)
    monkeypatch.setattr(running, "_FEW", 1)
    seen = []
    apply(ALL, corpus_of("a b", "c d", "A"), progress=lambda done, every: seen.append((done, every)))
    assert seen[-1] == (3, 3)
    assert seen == sorted(seen)
    assert len(seen) > 3


def test_a_stream_gives_the_votes_of_the_whole():
    corpus = corpus_of("A b", "c", "a b A", "b")
    space = Space.of_types(["LOC", "ORG", "PER"], {"ENT": ["PER", "LOC"]})
    whole = apply(ALL, corpus, coarse={"ENT": ["PER", "LOC"]})
    parts = list(apply_stream(ALL, [corpus.slice(0, 1), corpus.slice(1, 3), corpus.slice(3, 4)], space))
    assert [len(part) for part in parts] == [1, 2, 1]
    assert np.array_equal(np.concatenate([part.values for part in parts]), whole.values)
    assert np.array_equal(np.concatenate([part.links for part in parts]), whole.links)


def test_a_stream_takes_one_batch_at_a_time():
    taken = []

    def batches():
        for k in range(3):
            taken.append(k)
            yield corpus_of("A")

    stream = apply_stream(capitals, batches(), Space.of_types(["ENT"]))
    assert taken == []
    next(stream)
    assert taken == [0]


def test_a_stream_refuses_what_has_to_see_everything_and_unknown_labels():
    with pytest.raises(SettingError, match="'consistent-capitals' has to see all sentences at once"):
        apply_stream(consistent(capitals), [], Space.of_types(["ENT"]))
    with pytest.raises(SettingError, match="has to see all"):
        apply_stream(linked(consistent(capitals)), [], Space.of_types(["ENT"]))
    with pytest.raises(SettingError, match="the space is"):
        apply_stream(capitals, [], ["ENT"])
    with pytest.raises(DataError, match=r"'capitals' votes for 'ENT', which is none of the labels .*given: PER"):
        list(apply_stream(capitals, [corpus_of("A")], Space.of_types(["PER"])))
    with pytest.raises(SettingError, match="'capitals' votes spans, but the labels are those of tokens"):
        list(apply_stream(capitals, [corpus_of("A")], Space.of_labels(["ENT"])))
    with pytest.raises(
        SettingError, match="'words-DT' votes labels such as 'DT', but the labels are those of segments"
    ):
        list(apply_stream(words(["a"], "DT"), [corpus_of("a")], Space.of_types(["PER"])))
    unused = list(apply_stream(gazetteer({"x": "X", "y": "Y"}), [corpus_of("x")], Space.of_types(["X"])))
    assert named(unused[0]) == ["B-X"]


def test_errors_of_a_stream_count_sentences_from_its_beginning():
    f = tokens(name="f")(lambda sentence: [5] if len(sentence) else None)
    with pytest.raises(DataError, match="sentence 3, token 1"):
        list(apply_stream([f, capitals], [corpus_of("", ""), corpus_of("a")], Space.of_types(["X"])))


def test_nothing_to_vote_on_is_no_error():
    assert apply(ALL, corpus_of()).values.shape == (0, 4)
    assert apply(items(name="f")(str), []).values.shape == (0, 1)


def test_importing_needs_neither_compiler_nor_processes():
    script = "import sys, trellis.weak.applying\nfrom trellis.weak.functions import *\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert {"numba", "scipy", "concurrent.futures.process"}.isdisjoint(done.stdout.split())


def test_a_function_is_asked_once_however_many_look_at_its_votes():
    asked = []

    @spans
    def places(sentence):
        asked.append(sentence.number)
        return [(t, t + 1, "LOC") for t, word in enumerate(sentence) if word == "Oslo"]

    every = [places, linked(places, name="links"), consistent([places], least=1, name="same")]
    corpus = corpus_of("in Oslo", "Oslo", "a")
    votes = apply(every, corpus)
    assert asked == [1, 2, 3]
    assert named(votes, 0) == named(votes, 1) == ["_ B-LOC", "B-LOC", "_"]
    asked.clear()
    assert named(apply(every[2], corpus)) == ["_ B-LOC", "B-LOC", "_"]  # not among those that vote
    assert asked == [1, 2, 3]


def test_of_spans_with_the_same_borders_the_first_stays_whatever_came_before():
    both = spans(name="both")(lambda sentence: [(0, 1, kind) for kind in sentence.words[0].split("/")])
    assert named(apply(both, corpus_of("LOC/PER", "PER/LOC"))) == ["B-LOC", "B-PER"]
    batches = [corpus_of("LOC/PER"), corpus_of("PER/LOC")]
    streamed = apply_stream([both], batches, Space.of_types(["LOC", "PER"]))
    assert [named(votes) for votes in streamed] == [["B-LOC"], ["B-PER"]]


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (lambda: gazetteer(["Oslo"], "B-LOC"), "votes 'B-LOC'; expected a type, 'LOC'"),
        (lambda: words(["a"], "I-X", votes="spans"), "votes 'I-X'; expected a type, 'X'"),
        (lambda: words(["New York"], "LOC"), "'New York' is no word but a phrase, which no token is; use gazetteer"),
        (lambda: shape("Xx", "_"), "votes '_'; expected a label; '_' is how files spell that there is no vote"),
        (lambda: apply(spans(name="f")(lambda s: [(0, 1, "B-X")]), corpus_of("a")), "token 1 .*: .* a type, 'X'"),
        (lambda: apply(tokens(name="f")(lambda s: ["_"]), corpus_of("a")), "token 1 .*: .* how files spell"),
        (lambda: apply(tokens(name="f")(lambda s: [[]]), corpus_of("a")), r"votes \[\]; expected a label"),
        (lambda: apply(spans(name="f")(lambda s: sys.exit(3)), corpus_of("a")), "failed .*SystemExit: 3"),
        (lambda: apply(words(lambda w: 1 / 0, "X", name="f"), corpus_of("a")), "sentence 1, token 1 .* failed on"),
        (lambda: Space.of_types(["B-X"]), "'B-X' cannot be a type of segments"),
        (lambda: Space.of_types(["X"], {"O": ["X"]}), "'O' cannot be a type of segments"),
    ],
)  # fmt: skip
def test_labels_that_would_be_taken_for_something_else_are_refused(made, says):
    with pytest.raises((SettingError, DataError), match=says):
        made()
