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
    code, _, err = run("train", "train.votes.txt", "--votes", *HOW)
    assert code == 0, err
    assert load("m").target == "entity"  # the last that is no vote


def test_the_label_model_is_not_written_over(here, run):
    code, _, err = run("train", "train.votes.txt", "--label-model", "lm", *HOW[:-1], "lm")
    assert (code, "--model lm would overwrite the label model" in err) == (1, True)


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


def test_names_beside_a_file_are_for_all(here, run):
    run("weak", "label", "lm", "train.votes.txt", "--marginals", "--output", "soft.txt")
    code, _, err = run("train", "soft.txt", "--target", "label", *HOW)  # as if they were gold labels
    assert code == 0, err
    assert load("m").columns_ == (here / "soft.txt.columns").read_text().split()
    code, _, err = run("train", "train.txt", "--columns", "tok,tag,ch,label", *HOW[2:], "--features", "tok[0]")
    assert code == 0, err
    assert "'tok'" in run("eval", "m", "soft.txt")[2]  # as the file calls it word
    assert run("eval", "m", "soft.txt", "--columns", "tok,_,_,_,label,_,_,_,_,_")[0] == 0
    assert "there is no column 'label' to compare with; the columns are: word" in run("eval", "m", "test.votes.txt")[2]


def test_development_files_need_no_votes(here, run):
    plain = ["--dev", "test.txt", "--target", "entity", "--max-iter", "5"]
    code, _, err = run("train", "train.votes.txt", "--label-model", "lm", *HOW, *plain)
    assert code == 0, err
    code, _, err = run("train", "train.votes.txt", "--label-model", "lm", "--votes", *HOW, *plain)
    assert (code, "test.txt:1: 4 columns" in err) == (1, True)
    run("weak", "label", "lm", "train.votes.txt", "--marginals", "--output", "soft.txt")
    (here / "dev.txt").write_text("A DT B-NP O O\n")  # no probabilities
    code, _, err = run("train", "soft.txt", "--soft", "--dev", "dev.txt", *HOW, "--max-iter", "5")
    assert code == 0, err


def test_columns_that_are_named_are_those_of_the_development_file_too(here, run):
    (here / "test.txt.columns").write_text("pos word chunk entity")
    more = ["--columns", "word,pos,chunk,entity", "--features", "ner", "--max-iter", "5", "--json"]
    code, out, err = run("train", "train.txt", "--dev", "test.txt", "--model", "m", *more)
    (here / "test.txt.columns").unlink()
    assert code == 0, err
    without = run("train", "train.txt", "--dev", "test.txt", "--model", "m", *more)[1]
    assert json.loads(out.splitlines()[-1])["dev_score"] == json.loads(without.splitlines()[-1])["dev_score"]


def test_segments_learn_probabilities(here, run):
    how = ["--model-type", "semi-crf", "--longest", "3", "--max-iter", "5"]
    code, _, err = run("train", "train.votes.txt", "--label-model", "lm", *HOW, *how)
    assert code == 0, err


def test_sentences_as_json_lines(here, run):
    code, out, _ = run("weak", "label", "lm", "train.votes.txt", "--jsonl")
    assert code == 0
    first = json.loads(out.splitlines()[0])
    assert len(first["tokens"]) == len(first["tags"]) == len(first["soft"])
    run("weak", "label", "lm", "train.votes.txt", "--output", "best.txt")
    names = (here / "best.txt.columns").read_text().split()
    best = read_conll("best.txt", columns=names).sentences("label")
    assert [json.loads(line)["tags"] for line in out.splitlines()] == best
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
        (["--label-model", "lm", "--model-type", "structured-svm"], "only; give --teach learn=hard"),
        (["--soft", "--model-type", "structured-perceptron"], "certain labels only; give --model-type crf"),
        (["--label-model", "lm", "--partial"], "--partial is for labels in the target column"),
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


def test_names_of_probabilities_in_another_order(here, run):
    (here / "soft.txt").write_text("a O:0.5 B-X:0.5\n")
    (here / "soft.txt.columns").write_text("word p:B-X p:O")
    code, _, err = run("train", "soft.txt", "--soft", "--features", "word[0]", "--model", "m")
    assert (code, "the column 'p:B-X' has probabilities of 'O'" in err) == (1, True)


