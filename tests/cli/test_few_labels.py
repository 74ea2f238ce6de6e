"""`trellis augment`, `curve`, `select` and `simulate`."""

from __future__ import annotations

import json

import pytest

import trellis as tr
from trellis.corpus import Corpus, read_conll, sample_corpus, write_conll
from trellis.fewlabels import METHODS, RANKINGS

COLUMNS = ["word", "pos", "chunk"]
QUICK = ["--columns", "word,pos,chunk", "--features", "word[0] + pos[-1:1]", "--tol", "1e-2", "--l2", "0.1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """train.txt, test.txt, pool.txt (without labels) and a model m of few sentences."""
    folder = tmp_path_factory.mktemp("few")
    for name, part, last, columns in (
        ("train", "train", 120, COLUMNS),
        ("test", "test", 60, COLUMNS),
        ("pool", "test", 60, COLUMNS[:2]),
    ):
        corpus = sample_corpus(part).slice(0, last)
        data = write_conll(Corpus({c: corpus[c] for c in columns}, corpus.offsets))
        (folder / f"{name}.txt").write_bytes(data)
    train = read_conll(folder / "train.txt", columns=COLUMNS).slice(0, 40)
    tr.CRF("chunk", "word[0] + pos[-1:1]", tol=1e-2).fit(train).save(folder / "m")
    return folder


@pytest.fixture(autouse=True)
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)


def last_json(out):
    return json.loads(out.rstrip("\n").split("\n")[-1])


class TestAugment:
    def test_writes_the_file_and_its_copies(self, run, folder):
        code, out, err = run(
            "augment", "train.txt", "--columns", "word,pos,chunk", "--method", "mentions", "--method", "tokens",
            "--copies", "2", "--p", "0.4", "--output", "more.txt", "--json",
        )  # fmt: skip
        assert code == 0
        more, train = (folder / name for name in ("more.txt", "train.txt"))
        assert more.read_bytes().startswith(train.read_bytes())
        found, corpus = last_json(out), read_conll(more, columns=COLUMNS)
        assert found == {
            "sentences": len(corpus),
            "tokens": corpus.tokens,
            "original_sentences": 120,
            "original_tokens": read_conll(train).tokens,
            "methods": ["mentions", "tokens"],
        }
        assert err.startswith("120 sentences, ")
        assert run("data", "check", "more.txt", "--columns", "word,pos,chunk")[0] == 0

    def test_writes_to_standard_output_the_same_for_the_same_seed(self, run):
        calls = [run("augment", "train.txt", "--method", "shuffle", "--seed", seed)[1] for seed in ("1", "1", "2")]
        assert calls[0] == calls[1]
        assert calls[0] != calls[2]

    def test_reads_tables(self, run, folder):
        (folder / "synonyms.tsv").write_text("the\tthis\tone of the\n")
        code, out, _ = run(
            "augment", "train.txt", "--columns", "word,pos,chunk", "--method", "synonyms", "--table", "synonyms.tsv",
            "--p", "1",
        )  # fmt: skip
        assert code == 0
        assert "one DT B-NP\nof DT I-NP\nthe DT I-NP\n" in out

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--method", "mention"], "unknown method of augmentation 'mention'; did you mean mentions?"),
            (["--method", "synonyms"], "synonyms need a table"),
            (["--output", "train.txt"], "--output train.txt would overwrite what is read; give another name"),
            (
                ["--target", "c1"],
                "spell no segments such as B-X, I-X, O, which this method needs; use tokens or synonyms",
            ),
            (["--table", "none.tsv"], "none.tsv: no such file"),
        ],
    )
    def test_says_what_does_not_fit(self, run, arguments, message):
        code, out, err = run("augment", "train.txt", *arguments)
        assert (code, out) == (1, "")
        assert message in err


class TestSelect:
    def test_writes_the_next_batch_and_the_rest(self, run, folder):
        code, out, _ = run("select", "m", "pool.txt", "--count", "5", "-o", "next.txt", "--rest", "rest.txt", "--json")
        assert code == 0
        found = last_json(out)
        pool, batch, rest = ((folder / f"{n}.txt").read_text().split("\n\n")[:-1] for n in ("pool", "next", "rest"))
        assert (len(batch), len(rest)) == (found["sentences"], found["rest_sentences"]) == (5, 55)
        assert batch == [pool[row["sentence"] - 1] for row in found["selected"]]
        assert sorted(batch + rest) == sorted(pool)
        assert [text for text in pool if text in rest] == rest
        scores = [row["uncertainty"] for row in found["selected"]]
        assert scores == sorted(scores, reverse=True)

    @pytest.mark.parametrize("by", ["entropy", "least-confidence", "margin", "random"])
    def test_knows_every_ranking_and_never_reads_the_target(self, run, by):
        calls = [run("select", "m", name, "--by", by, "--tokens", "60", "--json") for name in ("pool.txt", "test.txt")]
        assert [code for code, _, _ in calls] == [0, 0]
        found = [last_json(out) for _, out, _ in calls]
        assert found[0] == found[1]
        assert found[0]["tokens"] <= 60

    def test_fills_in_the_models_labels(self, run, folder):
        run("select", "m", "pool.txt", "--count", "4", "--prefill", "-o", "next.txt")
        batch = read_conll(folder / "next.txt", columns=COLUMNS)
        assert batch["chunk"].values() == tr.load("m").predict_column(batch).values()
        first = (folder / "next.txt").read_bytes()
        run("select", "m", "test.txt", "--count", "4", "--prefill", "-o", "next.txt")
        assert (folder / "next.txt").read_bytes() == first

    def test_the_target_goes_where_the_training_file_has_it(self, run, folder):
        middle = read_conll(folder / "train.txt", columns=COLUMNS).slice(0, 20)
        moved = {name: middle[name] for name in ("word", "chunk", "pos")}
        (folder / "middle.txt").write_bytes(write_conll(Corpus(moved, middle.offsets)))
        names = ["--columns", "word,chunk,pos", "--target", "chunk"]
        assert run("train", "middle.txt", *names, "--features", "word[0]", "--tol", "1e-2", "-m", "middle")[0] == 0
        _, out, _ = run("select", "middle", "pool.txt", "--count", "1", "--prefill")
        rows = [line.split(" ") for line in out.splitlines() if line]
        assert all(row[1] in tr.load("middle").classes_ and len(row) == 3 for row in rows)

    def test_scores_are_comments(self, run, folder):
        run("select", "m", "pool.txt", "--count", "3", "--scores", "-o", "next.txt")
        text = (folder / "next.txt").read_text()
        assert text.count("# uncertainty ") == 3
        assert len(read_conll(folder / "next.txt", comments=True)) == 3

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ([], "give --count N (sentences) or --tokens N, one of the two"),
            (["--count", "1", "--by", "entropie"], "unknown ranking 'entropie'; did you mean entropy?"),
            (["--count", "1", "-o", "pool.txt"], "--output pool.txt would overwrite what is read"),
            (["--count", "1", "-o", "a", "--rest", "a"], "--output and --rest are one file"),
            (["--count", "0"], "count is 0; expected a whole number >= 1"),
        ],
    )
    def test_says_what_does_not_fit(self, run, arguments, message):
        code, _, err = run("select", "m", "pool.txt", *arguments)
        assert code == 1
        assert message in err

    def test_models_without_probabilities_and_cascades_are_refused(self, run, folder, cascade_model):
        train = read_conll(folder / "train.txt", columns=COLUMNS).slice(0, 20)
        tr.StructuredPerceptron("chunk", "word[0]", epochs=1).fit(train).save(folder / "p")
        assert "a StructuredPerceptron has no probabilities" in run("select", "p", "pool.txt", "--count", "1")[2]
        assert run("select", "p", "pool.txt", "--count", "1", "--by", "random")[0] == 0
        assert "does not know cascades yet" in run("select", cascade_model, "pool.txt", "--count", "1")[2]


class TestCurve:
    def test_prints_a_table_and_draws_it(self, run, folder):
        code, out, err = run(
            "curve", "train.txt", "test.txt", *QUICK, "--sizes", "10,20,0.5,1.0", "--repeats", "2", "--augment",
            "mentions", "--copies", "1", "--plot", "curve.png", "--json",
        )  # fmt: skip
        assert (code, err) == (0, "")
        found = last_json(out)
        assert list(found) == ["metric", "points", "doubled", "augmented"]
        assert [point["sentences"] for point in found["points"]] == [10, 20, 60, 120]
        assert list(found["augmented"]) == ["mentions"]
        lines = out.splitlines()
        assert lines[0].split() == ["sentences", "tokens", "F1", "F1,", "mentions"]
        assert lines[5].startswith("twice the labels")
        assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG")

    def test_takes_the_options_of_augment(self, run, folder):
        (folder / "table.tsv").write_text("NP\tthe large zebra\n")
        arguments = ["curve", "train.txt", "test.txt", *QUICK, "--sizes", "20", "--repeats", "1"]
        given = ["--augment", "mentions", "--augment", "tokens", "--table", "table.tsv"]
        plain = last_json(run(*arguments, *given[:4], "--json")[1])["augmented"]
        found = last_json(run(*arguments, *given, "--json")[1])["augmented"]
        assert found["tokens"] == plain["tokens"]
        assert found["mentions"] != plain["mentions"]
        assert "a table is for mentions and synonyms" in run(*arguments, *given[2:])[2]
        assert "--table is for --augment" in run(*arguments, *given[4:])[2]
        assert "is not ioe2" in run(*arguments, *given[:2], "--encoding", "ioe2")[2]

    def test_takes_the_options_of_train(self, run):
        arguments = ["curve", "train.txt", "test.txt", "--columns", "word,pos,chunk", "--sizes", "20", "--repeats", "1"]
        code, out, _ = run(*arguments, "--model-type", "hmm", "--target", "pos", "--options", "smoothing=0.5")
        assert code == 0
        assert "accuracy" in out
        assert "no power law fits" in out
        assert "unknown --model-type 'crv'" in run(*arguments, "--model-type", "crv")[2]
        assert "is for `trellis train` alone" in run(*arguments, "--model-type", "cascade")[2]
        assert "--sizes x: 'x' is no number" in run("curve", "train.txt", "test.txt", "--sizes", "x")[2]


class TestSimulate:
    def test_prints_what_choosing_saves_and_draws_it(self, run, folder):
        code, out, err = run(
            "simulate", "train.txt", "test.txt", *QUICK, "--by", "entropy,random", "--start", "60", "--batch", "80",
            "--rounds", "2", "--repeats", "2", "--plot", "al.png", "--json",
        )  # fmt: skip
        assert (code, err) == (0, "")
        found = last_json(out)
        assert list(found) == ["metric", "tokens", "rankings"]
        assert set(found["rankings"]["entropy"]) == {"mean", "area", "areas", "last", "runs", "against_random"}
        assert out.splitlines()[1].startswith("entropy")
        assert (folder / "al.png").read_bytes().startswith(b"\x89PNG")

    def test_says_what_does_not_fit(self, run):
        code, _, err = run("simulate", "train.txt", "pool.txt", "--columns", "word,pos,chunk")
        assert code == 1
        assert "pool.txt: 2 columns found, but 3 named" in err.replace(":1:", ":")
        assert "rankings to compare" in run("simulate", "train.txt", "test.txt", *QUICK, "--by", "random,random")[2]


@pytest.mark.parametrize(("command", "names"), [("augment", METHODS), ("select", RANKINGS)])
def test_help_names_all_there_are(run, command, names):
    out = " ".join(run(command, "--help")[1].split())
    assert all(name in out for name in names)


@pytest.mark.parametrize("command", ["augment", "curve", "select", "simulate"])
def test_help_has_an_example(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert f"Example:\n    trellis {command}" in out
