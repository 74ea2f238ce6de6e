"""`trellis weak apply`, `analyze`, `fit` and `label`."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from trellis import weak
from trellis.corpus import read_conll, sample_corpus, write_conll

RULES = """
from trellis import weak

cities = weak.gazetteer(["Lisbon", "Paris", "New York", "London", "Tokyo"], "LOC", lower=True)
titles = weak.pattern(r"(?:Mr\\.|Mrs\\.|Dr\\.) ([A-Z]\\w+)", "PER", group=1)
capitals = weak.shape("Xx", "ENT", least=2)
together = weak.linked(capitals)

@weak.tokens
def small(sentence):
    return ["O" if word.islower() else None for word in sentence]

@weak.spans(name="months")
def in_a_month(sentence):
    return [(t, t + 1, "O") for t, word in enumerate(sentence.words) if word in ("April", "May", "June")]

COARSE = {"ENT": ["PER", "LOC", "ORG", "MISC"]}
"""
ITEM_RULES = """
from trellis import weak

@weak.items
def asks(item):
    return "QUESTION" if item["text"].endswith("?") else None

@weak.items
def states(item):
    return "CLAIM" if item["text"].endswith(".") else None

wonders = weak.text_pattern(r"\\bwhy\\b", "QUESTION")
"""
ITEMS = [("why is that?", "QUESTION"), ("so it is.", "CLAIM"), ("why not.", "QUESTION"), ("hm", "CLAIM")] * 5
NAMES = ["cities", "titles", "capitals", "small", "months"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Rules, raw.txt with gold labels last, and the same for development."""
    folder = tmp_path_factory.mktemp("weak")
    (folder / "rules.py").write_text(RULES)
    (folder / "item_rules.py").write_text(ITEM_RULES)
    for name, part in (("raw", "train"), ("dev", "test")):
        (folder / f"{name}.txt").write_bytes(write_conll(sample_corpus(part).slice(0, 100)))
    lines = [json.dumps({"text": text, "label": label}) for text, label in ITEMS]
    (folder / "items.jsonl").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture(autouse=True)
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)


COLUMNS = ("--columns", "word,pos,chunk,gold")


@pytest.fixture(scope="module")
def voted(folder):
    """votes.txt and dev.votes.txt."""
    for source, target in (("raw.txt", "votes.txt"), ("dev.txt", "dev.votes.txt")):
        done = subprocess.run(
            [sys.executable, "-m", "trellis", "weak", "apply", "rules.py", source, *COLUMNS, "-o", target],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    return folder


def last_json(out):
    return json.loads(out.rstrip("\n").split("\n")[-1])


class TestApply:
    def test_adds_a_column_for_each_function_and_says_their_names(self, run, voted):
        code, out, err = run("weak", "apply", "rules.py", "raw.txt", *COLUMNS, "-o", "more.txt", "--json")
        assert code == 0
        names = (voted / "more.txt.columns").read_text().split()
        assert names == ["word", "pos", "chunk", "gold", *(f"lf:{n}" for n in NAMES[:3]), "link:together",
                         "lf:small", "lf:months"]  # fmt: skip
        corpus = read_conll("more.txt", columns=names)
        assert corpus.sentences("word") == sample_corpus("train").slice(0, 100).sentences("word")
        assert set(corpus["lf:small"].strings) == {"O", "_"}
        assert "B-ENT" in corpus["lf:capitals"].strings
        assert last_json(out)["sentences"] == 100
        assert "100 sentences; votes: cities" in err

    def test_says_the_same_as_python(self, voted):
        loaded = weak.load_functions("rules.py")
        corpus = read_conll("raw.txt", columns=["word", "pos", "chunk", "gold"])
        votes = weak.apply(loaded.functions, corpus, coarse=loaded.coarse)
        names = (voted / "votes.txt.columns").read_text().split()
        read = weak.votes_of(read_conll("votes.txt", columns=names), coarse=loaded.coarse)
        assert read.functions == votes.functions
        assert read.linkers == votes.linkers
        assert (read.links == votes.links).all()
        same = [[votes.names[v] if v >= 0 else None for v in row] for row in votes.values.tolist()]
        assert [[read.names[v] if v >= 0 else None for v in row] for row in read.values.tolist()] == same

    def test_an_endless_pipe_is_answered_as_it_comes(self, voted):
        with subprocess.Popen(
            [sys.executable, "-m", "trellis", "weak", "apply", "rules.py", "-", "--columns", "word"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=voted,
        ) as process:  # fmt: skip
            process.stdin.write(b"In\nParis\n\n")
            process.stdin.flush()
            answer = [process.stdout.readline() for _ in range(3)]
            process.stdin.close()
            assert process.wait(60) == 0
            said = process.stderr.read().decode()
        assert answer[1].split()[:2] == [b"Paris", b"B-LOC"]
        assert "columns: word,lf:cities," in said

    def test_functions_vote_on_items(self, run):
        code, _, err = run("weak", "apply", "item_rules.py", "items.jsonl", "-o", "voted.jsonl")
        assert code == 0, err
        with open("voted.jsonl") as file:
            first = json.loads(file.readline())
        assert first == {
            "text": "why is that?",
            "label": "QUESTION",
            "votes": {"asks": "QUESTION", "states": None, "wonders": "QUESTION"},
        }

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("x = 1", "no labeling function here; decorate functions with @spans"),
            ("def f(:", "bad.py:1: no Python"),
            ("from trellis import weak\n\n1 / 0", "bad.py:3: ZeroDivisionError"),
            (
                "from trellis import weak\n@weak.tokens\ndef f(s):\n    return ['A', 3] + [None] * (len(s) - 2)",
                r"raw.txt:2: sentence 1, token 2 \(','\): the labeling function 'f' votes 3",
            ),
            (
                "from trellis import weak\n@weak.spans\ndef f(s):\n    return [(0, 99, 'A')]",
                "sentence 1, token 1.*the labeling function 'f'",
            ),
            (
                "from trellis import weak\n@weak.spans\ndef f(s):\n    raise KeyError('x')",
                "raw.txt:1: sentence 1.*the labeling function 'f'.*KeyError",
            ),
        ],
    )
    def test_what_is_wrong_is_said_with_its_place(self, run, folder, text, says):
        (folder / "bad.py").write_text(text)
        code, _, err = run("weak", "apply", "bad.py", "raw.txt", *COLUMNS, "-o", "bad.txt")
        assert code == 1
        assert len(err.strip().split("\n")) == 1
        assert re.search(says, err), err
        assert not (folder / "bad.txt").exists()


