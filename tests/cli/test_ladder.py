"""Every rung of the ladder, and a CRF with an encoder, from the command line: one word is changed, the rest stays."""

from __future__ import annotations

import json
import sys
import tomllib
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from types import SimpleNamespace

import pytest

import trellis
from trellis.cli.app import main

RUNGS = {
    "local-classifier": "LocalClassifier",
    "sequential-classifier": "SequentialClassifier",
    "hmm": "HMM",
    "scored-hmm": "ScoredHMM",
    "crf": "CRF",
    "structured-perceptron": "StructuredPerceptron",
    "structured-svm": "StructuredSVM",
    "neural-crf": "NeuralCRF",
}
MORE = {"neural-crf": ("--options", "epochs=2,embedding=8,letters=4,filters=4,hidden=6")}  # for time's sake
WITHOUT_PROBABILITIES = ("structured-perceptron", "structured-svm")
COLUMNS = "word,pos,chunk,entity"
SAME = ("--columns", COLUMNS, "--target", "chunk", "--features", "word[-1:1] + pos[-1:1]", "--l2", "0.5")


def last_json(out):
    return json.loads(out.splitlines()[-1])


@pytest.fixture(scope="module")
def training(files):
    """`training("--model-type", ...)`: the arguments that train on the small corpus."""
    return lambda *more: ("train", files / "train.txt", "--columns", COLUMNS, "--target", "chunk", *more)


@pytest.fixture(scope="module")
def raw(files):
    """Text without labels, a word a line."""
    path = files / "raw.txt"
    words = (files / "test.txt").read_text().splitlines()
    path.write_text("".join(f"{line.split()[0] if line else ''}\n" for line in words))
    return path


@pytest.fixture(scope="module", params=RUNGS)
def rung(request, files, tmp_path_factory):
    """A model of each rung, trained with the same other options, and what was said and printed."""
    model, out, err = tmp_path_factory.mktemp("rung") / "m", StringIO(), StringIO()
    chosen = ["--model-type", request.param, *MORE.get(request.param, ()), "--model", model]
    arguments = ["train", files / "train.txt", *SAME, *chosen, "--json"]
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["trellis", *map(str, arguments)])
        main()
    return SimpleNamespace(name=request.param, model=model, found=last_json(out.getvalue()), said=err.getvalue())


