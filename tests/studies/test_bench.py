"""All benchmarks end to end on a small corpus, and what they refuse."""

from __future__ import annotations

import json
import sys

import pytest
from click.testing import CliRunner

from trellis.cli.bench import bench
from trellis.errors import FileAccessError, SettingError
from trellis.studies.bench_optimum import GAPS, bench_optimum
from trellis.studies.bench_tag import bench_tag
from trellis.studies.bench_train import bench_train
from trellis.studies.task import Task, default_file

BOTH = {"crfsuite", "trellis", "ratio"}


@pytest.fixture
def peer():
    pytest.importorskip("pycrfsuite", reason="python-crfsuite is not installed; pip install trellis[bench]")


def run(*arguments):
    """The JSON object that a command prints last, and what it prints before."""
    result = CliRunner().invoke(bench, [str(a) for a in arguments], catch_exceptions=False)
    *table, last = result.stdout.rstrip("\n").split("\n")
    return json.loads(last), "\n".join(table)


def numbers(tree):
    if isinstance(tree, dict):
        return [number for value in tree.values() for number in numbers(value)]
    return [tree] if isinstance(tree, int | float) and not isinstance(tree, bool) else []


@pytest.mark.usefixtures("peer")
def test_train_compares_preparation_evaluation_memory_and_convergence(files):
    found, table = run("train", files[0], "--repeat", 1, "--iterations", 4, "--full", "--json", "--threads", "1,2")
    for name in ("evaluation", "iteration", "prepare", "setup", "memory", "objective"):
        assert set(found[name]) >= BOTH, name
        assert min(numbers(found[name])) >= 0, name
        assert name in table
    for name in ("evaluation", "iteration"):
        assert set(found[name]["trellis"]) == set(found[name]["ratio"]) == {"1", "2"}
        assert min(numbers(found[name])) > 0
    assert "vector updates" in found["evaluation"]["note"]
    assert found["parameters"]["trellis"] == found["parameters"]["crfsuite"]
    assert found["data"]["sentences"] == 60
    assert {"cores", "load", "python-crfsuite"} <= set(found["machine"])
    own, theirs = found["objective"]["trellis"], found["objective"]["crfsuite"]
    assert own["objective"] == pytest.approx(theirs["objective"], rel=1e-3)
    assert own["converged"]
    assert theirs["converged"]


@pytest.mark.usefixtures("peer")
def test_features_are_compared_with_strings(files):
    found, table = run("features", files[0], "--repeat", 1, "--json")
    assert set(found["prepare"]) >= BOTH
    assert set(found["ner"]) == {"templates", "attributes", "python", "trellis", "ratio"}
    assert found["ner"]["templates"] == 49
    assert min(numbers(found["ner"])) > 0
    assert "ner, 49 templates" in table


@pytest.mark.usefixtures("peer")
def test_tag_compares_speed_and_memory_and_checks_the_labels(files):
    found, table = run("tag", *files, "--repeat", 1, "--threads", "1", "--json")
    assert set(found["tokens_per_second"]) == {"crfsuite", "trellis"}
    assert set(found["tag"]["trellis"]) == {"1"}
    assert min(numbers(found["tag"]) + numbers(found["tokens_per_second"])) > 0
    assert found["memory"]["trellis"]["peak_bytes"] > found["memory"]["trellis_imported"]["peak_bytes"] // 2
    assert found["agreement"] > 0.9
    assert "tokens/second" in table


def test_optimum_races_optimizers_to_the_same_gaps(files):
    found, table = run("optimum", files[0], "--alone", "--repeat", 2, "--optimizers", "auto lbfgs:memory=5", "--json")
    assert set(found["runs"]) == {"auto", "lbfgs:memory=5"}
    assert found["optimum"] > 0
    for name, runs in found["runs"].items():
        assert name in table
        assert list(runs) == [f"{gap:g}" for gap in GAPS]
        for reached in runs.values():
            assert len(reached["seconds"]) == 2
            assert min(reached["seconds"]) > 0
            assert len(set(reached["evaluations"])) == 1  # the same steps in each run
            assert reached["ratio"] is None
        assert [each["seconds"][0] for each in runs.values()] == sorted(each["seconds"][0] for each in runs.values())


@pytest.mark.usefixtures("peer")
def test_optimum_has_the_peer_reach_them_too(files):
    found, table = run("optimum", files[0], "--repeat", 1, "--optimizers", "lbfgs", "--json")
    assert set(found["runs"]) == {"crfsuite", "lbfgs"}
    assert found["runs"]["lbfgs"]["0.01"]["ratio"] > 0
    assert "CRFsuite /" in table


@pytest.mark.usefixtures("peer")
def test_online_learners_are_timed_and_scored_beside_those_of_the_peer(files):
    given = "--epochs", 3, "--repeat", 2, "--peers", "ap arow", "--optimizers", "perceptron arow:gamma=10 mira"
    found, table = run("online", *files, *given, "--json")
    assert set(found["crfsuite"]) == {"ap", "arow"}
    assert set(found["trellis"]) == {"perceptron", "arow:gamma=10", "mira"}
    assert found["epochs"] == 3
    for name, own in found["trellis"].items():
        assert name in table
        assert (min(own["ratio"].values()) > 0) if name != "mira" else set(own["ratio"].values()) == {None}
        for each in own["runs"]:
            assert 0 < each["train"] < each["text"]
            assert each["score"] > 0.8
            assert each["epochs"] <= 3
            assert each["active"] > 0
        assert len({each["score"] for each in own["runs"]}) == 1  # the same weights in each run
    for name, runs in found["crfsuite"].items():
        assert f"CRFsuite {name}" in table
        assert all(0 < each["train"] < each["text"] and each["score"] > 0.5 for each in runs)


