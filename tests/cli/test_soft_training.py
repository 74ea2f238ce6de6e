"""`trellis train --soft`, `--label-model` and `--votes`, and what `trellis weak label` writes for them."""

from __future__ import annotations

import json

import pytest

from trellis import load
from trellis.corpus import read_conll, sample_corpus, write_conll

RULES = r"""
from trellis import weak

cities = weak.gazetteer(["Lisbon", "Paris", "New York", "London", "Tokyo", "Oslo", "Berlin"], "LOC", lower=True)
titles = weak.pattern(r"(?:Mr\.|Mrs\.|Dr\.|Ms\.) ([A-Z]\w+)", "PER", group=1)
small = weak.words(str.islower, "O")
"""
WORDS = "word[-1:1] + short_shape(word)[0]"


@pytest.fixture(scope="module")
def voted(tmp_path_factory):
    """A folder with votes on the corpus that ships, and a label model of them."""
    from trellis import weak

    folder = tmp_path_factory.mktemp("voted")
    (folder / "rules.py").write_text(RULES)
    functions = weak.load_functions(folder / "rules.py").functions
    for part in ("train", "test"):
        corpus = sample_corpus(part)
        votes = weak.apply(functions, corpus, labels=["LOC", "PER"])
        (folder / f"{part}.txt").write_bytes(write_conll(corpus))
        (folder / f"{part}.votes.txt").write_bytes(write_conll(weak.with_votes(corpus, votes)))
        names = [*corpus.columns, *(f"lf:{name}" for name in votes.functions)]
        (folder / f"{part}.votes.txt.columns").write_text("\n".join(names))
        if part == "train":
            weak.HMMAggregator(max_iter=10, tol=None).learn(votes).save(folder / "lm")
    return folder


@pytest.fixture
def here(voted, tmp_path, monkeypatch):
    """The same, to write into."""
    for file in voted.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


HOW = ["--features", WORDS, "--l2", "0.3", "--tol", "0.01", "--model", "m"]


def test_a_label_model_teaches_a_tagger(here, run):
    code, _, err = run("train", "train.votes.txt", "--label-model", "lm", "--target", "entity", *HOW)
    assert code == 0, err
    assert "training 'entity'" in err
    model = load("m")
    assert model.columns_ == ["word", "pos", "chunk", "entity"]  # which text to tag has; votes it need not have
    code, out, _ = run("tag", "m", "test.txt")
    assert code == 0
    assert "B-LOC" in out


@pytest.mark.parametrize("teach", ["learn=soft", "learn=hard", "learn=evidence,silent=0.9", "keep=0.9", "rounds=1"])
def test_ways_to_learn(here, run, teach):
    code, _, err = run("train", "train.votes.txt", "--label-model", "lm", "--teach", teach, *HOW)
    assert code == 0, err


def test_votes_as_features(here, run):
    code, _, err = run("train", "train.votes.txt", "--label-model", "lm", "--target", "entity", "--votes", *HOW)
    assert code == 0, err
    code, out, _ = run("eval", "m", "test.votes.txt", "--json")
    assert json.loads(out.splitlines()[-1])["f1"] > 0.0
    code, out, _ = run("inspect", "m", "--json")
    assert "lf:cities" in out


def test_votes_as_features_beside_gold_labels(here, run):
    code, _, err = run("train", "train.votes.txt", "--target", "entity", "--votes", *HOW)
    assert code == 0, err


def test_probabilities_in_a_file_are_learnt_from(here, run):
    code, _, err = run("weak", "label", "lm", "train.votes.txt", "--marginals", "--output", "soft.txt")
    assert code == 0, err
    names = (here / "soft.txt.columns").read_text().split()
    assert names == "word pos chunk entity label p:O p:B-LOC p:I-LOC p:B-PER p:I-PER".split()
    assert len(read_conll("soft.txt", columns=names).columns) == len(names)
    code, _, err = run("train", "soft.txt", "--soft", *HOW)
    assert code == 0, err
    assert "training 'label'" in err
    assert load("m").columns_ == ["word", "pos", "chunk", "entity", "label"]
    code, _, err = run("train", "soft.txt", "--soft", "--teach", "learn=evidence", *HOW)
    assert code == 0, err


def test_sentences_as_json_lines(here, run):
    code, out, _ = run("weak", "label", "lm", "train.votes.txt", "--jsonl")
    assert code == 0
    first = json.loads(out.splitlines()[0])
    assert len(first["tokens"]) == len(first["tags"]) == len(first["soft"])
    assert sum(first["soft"][0].values()) == pytest.approx(1.0, abs=1e-5)
    assert len(out.splitlines()) == len(sample_corpus("train"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--soft"], "there are no columns of probabilities"),
        (["--soft", "--label-model", "lm"], "give one of them"),
        (["--teach", "learn=soft"], "--teach says how to learn from --soft or --label-model"),
        (["--label-model", "lm", "--teach", "lern=soft"], "--teach has no 'lern'; it has: learn, silent"),
        (["--label-model", "lm", "--teach", "learn=softly"], "learn is 'softly'"),
        (
            ["--label-model", "lm", "--model-type", "hmm", "--features", "chunking", "--l2", "1.0"],
            "learns from certain labels only; give --teach learn=hard",
        ),
        (["--label-model", "rules.py"], "rules.py"),
        (["--label-model", "lm", "--columns", "a,b,c,d,e,f,g"], "with votes"),
        (["--label-model", "lm", "--teach", "rounds=1", "--checkpoint", "c"], "keeps no checkpoint"),
    ],
)
def test_what_does_not_fit(here, run, arguments, message):
    code, _, err = run("train", "train.votes.txt", *HOW, *arguments)
    assert code == 1
    assert message in err


def test_votes_where_there_are_none(here, run):
    code, _, err = run("train", "train.txt", "--columns", "word,pos,chunk,entity", "--votes", *HOW)
    assert code == 1
    assert "no column has votes" in err


def test_probabilities_that_do_not_add_up(here, run):
    (here / "soft.txt").write_text("a O:0.5 B-X:0.5\nb O:0.5 B-X:0.1\n")
    (here / "soft.txt.columns").write_text("word p:O p:B-X")
    code, _, err = run("train", "soft.txt", "--soft", "--features", "word[0]", "--model", "m")
    assert code == 1
    assert "soft.txt:2: its probabilities add up to 0.6" in err
