"""`trellis weak apply`, `analyze`, `fit` and `label`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from trellis import weak
from trellis.cli.weak_fit import _show
from trellis.corpus import read_conll, sample_corpus, write_conll
from trellis.metrics import evaluate
from trellis.weak.choosing import Tried

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
        assert "majority vote: F1" in err

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
            (["--options", "anchor=1"], "--options, --groups and --weights are of one kind of model"),
            (["--kind", "hmm", "--groups", "cities+nobody"], "the structure names 'nobody'"),
            (["--gold", "entity"], "--gold entity: there is no such column in votes.txt; its columns are: word"),
            (["--functions", "nobody"], "there is no column 'lf:nobody', nor one 'nobody'"),
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
            (["m6", "raw.txt"], "raw.txt: there is no column 'lf:cities', nor one 'cities'"),
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


def voted_file(name, text, columns):
    """A small file of votes, its columns named beside it."""
    Path(name).write_text(text)
    Path(f"{name}.columns").write_text("\n".join(columns.split()) + "\n")


class TestNames:
    """Columns, fields and labels whose names could be taken for others."""

    def test_a_function_may_be_called_what_a_column_is(self, run, folder):
        voted_file("same.txt", "Bob B-PERSON B-PER B-PER\nran O _ _\n\n" * 20, "word ner lf:ner lf:b")
        assert run("weak", "fit", "same.txt", "--kind", "hmm", "--model", "same")[0] == 0
        code, out, err = run("weak", "label", "same", "same.txt")
        assert code == 0, err
        assert out.startswith("Bob B-PERSON B-PER\nran O O\n\nBob")
        assert "not heard" not in err

    def test_types_that_only_dev_has_change_no_score(self, run, folder):
        votes = "Bob B-PER B-PER _\nin _ _ _\nOslo B-LOC _ B-LOC\n\n" * 20
        voted_file("train.votes.txt", votes, "word lf:a lf:b lf:c")
        gold = (
            votes.replace("Bob B-PER", "Bob B-PER B-PER")
            .replace("in _", "in O _")
            .replace("Oslo B-LOC", "Oslo B-LOC B-LOC")
        )
        voted_file("gold.txt", gold + "x B-AAA _ _ _\n", "word truth lf:a lf:b lf:c")
        scores = {}
        for kind in ("majority", "hmm"):
            dev = ["--dev", "gold.txt", "--gold", "truth"]
            code, out, err = run("weak", "fit", "train.votes.txt", "--kind", kind, *dev, "--model", "m10", "--json")
            assert code == 0, err
            scores[kind] = last_json(out)["beside"]["own"]["f1"]
        assert scores == {"majority": pytest.approx(80 / 81), "hmm": pytest.approx(80 / 81)}
        code, out, err = run("weak", "analyze", "gold.txt", "--gold", "truth", "--model", "m10")
        assert code == 0, err
        assert "Learned Acc." in out

    def test_labels_of_items_may_have_commas(self, run, folder):
        rows = [
            {"text": "a", "label": "x,y", "votes": {"f": "x,y", "g": "x,y"}},
            {"label": "z", "votes": {"f": "z"}},
        ] * 9
        Path("commas.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        code, out, err = run("weak", "fit", "commas.jsonl", "--dev", "commas.jsonl", "--kind", "dawid-skene", "--model",
                             "m11", "--json")  # fmt: skip
        assert code == 0, err
        assert last_json(out)["beside"]["own"]["accuracy"] == 1.0

    def test_votes_are_not_cast_twice(self, run, voted):
        code, _, err = run("weak", "apply", "rules.py", "votes.txt", "-o", "again.txt")
        assert code == 1
        assert "the file has a column 'lf:cities' already" in err
        assert not (voted / "again.txt").exists()
        run("weak", "apply", "item_rules.py", "items.jsonl", "-o", "once.jsonl")
        code, _, err = run("weak", "apply", "item_rules.py", "once.jsonl", "-o", "twice.jsonl")
        assert code == 1
        assert "once.jsonl:1: 'asks' has voted on this item already" in err

    def test_votes_of_other_functions_stay(self, run, folder):
        Path("more.py").write_text("from trellis import weak\nlong = weak.text_pattern('.{9,}', 'QUESTION')\n")
        run("weak", "apply", "item_rules.py", "items.jsonl", "-o", "once.jsonl")
        code, out, _ = run("weak", "apply", "more.py", "once.jsonl")
        assert code == 0
        assert list(json.loads(out.split("\n")[0])["votes"]) == ["asks", "states", "wonders", "long"]

    def test_the_label_replaces_no_field(self, run, folder):
        run("weak", "apply", "item_rules.py", "items.jsonl", "-o", "voted.jsonl")
        run("weak", "fit", "voted.jsonl", "--kind", "generative", "--model", "m8")
        code, _, err = run("weak", "label", "m8", "voted.jsonl", "-o", "labelled.jsonl")
        assert code == 1
        assert "voted.jsonl:1: there is a field 'label' already, which would be replaced; give another: --name" in err

    def test_coarse_labels_that_nobody_votes_for_are_said(self, run, voted):
        _, _, err = run("weak", "analyze", "votes.txt", "--coarse", "ETN=LOC+PER")
        assert "--coarse ETN=...: nobody votes for ETN" in err
        code, _, err = run("weak", "analyze", "votes.txt", "--coarse", "ENT=")
        assert code == 1
        assert "the coarse label 'ENT' stands for no label" in err
        code, _, err = run("weak", "analyze", "votes.txt", "--coarse", "ENT=B-LOC")
        assert code == 1
        assert "'B-LOC' cannot be a type of segments" in err


class TestPieces:
    """What comes in pieces is answered as what comes at once."""

    def test_one_letter_tags_stay_tags(self, run, folder):
        voted_file("tags.txt", "a B B\nb E E\n\nc V V\nd B B\n\n" * 10, "word lf:a lf:b")
        assert run("weak", "fit", "tags.txt", "--kind", "majority", "--model", "tags")[0] == 0
        voted_file("part.txt", "a B B\nb E E\n\n", "word lf:a lf:b")
        code, out, err = run("weak", "label", "tags", "part.txt")
        assert code == 0, err
        assert out == "a B\nb E\n\n"

    def test_comments_stay(self, run, folder):
        voted_file("said.txt", "# one\na B-X B-X\n\n# two\nb _ _\n\n", "word lf:a lf:b")
        run("weak", "fit", "said.txt", "--comments", "--kind", "majority", "--model", "said")
        code, out, _ = run("weak", "label", "said", "said.txt", "--comments")
        assert code == 0
        assert out == "# one\na B-X\n\n# two\nb O\n\n"

    def test_errors_count_all_sentences(self, run, folder, monkeypatch):
        monkeypatch.setattr("trellis.corpus.columns.CHUNK", 64)
        Path("bad.py").write_text(
            "from trellis import weak\n@weak.tokens\ndef f(sentence):\n"
            "    return [1 / (word != 'bad') and None for word in sentence]\n"
        )
        Path("long.txt").write_text("a\nb\n\n" * 40 + "bad\n\n")
        code, _, err = run("weak", "apply", "bad.py", "long.txt", "--columns", "word", "-o", "none.txt")
        assert code == 1
        assert "long.txt:121: sentence 41: the labeling function 'f' failed (bad.py:4): ZeroDivisionError" in err

    def test_errors_in_items_have_a_place(self, run, folder, monkeypatch):
        monkeypatch.setattr("trellis.cli.weak_apply._AT_ONCE", 3)
        Path("no_text.jsonl").write_text('{"text": "a."}\n' * 7 + '\n{"body": "b"}\n')
        code, _, err = run("weak", "apply", "item_rules.py", "no_text.jsonl", "-o", "none.jsonl")
        assert code == 1
        assert "no_text.jsonl:9: item 8: the labeling function 'asks' failed (item_rules.py:6): KeyError: 'text'" in err

    def test_items_are_read_from_standard_input_too(self, folder):
        command = [sys.executable, "-m", "trellis", "weak"]
        for arguments, given, written in [
            (["apply", "item_rules.py", "-"], "items.jsonl", "piped.jsonl"),
            (["fit", "-", "--items", "--kind", "generative", "--model", "m12"], "piped.jsonl", "fit.out"),
            (["label", "m12", "-", "--items", "--name", "said"], "piped.jsonl", "labelled.jsonl"),
        ]:
            with open(folder / given, "rb") as source, open(folder / written, "wb") as sink:
                ran = subprocess.run(
                    [*command, *arguments], stdin=source, stdout=sink, stderr=subprocess.PIPE, cwd=folder
                )
            assert ran.returncode == 0, ran.stderr
        labelled = [json.loads(line) for line in (folder / "labelled.jsonl").read_text().splitlines()]
        assert len(labelled) == 20
        assert labelled[0]["said"] == "QUESTION"


def test_files_of_wrench_are_voted_on(run, folder):
    entries = {
        str(k): {"data": {"text": text}, "label": k % 2, "weak_labels": [k % 2]} for k, (text, _) in enumerate(ITEMS)
    }
    Path("wrench.json").write_text(json.dumps(entries))
    code, out, err = run("weak", "apply", "item_rules.py", "wrench.json")
    assert code == 0, err
    first = json.loads(out.split("\n")[0])
    assert first["votes"] == {"f0": "0", "asks": "QUESTION", "states": None, "wonders": "QUESTION"}


def test_strict_ends_with_3_where_learning_goes_on(run, voted):
    fit = ["weak", "fit", "votes.txt", "--coarse", "ENT=PER+LOC+ORG+MISC", "--kind", "dawid-skene", "--model", "m13"]
    assert run(*fit, "--strict")[0] == 0
    code, _, err = run(*fit, "--strict", "--options", "max_iter=2")
    assert code == 3
    assert "--strict: dawid-skene had not converged after 2 iterations" in err


def test_gold_that_is_not_known_is_no_score(run, folder):
    voted_file("unknown.txt", "a _ B-X B-X\nb _ _ _\n\n" * 5, "word gold lf:a lf:b")
    fit = ["weak", "fit", "unknown.txt", "--kind", "dawid-skene", "--model", "m14"]
    assert run(*fit)[0] == 0
    code, _, err = run(*fit, "--gold", "gold")
    assert code == 1
    assert "unknown.txt: no gold label is known in 'gold'" in err


def test_weights_of_ones_own(run, voted):
    fit = ["weak", "fit", "votes.txt", "--coarse", "ENT=PER+LOC+ORG+MISC", "--kind", "weighted", "--model", "m15"]
    assert run(*fit, "--weights", "cities=3,small=0.5")[0] == 0
    model = weak.load("m15")
    assert model.weights == {"cities": 3, "small": 0.5}
    code, _, err = run(*fit, "--weights", "nobody=1")
    assert code == 1
    assert "a weight is given for 'nobody'; the functions are: cities" in err


def test_models_that_hear_no_links_do_not_ask_for_them(run, voted):
    names = (voted / "votes.txt.columns").read_text().split()
    columns = ",".join("_" if name.startswith("link:") else name for name in names)
    for kind, expected in (("hmm", 0), ("linked-hmm", 1)):
        fit = ["weak", "fit", "votes.txt", "--coarse", "ENT=PER+LOC+ORG+MISC", "--kind", kind, "--model", "m16"]
        assert run(*fit)[0] == 0
        assert run("weak", "label", "m16", "votes.txt", "--columns", columns)[0] == expected


def test_a_plain_column_is_no_vote_where_others_have_columns_of_their_own(run, folder):
    voted_file("pos.txt", "a NN B-X B-X\nb VB _ _\n\n" * 9, "word pos lf:pos lf:b")
    run("weak", "fit", "pos.txt", "--kind", "majority", "--model", "m17")
    code, _, err = run("weak", "label", "m17", "pos.txt", "--columns", "word,pos,_,lf:b")
    assert code == 1
    assert "there is no column 'lf:pos', though there are such of other functions" in err


def test_a_quiet_batch_of_items_is_answered(run, folder):
    run("weak", "apply", "item_rules.py", "items.jsonl", "-o", "voted.jsonl")
    run("weak", "fit", "voted.jsonl", "--kind", "majority", "--model", "m18")
    Path("quiet.jsonl").write_text('{"votes": {"asks": null, "states": "_", "wonders": null}}\n')
    code, out, err = run("weak", "label", "m18", "quiet.jsonl")
    assert code == 0, err
    assert json.loads(out)["label"] in ("CLAIM", "QUESTION")
    Path("none.jsonl").write_text('{"text": "a"}\n')
    code, out, err = run("weak", "label", "m18", "none.jsonl")
    assert (code, out) == (1, "")  # whoever reads it has nothing to learn from
    assert "no item names a function that the model knows" in err


@pytest.mark.parametrize(
    ("item", "more", "says"),
    [
        ({"probabilities": 1}, ["--marginals"], "there is a field 'probabilities' already"),
        ({}, ["--name", "votes"], "--name votes: this is where the votes are"),
        ({}, ["--name", "probabilities", "--marginals"], "--name probabilities: this is where"),
    ],
)
def test_fields_of_items_are_not_replaced(run, folder, item, more, says):
    run("weak", "apply", "item_rules.py", "items.jsonl", "-o", "voted.jsonl")
    run("weak", "fit", "voted.jsonl", "--kind", "majority", "--model", "m19")
    Path("own.jsonl").write_text(json.dumps({**item, "votes": {"asks": "QUESTION"}}) + "\n")
    code, _, err = run("weak", "label", "m19", "own.jsonl", *more)
    assert code == 1
    assert says in err


def test_the_row_that_is_marked_is_that_of_the_chosen_model(capsys):
    report = evaluate(np.array([0, 1]), np.array([0, 1]), ["A", "B"], np.array([0, 2]))
    tried = [Tried("generative", {}, report), Tried("generative", {"anchor": 0.0}, report)]
    _show(tried, weak.Generative(anchor=0.0))
    assert [line.endswith("*") for line in capsys.readouterr().out.splitlines()] == [False, True]


def test_gold_that_is_named_has_to_be_there(run, folder):
    run("weak", "apply", "item_rules.py", "items.jsonl", "-o", "voted.jsonl")
    code, _, err = run("weak", "fit", "voted.jsonl", "--gold", "truht", "--kind", "majority", "--model", "m20")
    assert code == 1
    assert "--gold truht: no item of voted.jsonl has a label in that field" in err


def test_functions_on_sentences_do_not_read_items(run, folder):
    code, _, err = run("weak", "apply", folder / "rules.py", folder / "items.jsonl")
    assert (code, "items.jsonl is a file of items, and cities votes on spans of sentences; give a" in err) == (1, True)