def test_probabilities_that_do_not_add_up(here, run):
    (here / "soft.txt").write_text("a O:0.5 B-X:0.5\nb O:0.5 B-X:0.1\n")
    (here / "soft.txt.columns").write_text("word p:O p:B-X")
    code, _, err = run("train", "soft.txt", "--soft", "--features", "word[0]", "--model", "m")
    assert code == 1
    assert "soft.txt:2: its probabilities add up to 0.6" in err


def test_probabilities_of_many_labels_add_up_as_well(here, run):
    labels = [f"X{i}" for i in range(600)]
    (here / "soft.txt").write_text(f"a {' '.join(f'{label}:0.000800' for label in labels)}\n")
    (here / "soft.txt.columns").write_text(" ".join(["word", *(f"p:{label}" for label in labels)]))
    code, _, err = run("train", "soft.txt", "--soft", "--features", "word[0]", "--model", "m")
    assert (code, "soft.txt:1: its probabilities add up to 0.48" in err) == (1, True)


def test_a_column_that_is_called_as_the_new_one(here, run):
    names = ["--columns", "word,pos,chunk,label,lf:cities,lf:titles,lf:small"]
    code, _, err = run("weak", "label", "lm", "train.votes.txt", *names, "--output", "new.txt")
    assert (code, "train.votes.txt: there is a column 'label' already; give another name: --name" in err) == (1, True)
    assert not (here / "new.txt").exists()
    assert run("weak", "label", "lm", "train.votes.txt", *names, "--output", "new.txt", "--name", "mine")[0] == 0
    assert (here / "new.txt.columns").read_text().split() == ["word", "pos", "chunk", "label", "mine"]
    assert run("weak", "label", "lm", "train.votes.txt", *names)[0] == 0  # no names are written


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a b", "--name is 'a b'; expected a name without white space and commas"),
        ("", "--name is ''"),
        ("a,b", "--name is 'a,b'"),
        ("lf:x", "--name lf:x: this is the name of a column of votes"),
        ("p:O", "--name p:O: this is the name of the column with the probabilities of that label"),
    ],
)
def test_names_that_no_column_may_have(here, run, name, message):
    code, _, err = run("weak", "label", "lm", "train.votes.txt", "--marginals", "--name", name, "--output", "odd.txt")
    assert (code, message in err) == (1, True)
    assert not (here / "odd.txt").exists()


def test_names_that_nobody_gave_are_the_models(here, run):
    assert run("train", "train.txt", "--columns", "word,pos,chunk,entity", *HOW)[0] == 0
    code, _, err = run("weak", "apply", "rules.py", "test.txt", "--output", "voted.txt")
    assert code == 0, err
    assert (here / "voted.txt.columns").read_text().split()[:5] == ["c0", "c1", "c2", "c3", "lf:cities"]
    code, out, err = run("eval", "m", "voted.txt", "--json")
    assert code == 0, err
    plain = run("eval", "m", "test.txt", "--json")[1]
    assert json.loads(out.splitlines()[-1])["f1"] == json.loads(plain.splitlines()[-1])["f1"]
    assert run("tag", "m", "voted.txt")[0] == 0


def test_a_name_that_is_too_long_for_another_beside_it(here, run):
    long = "x" * 250
    (here / long).write_bytes((here / "test.txt").read_bytes())
    assert run("train", long, "--columns", "word,pos,chunk,entity", *HOW, "--max-iter", "3")[0] == 0
    assert run("tag", "m", long)[0] == 0


def test_votes_in_columns_of_other_names_are_left_out_too(here, run):
    names = ["--columns", "word,pos,chunk,entity,cities,titles,small"]
    code, _, err = run("train", "train.votes.txt", *names, "--label-model", "lm", "--target", "entity", *HOW)
    assert code == 0, err
    assert load("m").columns_ == ["word", "pos", "chunk", "entity"]


