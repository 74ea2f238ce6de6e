"""What trained cascades answer on the command line: all columns, all scores, all weights."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

import trellis as tr
from trellis.corpus import sample_corpus


def test_eval_has_every_stage_and_at_the_top_the_last(run, files, cascade_model):
    code, out, _ = run("eval", cascade_model, files / "test.txt", "--json")
    found = json.loads(out.splitlines()[-1])
    assert code == 0
    assert list(found["targets"]) == ["pos", "chunk"]
    assert found["f1"] == found["targets"]["chunk"]["f1"]
    assert found["targets"]["pos"]["f1"] is None
    assert found["tokens_per_second"] > 0


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
def test_tag_adds_a_column_for_each_stage_and_reads_none_of_them(run, files, cascade_model, tmp_path, columns):
    corpus = sample_corpus("test").slice(0, 20)
    names = ["word", "pos", "chunk", "entity"][:columns]
    given = tmp_path / "in.txt"
    rows = [" ".join(["x" if n in ("pos", "chunk") else v for n, v in zip(names, row, strict=True)])
            for row in zip(*(corpus[name].values() for name in names), strict=True)]  # fmt: skip
    cuts = corpus.offsets.tolist()
    given.write_text("".join("\n".join(rows[a:b]) + "\n\n" for a, b in pairwise(cuts)))
    code, out, err = run("tag", cascade_model, given)
    assert code == 0, err
    tagged = [line.split() for line in out.splitlines() if line]
    assert all(len(line) == columns + 2 for line in tagged)
    found = tr.load(cascade_model).predict_columns(corpus)
    assert [line[-2:] for line in tagged] == [list(p) for p in zip(*(c.values() for c in found.values()), strict=True)]


def test_marginals_and_spans_of_all_stages(run, files, cascade_model):
    code, out, _ = run("tag", cascade_model, files / "test.txt", "--marginals")
    assert code == 0
    first = out.splitlines()[0].split()
    assert any(cell.startswith("pos=NN:") for cell in first)
    assert any(cell.startswith("chunk=B-NP:") for cell in first)
    code, out, _ = run("tag", cascade_model, files / "test.txt", "--spans")
    assert code == 0
    assert out.splitlines()[0].split("\t")[3].startswith("chunk:")
    code, _, err = run("tag", cascade_model, files / "test.txt", "--kbest", "2")
    assert code != 0
    assert "predict_kbest" in err


class TestEval:
    def test_stages_without_a_gold_column_are_left_out(self, run, files, cascade_model):
        code, out, err = run("eval", cascade_model, files / "test.txt", "--columns", "word,_,chunk,entity", "--json")
        found = json.loads(out.splitlines()[-1])
        assert code == 0
        assert list(found["targets"]) == ["chunk"]
        assert out.startswith("chunk:\n")
        assert err == f"{files / 'test.txt'}: no column for pos; the scores are of chunk alone\n"

    def test_the_last_stage_may_be_left_out_too(self, run, files, cascade_model):
        code, out, err = run("eval", cascade_model, files / "test.txt", "--columns", "word,pos,_,entity", "--json")
        assert code == 0
        assert out.startswith("pos:\n")
        assert json.loads(out.splitlines()[-1])["accuracy"] > 0.5
        assert "no column for chunk" in err

    def test_without_any_gold_column_the_file_is_named(self, run, files, cascade_model):
        code, _, err = run("eval", cascade_model, files / "test.txt", "--columns", "word,_,_,entity")
        assert code == 1
        assert err.startswith(f"trellis: {files / 'test.txt'}: there is no column 'pos' or 'chunk' to compare with")
        corpus = tr.read_conll(files / "test.txt", columns=["word", "pos", "_", "entity"])
        with pytest.raises(tr.TrellisError, match="no column 'chunk'"):
            tr.load(cascade_model).score(corpus)


class TestInspect:
    def test_every_stage_has_its_table_and_its_json(self, run, cascade_model):
        code, out, _ = run("inspect", cascade_model, "--top", "3", "--json")
        *table, last = out.rstrip("\n").split("\n")
        found = json.loads(last)
        assert code == 0
        assert list(found) == ["stages"]
        assert found["stages"] == {
            target: one.as_json() for target, one in tr.report.inspect_stages(tr.load(cascade_model), top=3).items()
        }
        assert [line.split(":")[0] for line in table if ": Stage(" in line] == ["pos", "chunk"]

    @pytest.mark.parametrize("columns", [[], ["--columns", "word,_,_,entity"]])
    def test_data_need_no_target(self, run, files, cascade_model, columns):
        code, out, err = run("inspect", cascade_model, files / "test.txt", "--json", *columns)
        assert code == 0, err
        found = json.loads(out.splitlines()[-1])["stages"]
        assert all(cost["per_token"] > 0 for one in found.values() for cost in one["templates"])


@pytest.fixture(scope="module")
def smoothed(train_cascade):
    return train_cascade("smooth", "marginal", smooth=tr.Smooth(np.square, lambda p: 2 * p))


class TestFunctions:
    @pytest.mark.parametrize("command", ["tag", "eval", "inspect"])
    def test_a_function_of_probabilities_is_for_python(self, run, files, smoothed, command):
        code, _, err = run(command, smoothed, files / "test.txt")
        assert code == 1
        assert err.count("\n") == 1
        assert "Python: trellis." in err
        assert 'functions={"chunk": Smooth(...)}' in err

    def test_its_weights_can_be_looked_at(self, run, smoothed):
        code, out, _ = run("inspect", smoothed)
        assert code == 0
        assert "chunk: Stage(" in out


def test_gold_labels_are_for_eval_alone(run, files, train_cascade):
    model = train_cascade("gold", "gold")
    code, out, err = run("tag", model, files / "test.txt")
    assert (code, out) == (1, "")
    assert "`trellis eval` measures it" in err
    assert run("eval", model, files / "test.txt")[0] == 0


def test_calibrate_says_that_it_knows_no_cascades(run, files, cascade_model):
    code, _, err = run("calibrate", cascade_model, files / "test.txt")
    assert code == 1
    assert "calibrate does not know cascades yet" in err