def test_online_learners_can_be_timed_alone(files):
    found, _ = run("online", *files, "--repeat", 1, "--peers", "", "--optimizers", "pa", "--json")
    assert found["crfsuite"] == {}
    assert found["trellis"]["pa"]["ratio"] == {"train": None, "text": None}


def test_products_are_timed_by_kind(files):
    found, table = run("products", files[0], "--repeat", 2, "--json")
    assert len(found["seconds"]) == 6
    for name, times in found["seconds"].items():
        assert name in table
        assert times["runs"] == 2
        assert 0 < times["best"] <= times["median"]
    assert min(found["ratio"].values()) > 0


def test_segments_are_timed_by_their_longest(files):
    found, table = run("segments", files[0], "--lengths", "1,3", "--repeat", 1, "--evaluations", 2, "--json")
    assert set(found["seconds"]) == {"1", "3"}
    assert "for each token" in table
    assert found["departure"] < 1e-6  # two points are on a line


def test_pruning_is_compared_with_none(files):
    found, table = run("pruning", *files, "--sentences", 20, "--prune", 0.2, "--json")
    assert found["sentences"] == 20
    assert found["pruned"]["labels"] < found["whole"]["labels"]
    assert found["ratio"] == found["whole"]["seconds"] / found["pruned"]["seconds"]
    assert "times as fast" in table


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["segments", "--lengths", "0"], "longest 0 is 0; expected a whole number >= 1"),
        (["optimum", "--optimizers", "adam"], "optimizer 'adam' is not known; there are: auto"),
        (["optimum", "--optimizers", "lbfgs:tol=1"], "'tol' is a setting of its own"),
        (["optimum", "--optimizers", "owlqn:name=2"], "optimizer 'owlqn' has no option 'name'; it has: memory=20"),
        (
            ["optimum", "--optimizers", "auto lbfgs:memory"],
            "--optimizers lbfgs with memory: found 'memory', expected NAME=VALUE",
        ),
        (["optimum", "--optimizers", "lbfgs:"], "found '', expected NAME=VALUE"),
        (["optimum", "--optimizers", "lbfgs:memory=0"], "memory is 0; expected a whole number >= 1"),
        (["optimum", "--optimizers", ""], "no optimizer to race; there are: auto"),
        (["optimum", "--repeat", "0"], "repeat is 0; expected a whole number >= 1"),
        (["optimum", "--threads", "-1"], "threads is -1; expected a whole number >= 1"),
        (["online", "--repeat", "0"], "repeat is 0; expected a whole number >= 1"),
        (["online", "--epochs", "0"], "epochs is 0; expected a whole number >= 1"),
        (
            ["online", "--peers", "lbfgs"],
            "CRFsuite has no 'lbfgs' to compare with; expected some of: ap, pa",
        ),
        (["online", "--optimizers", "lbfgs"], "optimizer 'lbfgs' does not go by single sentences; those that do: "),
        (["products", "--repeat", "0"], "repeat is 0; expected a whole number >= 1"),
        (["products", "--threads", "-1"], "threads is -1; expected a whole number >= 1"),
    ],
)
def test_races_and_products_that_cannot_be_are_refused(files, arguments, message):
    alone = ["--alone"] if arguments[0] == "optimum" else []
    with pytest.raises(SettingError) as caught:
        run(*arguments, *(files if arguments[0] == "online" else files[:1]), *alone)
    assert message in str(caught.value)


def test_a_missing_peer_is_explained(task, files, monkeypatch):
    monkeypatch.setitem(sys.modules, "pycrfsuite", None)
    race = {"lbfgs": ("lbfgs", {})}
    for call in (lambda: bench_train(task), lambda: bench_tag(task, files[1]), lambda: bench_optimum(task, race)):
        with pytest.raises(SettingError, match=r"pip install trellis\[bench\]"):
            call()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--against", "nobody"], "no peer 'nobody'"),
        (["--l2", "1", "--c2", "1"], "different priors"),
        (["--target", "ner"], "unknown target 'ner'"),
        (["--threads", "two"], "threads are 'two'"),
        (["--threads", "0"], "expected whole numbers >= 1"),
        (["--repeat", "0"], "at least 1 and 2"),
        (["--c2=-1"], "c2 is -1"),
    ],
)
@pytest.mark.usefixtures("peer")
def test_settings_that_do_not_fit_are_refused(files, arguments, message):
    with pytest.raises(SettingError, match=message):
        run("train", files[0], *arguments)


def test_a_file_to_tag_is_needed_beside_a_file_to_train_on(files):
    with pytest.raises(SettingError, match="TRAIN TEST"):
        run("tag", files[0])
    with pytest.raises(SettingError, match="TRAIN TEST"):
        run("online", files[0])
    with pytest.raises(FileAccessError, match="no such file"):
        Task(files[0].with_name("other.txt"))


def test_default_data_is_found_or_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRELLIS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TRELLIS_DATA", str(tmp_path))
    with pytest.raises(SettingError, match="trellis data get conll2000"):
        default_file("train.txt")
    (tmp_path / "conll2000").mkdir()
    (tmp_path / "conll2000" / "train.txt").write_text("a b c\n")
    assert default_file("train.txt") == tmp_path / "conll2000" / "train.txt"


def test_both_priors_are_the_same_objective(files):
    assert Task(files[0], c2=0.5).l2 == 1.0