class TestEveryRung:
    def test_training_has_all_keys(self, rung):
        numbers = ("objective", "evaluations", "iterations", "seconds", "parameters", "active")
        assert all(isinstance(rung.found[key], int | float) and rung.found[key] >= 0 for key in numbers)
        assert rung.found["active"] <= rung.found["parameters"]
        assert type(rung.found["converged"]) is bool
        assert (rung.found["model"], rung.found["dev_score"]) == (str(rung.model), None)
        assert type(trellis.load(rung.model)).__name__ == RUNGS[rung.name]

    def test_what_has_no_effect_is_said(self, rung):
        idle = {"hmm": ("--features", "--l2"), "structured-perceptron": ("--l2",)}.get(rung.name, ())
        warnings = [line for line in rung.said.splitlines() if "without effect" in line]
        assert len(warnings) == bool(idle)
        for option in ("--features", "--l2"):
            assert any(f"{option} (" in line for line in warnings) == (option in idle)

    def test_it_is_evaluated(self, rung, files, run):
        code, out, err = run("eval", rung.model, files / "test.txt", "--json")
        assert (code, err) == (0, "")
        found = last_json(out)
        keys = {"accuracy", "precision", "recall", "f1", "tokens", "sentences", "tokens_per_second"}
        assert keys <= set(found)
        assert found["sentences"] == 20
        assert found["f1"] > 0.5

    def test_it_tags(self, rung, files, run):
        text = (files / "test.txt").read_text()
        code, out, err = run("tag", rung.model, files / "test.txt")
        assert (code, err) == (0, "")
        classes = trellis.load(rung.model).classes_
        for before, after in zip(text.splitlines(), out.splitlines(), strict=True):
            if before:
                *own, label = after.split()
                assert (" ".join(own), label in classes) == (before, True)

    @pytest.mark.parametrize("how", [("--marginals",), ("--spans",), ("--kbest", 2)], ids=lambda how: how[0])
    def test_probabilities_where_there_are_such(self, rung, files, run, how):
        code, out, err = run("tag", rung.model, files / "test.txt", *how)
        if rung.name in WITHOUT_PROBABILITIES:
            assert (code, out) == (1, "")
            assert f"a {RUNGS[rung.name]} has scores but no probabilities, so it has no " in err
            assert err.count("\n") == 1
            return
        assert (code, err) == (0, "")
        if how[0] == "--marginals":
            own = 1 + len(COLUMNS.split(","))  # the input's columns and the label come first
            rows = [cell.rpartition(":") for cell in out.split("\n", 1)[0].split()[own:]]
            assert sorted(label for label, _, _ in rows) == sorted(trellis.load(rung.model).classes_)
            assert sum(float(p) for _, _, p in rows) == pytest.approx(1.0, abs=1e-4)

    def test_it_is_looked_at(self, rung, files, run):
        code, out, err = run("inspect", rung.model, files / "test.txt", "--json", "--top", 3)
        assert (code, err) == (0, "")
        assert last_json(out)["labels"] == trellis.load(rung.model).classes_
        assert out.startswith(f"{RUNGS[rung.name]}(target='chunk'")

    def test_it_is_calibrated(self, rung, files, run):
        code, out, err = run("calibrate", rung.model, files / "test.txt", "--json", "--precision", 0.8)
        if rung.name in WITHOUT_PROBABILITIES:
            assert (code, out, err.count("\n")) == (1, "", 1)
            assert f"a {RUNGS[rung.name]} has scores but no probabilities" in err
            return
        assert (code, err) == (0, "")
        found = last_json(out)
        assert (found["of"], "threshold" in found) == ("spans", True)

    def test_the_same_configuration_trains_the_same_model(self, rung, files, run, tmp_path):
        arguments = ["train", files / "train.txt", *SAME, "--model-type", rung.name, *MORE.get(rung.name, ())]
        code, shown, _ = run(*arguments, "--show-config")
        assert (code, tomllib.loads(shown)["model_type"]) == (0, rung.name)
        (tmp_path / "c.toml").write_text(shown)
        assert run("train", "--config", tmp_path / "c.toml", "--model", tmp_path / "m")[0] == 0
        assert (tmp_path / "m").read_bytes() == rung.model.read_bytes()


