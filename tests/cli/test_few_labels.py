"""`trellis augment`, `curve`, `select` and `simulate`."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import trellis as tr
from trellis.corpus import Corpus, read_conll, sample_corpus, write_conll
from trellis.errors import DataError
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
            (["--json"], "the JSON would follow the data in standard output; give --output FILE with --json"),
            (["--method", "mentions,tokens"], "mentions+tokens changes by one and then by the next, a list (--method"),
            (["--encoding", "bioes"], "They look like iob2; leave the encoding out (`trellis data convert` changes"),
            (
                ["--table", "types.tsv"],
                "types.tsv: the table has mentions of the types ORG, the labels of 'c2' segments",
            ),
        ],
    )
    def test_says_what_does_not_fit(self, run, folder, arguments, message):
        (folder / "types.tsv").write_text("ORG\tthe Bank\n")
        code, out, err = run("augment", "train.txt", *arguments)
        assert (code, out) == (1, "")
        assert message in err

    def test_standard_input_is_read_once(self, run):
        assert "standard input (-) can be read only once" in run("augment", "-", "--table", "-")[2]

    def test_a_reader_that_has_gone_is_no_mistake(self):
        command = [sys.executable, "-m", "trellis", "augment", "train.txt", "--copies", "40"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.readline()
            process.stdout.close()
            assert process.wait() == 141
            assert process.stderr.read() == b""

    def test_says_what_the_library_warns_of(self, run, folder):
        (folder / "odd.txt").write_text("a I-X\nb O\nc B-Y\n\n")
        code, _, err = run("augment", "odd.txt", "-o", "more.txt")
        assert code == 0
        said = err.splitlines()
        assert said[0].startswith(
            "trellis: warning: labels of 'c1' are ill-formed in iob2, the first is 'I-X' at odd.txt:1"
        )
        assert said[1].startswith("trellis: warning: no sentence could be changed by mentions")
        assert said[2] == "1 sentence, 3 tokens; with changed copies 1 and 3 (mentions)"

    def test_warns_of_other_columns_that_are_torn_apart(self, run, folder):
        (folder / "both.txt").write_bytes(write_conll(sample_corpus("train").slice(0, 60)))
        _, _, err = run(
            "augment", "both.txt", "--columns", "word,pos,chunk,entity", "--method", "tokens", "-o", "more.txt"
        )
        assert "trellis: warning: segments of 'chunk' are torn apart in copies; learn no 'chunk' from them" in err


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
        asked = ["--by", by, "--tokens", "60", "-o", "next.txt", "--json"]
        calls = [run("select", "m", name, *asked) for name in ("pool.txt", "test.txt")]
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
        assert text.count("#uncertainty=") == 3
        assert len(read_conll(folder / "next.txt", comments=True)) == 3

    @pytest.mark.parametrize("columns", [1, 2, 3])
    def test_scores_are_never_tokens(self, run, folder, columns):
        """Whoever forgets --comments is told, whatever the number of columns."""
        pool = read_conll(folder / "test.txt", columns=COLUMNS)
        names = COLUMNS[:columns]
        (folder / "some.txt").write_bytes(write_conll(Corpus({name: pool[name] for name in names}, pool.offsets)))
        tr.CRF("chunk", "word[0]", tol=1e-2).fit(pool).save(folder / "words")
        given = ["--columns", ",".join(names)]
        assert run("select", "words", "some.txt", "--count", "3", "--scores", "-o", "next.txt", *given)[0] == 0
        with pytest.raises(DataError, match="columns"):
            read_conll(folder / "next.txt")
        assert len(read_conll(folder / "next.txt", columns=names, comments=True)) == 3

    def test_words_that_look_like_comments_have_no_scores(self, run, folder):
        (folder / "tags.txt").write_text("#tag NN\n\nthe DT\n\n")
        code, out, err = run("select", "m", "tags.txt", "--count", "2", "--scores")
        assert (code, out) == (1, "")
        assert "'#tag' in the column 'word' would be read as a comment, too; leave --scores out and use --json" in err
        assert run("select", "m", "tags.txt", "--count", "1", "--by", "random", "--seed", "1")[0] == 0

    def test_says_where_a_batch_is_not_what_was_asked_for(self, run, folder):
        (folder / "small.txt").write_text("the DT\ndog NN\nran VB\n\nthe DT\ndog NN\nran VB\n\na DT\ncat NN\n\n")
        said = [
            run("select", "m", "small.txt", "-o", "next.txt", *given)[2].strip()
            for given in (["--tokens", "1"], ["--count", "9"], ["--count", "3", "--distinct", "0.9"], ["--count", "3"])
        ]
        assert said[0].startswith("1 sentence, ")
        assert said[0].endswith("; 2 are left; one is always written, though it has more than 1 token")
        assert said[1].endswith("; 0 are left; the pool has no more")
        assert said[2].endswith("; 1 is left; these are too like those chosen (--distinct)")
        assert said[3].endswith("; 0 are left")

    def test_scores_that_are_no_probabilities_are_warned_of(self, run, folder):
        train = read_conll(folder / "train.txt", columns=COLUMNS).slice(0, 20)
        tr.CRF("chunk", "word[0]", optimizer="mira", max_iter=3).fit(train).save(folder / "mira")
        code, _, err = run("select", "mira", "pool.txt", "--count", "1")
        assert code == 0
        assert err.count("trellis: warning: the model was trained by the optimizer mira, so its scores are no") == 1

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ([], "give --count N (sentences) or --tokens N, one of the two"),
            (["--count", "1", "--by", "entropie"], "unknown ranking 'entropie'; did you mean entropy?"),
            (["--count", "1", "-o", "pool.txt"], "--output pool.txt would overwrite what is read"),
            (["--count", "1", "-o", "a", "--rest", "a"], "--output and --rest are one file"),
            (["--count", "0"], "count is 0; expected a whole number >= 1"),
            (["--count", "1", "--json"], "the JSON would follow the data in standard output; give --output FILE with"),
            (["--count", "1", "-o", "-", "--json"], "give --output FILE with --json"),
            (["--count", "1", "--by", "random", "--per-token"], "--per-token would favour short sentences where --by"),
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
        assert (code, err) == (0, "15 models to train\n")
        found = last_json(out)
        assert list(found) == ["metric", "points", "doubled", "augmented"]
        assert [point["sentences"] for point in found["points"]] == [10, 20, 60, 120]
        assert list(found["augmented"]) == ["mentions"]
        lines = out.splitlines()
        assert lines[0].split() == ["sentences", "tokens", "F1", "F1,", "mentions"]
        assert lines[4].split()[3] == "-"  # of the whole there is but one training
        assert found["points"][3]["deviation"] is None
        assert lines[5].startswith("twice the labels (")
        assert lines[5].endswith(" by other draws of the repeats)")
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
        assert "twice the labels: that takes 4 sizes, and there is 1; give more (--sizes)" in out
        assert "unknown --model-type 'crv'" in run(*arguments, "--model-type", "crv")[2]
        assert "is for `trellis train` alone" in run(*arguments, "--model-type", "cascade")[2]
        assert "--sizes x: 'x' is no number" in run("curve", "train.txt", "test.txt", "--sizes", "x")[2]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--copies", "2"], "--copies is for --augment; give a method, or leave it out"),
            (["--copy-weight", "1"], "--copy-weight is for --augment"),
            (["--title", "T"], "--title is for --plot; give a file to draw to, or leave it out"),
            (["--augment", "tokens", "--copy-weight", "-1"], "--copy-weight is -1; expected a number >= 0"),
            (["--augment", "tokens", "--copy-weight", "nan"], "--copy-weight is nan; expected a number >= 0"),
            (["--augment", "tokens", "--optimizer", "arow"], "a CRF with the optimizer arow cannot count some "
             "sentences less; let copies count 1 (--copy-weight 1)"),
            (["--augment", "mentions,tokens"], "mentions+tokens changes by one and then by the next"),
            (["--augment", "mentions", "--encoding", "bioes"], "look like iob2; leave the encoding out"),
        ],
    )  # fmt: skip
    def test_says_what_does_not_fit(self, run, arguments, message):
        code, out, err = run("curve", "train.txt", "test.txt", *QUICK, *arguments)
        assert (code, out) == (1, "")
        assert message in err
        assert "to train" not in err

    def test_tables_need_not_be_for_every_part(self, run, folder):
        """Two sentences hardly have the word."""
        word = read_conll(folder / "train.txt", columns=COLUMNS)["word"].values()[-2]
        (folder / "one.tsv").write_text(f"{word}\tzebra\n")
        code, _, err = run(
            "curve", "train.txt", "test.txt", *QUICK, "--sizes", "2,40", "--repeats", "1", "--augment", "synonyms",
            "--table", "one.tsv", "--p", "1",
        )  # fmt: skip
        assert (code, err) == (0, "4 models to train\n")

    @pytest.mark.parametrize("command", ["curve", "simulate"])
    def test_testing_on_what_was_learnt_is_warned_of(self, run, folder, command):
        (folder / "again.txt").write_bytes((folder / "train.txt").read_bytes())
        quick = (
            ["--sizes", "5"]
            if command == "curve"
            else ["--by", "random", "--start", "20", "--batch", "20", "--rounds", "1"]
        )
        for name in ("train.txt", "again.txt"):
            _, _, err = run(command, "train.txt", name, *QUICK, *quick, "--repeats", "1")
            assert f"trellis: warning: {name} is what is learnt from, so scores say little" in err

    @pytest.mark.parametrize("command", ["curve", "simulate"])
    def test_help_names_no_cascade(self, run, command):
        assert "cascade" not in run(command, "--help")[1]


class TestSimulate:
    def test_prints_what_choosing_saves_and_draws_it(self, run, folder):
        code, out, err = run(
            "simulate", "train.txt", "test.txt", *QUICK, "--by", "entropy,random", "--start", "60", "--batch", "80",
            "--rounds", "2", "--repeats", "2", "--plot", "al.png", "--json",
        )  # fmt: skip
        assert (code, err) == (0, "up to 12 models to train\n")
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