def test_columns_of_probabilities_in_the_middle_keep_their_place(here, run):
    (here / "soft.txt").write_text("a O:0.9 B-X:0.1 N\nb O:0.2 B-X:0.8 V\n")
    how = ["--columns", "word,p:O,p:B-X,pos", "--features", "word[0] + pos[0]", "--model", "m"]
    assert run("train", "soft.txt", "--soft", *how)[0] == 0
    assert load("m").columns_ == ["word", "_", "_", "pos"]
    assert run("tag", "m", "soft.txt")[1].split()[4::5] == ["O", "B-X"]


def test_gold_labels_beside_probabilities_are_what_a_tagger_is_judged_by(here, run):
    (here / "soft.txt").write_text("a B-X O O:0.9 B-X:0.1\n")
    (here / "soft.txt.columns").write_text("word gold label p:O p:B-X")
    (here / "dev.txt").write_text("a B-X\n")
    (here / "dev.txt.columns").write_text("word gold")
    how = ["--features", "word[0]", "--model", "m", "--max-iter", "5", "--json"]
    code, out, err = run("train", "soft.txt", "--soft", "--dev", "dev.txt", *how)
    assert code == 0, err
    assert "training 'gold'" in err
    assert json.loads(out.splitlines()[-1])["dev_score"] == 0.0


def test_probabilities_beside_words_alone(here, run):
    (here / "soft.txt").write_text("a O:0.9 B-X:0.1\n")
    code, _, err = run("train", "soft.txt", "--columns", "w,a,b", "--soft", "--features", "w[0]", "--model", "m")
    assert (code, "training 'label'" in err) == (0, True)
    (here / "soft.txt").write_text("O:0.9 B-X:0.1\n")
    code, _, err = run("train", "soft.txt", "--columns", "a,b", "--soft", "--features", "a[0]", "--model", "m")
    assert (code, "there are columns of probabilities alone; expected the words, too" in err) == (1, True)


@pytest.mark.parametrize("cell", ["B-X:nan", "B-X:-0.2", "B-X:abc", "O:0.5", "B-X"])
@pytest.mark.parametrize("names", ["word p:O p:B-X", "word a b"])
def test_a_cell_that_is_no_probability_is_named(here, run, cell, names):
    (here / "soft.txt").write_text(f"a O:0.5 B-X:0.5\nb O:0.6 B-X:0.4\nc O:0.5 {cell}\n")
    (here / "soft.txt.columns").write_text(names)
    code, _, err = run("train", "soft.txt", "--soft", "--features", "word[0]", "--model", "m")
    column = names.split()[-1]
    assert (code, f"soft.txt:3: '{cell}' in the column '{column}'; expected B-X:PROBABILITY" in err) == (1, True)


def test_probabilities_are_not_taken_for_labels(here, run):
    run("weak", "label", "lm", "train.votes.txt", "--marginals", "--output", "soft.txt")
    code, _, err = run("train", "soft.txt", *HOW)
    assert (code, "the last column, 'p:I-PER', has probabilities; give --soft" in err) == (1, True)


def test_a_development_file_without_the_target_is_named(here, run):
    code, _, err = run("train", "train.votes.txt", "--label-model", "lm", "--dev", "test.txt", *HOW)
    assert (code, "test.txt: there is no column 'label' to compare with; the columns are: word" in err) == (1, True)


@pytest.mark.parametrize("learn", ["soft", "evidence"])
def test_an_encoding_that_labels_do_not_have(here, run, learn):
    more = ["--encoding", "bioes", "--teach", f"learn={learn}"]
    code, _, err = run("train", "train.votes.txt", "--label-model", "lm", *HOW, *more)
    assert (code, "nothing in bioes can have the label 'B-LOC'; they are spelt as iob2" in err) == (1, True)


def test_other_columns_with_colons_are_no_probabilities(here, run):
    (here / "soft.txt").write_text("a 10:1 O:0.9 B-X:0.1\nb 9:0 O:0.2 B-X:0.8\nc 8:1 O:0.7 B-X:0.3\n")
    code, _, err = run("train", "soft.txt", "--columns", "w,score,a,b", "--soft", "--features", "w[0]", "--model", "m")
    assert code == 0, err
    assert load("m").columns_ == ["w", "score"]