class TestOptions:
    @pytest.mark.parametrize(
        ("name", "options", "kept"),
        [
            ("hmm", "smoothing=0.5,suffix=2,rare=3", {"smoothing": 0.5, "suffix": 2, "rare": 3}),
            ("hmm", "words=pos", {"words": "pos"}),
            ("structured-perceptron", "epochs=2,averaged=false", {"epochs": 2, "averaged": False}),
            ("structured-svm", "epochs=2", {"epochs": 2}),
            (
                "neural-crf",
                "epochs=1,hidden=5,embedding=8,dropout=0.2,inputs=pos,batch_size=50",
                {"epochs": 1, "hidden": 5, "dropout": 0.2, "inputs": "pos", "batch_size": 50},
            ),
            ("local-classifier", "memory=5", {"options": {"memory": 5}}),
            ("sequential-classifier", "memory=5", {"options": {"memory": 5}}),
            ("scored-hmm", "memory=5", {"options": {"memory": 5}}),
        ],
    )
    def test_are_kept_in_the_model(self, training, run, tmp_path, name, options, kept):
        code, _, err = run(*training("--model-type", name, "--options", options, "--model", tmp_path / "m"))
        assert code == 0, err
        found = trellis.load(tmp_path / "m").get_params()
        assert {key: found[key] for key in kept} == kept

    @pytest.mark.parametrize(
        ("options", "kept"),
        [
            ("beam=1", (1, 0, None)),
            ("explore=1", (None, 1, None)),
            ("beam=3,explore=1,memory=5", (3, 1, {"memory": 5})),
        ],
    )
    def test_of_a_sequential_classifier_and_of_its_optimizer(self, training, run, tmp_path, options, kept):
        more = ["--model-type", "sequential-classifier", "--options", options, "--model", tmp_path / "m"]
        code, _, err = run(*training(*more))
        assert code == 0, err
        model = trellis.load(tmp_path / "m")
        assert (model.beam, model.explore, model.options) == kept

    def test_an_order(self, training, run, tmp_path):
        for name in ("hmm", "sequential-classifier", "crf"):
            code, _, err = run(*training("--model-type", name, "--order", 2, "--model", tmp_path / name))
            assert code == 0, err
            assert trellis.load(tmp_path / name).order == 2

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--model-type", "hm"], "unknown --model-type 'hm'; did you mean hmm?"),
            (["--model-type", "sequential"], "unknown --model-type 'sequential'; did you mean sequential-classifier?"),
            (["--model-type", "structured-pereptron"], "did you mean structured-perceptron?"),
            (["--model-type", "memm"], "unknown --model-type 'memm'; there are: local-classifier, sequential-cl"),
            (["--model-type", "hmm", "--loss", "hinge"], "--loss is no setting of an hmm; leave it out; --options has"),
            (["--model-type", "hmm", "--order", 3], "order is 3; an HMM has order 1 or 2"),
            (["--model-type", "hmm", "--options", "beam=1"], "has no 'beam'; it has: words=None, smoothing=10.0"),
            (["--model-type", "hmm", "--options", "smoothing=-1"], "smoothing is -1; expected a number >= 0"),
            (["--model-type", "hmm", "--options", "states=1"], "states is 1; expected a whole number from 2"),
            (["--model-type", "local-classifier", "--order", 2], "--order is no setting of a local-classifier"),
            (["--model-type", "sequential-classifier", "--order", 0], "that is a LocalClassifier"),
            (["--model-type", "structured-perceptron", "--options", "memory=5"], "has no 'memory'; it has: epochs=20"),
            (["--model-type", "hmm", "--warm-start", "m"], "--warm-start is for chains and cascades"),
        ],
        ids=lambda value: "" if isinstance(value, str) else " ".join(map(str, value[1:])),
    )
    def test_what_does_not_fit_is_one_clear_line(self, training, run, tmp_path, arguments, message):
        code, out, err = run(*training(*arguments, "--model", tmp_path / "m"))
        assert (code, out) == (1, "")
        assert message in err.splitlines()[-1]
        assert not (tmp_path / "m").exists()

    def test_a_file_of_settings(self, files, run, tmp_path):
        (tmp_path / "c.toml").write_text(
            f"train = ['{files / 'train.txt'}']\ncolumns = '{COLUMNS}'\ntarget = 'chunk'\nmodel_type = 'hmm'\n"
            "order = 2\noptions = { smoothing = 0.5 }\n"
        )
        code, _, err = run("train", "--config", tmp_path / "c.toml", "--model", tmp_path / "m")
        assert code == 0, err
        assert "without effect" not in err
        assert (trellis.load(tmp_path / "m").order, trellis.load(tmp_path / "m").smoothing) == (2, 0.5)
        changed = ("--set", "model_type=local-classifier", "--set", "order=1", "--set", "options={}")
        assert run("train", "--config", tmp_path / "c.toml", *changed, "--model", tmp_path / "n")[0] == 0
        assert type(trellis.load(tmp_path / "n")).__name__ == "LocalClassifier"