class TestAnalyze:
    def test_shows_a_table_and_json(self, run, voted):
        code, out, err = run("weak", "analyze", "votes.txt", "--coarse", "ENT=PER+LOC+ORG+MISC", "--json")
        assert code == 0, err
        assert out.startswith("Function")
        found = last_json(out)
        assert [one["name"] for one in found["functions"]] == NAMES
        assert found["functions"][0]["accuracy"] is not None  # there is a column called gold
        assert [one["name"] for one in found["linkers"]] == ["together"]
        assert found["tokens"] == sample_corpus("train").slice(0, 100).tokens

    def test_shows_what_a_model_learnt(self, run, voted):
        coarse = ("--coarse", "ENT=PER+LOC+ORG+MISC")
        run("weak", "fit", "votes.txt", *coarse, "--kind", "hmm", "--model", "m1")
        code, out, _ = run("weak", "analyze", "votes.txt", *coarse, "--model", "m1", "--examples", "0")
        assert code == 0
        assert "Learned Acc." in out

    def test_reads_items(self, run):
        run("weak", "apply", "item_rules.py", "items.jsonl", "-o", "voted.jsonl")
        code, out, _ = run("weak", "analyze", "voted.jsonl", "--json")
        assert code == 0
        assert last_json(out)["functions"][2]["conflicts"] == 0.25

    def test_votes_without_names_say_what_to_do(self, run):
        code, _, err = run("weak", "analyze", "raw.txt")
        assert code == 1
        assert "no column holds votes: the columns are c0, c1, c2, c3; name those that do" in err


class TestFit:
    def test_without_gold_majority_vote_stands_beside(self, run, voted):
        names = (voted / "votes.txt.columns").read_text().split()
        columns = ",".join("_" if name == "gold" else name for name in names)
        code, _, err = run(
            "weak", "fit", "votes.txt", "--columns", columns, "--coarse", "ENT=PER+LOC+ORG+MISC", "--model", "m2"
        )
        assert code == 0, err
        assert "linked-hmm and majority vote" in err
        assert "no gold labels to say which is better" in err

    def test_with_gold_the_best_is_chosen(self, run, voted):
        code, out, err = run(
            "weak", "fit", "votes.txt", "--dev", "dev.votes.txt", "--coarse", "ENT=PER+LOC+ORG+MISC", "--model", "m3",
            "--json",
        )  # fmt: skip
        assert code == 0, err
        found = last_json(out)
        scores = [one["report"]["f1"] for one in found["tried"] if one["report"]]
        assert found["beside"]["own"]["f1"] == max(scores)
        assert found["beside"]["majority"] is not None
        assert set(found["accuracies"]) == set(NAMES)
        assert sum(line.endswith("*") for line in out.split("\n")) == 1
        assert "majority vote beside it" in err

    def test_a_worse_model_is_warned_of(self, run, voted):
        code, _, err = run(
            "weak", "fit", "votes.txt", "--coarse", "ENT=PER+LOC+ORG+MISC", "--kind", "hmm", "--options", "anchor=0",
            "--model", "m4",
        )  # fmt: skip
        assert code == 0
        assert "judged on the gold labels of VOTES, which no model is fitted to" in err
        assert "hmm: F1" in err

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (["--kind", "best"], "there is no label model 'best'; expected one of majority"),
            (["--kind", "hmm", "--options", "depth=3"], "'depth' is no setting of hmm; it has: space"),
            (["--kind", "hmm", "--options", "anchor=-1"], "anchor is -1; expected a number >= 0"),
            (["--options", "anchor=1"], "--options and --groups are of one kind of model"),
            (["--kind", "hmm", "--groups", "cities+nobody"], "the structure names 'nobody'"),
            (["--gold", "entity"], "--gold entity: there is no such column; the columns are: word"),
            (["--functions", "nobody"], "there is no column 'nobody'"),
            (["--dev", "nowhere.txt"], "nowhere.txt: no such file"),
            (["--coarse", "ENT"], "--coarse ENT: found 'ENT', expected NAME=VALUE"),
        ],
    )
    def test_what_cannot_be_is_said(self, run, voted, arguments, says):
        coarse = [] if "--coarse" in arguments else ["--coarse", "ENT=PER+LOC+ORG+MISC"]
        code, _, err = run("weak", "fit", "votes.txt", *coarse, "--model", "m5", *arguments)
        assert code == 1
        assert says in err


