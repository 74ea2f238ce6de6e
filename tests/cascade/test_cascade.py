"""Cascades as users see them: training by every wire, answers, files."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import trellis as tr
from trellis.corpus import Column
from trellis.errors import CheckpointError, DataError, SettingError

WIRES = ["gold", "onebest", "kbest", "sample", "marginal", "joint"]


@pytest.fixture(scope="module")
def data():
    train = tr.sample_corpus("train").slice(0, 120)
    return train, tr.sample_corpus("test").slice(0, 40)


def stages(**more):
    return [
        tr.Stage("pos", "word[0] + suffix(word, 1, 2, 3)[0]", l2=0.5, tol=1e-3),
        tr.Stage("chunk", "word[0] + pos[-1:1] + (pos[-1] & pos[0]) + transitions(pos[-1] & pos[0])",
                 reads=["pos"], l2=0.5, tol=1e-3, **more),
    ]  # fmt: skip


def fitted(data, wire="marginal", stages=None, **settings):
    return tr.Cascade(stages or globals()["stages"](), wire=wire, tol=1e-3, **settings).fit(data[0])


@pytest.fixture(scope="module")
def usual(data):
    """wire -> a cascade of the usual stages, trained once."""
    found = {}

    def of(wire):
        if wire not in found:
            found[wire] = fitted(data, wire, samples=20, k=4)
        return found[wire]

    return of


@pytest.mark.parametrize("wire", WIRES)
def test_every_wire_trains_answers_and_comes_back_from_a_file(data, usual, wire, tmp_path):
    cascade = usual(wire)
    assert cascade.targets_ == ["pos", "chunk"]
    report = cascade.evaluate(data[1])
    assert report["pos"].accuracy > 0.6
    assert report["chunk"].f1 > 0.6
    assert cascade.score(data[1]) == report["chunk"].f1
    cascade.save(tmp_path / "c.trellis")
    again = tr.load(tmp_path / "c.trellis")
    assert again.predict(data[1]) == cascade.predict(data[1])
    for target, rows in cascade.predict_marginals(data[1]).items():
        np.testing.assert_array_equal(np.concatenate(rows), np.concatenate(again.predict_marginals(data[1])[target]))
        np.testing.assert_allclose(np.concatenate(rows).sum(axis=1), 1.0, atol=1e-9)
    assert again.get_params() == cascade.get_params()
    assert pickle.loads(pickle.dumps(cascade)).predict(data[1]) == cascade.predict(data[1])


def test_a_joint_cascade_ends_below_where_it_began(usual):
    joint, apart = usual("joint"), usual("marginal")
    assert joint.objective_ < sum(outcome.objective for outcome in apart.outcomes_.values())


@pytest.mark.parametrize("wire", [w for w in WIRES if w != "gold"])
def test_annotation_of_lower_stages_is_never_read(data, usual, wire):
    cascade = usual(wire)
    bare = tr.Corpus({"word": data[1]["word"]}, data[1].offsets)
    assert cascade.predict(bare) == cascade.predict(data[1])


def test_a_little_text_is_labelled_without_a_compiler_and_the_same(usual, tmp_path):
    cascade = usual("joint")
    cascade.save(tmp_path / "c")
    script = (
        "import sys, json, trellis; from trellis.corpus import parse_conll\n"
        "model = trellis.load(sys.argv[1]); data = parse_conll(b'The\\ndog\\nbarks\\n.\\n', ['word'])\n"
        "print(json.dumps([model.predict(data), model.predict_marginals(data)['chunk'][0].tolist()]))\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script, tmp_path / "c"], capture_output=True, text=True, check=True)
    said, modules = done.stdout.splitlines()
    assert {"numba", "scipy"}.isdisjoint(modules.split())

    labels, rows = json.loads(said)
    here = tr.Corpus.from_lists({"word": [["The", "dog", "barks", "."]]})
    assert labels == cascade.predict(here)
    np.testing.assert_allclose(rows, cascade.predict_marginals(here)["chunk"][0], atol=1e-9)


def test_results_do_not_depend_on_threads(data, usual):
    one, two = fitted(data, "joint", threads=1), usual("joint")
    for a, b in zip(one.model_.stages, two.model_.stages, strict=True):
        np.testing.assert_array_equal(a.model.weights, b.model.weights)


def test_jackknifed_stages_have_not_seen_the_sentence(data):
    cascade = fitted(data, "marginal", jackknife=3)
    assert cascade.evaluate(data[1])["chunk"].f1 > 0.6


def test_a_stage_that_names_no_lower_one_reads_its_labels_anyway(data):
    cascade = fitted(data, "marginal", [stages()[0], tr.Stage("chunk", "word[0]", reads=["pos"], tol=1e-3)])
    names = cascade.model_.stages[1].wiring.names()
    assert any("pos[0]" in name for name in names)
    assert any("pos[-1]&pos[0]" in name for name in names)


def test_segments_feed_a_chain_and_the_other_way_round(data, tmp_path):
    chain = tr.Stage("pos", "word[0] + suffix(word, 2)[0] + chunk[0]", reads=["chunk"], tol=1e-3)
    segments = tr.Stage("chunk", "word[0] + suffix(word, 2)[0]", model="semi-crf", tol=1e-3)
    up = fitted(data, "joint", [chain, segments])
    assert up.targets_ == ["chunk", "pos"]
    assert up.evaluate(data[1])["pos"].accuracy > 0.6
    over = tr.Stage("chunk", "word[0] + pos[-1:1]", reads=["pos"], model="semi-crf", tol=1e-3)
    down = fitted(data, "joint", [stages()[0], over])
    assert down.evaluate(data[1])["chunk"].f1 > 0.6
    down.save(tmp_path / "d")
    assert tr.load(tmp_path / "d").predict(data[1]) == down.predict(data[1])


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: tr.Cascade([tr.Stage("a", reads=["b"]), tr.Stage("b", reads=["a"])]), "circle"),
        (lambda: tr.Cascade([tr.Stage("a", reads=["c"])]), "'c', which no stage predicts"),
        (lambda: tr.Cascade([tr.Stage("a"), tr.Stage("a")]), "two stages"),
        (lambda: tr.Cascade([tr.Stage("a", reads=["a"])]), "reads itself"),
        (lambda: tr.Cascade([tr.Stage("a")], wire="telegraph"), "wire is 'telegraph'"),
        (lambda: tr.Cascade([tr.Stage("a")], wire="gold", jackknife=5), "jackknife has no meaning"),
        (lambda: tr.Cascade([]), "stages"),
    ],
)
def test_what_is_no_cascade_is_refused(make, what, data):
    with pytest.raises(SettingError, match=what):
        make().fit(data[0])


def test_settings_of_stages_are_checked_at_once():
    with pytest.raises(SettingError, match="stage 'a': unknown setting 'l3'"):
        tr.Stage("a", l3=1.0)
    with pytest.raises(SettingError, match="the model is 'tree'"):
        tr.Stage("a", model="tree")
    with pytest.raises(SettingError, match="weight"):
        tr.Stage("a", weight=0)


def test_lists_are_refused(data):
    with pytest.raises(DataError, match="corpus with columns"):
        tr.Cascade(stages()).fit([[["a"]]])


def test_the_derivative_of_a_function_is_checked():
    tr.Smooth(lambda p: p**2, lambda p: 2 * p)
    with pytest.raises(SettingError, match="the derivative is"):
        tr.Smooth(lambda p: p**2, lambda p: 3 * p)
    with pytest.raises(SettingError, match="expected 0"):
        tr.Smooth(lambda p: p + 1, np.ones_like)
    with pytest.raises(SettingError, match="inf"):
        tr.Smooth(np.sqrt, lambda p: 0.5 / np.sqrt(p))


def few():
    return tr.sample_corpus("train").slice(0, 40)


def plain_stages():
    lower = tr.Stage("pos", "word[0] + suffix(word, 2)[0]", l2=0.5, tol=1e-3)
    return [lower, tr.Stage("chunk", "word[0] + pos[0] + transitions(pos[-1] & pos[0])", reads=["pos"], tol=1e-3)]


@pytest.fixture(scope="module")
def small():
    """Where joint training of a few sentences begins, and where it ends."""
    apart = tr.Cascade(plain_stages(), wire="marginal").fit(few())
    began = sum(outcome.objective for outcome in apart.outcomes_.values())
    return began, tr.Cascade(plain_stages(), tol=1e-4).fit(few()).objective_


@pytest.mark.parametrize(
    ("optimizer", "options"),
    [("lbfgs", None), ("newton-cg", None), ("newton-cg", {"cache": "all"}), ("sgd", {"epochs": 4})],
)
def test_joint_training_by_several_optimizers(small, optimizer, options):
    began, best = small
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a few epochs are not the end
        joint = tr.Cascade(plain_stages(), optimizer=optimizer, options=options, tol=1e-3).fit(few())
    assert joint.objective_ < began
    assert joint.objective_ < best + (0.1 if optimizer == "sgd" else 0.02) * abs(best)


def test_stages_may_take_turns(small):
    began, best = small
    turns = tr.Cascade(plain_stages(), schedule="alternate", rounds=1, tol=1e-3).fit(few())
    assert best - 1e-3 * abs(best) < turns.objective_ < began


def test_an_interrupted_training_goes_on_to_the_same_bits(data, usual, tmp_path):
    whole = usual("joint")
    seen = []

    def stop(progress):
        seen.append(progress)
        if len(seen) == whole.outcomes_["pos"].iterations + whole.outcomes_["chunk"].iterations + 4:
            raise KeyboardInterrupt

    cascade = tr.Cascade(stages(), tol=1e-3, samples=20, k=4)
    with pytest.raises(KeyboardInterrupt):
        cascade.fit(data[0], checkpoint=tmp_path, checkpoint_every=1, progress=stop)
    cascade.fit(data[0], checkpoint=tmp_path, resume=True)
    np.testing.assert_array_equal(cascade.model_.weights, whole.model_.weights)
    with pytest.raises(CheckpointError, match="l2"):
        tr.Cascade([stages()[0], stages(weight=2.0)[1]], tol=1e-3, samples=20, k=4).fit(
            data[0], checkpoint=tmp_path, resume=True
        )


def test_sentences_with_some_layers_only_give_what_they_have(data):
    train = data[0]
    pos = train["pos"].values()
    half = int(train.offsets[len(train) // 2])
    unknown = train.with_column("pos", Column.of([*pos[:half], *["?"] * (len(pos) - half)]))
    parts = [tr.Stage("pos", "word[0] + suffix(word, 1, 2, 3)[0]", l2=0.5, tol=1e-3, partial=True), stages()[1]]
    cascade = tr.Cascade(parts, tol=1e-3).fit(unknown)
    assert "?" not in cascade.classes_["pos"]
    assert cascade.evaluate(data[1])["pos"].accuracy > 0.5
    fewer = tr.Cascade(parts, tol=1e-3).fit(train.slice(0, len(train) // 2))
    assert cascade.score(data[1]) > fewer.score(data[1])  # the upper stage has learnt from all of them


def test_functions_of_probabilities_are_part_of_the_model(data, tmp_path):
    smooth = tr.Smooth(lambda p: p**2, lambda p: 2 * p)
    cascade = fitted(data, "joint", [stages()[0], stages(smooth=smooth)[1]])
    cascade.save(tmp_path / "c")
    with pytest.raises(SettingError, match="give it again"):
        tr.load(tmp_path / "c")
    again = tr.load(tmp_path / "c", functions={"chunk": smooth})
    assert again.predict(data[1]) == cascade.predict(data[1])


def test_training_goes_on_from_a_cascade(small):
    _, best = small
    first = tr.Cascade(plain_stages(), tol=1e-4).fit(few())
    again = tr.Cascade(plain_stages(), tol=1e-3).fit(few(), start=first)
    assert again.iterations_ < 10
    assert again.objective_ == pytest.approx(best, rel=1e-4)
    assert list(again.outcomes_) == ["joint"]
    more = tr.Cascade(plain_stages(), wire="marginal").fit(tr.sample_corpus("train").slice(0, 60), start=first)
    assert more.outcomes_["pos"].iterations > 0
    with pytest.raises(SettingError, match="start is"):
        tr.Cascade(plain_stages()).fit(few(), start=tr.CRF("pos"))


def test_frozen_stages_stay_as_they_are(small):
    apart = tr.Cascade(plain_stages(), wire="marginal").fit(few())
    frozen = tr.Cascade(plain_stages(), frozen=["pos"], tol=1e-3).fit(few())
    lower = [cascade.model_.stages[0].model.weights for cascade in (apart, frozen)]
    np.testing.assert_array_equal(*lower)
    other = tr.Cascade(plain_stages(), frozen=["chunk"], tol=1e-3).fit(few())
    assert not np.array_equal(other.model_.stages[0].model.weights, lower[0])
    np.testing.assert_array_equal(other.model_.stages[1].model.weights, apart.model_.stages[1].model.weights)
    for wrong in ({"frozen": ["x"]}, {"frozen": ["pos", "chunk"]}, {"frozen": ["pos"], "wire": "marginal"}):
        with pytest.raises(SettingError, match="frozen"):
            tr.Cascade(plain_stages(), **wrong).fit(few())


def test_a_development_corpus_stops_training(data):
    joint = tr.Cascade(stages(), tol=1e-4, patience=2).fit(data[0], dev=data[1])
    assert joint.dev_score_ == pytest.approx(joint.score(data[1]))
    assert joint.outcomes_["pos"].dev_score is not None


def test_functions_of_pairs_are_read(data, tmp_path):
    from trellis.features import apply_pair, columns

    word, pos = columns("word", "pos")

    def edge(before, here):
        return f"{(before or '^')[0]}{here[0]}"

    upper = tr.Stage("chunk", word[0] + apply_pair(pos, edge)[0] + pos[0], reads=["pos"], tol=1e-3)
    cascade = fitted(data, "joint", [stages()[0], upper])
    assert any("apply_pair" in name and name.endswith("=DN") for name in cascade.model_.stages[1].wiring.names())
    cascade.save(tmp_path / "c")
    assert tr.load(tmp_path / "c").predict(data[1]) == cascade.predict(data[1])
    with pytest.raises(SettingError, match="only a stage of order 1"):
        fitted(data, "marginal", [tr.Stage("pos", "word[0]", order=0), upper])


def test_a_stage_by_itself_is_at_the_minimum_of_its_weighted_part(small):
    """Twice the weight and twice the prior are the same stage, with wires on transitions and without."""
    lower = plain_stages()[0]
    for features in ("word[0] + pos[0]", "word[0] + pos[0] + transitions(pos[-1] & pos[0])"):
        found = []
        for weight in (1.0, 4.0):
            upper = tr.Stage("chunk", features, reads=["pos"], tol=1e-6, l2=0.5 * weight, weight=weight)
            cascade = tr.Cascade([lower, upper], wire="marginal").fit(few())
            found.append(cascade.model_.stages[1].model.weights)
        np.testing.assert_array_equal(*found)


def test_the_target_of_another_stage_is_no_input(data):
    with pytest.raises(SettingError, match="stage 'chunk': its features read 'pos', which is a stage itself"):
        fitted(data, "marginal", [stages()[0], tr.Stage("chunk", "word[0] + pos[0]")])