class TestRawText:
    def test_with_labels_beside_or_without(self, training, raw, files, run, tmp_path):
        """Columns of labels in the raw text are not read."""
        for name, file in (("a", raw), ("b", files / "test.txt")):
            more = ["--model-type", "hmm", "--raw", file, "--model", tmp_path / name, "--json"]
            code, out, err = run(*training(*more))
            assert code == 0, err
            assert last_json(out)["iterations"] == 3
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
        assert run(*training("--model-type", "hmm", "--model", tmp_path / "c"))[0] == 0
        assert (tmp_path / "a").read_bytes() != (tmp_path / "c").read_bytes()

    def test_a_dev_file_and_a_log(self, training, raw, files, run, tmp_path):
        more = ["--model-type", "hmm", "--raw", raw, "--dev", files / "test.txt", "--log", tmp_path / "log"]
        code, out, err = run(*training(*more, "--options", "steps=4", "--model", tmp_path / "m", "--json"))
        assert code == 0, err
        lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
        scores = [line["dev_score"] for line in lines if line["event"] == "iteration"]
        assert last_json(out)["dev_score"] >= max(scores)

    def test_states_of_text_alone(self, raw, run, tmp_path):
        arguments = ["train", raw, "--columns", "word", "--model-type", "hmm", "--options", "states=3,steps=5"]
        code, out, err = run(*arguments, "--model", tmp_path / "m", "--json")
        assert code == 0, err
        assert (last_json(out)["iterations"], trellis.load(tmp_path / "m").target) == (5, "state")
        code, out, err = run("tag", tmp_path / "m", raw)
        assert (code, err) == (0, "")
        assert {line.split()[1] for line in out.splitlines() if line} <= {"S1", "S2", "S3"}
        code, out, err = run("inspect", tmp_path / "m")
        assert (code, "unknown words are not told apart" in out) == (0, True)
        code, _, err = run("eval", tmp_path / "m", raw)
        assert (code, "there is no column 'state' to compare with" in err) == (1, True)

    @pytest.mark.parametrize("name", [name for name in RUNGS if name != "hmm"])
    def test_it_is_for_an_hmm(self, training, raw, run, tmp_path, name):
        code, _, err = run(*training("--model-type", name, "--raw", raw, "--model", tmp_path / "m"))
        assert (code, err) == (1, f"trellis: --raw is for --model-type hmm; a {name} needs labels\n")

    def test_what_does_not_fit_is_one_clear_line(self, training, raw, files, run, tmp_path):
        hmm = training("--model-type", "hmm", "--raw")
        assert "no.txt: no such file" in run(*hmm, "no.txt", "--model", tmp_path / "m")[2]
        before = raw.read_bytes()
        assert "would overwrite the data" in run(*hmm, raw, "--model", raw)[2]
        assert raw.read_bytes() == before
        states = run(*hmm, raw, "--options", "states=3", "--model", tmp_path / "m")
        assert (states[0], "with `states` there is text alone" in states[2]) == (1, True)


class TestCheckpoints:
    def test_an_hmm_with_raw_text_goes_on_to_the_same_bytes(self, training, raw, files, run, tmp_path):
        hmm = training("--model-type", "hmm", "--raw", raw)
        more = ["--model", tmp_path / "m", "--checkpoint", tmp_path / "run"]
        assert run(*hmm, "--options", "steps=4", "--model", tmp_path / "whole")[0] == 0
        assert run(*hmm, "--options", "steps=2", *more)[0] == 0
        code, _, err = run(*hmm, "--options", "steps=4", *more, "--resume")
        assert (code, "training goes on from iteration 2" in err) == (0, True)
        assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
        other = training("--model-type", "hmm", "--raw", files / "train.txt")
        code, _, err = run(*other, "--options", "steps=4", *more, "--resume")
        assert (code, "the checkpoint was made from other" in err or "made with other features" in err) == (1, True)

    def test_a_sequential_classifier_that_explores_goes_on_to_the_same_bytes(self, training, run, tmp_path):
        own = training("--model-type", "sequential-classifier", "--features", "word[0] + pos[0]")
        own = (*own, "--options", "explore=1")
        more = ["--model", tmp_path / "m", "--checkpoint", tmp_path / "run", "--checkpoint-every", 1]
        assert run(*own, "--model", tmp_path / "whole")[0] == 0
        assert run(*own, *more, "--max-iter", 5)[0] == 0
        assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["explore-1", "gold"]
        (tmp_path / "run" / "explore-1" / "training.checkpoint").unlink()  # of other histories
        code, _, err = run(*own, *more, "--resume")
        assert (code, "training goes on from iteration 5" in err) == (0, True)
        assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
