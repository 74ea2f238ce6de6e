"""`trellis score` and `trellis eval`: schemes, what is said beside the scores, and two files against each other."""

from __future__ import annotations

import json
import sys

import pytest

import trellis as tr
from trellis.corpus import Corpus, sample_corpus, write_conll

KEYS = ["accuracy", "precision", "recall", "f1", "by_type", "tokens", "sentences", "scheme", "encoding", "macro"]
ONE = "The B-NP B-NP\ndog I-NP I-NP\nruns B-VP B-VP\n\nA B-NP B-NP\ncat I-NP O\nsees B-VP I-VP\nit B-NP B-NP\n\n"


def last_json(out: str):
    return json.loads(out.rstrip("\n").split("\n")[-1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """train.txt, test.txt and a model of few sentences; what it and a better one predict as bad.txt and good.txt."""
    folder = tmp_path_factory.mktemp("scored")
    train, test = sample_corpus("train"), sample_corpus("test")
    (folder / "train.txt").write_bytes(write_conll(train.slice(0, 200)))
    (folder / "test.txt").write_bytes(write_conll(test))
    for name, sentences in (("bad", 20), ("good", 200)):
        crf = tr.CRF(target="chunk", features="word[0] + pos[-1:1]", tol=1e-2).fit(train.slice(0, sentences))
        crf.save(folder / f"{name}.trellis")
        columns = {name: test[name] for name in ("word", "pos", "chunk")} | {"guess": crf.predict_column(test)}
        (folder / f"{name}.txt").write_bytes(write_conll(Corpus(columns, test.offsets)))
    return folder


@pytest.fixture
def one(tmp_path, monkeypatch):
    """A small file, one.txt, in the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.txt").write_text(ONE)
    return tmp_path


def test_the_scheme_that_counted_is_always_said(run, one):
    code, out, _ = run("score", "one.txt", "--json")
    assert code == 0
    assert "counting scheme: conlleval\n" in out
    found = last_json(out)
    assert list(found) == KEYS
    assert (found["precision"], found["recall"]) == (4 / 5, 4 / 5)
    code, out, _ = run("score", "one.txt", "--scheme", "strict", "--json")
    assert "counting scheme: strict, iob2\n" in out
    found = last_json(out)
    assert (found["precision"], found["recall"], found["encoding"]) == (3 / 4, 3 / 5, "iob2")
    _, out, _ = run("score", "one.txt", "--scheme", "strict", "--encoding", "iob1", "--json")
    assert last_json(out)["encoding"] == "iob1"


def test_what_is_asked_for_beside_the_scores_is_printed_and_in_json(run, one):
    (one / "train.txt").write_text("The x\ndog x\nA x\ncat x\n\n")
    code, out, err = run(
        "score",
        "one.txt",
        "--modes",
        "--known",
        "train.txt",
        "--confusion",
        "1",
        "--intervals",
        "--draws",
        "50",
        "--json",
    )
    assert (code, err) == (0, "")
    found = last_json(out)
    assert list(found) == [*KEYS, "intervals", "modes", "known", "unknown", "confusion"]
    assert list(found["modes"]) == ["strict", "exact", "partial", "type"]
    assert found["modes"]["type"]["correct"] == 5
    assert found["known"] == {"tokens": 4, "accuracy": 3 / 4, "segments": 2, "recall": 1 / 2}
    assert found["unknown"]["tokens"] == 3
    assert found["confusion"] == {"errors": 2, "most": [{"gold": "I-NP", "predicted": "O", "count": 1}]}
    assert set(found["intervals"]) == {"accuracy", "precision", "recall", "f1"}
    assert found["intervals"]["f1"]["low"] <= found["f1"] <= found["intervals"]["f1"]["high"]
    for text in (
        "95% intervals (bootstrap, 50 draws): accuracy:",
        "partial",
        "unknown words: 3 tokens",
        "confusions: 2",
    ):
        assert text in out


@pytest.mark.parametrize(
    "arguments", [["--confusion", "one.txt"], ["one.txt", "--confusion"], ["one.txt", "--confusion=3"]]
)
def test_confusion_may_have_a_number_or_not(run, one, arguments):
    code, out, _ = run("score", *arguments)
    assert code == 0
    assert "confusions: 2 of 7 tokens" in out


def test_words_may_be_in_another_column(run, one):
    (one / "two.txt").write_text("0 The B-NP B-NP\n1 dog I-NP O\n\n")
    (one / "train.txt").write_text("7 dog\n8 cat\n\n")
    code, out, _ = run("score", "two.txt", "--known", "train.txt", "--known-column", "2", "--json")
    assert code == 0
    assert (last_json(out)["known"]["tokens"], last_json(out)["known"]["accuracy"]) == (1, 0.0)
    (one / "more.txt").write_text("7 The\n\n")
    _, out, _ = run(
        "score", "two.txt", "--known", "train.txt", "--known", "more.txt", "--known-column", "2", "--json"
    )  # fmt: skip
    assert last_json(out)["known"]["tokens"] == 2


def test_tags_have_an_accuracy_its_interval_and_no_segments(run, one):
    (one / "tags.txt").write_text("a DT DT\nb NN VB\n\nc NN NN\n\n")
    code, out, err = run(
        "score", "tags.txt", "--modes", "--intervals", "--scheme", "strict", "--encoding", "iob2", "--json"
    )
    assert (code, err) == (0, "")
    found = last_json(out)
    assert (found["accuracy"], found["f1"], found["modes"], found["macro"]) == (2 / 3, None, None, None)
    assert list(found["intervals"]) == ["accuracy"]


def test_two_files_are_compared(run, folder):
    bad, good = folder / "bad.txt", folder / "good.txt"
    code, out, err = run("score", bad, good, "--draws", "400", "--json")
    assert (code, err) == (0, "")
    found = last_json(out)
    assert list(found) == [*KEYS, "other", "difference", "mcnemar", "randomisation"]
    alone = [last_json(run("score", path, "--json")[1]) for path in (bad, good)]
    assert ({key: found[key] for key in KEYS}, found["other"]) == (alone[0], alone[1])
    for metric in ("accuracy", "precision", "recall", "f1"):
        one = found["difference"][metric]
        assert one["difference"] == pytest.approx(found["other"][metric] - found[metric])
        assert 0 < one["low"] <= one["difference"] <= one["high"]
        assert one["p"] == 1 / 401
    assert f"first: {bad}\n" in out
    assert f"second: {good}\n" in out
    assert "\nFB1: the second is better by " in out


def test_when_the_files_change_places_the_difference_is_negated(run, folder):
    bad, good = folder / "bad.txt", folder / "good.txt"
    there, back = (
        last_json(run("score", *files, "--draws", "300", "--seed", "3", "--json")[1])["difference"]
        for files in ((bad, good), (good, bad))
    )
    for metric, found in there.items():
        assert back[metric]["difference"] == -found["difference"]
        assert back[metric]["p"] == found["p"]


def test_a_file_does_not_differ_from_itself(run, folder):
    code, out, _ = run("score", folder / "bad.txt", folder / "bad.txt", "--draws", "10", "--json")
    assert code == 0
    assert "FB1: the two are equal\n" in out
    assert last_json(out)["difference"]["f1"] == {"difference": 0.0, "low": 0.0, "high": 0.0, "p": 1.0}


def test_the_same_seed_gives_the_same_output(run, folder):
    calls = [run("score", folder / "bad.txt", folder / "good.txt", "--intervals", "--draws", "99")[1] for _ in range(2)]
    assert calls[0] == calls[1]
    other = run("score", folder / "bad.txt", folder / "good.txt", "--intervals", "--draws", "99", "--seed", "1")[1]
    assert other != calls[0]


def test_what_is_said_beside_the_scores_is_said_of_both(run, folder):
    code, out, _ = run(
        "score", folder / "bad.txt", folder / "good.txt", "--draws", "9", "--known", folder / "train.txt", "--json"
    )
    assert code == 0
    assert out.count("unknown words:") == 2
    found = last_json(out)
    assert found["known"]["tokens"] == found["other"]["known"]["tokens"]
    assert found["unknown"]["accuracy"] < found["other"]["unknown"]["accuracy"]


def test_the_last_line_may_be_about_another_metric(run, folder):
    _, out, _ = run("score", folder / "bad.txt", folder / "good.txt", "--metric", "accuracy", "--draws", "9")
    assert out.rstrip("\n").split("\n")[-1].startswith("accuracy: the second is better by ")


@pytest.mark.parametrize("arguments", [[], ["-"], ["--confusion"]])
def test_without_a_file_it_is_standard_input(run, one, monkeypatch, arguments):
    with (one / "one.txt").open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        code, out, _ = run("score", *arguments)
    assert code == 0
    assert out.startswith("processed 7 tokens")


def test_one_of_two_files_may_be_standard_input(run, one, monkeypatch):
    with (one / "one.txt").open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        code, out, _ = run("score", "one.txt", "-", "--draws", "5")
    assert code == 0
    assert "FB1: the two are equal" in out


def test_other_words_are_refused(run, one):
    (one / "other.txt").write_text(ONE.replace("cat", "cow"))
    code, _, err = run("score", "one.txt", "other.txt", "--draws", "5")
    assert code == 1
    assert err == (
        "trellis: other.txt:6: the first column is 'cow', but 'cat' at one.txt:6; both files must be of the same text\n"
    )


def test_an_encoding_that_the_gold_labels_are_not_of_is_warned_of(run, one):
    code, _, err = run("score", "one.txt", "--scheme", "strict", "--encoding", "bioes")
    assert code == 0
    assert "gold labels are not well-formed in bioes; is it theirs?" in err
    assert "warning" not in run("score", "one.txt", "--scheme", "strict", "--encoding", "iob2")[2]


GAPPY = "take B-V B-V\nhis o o\ngood b-N b-N\nfriend i-N i-N\noff I-V I-V\nguard I-V O\n\n"


def test_labels_with_gaps_are_scored_by_their_spans(run, one):
    (one / "gappy.txt").write_text(GAPPY)
    (one / "other.txt").write_text(GAPPY.replace("I-V O", "I-V I-V"))
    code, out, err = run("score", "gappy.txt", "--modes", "--known", "one.txt", "--intervals", "--draws", "9", "--json")
    assert (code, err) == (0, "")
    assert "counting scheme: conlleval, gappy\n" in out
    found = last_json(out)
    assert (found["precision"], found["recall"], found["accuracy"], found["modes"]) == (0.5, 0.5, 5 / 6, None)
    assert found["intervals"]["f1"] == {"low": 0.5, "high": 0.5}
    code, out, _ = run("score", "gappy.txt", "other.txt", "--scheme", "strict", "--draws", "9", "--json")
    assert code == 0
    assert last_json(out)["difference"]["f1"]["difference"] == 0.5


NESTED = "the B-PER O B-PER O\npresident I-PER O I-PER O\nof I-PER O I-PER O\nit I-PER B-ORG I-PER O\n\n"


def test_spans_in_layers_are_scored_together(run, one):
    (one / "nested.txt").write_text(NESTED)
    code, out, err = run("score", "nested.txt", "--layers", "2", "--json")
    assert (code, err) == (0, "")
    found = last_json(out)
    assert list(found) == KEYS
    assert (found["precision"], found["recall"], found["accuracy"]) == (1.0, 0.5, 3 / 4)
    assert "counting scheme: conlleval, layers\n" in out
    _, out, _ = run("score", "nested.txt", "--layers", "2", "--scheme", "strict", "--encoding", "iob2")
    assert "counting scheme: strict, iob2 layers\n" in out
    assert run("score", "one.txt", "--layers", "1", "--json")[0] == 0


BAD = {
    "too few columns for layers": (
        ["one.txt", "--layers", "2"],
        "one.txt: 3 columns; --layers 2 needs 4: 2 of gold labels, then 2 of predicted ones",
    ),
    "layers and another file": (["one.txt", "one.txt", "--layers", "1"], "--layers has scores alone; leave out OTHER"),
    "layers and more": (["one.txt", "--layers", "1", "--modes"], "--layers has scores alone; leave out OTHER"),
    "other gold labels": (["one.txt", "gold.txt"], "gold.txt:2: the gold label is 'O', but 'I-NP' at one.txt:2; both"),
    "another sentence": (["one.txt", "short.txt"], "short.txt:5: sentence 2 has 3 tokens, but 4 at one.txt:5; both"),
    "fewer sentences": (["one.txt", "first.txt"], "first.txt: 1 sentences, but 2 in one.txt; both files must be of"),
    "one column in the second": (["one.txt", "column.txt"], "column.txt: one column; the last two must be gold"),
    "no second file": (["one.txt", "no.txt"], "no.txt: no such file"),
    "standard input twice": (["-", "-"], "standard input (-) can be read only once"),
    "standard input twice for words": (["-", "--known", "-"], "standard input (-) can be read only once"),
    "an encoding without strict": (["one.txt", "--encoding", "iob2"], "--encoding iob2 is for --scheme strict"),
    "an unknown encoding": (["one.txt", "--scheme", "strict", "--encoding", "bio"], "unknown encoding 'bio'"),
    "labels of another encoding": (["mixed.txt", "--scheme", "strict"], "'S-NP' is not iob2"),
    "no training file": (["one.txt", "--known", "no.txt"], "no.txt: no such file"),
    "an empty training file": (["one.txt", "--known", "empty.txt"], "empty.txt: there is no token in the file"),
    "no column of words": (
        ["two.txt", "--known", "one.txt"],
        "one beside those of the labels, but two.txt has no others",
    ),
    "no such column": (
        ["one.txt", "--known", "one.txt", "--known-column", "4"],
        "--known: the column of words is 4, expected 1 to 1 in one.txt; say which with --known-column",
    ),
    "no such column in training": (
        ["wide.txt", "--known", "column.txt", "--known-column", "2"],
        "column.txt: 1 columns; the words were expected in column 2",
    ),
    "a metric of segments for tags": (["tags.txt", "tags.txt", "--metric", "f1"], "the metric 'f1' is not among those"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_ends_with_one_clear_line(run, one, case):
    (one / "gold.txt").write_text(ONE.replace("dog I-NP", "dog O"))
    (one / "short.txt").write_text(ONE.replace("it B-NP B-NP\n", ""))
    (one / "first.txt").write_text(ONE.split("\n\n")[0])
    (one / "column.txt").write_text("a\n")
    (one / "empty.txt").write_text("\n")
    (one / "two.txt").write_text("O O\n")
    (one / "mixed.txt").write_text("a B-NP B-NP\nb I-NP S-NP\n\n")
    (one / "wide.txt").write_text("0 a O O\n")
    (one / "tags.txt").write_text("a DT DT\nb NN VB\n\n")
    arguments, message = BAD[case]
    code, out, err = run("score", *arguments)
    assert (code, out) == (1, "")
    assert err.startswith("trellis: ")
    assert err.count("\n") == 1
    assert message in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--scheme", "muc"],
        ["--confusion", "0"],
        ["--confusion", "-3"],
        ["--draws", "0"],
        ["--draws", "9999999"],
        ["--metric", "f2"],
    ],
)
def test_wrong_usage_is_exit_code_two_and_one_line(run, one, arguments):
    code, _, err = run("score", "one.txt", *arguments)
    assert code == 2
    assert err.startswith("trellis: ")
    assert err.count("\n") == 1


def test_eval_says_what_score_says(run, folder):
    asked = (
        "--scheme",
        "strict",
        "--known",
        folder / "train.txt",
        "--modes",
        "--confusion",
        "--intervals",
        "--draws",
        "50",
    )
    code, out, err = run("eval", folder / "bad.trellis", folder / "test.txt", *asked, "--json")
    assert (code, err) == (0, "")
    evaluated = last_json(out)
    scored = last_json(run("score", folder / "bad.txt", *asked, "--json")[1])
    assert evaluated.pop("tokens_per_second") > 0
    assert evaluated == scored


def test_eval_takes_the_column_of_words_by_name_or_number(run, folder):
    ask = ("eval", folder / "bad.trellis", folder / "test.txt", "--known", folder / "train.txt", "--json")
    by_name, by_number = (last_json(run(*ask, "--known-column", column)[1]) for column in ("pos", "2"))
    assert by_name["known"] == by_number["known"]
    assert by_name["known"]["tokens"] > last_json(run(*ask)[1])["known"]["tokens"]
    code, _, err = run(*ask, "--known-column", "lemma")
    assert code == 1
    assert "--known: the column of words is lemma, expected 1 to 4 in" in err


def test_eval_of_a_cascade_says_it_stage_by_stage(run, files, cascade_model):
    code, out, _ = run(
        "eval", cascade_model, files / "test.txt", "--scheme", "strict", "--encoding", "iob2", "--modes",
        "--known", files / "train.txt", "--json",
    )  # fmt: skip
    assert code == 0
    found = last_json(out)
    assert list(found["targets"]) == ["pos", "chunk"]
    assert (found["targets"]["pos"]["modes"], found["targets"]["pos"]["encoding"]) == (None, None)
    assert found["targets"]["chunk"]["encoding"] == "iob2"
    assert found["modes"] == found["targets"]["chunk"]["modes"]
    assert found["known"] == found["targets"]["chunk"]["known"]
    assert out.count("unknown words:") == 2


def test_a_cascade_needs_one_of_its_columns(run, files, cascade_model, tmp_path):
    (tmp_path / "words.txt").write_text("The x y z\n")
    code, _, err = run("eval", cascade_model, tmp_path / "words.txt", "--columns", "word,a,b,c")
    assert code == 1
    assert "there is no column 'pos' or 'chunk' to compare with; the columns are: word, a, b, c" in err
