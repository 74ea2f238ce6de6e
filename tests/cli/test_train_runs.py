"""`trellis train` over more than one process: killed, interrupted, resumed, logged; and its options in a file."""

from __future__ import annotations

import inspect
import json
import random
import signal
import subprocess
import sys
import time
import tomllib

import click
import pytest

import trellis
from trellis.cli.options import costs_of, table_of
from trellis.cli.train import train
from trellis.corpus import sample_path
from trellis.errors import SettingError

# weak regularisation, so that there are about a hundred iterations to be killed in
COMMAND = [
    "train", str(sample_path("train")), "--columns", "word,pos,chunk,entity", "--target", "chunk", "--l2", "0.01",
    "--tol", "1e-7", "--checkpoint-every", "1",
]  # fmt: skip


def start(*arguments):
    command = [sys.executable, "-m", "trellis", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """The bytes of the model of a run that nobody disturbed, without any checkpoint."""
    folder = tmp_path_factory.mktemp("whole")
    without = [word for word in COMMAND if word != "--checkpoint-every"][:-1]
    done = subprocess.run(
        [sys.executable, "-m", "trellis", *without, "--model", folder / "m"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return (folder / "m").read_bytes()


def test_killed_at_random_moments_and_resumed_it_is_the_same_model(tmp_path, uninterrupted):
    chance = random.Random(1)
    model, log = tmp_path / "m", tmp_path / "log"
    arguments = [*COMMAND, "--model", model, "--checkpoint", tmp_path / "run", "--resume", "--log", log]
    kills = 0
    for _ in range(10):
        seen = log.stat().st_size if log.exists() else 0
        with start(*arguments) as process:
            while process.poll() is None and (not log.exists() or log.stat().st_size == seen):
                time.sleep(0.002)  # until it has begun to train
            time.sleep(chance.uniform(0.0, 0.25))
            process.kill()
            kills += process.wait() == -signal.SIGKILL
    assert kills >= 3  # a run that goes on shortly before its end may be too quick
    with start(*arguments) as process:
        assert process.wait() == 0, process.stderr.read()
    assert model.read_bytes() == uninterrupted
    found = lines(log)
    assert any(line["event"] == "resume" for line in found)
    reached = [line["iteration"] for line in found if line["event"] == "iteration"]
    assert set(reached) == set(range(1, found[-1]["iterations"] + 1))


def test_ctrl_c_keeps_the_last_iteration(tmp_path, uninterrupted):
    model, log = tmp_path / "m", tmp_path / "log"
    arguments = [*COMMAND, "--model", model, "--checkpoint", tmp_path, "--log", log, "--checkpoint-every", 10_000]
    with start(*arguments) as process:
        while not log.exists() or log.read_text().count("\n") < 5:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        said = process.stderr.read()
    kept = next(line["checkpoint"] for line in lines(log) if line["event"] == "interrupted")
    assert f"interrupted; iteration {kept} is kept, go on with resume=True (--resume)\n" in said
    assert said.endswith("trellis: interrupted\n")
    assert not model.exists()
    with start(*arguments, "--resume") as process:
        assert process.wait() == 0
        assert f"training goes on from iteration {kept}" in process.stderr.read()
    assert model.read_bytes() == uninterrupted


QUICK = [*COMMAND[:-2], "--max-iter", "6"]


class TestCheckpoints:
    def test_one_that_is_there_is_not_overwritten(self, run, tmp_path):
        arguments = [*QUICK, "--model", tmp_path / "m", "--checkpoint", tmp_path / "run"]
        assert run(*arguments)[0] == 0
        code, _, err = run(*arguments)
        assert code == 1
        assert err.splitlines()[-1].startswith(f"trellis: {tmp_path / 'run' / 'training.checkpoint'}: there is a check")
        code, _, err = run(*arguments, "--resume")
        assert code == 0
        assert "training had ended at iteration 6; nothing is left to do" in err
        assert "will take" not in err

    def test_other_settings_are_one_clear_line(self, run, tmp_path):
        arguments = [*QUICK, "--model", tmp_path / "m", "--checkpoint", tmp_path, "--resume"]
        code, _, err = run(*arguments)
        assert code == 0
        assert f"no checkpoint in {tmp_path}; training starts afresh" in err
        code, _, err = run(*arguments, "--l2", "3")
        assert code == 1
        assert "the checkpoint was made with l2=0.01, this is l2=3.0; resume with" in err.splitlines()[-1]

    def test_resume_needs_to_know_where(self, run, tmp_path):
        code, _, err = run(*QUICK, "--model", tmp_path / "m", "--resume")
        assert code == 1
        assert "resume has no meaning without a folder" in err


def test_what_it_will_take_is_said_first(run, tmp_path):
    _, _, err = run(*QUICK, "--model", tmp_path / "m")
    assert err.splitlines()[1].startswith("training will take about 1 s and ")
    assert err.splitlines()[1].endswith("MB")
    _, _, err = run(*QUICK, "--model", tmp_path / "m", "--dev", sample_path("test"))
    assert "training will take up to " in err


def test_warm_start_from_a_model_file(run, tmp_path):
    train = [*COMMAND[:-2], "--tol", "1e-4", "--json"]
    code, cold, _ = run(*train, "--model", tmp_path / "m")
    assert code == 0
    code, warm, err = run(*train, "--model", tmp_path / "m", "--warm-start", tmp_path / "m")
    assert code == 0
    assert "39,802 of 39,802 weights carried over" in err
    assert json.loads(warm)["iterations"] < json.loads(cold)["iterations"] / 2
    code, _, err = run(*train, "--model", tmp_path / "m", "--warm-start", tmp_path / "no")
    assert (code, err) == (1, f"trellis: {tmp_path / 'no'}: no such file\n")


def test_a_log_never_overwrites_what_is_read_or_written(run, tmp_path):
    data = tmp_path / "data"
    data.write_bytes(sample_path("train").read_bytes())
    for log, message in ((data, "would overwrite the data"), (tmp_path / "m", "give two names")):
        code, _, err = run("train", data, "--model", tmp_path / "m", "--log", log)
        assert code == 1
        assert message in err
    assert data.read_bytes() == sample_path("train").read_bytes()


@pytest.mark.parametrize("option", ["--model", "--log"])
def test_nothing_that_is_read_is_overwritten(run, tmp_path, option):
    config, features, model = tmp_path / "c.toml", tmp_path / "f.tmpl", tmp_path / "m.trellis"
    config.write_text("l2 = 1.0\n")
    features.write_text("U0:%x[0,0]\n")
    train = [*COMMAND[:-2], "--max-iter", 1]
    assert run(*train, "--model", model)[0] == 0
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "training.checkpoint").write_bytes(b"x")
    for given, path, what in (
        (["--config", config], config, "the configuration"),
        (["--features", features], features, "the features"),
        (["--warm-start", model], model, "the model"),
        (["--checkpoint", tmp_path / "run"], tmp_path / "run" / "training.checkpoint", "the checkpoint"),
    ):
        if (option, path) == ("--model", model):
            continue  # a model may take the place of the one it began with
        before = path.read_bytes()
        other = [] if option == "--model" else ["--model", tmp_path / "other"]
        code, _, err = run(*train, *given, option, path, *other)
        assert (code, path.read_bytes()) == (1, before)
        assert err.endswith(f"would overwrite {what}; give another name\n")


class TestConfig:
    def test_every_option_is_shown_with_its_value(self, run):
        code, out, _ = run("train", "--show-config")
        assert code == 0
        shown = tomllib.loads(out)
        defaults = {name: p.default for name, p in inspect.signature(trellis.CRF).parameters.items()}
        for name, value in shown.items():
            if name in defaults:
                assert value == defaults[name]
        hidden = [line[2:].removesuffix(" =") for line in out.splitlines() if line.endswith(" =")]
        settings = set(defaults) - {"warm_start"}  # a truth value there, a file here
        assert settings <= {*shown, *hidden}
        assert all(defaults[name] is None for name in hidden if name in settings)
        assert "# Most iterations.\nmax_iter = 1000\n" in out

    def test_values_that_were_given_are_shown(self, run):
        _, out, _ = run(
            "train", "a.txt", "b.txt", "--show-config", "--l2", "3", "--all-pairs", "--features", 'x "y" \\'
        )
        shown = tomllib.loads(out)
        assert shown["train"] == ["a.txt", "b.txt"]
        assert (shown["l2"], shown["all_pairs"], shown["features"]) == (3.0, True, 'x "y" \\')

    def test_what_is_shown_can_be_read(self, run, tmp_path):
        given = ["--l2", "0.25", "--max-iter", "7", "--dev", "ö.txt", "--hash-size", "100", "--strict"]
        _, out, _ = run("train", "x.txt", "--show-config", *given)
        (tmp_path / "c.toml").write_text(out, encoding="utf-8")
        assert run("train", "--config", tmp_path / "c.toml", "--show-config")[1] == out

    def test_a_file_a_set_and_an_option(self, run, tmp_path):
        path = tmp_path / "c.toml"
        path.write_text('\ufeffl2 = 1.5\nmax-iter = 3\ntol = 0.1\ntrain = "x.txt"\nseed = 1\n', encoding="utf-8")
        arguments = ["-s", "max_iter=4", "--tol", "0.2", "--set", "features=word[0]", "--show-config"]
        for order in ([*arguments, "--config", path], ["--config", path, *arguments]):
            shown = tomllib.loads(run("train", *order)[1])
            assert (shown["l2"], shown["max_iter"], shown["tol"]) == (1.5, 4, 0.2)
            assert (shown["train"], shown["features"], shown["seed"]) == (["x.txt"], "word[0]", 1)

    def test_training_from_a_file_alone(self, run, tmp_path):
        text = f"""
            train = [{json.dumps(str(sample_path("train")))}]
            model = {json.dumps(str(tmp_path / "m"))}
            columns = "word,pos,chunk,entity"
            target = "chunk"
            max_iter = 3
            json = true
        """
        (tmp_path / "c.toml").write_text(text, encoding="utf-8")
        code, out, _ = run("train", "--config", tmp_path / "c.toml")
        assert code == 0
        assert json.loads(out)["iterations"] == 3

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("l2 = ", "c.toml: not a TOML file: Invalid value"),
            ("maxiter = 3", "c.toml: unknown option 'maxiter'; did you mean max_iter?"),
            ("xyz = 3", "unknown option 'xyz'; there are: train, model, "),
            ("[train]\nl2 = 3", "train is {'l2': 3}; expected a list of files"),
            ("max_iter = 1.5", "max_iter is 1.5; expected a whole number"),
            ("max_iter = true", "max_iter is True; expected a whole number"),
            ("l2 = 'much'", "l2 is 'much'; expected a whole number or a number"),
            ("features = 3", "features is 3; expected text in quotes"),
            ("costs = true", "costs is True; expected text in quotes or a whole number or a number or a table"),
            ("options = 3", "--options 3: found '3', expected NAME=VALUE"),
            ("at_most_once = 3", "at_most_once is 3; expected text in quotes"),
            ("all_pairs = 1", "all_pairs is 1; expected true or false"),
            ("show_config = true", "unknown option 'show_config'"),
        ],
    )
    def test_a_bad_file_is_one_clear_line(self, run, tmp_path, monkeypatch, text, message):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "c.toml").write_text(text)
        code, _, err = run("train", "x.txt", "--model", "m", "--config", "c.toml")
        assert code == 1
        assert message in err
        assert err.count("\n") == 1

    def test_no_file(self, run):
        assert "no.toml: no such file" in run("train", "--config", "no.toml")[2]
        assert "--set l2: expected key=value" in run("train", "--set", "l2")[2]

    def test_every_option_has_a_meaning(self):
        assert all(option.help for option in train.params if isinstance(option, click.Option))


