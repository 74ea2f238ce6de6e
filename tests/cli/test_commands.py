"""The command line: what it prints, what it writes, how it fails."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

import trellis
from trellis.cli.console import amount
from trellis.corpus import sample_corpus, sample_path, write_conll

COLUMNS = "word,pos,chunk,entity"


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """A small chunk model, trained once."""
    from trellis import CRF

    path = tmp_path_factory.mktemp("model") / "chunk.trellis"
    CRF(target="chunk", l2=0.1, tol=1e-3).fit(sample_corpus("train")).save(path)
    return path


@pytest.fixture
def sentence(tmp_path):
    path = tmp_path / "new.txt"
    path.write_text("The DT\ndog NN\nbarks VBZ\n\n")
    return path


def last_json(out):
    return json.loads(out.splitlines()[-1])


def test_train_then_eval_then_tag_then_score(run, tmp_path):
    model, tagged = tmp_path / "m.trellis", tmp_path / "tagged.txt"
    code, out, err = run(
        "train", sample_path("train"), "--columns", COLUMNS, "--target", "chunk", "--l2", 0.5, "--tol", 1e-3,
        "--model", model, "--json",
    )  # fmt: skip
    assert code == 0, err
    trained = last_json(out)
    expected = {"objective", "evaluations", "iterations", "converged", "seconds", "parameters", "active", "model"}
    assert expected <= set(trained)
    assert trained["converged"] is True
    assert trained["model"] == str(model)

    code, out, _ = run("eval", model, sample_path("test"), "--json")
    evaluated = last_json(out)
    assert code == 0
    keys = {"accuracy", "precision", "recall", "f1", "tokens", "sentences", "tokens_per_second"}
    assert keys <= set(evaluated)
    assert evaluated["f1"] > 0.9

    # score reads the last two columns: keep word, pos and the gold chunk, then the predicted one
    gold = sample_corpus("test")
    three = tmp_path / "three.txt"
    three.write_bytes(write_conll(type(gold)({c: gold[c] for c in ("word", "pos", "chunk")}, gold.offsets)))
    code, _, err = run("tag", model, three, "--columns", "word,pos,chunk", "--output", tagged)
    assert code == 0, err
    code, out, _ = run("score", tagged, "--json")
    scored = last_json(out)
    assert code == 0
    assert {k: scored[k] for k in ("accuracy", "precision", "recall", "f1")} == {
        k: evaluated[k] for k in ("accuracy", "precision", "recall", "f1")
    }
    assert "NP" in scored["by_type"]


def test_a_dev_file_stops_training_early(run, tmp_path):
    code, out, err = run(
        "train", sample_path("train"), "--columns", COLUMNS, "--target", "chunk", "--l2", 0.01,
        "--dev", sample_path("test"), "--patience", 3, "--model", tmp_path / "m", "--json",
    )  # fmt: skip
    assert code == 0, err
    assert last_json(out)["dev_score"] > 0.9


def test_tag_adds_a_column_and_keeps_the_rest(run, model, sentence):
    code, out, _ = run("tag", model, sentence)
    assert code == 0
    assert out == "The DT B-NP\ndog NN I-NP\nbarks VBZ B-VP\n\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The\tDT\r\ndog\tNN\r\n\r\n", "The\tDT\tB-NP\ndog\tNN\tI-NP\n\n"),
        ("\ufeffThe DT\ndog NN", "\ufeffThe DT B-NP\ndog NN I-NP\n"),
        ("\n\nThe  DT \ndog NN\n\n\n", "\n\nThe  DT B-NP\ndog NN I-NP\n\n\n"),
        ("The DT junk O\n", "The DT junk O B-NP\n"),  # a target column in the input is not read
        ("The DT O\n", "The DT O B-NP\n"),
        ("", ""),
    ],
)
def test_tag_understands_what_people_have(run, model, tmp_path, text, expected):
    path = tmp_path / "in.txt"
    path.write_bytes(text.encode())
    code, out, err = run("tag", model, path)
    assert code == 0, err
    assert out == expected


def test_tag_may_write_over_its_input(run, model, sentence):
    assert run("tag", model, sentence, "--output", sentence)[0] == 0
    assert sentence.read_text() == "The DT B-NP\ndog NN I-NP\nbarks VBZ B-VP\n\n"


def test_a_failed_tagging_leaves_the_output_as_it_was(run, model, tmp_path):
    output, bad = tmp_path / "out.txt", tmp_path / "bad.txt"
    output.write_text("old")
    bad.write_text("The DT\n\nx\n")
    assert run("tag", model, bad, "--output", output)[0] == 1
    assert output.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.txt", "out.txt"]


def test_marginals_sum_to_one(run, model, sentence):
    code, out, _ = run("tag", model, sentence, "--marginals")
    assert code == 0
    for line in filter(None, out.splitlines()):
        label, *rest = line.split()[2:]
        probabilities = {cell.rpartition(":")[0]: float(cell.rpartition(":")[2]) for cell in rest}
        assert sum(probabilities.values()) == pytest.approx(1.0, abs=1e-4)
        assert probabilities[label] > 0.3


def test_a_pipe_is_answered_sentence_by_sentence(model):
    command = [sys.executable, "-m", "trellis", "tag", str(model)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for _ in range(3):
            process.stdin.write(b"The DT\ndog NN\n\n")
            process.stdin.flush()
            answer = [process.stdout.readline() for _ in range(3)]
            assert answer == [b"The DT B-NP\n", b"dog NN I-NP\n", b"\n"]
        process.stdin.close()
        assert process.wait(timeout=30) == 0


def test_sentences_before_a_bad_line_are_answered(model):
    command = [sys.executable, "-m", "trellis", "tag", str(model)]
    done = subprocess.run(command, input=b"The DT\ndog NN\n\nC\n\n", capture_output=True, check=False)
    assert done.stdout == b"The DT B-NP\ndog NN I-NP\n\n"
    assert (done.returncode, done.stderr[:19]) == (1, b"trellis: <stdin>:4:")


def test_one_sentence_is_tagged_without_numba(model, sentence):
    code = (
        "import sys; sys.argv = ['trellis', 'tag', *sys.argv[1:]]\n"
        "from trellis.cli.app import main\n"
        "main()\n"
        "heavy = {'numba', 'scipy', 'matplotlib', 'rich', 'starlette'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(model), str(sentence)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "B-VP" in done.stdout


def test_a_reader_that_goes_away_is_no_error_message(model):
    command = f"{sys.executable} -m trellis tag {model} {sample_path('train')} --columns {COLUMNS} | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1


BAD = {
    "missing file": (["train", "no.txt", "--model", "m"], "no.txt: no such file"),
    "a directory": (["train", ".", "--model", "m"], "is a directory"),
    "an empty file": (["train", "empty.txt", "--model", "m"], "no token"),
    "a missing column": (["train", "ragged.txt", "--model", "m"], "ragged.txt:2: 1 columns, but 2 on line 1"),
    "too few names": (["train", "good.txt", "--columns", "word", "--model", "m"], "good.txt:1: 3 columns found"),
    "an unknown target": (
        ["train", "good.txt", "--columns", "word,pos,chunk", "--target", "x", "--model", "m"],
        "unknown target 'x'; the columns are: word, pos, chunk",
    ),
    "columns the features do not find": (
        ["train", "good.txt", "--model", "m"],
        "read the columns word, pos, and there are: c0, c1; name the columns",
    ),
    "unknown features": (["train", "good.txt", "--features", "magic", "--model", "m"], "'magic': neither a preset"),
    "an unknown loss": (["train", "good.txt", "--loss", "x", "--model", "m"], "loss 'x' is not known"),
    "an unknown optimizer": (["train", "good.txt", "--optimizer", "x", "--model", "m"], "optimizer 'x' is not known"),
    "a negative prior": (["train", "good.txt", "--l2", "-1", "--model", "m"], "l2 is -1"),
    "an option that no optimizer has": (
        ["train", "good.txt", "--columns", "word,pos,x", "--options", "name=3", "--model", "m"],
        "optimizer 'auto' has no option 'name'",
    ),
    "an option larger than any number": (
        ["train", "good.txt", "--columns", "word,pos,x", "--options", f"memory=1{'0' * 400}", "--model", "m"],
        "memory is a whole number of over 300 digits; expected a whole number >= 1",
    ),
    "no threads": (["train", "good.txt", "--threads", "0", "--model", "m"], "threads is 0"),
    "a folder that is not there": (["train", "good.txt", "--model", "no/m"], "folder no does not exist"),
    "a model that is a folder": (["train", "good.txt", "--model", "."], "is a directory"),
    "a place where nothing can be written": (["train", "good.txt", "--model", "/proc/m"], "cannot be written"),
    "no such model": (["tag", "no.trellis", "good.txt"], "no.trellis: no such file"),
    "no model at all": (["tag", "good.txt", "good.txt"], "not a whole Trellis model"),
    "a damaged model": (["eval", "damaged.trellis", "good.txt"], "checksum"),
    "input of another shape": (
        ["tag", "MODEL", "one.txt"],
        "one.txt: column 'pos' is missing, which the model's features read",
    ),
    "latin-1": (["score", "latin.txt"], "latin.txt:2: byte 0xe9 is not valid UTF-8"),
    "one column to score": (["score", "one.txt"], "the last two must be gold and predicted"),
    "nothing to score": (["score", "empty.txt"], "no token"),
    "an unknown corpus": (["data", "get", "nope"], "no corpus is named 'nope'"),
    "nothing to check": (["data", "check", "empty.txt"], "no token"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_ends_with_one_clear_line(run, model, tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.txt").write_text("\n\n")
    (tmp_path / "ragged.txt").write_text("a b\nc\n")
    (tmp_path / "good.txt").write_text("a DT O\nb NN O\n\n")
    (tmp_path / "one.txt").write_text("a\n")
    (tmp_path / "latin.txt").write_bytes(b"a b\ncaf\xe9 b\n")
    raw = bytearray(model.read_bytes())
    raw[-5] ^= 1
    (tmp_path / "damaged.trellis").write_bytes(raw)
    arguments, message = BAD[case]
    code, _, err = run(*(str(model) if word == "MODEL" else word for word in arguments))
    assert code == 1
    lines = [line for line in err.splitlines() if line.startswith("trellis: ")]
    assert len(lines) == 1
    assert message in lines[0]
    assert "Traceback" not in err
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["train"], ["tag"], ["train", "x", "--l2", "many", "--model", "m"]]
)
def test_wrong_usage_is_exit_code_two_and_one_line(run, arguments):
    code, _, err = run(*arguments)
    assert code == 2
    assert err.startswith("trellis: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "command",
    [
        "demo",
        "train",
        "tag",
        "eval",
        "score",
        "data check",
        "data list",
        "data get",
        "bench train",
        "bench tag",
        "bench optimum",
        "bench products",
        "bench segments",
        "bench pruning",
    ],
)
def test_help_shows_an_example(run, command):
    code, out, _ = run(*command.split(), "--help")
    assert code == 0
    assert "Example:" in out
    assert f"trellis {command}" in out.split("Example:")[1] or "trellis tag" in out.split("Example:")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "-", "-", "--model", "m"], "standard input (-) can be read only once"),
        (["train", "good.txt", "--model", "good.txt"], "would overwrite the data"),
        (["train", "good.txt", "--model", "-"], "give a file name"),
        (["train", "good.txt", "--columns", "word,pos,x", "--dev", "empty.txt", "--model", "m"], "no token in the dev"),
        (["tag", "MODEL", "good.txt", "--output", "MODEL"], "is the model itself"),
        (["tag", "MODEL", "good.txt", "--threads", "0"], "threads is 0"),
    ],
)
def test_what_would_do_harm_is_refused(run, model, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.txt").write_text("a DT O\nb NN B\n\n")
    (tmp_path / "empty.txt").write_text("\n")
    before = model.read_bytes()
    code, _, err = run(*(str(model) if word == "MODEL" else word for word in arguments))
    assert code == 1
    assert message in err
    assert model.read_bytes() == before
    assert (tmp_path / "good.txt").read_text() == "a DT O\nb NN B\n\n"


def test_comments_stay_comments(run, model, tmp_path):
    path = tmp_path / "in.txt"
    path.write_text("# one\nThe DT\n# two\ndog NN\n\n")
    code, out, _ = run("tag", model, path, "--comments")
    assert code == 0
    assert out == "# one\nThe DT B-NP\n# two\ndog NN I-NP\n\n"


def test_a_pipe_is_written_to_and_never_replaced(model, sentence, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
        done = subprocess.run([sys.executable, "-m", "trellis", "tag", model, sentence, "-o", pipe], check=False)
        assert done.returncode == 0
        assert reader.communicate(timeout=30)[0].startswith(b"The DT B-NP\n")
    assert pipe.is_fifo()


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_cannot_be_written_whole_is_an_error(model, tmp_path, unbuffered):
    """A file size limit stands in for a full disk."""
    script = (
        f"ulimit -f 8; '{sys.executable}' -m trellis tag '{model}' '{sample_path('train')}' --columns {COLUMNS} "
        f"> '{tmp_path}/out.txt'"
    )
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, env={**os.environ, "PYTHONUNBUFFERED": unbuffered}
    )
    assert done.returncode == 1
    assert done.stderr.startswith("trellis: reading or writing failed: ")
    assert done.stderr.count("\n") == 1


def test_closed_standard_streams_are_one_line(model):
    for redirection in ("<&-", "< /dev/null >&-"):
        command = f"'{sys.executable}' -m trellis tag '{model}' {redirection}"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
        assert done.returncode == 1
        assert "is closed" in done.stderr
        assert "Traceback" not in done.stderr


def test_ctrl_c_ends_training_and_leaves_the_old_model(tmp_path):
    path = tmp_path / "m"
    path.write_text("old")
    arguments = [
        "train",
        sample_path("train"),
        "--columns",
        COLUMNS,
        "--target",
        "chunk",
        "--l2",
        "1e-6",
        "--tol",
        "1e-12",
    ]
    command = [sys.executable, "-m", "trellis", *map(str, arguments), "--model", str(path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert "training 'chunk'" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stderr.read().endswith("trellis: interrupted\n")
    assert path.read_text() == "old"


def test_training_that_does_not_converge_says_so(run, tmp_path):
    arguments = ["train", sample_path("train"), "--columns", COLUMNS, "--target", "chunk", "--max-iter", 2]
    code, out, err = run(*arguments, "--model", tmp_path / "m", "--json")
    assert code == 0
    assert "before it converged" in err
    assert last_json(out)["converged"] is False
    assert run(*arguments, "--model", tmp_path / "m", "--strict")[0] == 3


def test_a_kernel_perceptron_with_mistakes_left_says_why_it_is_not_strictly_done(run, tmp_path):
    arguments = ["train", sample_path("train"), "--columns", COLUMNS, "--target", "chunk"]
    code, _, err = run(
        *arguments, "--model-type", "kernel-perceptron", "--options", "epochs=1", "--model", tmp_path / "m", "--strict"
    )
    assert (code, err.splitlines()[-1]) == (3, "--strict: training had not converged after 1 iterations")


def test_options_may_be_given_in_several_places(run, tmp_path):
    arguments = ["train", sample_path("train"), "--columns", COLUMNS, "--target", "chunk", "--optimizer", "sgd"]
    given = ["--options", "epochs=2", "--options", "step_size=none,averaged=false", "--model", tmp_path / "m"]
    assert run(*arguments, *given)[0] == 0
    assert trellis.load(tmp_path / "m").options == {"epochs": 2, "step_size": None, "averaged": False}
    code, _, err = run(*arguments, *given, "--options", "epochs=3")
    assert (code, "'epochs' is given twice" in err) == (1, True)


@pytest.mark.parametrize(("value", "text"), [(1234.5, "1,234.50"), (-0.25, "-0.25"), (2.5e21, "2.5e+21")])
def test_amounts_are_written_to_be_read(value, text):
    assert amount(value) == text


def test_data_check_reports_illegal_transitions_and_overlap(run, tmp_path):
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("x B-A\ny O\n\nz B-A\n\n")
    second.write_text("x O\ny I-A\n\nz B-A\nq B-B\n\nx O\ny I-A\n\n")
    code, out, _ = run("data", "check", first, second, "--json")
    assert code == 0
    found = last_json(out)["files"]
    assert found[0]["illegal"] == 0
    assert found[1]["illegal"] == 2
    assert f"{second}:2: I-A after O" in out
    assert found[1]["repeated"] == 1
    assert found[1]["overlap"]["sentences_seen"] == 2
    assert found[1]["overlap"]["labels_only_here"] == ["B-B", "I-A"]
    assert found[1]["overlap"]["unknown_words"] == pytest.approx(1 / 6)


def test_data_list_and_the_sample(run):
    code, out, _ = run("data", "list", "--json")
    assert code == 0
    assert {"sample", "conll2000"} <= {entry["name"] for entry in last_json(out)["sets"]}
    code, out, _ = run("data", "get", "sample")
    assert code == 0
    assert os.path.exists(os.path.join(out.strip(), "train.txt"))


def test_demo_shows_scores_and_a_tagged_sentence(run, tmp_path):
    code, out, err = run("demo", "--json", "--model", tmp_path / "cascade.trellis")
    assert code == 0, err
    assert "A sentence it has not seen" in out
    found = last_json(out)
    assert list(found) == ["onebest", "marginal", "joint"]
    assert found["onebest"]["chunk"]["f1"] < found["marginal"]["chunk"]["f1"] < found["joint"]["chunk"]["f1"]
    assert (tmp_path / "cascade.trellis").exists()


def test_features_may_come_from_standard_input(tmp_path):
    def train(given):
        command = [sys.executable, "-m", "trellis", "train", str(sample_path("train")), "--columns", COLUMNS]
        command += ["--target", "chunk", "--features", "-", "--model", str(tmp_path / "m"), "--json", "--tol", "0.1"]
        return subprocess.run(command, input=given, capture_output=True)

    for text in (b"altun-s1\n", b"word[0]\n", b"U00:%x[0,0]\nB\n"):
        assert b'"parameters"' in train(text).stdout
    done = train(b"\xff")
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
    assert b"<stdin>: " in done.stderr


def test_version(run):
    assert run("--version")[1].startswith("trellis 0.")