class TestLabel:
    @pytest.fixture(autouse=True)
    def model(self, run, voted):
        run("weak", "fit", "votes.txt", "--coarse", "ENT=PER+LOC+ORG+MISC", "--kind", "linked-hmm", "--model", "m6")

    def test_writes_what_a_tagger_can_be_trained_on(self, run, voted):
        code, _, err = run("weak", "label", "m6", "votes.txt", "-o", "labelled.txt")
        assert code == 0, err
        corpus = read_conll("labelled.txt", columns=["word", "pos", "chunk", "gold", "label"])
        model = weak.load("m6")
        names = (voted / "votes.txt.columns").read_text().split()
        coarse = {"ENT": ["PER", "LOC", "ORG", "MISC"]}
        assert corpus.sentences("label") == model.predict(
            weak.votes_of(read_conll("votes.txt", columns=names), coarse=coarse)
        )
        code, out, _ = run("score", "labelled.txt", "--json")
        assert code == 0
        assert last_json(out)["f1"] > 0

    def test_keeps_votes_and_adds_probabilities_if_asked(self, run, voted):
        code, out, _ = run("weak", "label", "m6", "votes.txt", "--keep-votes", "--marginals")
        assert code == 0
        row = out.split("\n")[0].split()
        assert row[:4] == ["LISBON", "NNP", "B-NP", "B-LOC"]
        assert len(row) == 10 + 1 + len(weak.load("m6").own_labels)
        assert sum(float(cell.rpartition(":")[2]) for cell in row[11:]) == pytest.approx(1.0, abs=1e-4)

    def test_the_same_marks_as_in_fitting_stand_for_no_vote(self, run, voted):
        run("weak", "fit", "votes.txt", "--abstain", "_,O", "--coarse", "ENT=PER+LOC+ORG+MISC", "--kind", "hmm",
            "--model", "m7")  # fmt: skip
        assert weak.load("m7").abstain_ == ("_", "O")
        code, out, _ = run("weak", "label", "m7", "votes.txt")
        names = (voted / "votes.txt.columns").read_text().split()
        votes = weak.votes_of(
            read_conll("votes.txt", columns=names), abstain=("_", "O"), coarse={"ENT": ["PER", "LOC", "ORG", "MISC"]}
        )
        said = [label for sentence in weak.load("m7").predict(votes) for label in sentence]
        assert code == 0
        assert [line.split()[-1] for line in out.split("\n") if line] == said

    def test_items(self, run):
        run("weak", "apply", "item_rules.py", "items.jsonl", "-o", "voted.jsonl")
        run("weak", "fit", "voted.jsonl", "--kind", "generative", "--model", "m8")
        code, out, err = run("weak", "label", "m8", "voted.jsonl", "--name", "believed", "--marginals")
        assert code == 0, err
        first = json.loads(out.split("\n")[0])
        assert first["believed"] == "QUESTION"
        assert first["label"] == "QUESTION"
        assert set(first["probabilities"]) == {"CLAIM", "QUESTION"}

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (["m6", "raw.txt"], "there is no column 'cities'"),
            (["raw.txt", "votes.txt"], "raw.txt: not a whole Trellis model"),
            (["nowhere", "votes.txt"], "nowhere: no such file"),
            (["m6", "votes.txt", "--json"], "give --output FILE with --json"),
            (["m6", "votes.txt", "-o", "votes.txt"], "would overwrite what is read"),
        ],
    )
    def test_what_cannot_be_is_said(self, run, arguments, says):
        code, _, err = run("weak", "label", *arguments)
        assert code == 1
        assert says in err


def test_a_label_model_is_no_tagger(run, voted):
    run("weak", "fit", "votes.txt", "--coarse", "ENT=PER+LOC+ORG+MISC", "--kind", "majority", "--model", "m9")
    code, _, err = run("tag", "m9", "raw.txt")
    assert code == 1
    assert "label model" in err