class TestTables:
    def test_of_options(self):
        found = table_of("memory=5, diagonal=True,hvp=ad,B-NP=0.5,odd=name=1,power=false", "--options")
        expected = {"memory": 5, "diagonal": True, "hvp": "ad", "B-NP": 0.5, "odd=name": 1, "power": False}
        assert found == expected
        assert table_of(None, "--options") is None

    @pytest.mark.parametrize(
        ("text", "message"), [("a=1,a=2", "'a' is given twice"), ("a", "found 'a', expected NAME=")]
    )
    def test_that_cannot_be_read(self, text, message):
        with pytest.raises(SettingError, match=f"--costs {text}: {message}"):
            table_of(text, "--costs")

    def test_costs_are_a_number_or_a_table(self):
        assert costs_of(None, "--costs") is None
        assert (costs_of("2", "--costs"), costs_of("0.5", "--costs")) == (2, 0.5)
        assert costs_of("B-NP=2,O=0.5", "--costs") == {"B-NP": 2, "O": 0.5}
        with pytest.raises(SettingError, match="--costs much: expected a number, or LABEL=NUMBER"):
            costs_of("much", "--costs")

    @pytest.mark.parametrize(
        ("given", "costs"), [("2", 2), ("'2'", 2), ("0", 0), ("{ 'B-NP' = 2 }", {"B-NP": 2}), ("'B-NP=2'", {"B-NP": 2})]
    )
    def test_costs_in_a_file(self, run, tmp_path, given, costs):
        (tmp_path / "c.toml").write_text(
            f"loss = 'softmax-margin'\ncosts = {given}\noptimizer = 'lbfgs'\noptions = {{ memory = 5 }}\nmax_iter = 2\n"
        )
        model = tmp_path / "m"
        code, _, err = run(*TestModelTypes.ARGUMENTS, "--config", tmp_path / "c.toml", "--model", model)
        assert code == 0, err
        assert (trellis.load(model).costs, trellis.load(model).options) == (costs, {"memory": 5})
        shown = tmp_path / "shown.toml"
        shown.write_text(run("train", "--config", tmp_path / "c.toml", "--show-config")[1])
        assert tomllib.loads(shown.read_text())["costs"] == tomllib.loads(f"x = {given}")["x"]


class TestModelTypes:
    ARGUMENTS = ("train", sample_path("train"), "--columns", "word,pos,chunk,entity", "--target", "chunk")
    KERNEL = (*ARGUMENTS, "--model-type", "kernel-perceptron", "--features", "word[-1:1] + pos[-1:1]")

    def test_settings_of_other_types_are_refused(self, run):
        for cost in ("0", "2"):
            assert (
                "--costs is no setting of a kernel-perceptron" in run(*self.KERNEL, "--costs", cost, "--model", "m")[2]
            )

    def test_a_kernel_perceptron_is_trained_tagged_with_evaluated_and_looked_at(self, run, tmp_path):
        model = tmp_path / "m"
        code, out, err = run(*self.KERNEL, "--options", "degree=3,epochs=2", "--model", model, "--json")
        assert code == 0, err
        found = json.loads(out.splitlines()[-1])
        assert (found["iterations"], found["converged"], found["dev_score"]) == (2, False, None)
        assert "support tokens with" in err
        assert "training will take about 1 s" in err
        loaded = trellis.load(model)
        assert (type(loaded).__name__, loaded.degree, loaded.epochs) == ("KernelPerceptron", 3, 2)
        code, out, _ = run("eval", model, sample_path("test"), "--json")
        assert code == 0
        assert json.loads(out.splitlines()[-1])["f1"] > 0.9
        code, out, _ = run("tag", model, sample_path("test"))
        assert code == 0
        assert out.splitlines()[0].split()[-1] in loaded.classes_
        code, out, _ = run("inspect", model, sample_path("test"), "--json", "--top", 3)
        found = json.loads(out.splitlines()[-1])
        assert (code, found["kernel"]["degree"], len(found["strongest"])) == (0, 3, 3)
        assert f"{found['supports']:,} support tokens with {found['coefficients']:,} coefficients" in out
        code, _, err = run("tag", model, sample_path("test"), "--marginals")
        assert (code, "no probabilities" in err) == (1, True)

    def test_it_goes_on_from_a_checkpoint(self, run, tmp_path):
        assert run(*self.KERNEL, "--options", "epochs=4", "--model", tmp_path / "whole")[0] == 0
        more = ["--model", tmp_path / "m", "--checkpoint", tmp_path / "run", "--log", tmp_path / "log"]
        assert run(*self.KERNEL, "--options", "epochs=2", *more)[0] == 0
        code, _, err = run(*self.KERNEL, "--options", "epochs=4", *more, "--resume")
        assert code == 0
        assert "training goes on from iteration 2" in err
        assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
        reached = [line["iteration"] for line in lines(tmp_path / "log") if line["event"] == "iteration"]
        assert reached == [1, 2, 3, 4]

    def test_every_setting_of_every_type_can_be_given(self):
        from trellis.models import MODEL_TYPES

        there = {option.name for option in train.params}
        assert set(inspect.signature(MODEL_TYPES["crf"]).parameters) <= there
        assert all("target" in inspect.signature(kind).parameters for kind in MODEL_TYPES.values())

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--model-type", "kernel-perceptrn"], "unknown --model-type 'kernel-perceptrn'; did you mean kernel-perc"),
            (["--model-type", "svm"], "unknown --model-type 'svm'; there are: local-classifier, seq"),
            (
                ["--model-type", "kernel-perceptron", "--l2", 3],
                "--l2 is no setting of a kernel-perceptron; leave it out; --options",
            ),
            (["--model-type", "kernel-perceptron", "--all-pairs"], "--all-pairs is no setting of a kernel-perceptron"),
            (["--model-type", "kernel-perceptron", "--options", "memory=3"], "has no 'memory'; it has: degree=2, off"),
            (
                ["--model-type", "kernel-perceptron", "--options", "seed=3"],
                "has no 'seed'; that is --seed, it has: degree=2, offset",
            ),
            (["--model-type", "kernel-perceptron", "--options", "degree=0"], "degree is 0; expected a whole number"),
        ],
    )
    def test_what_does_not_fit_is_one_clear_line(self, run, tmp_path, arguments, message):
        code, _, err = run(*self.ARGUMENTS, "--model", tmp_path / "m", *arguments)
        assert code == 1
        assert message in err.splitlines()[-1]

    def test_a_warm_start_is_for_chains(self, run, tmp_path):
        assert run(*self.KERNEL, "--options", "epochs=1", "--model", tmp_path / "k")[0] == 0
        code, _, err = run(*self.KERNEL, "--model", tmp_path / "m", "--warm-start", tmp_path / "k")
        assert (code, "--warm-start is for chains and cascades" in err) == (1, True)
        code, _, err = run(*self.ARGUMENTS, "--model", tmp_path / "m", "--warm-start", tmp_path / "k")
        assert (code, "start is a KernelPerceptron; expected a trained CRF" in err) == (1, True)

    def test_a_config_file_with_every_option(self, run, tmp_path):
        _, out, _ = run(*self.KERNEL, "--options", "epochs=1", "--show-config")
        (tmp_path / "c.toml").write_text(out)
        assert run("train", "--config", tmp_path / "c.toml", "--model", tmp_path / "m")[0] == 0
        assert trellis.load(tmp_path / "m").epochs == 1
