"""What a cascade's answers and trainings may not depend on: annotation, other sentences, order, threads, extremes."""

from __future__ import annotations

import copy
import pickle
import shutil
import warnings

import numpy as np
import pytest

import trellis as tr
from trellis.cascade.jackknife import jackknifed
from trellis.cascade.learning import Learning
from trellis.cascade.stage import in_order
from trellis.corpus import Column
from trellis.errors import CheckpointError, DamagedModelError, SettingError
from trellis.models.keeping import Keeping

WIRES = ["onebest", "kbest", "sample", "marginal", "joint"]
LOWER = "word[0] + suffix(word, 1, 2)[0]"


def train():
    return tr.sample_corpus("train").slice(0, 60)


def test():
    return tr.sample_corpus("test").slice(0, 25)


test.__test__ = False


def two(upper="word[0] + pos[-1:1] + (word[0] & pos[0]) + transitions(pos[-1] & pos[0])", **more):
    return [tr.Stage("pos", LOWER, tol=1e-2), tr.Stage("chunk", upper, reads=["pos"], tol=1e-2, **more)]


@pytest.fixture(scope="module")
def trained():
    return {wire: tr.Cascade(two(), wire=wire, samples=10, k=3, tol=1e-2).fit(train()) for wire in WIRES}


@pytest.mark.parametrize("wire", WIRES)
def test_a_sentence_is_labelled_the_same_alone_and_in_any_company(trained, wire):
    cascade, data = trained[wire], test()
    whole, chances = cascade.predict(data), cascade.predict_marginals(data)["chunk"]
    for s in range(len(data)):
        alone = data.slice(s, s + 1)
        assert {target: rows[0] for target, rows in cascade.predict(alone).items()} == {
            target: rows[s] for target, rows in whole.items()
        }
        np.testing.assert_allclose(cascade.predict_marginals(alone)["chunk"][0], chances[s], atol=1e-9)


@pytest.mark.parametrize("wire", WIRES)
def test_annotation_makes_no_difference(trained, wire):
    data = test()
    for target in ("pos", "chunk"):
        values = data[target].values()
        data = data.with_column(target, Column.of(values[::-1]))
    assert trained[wire].predict(data) == trained[wire].predict(test())


def test_a_stage_that_is_not_read_may_not_be_context_either():
    entity = tr.Stage("entity", "word[0] + (pos[0] & chunk[0])", reads=["chunk"], tol=1e-2)
    with pytest.raises(SettingError, match="stage 'entity': its features read 'pos', which is a stage itself"):
        tr.Cascade([*two(), entity], wire="marginal").fit(train())


def test_empty_sentences_are_labelled(trained):
    assert trained["joint"].predict(tr.Corpus.from_lists({"word": [[]]})) == {"pos": [[]], "chunk": [[]]}


@pytest.mark.parametrize("threads", [2, 8])
def test_weights_are_the_same_for_any_number_of_threads(threads):
    one, more = (tr.Cascade(two(), tol=1e-2, jackknife=0, threads=n).fit(train()).model_.weights for n in (1, threads))
    np.testing.assert_array_equal(one, more)


def test_folds_have_not_seen_their_labels():
    """A label of one sentence alone: its own fold cannot know of it."""
    data = train()
    labels = np.array(data["pos"].values(), object)
    labels[: int(data.offsets[1])] = "ONCE"
    stages = in_order(two())
    learning = Learning(
        tr.Cascade(stages, wire="marginal", jackknife=3, threads=1), stages,
        data.with_column("pos", Column.of(labels.tolist())), None, Keeping(),
    )  # fmt: skip
    beliefs = jackknifed(learning, learning.folds, 0)
    once = learning.ready[0].labels.index("ONCE")
    first = int(beliefs.nodes.start[int(data.offsets[20])])  # the fold of sentences 0..19
    assert once not in beliefs.nodes.label[:first]
    for row in np.split(beliefs.nodes.label, beliefs.nodes.start[1:-1]):
        assert np.all(np.diff(row) > 0)


def test_nothing_is_too_improbable_to_be_read():
    cascade = tr.Cascade(two(l2=1e-6), least=0.0, tol=1e-2).fit(train().slice(0, 20))
    assert np.isfinite(cascade.model_.weights).all()


def test_all_trainings_have_to_converge():
    few = tr.Stage("pos", LOWER, max_iter=1)
    with pytest.warns(tr.errors.ConvergenceWarning):
        cascade = tr.Cascade([few, two()[1]], wire="marginal").fit(train())
    assert not cascade.converged_
    assert cascade.outcomes_["chunk"].converged


def ends_in_s(word):
    return str(word.endswith("s"))


def test_functions_of_features_are_pickled_and_copied():
    from trellis.features import apply, columns

    word, pos = columns("word", "pos")
    plural = apply(word, ends_in_s)
    upper = word[0] + plural[0] + pos[0] + (plural[0] & pos[0])
    cascade = tr.Cascade(two(upper), wire="marginal").fit(train())
    for again in (pickle.loads(pickle.dumps(cascade)), copy.deepcopy(cascade)):
        assert again.predict(test()) == cascade.predict(test())
    smooth = tr.Smooth(lambda p: p**2, lambda p: 2 * p)
    clash = tr.Stage("ends_in_s", upper, reads=["pos"], smooth=smooth)
    with pytest.raises(SettingError, match="has the name of the stage 'ends_in_s'"):
        tr.Cascade([two()[0], clash]).check()


def test_functions_of_probabilities_may_change_what_they_are_given():
    def in_place(p):
        p *= p
        return p

    stages = [two(smooth=tr.Smooth(f, lambda p: 2 * p)) for f in (lambda p: p * p, in_place)]
    one, other = (tr.Cascade(both, tol=1e-2).fit(train()).objective_ for both in stages)
    assert one == other


@pytest.mark.parametrize("schedule", ["together", "alternate"])
def test_training_goes_on_with_what_it_was_begun_with(schedule, tmp_path):
    def cascade(power):
        smooth = tr.Smooth(lambda p: p**power, lambda p: power * p ** (power - 1))
        return tr.Cascade(two(smooth=smooth), schedule=schedule, rounds=1, max_iter=2, patience=1)

    start = tr.Cascade(two(), wire="marginal").fit(train())

    def fit(power, dev, **more):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # two iterations are not the end
            cascade(power).fit(train(), dev=dev, start=start, checkpoint=tmp_path, **more)

    fit(2, test())
    with pytest.raises(CheckpointError):
        fit(3, test(), resume=True)
    with pytest.raises(CheckpointError):
        fit(2, test().slice(0, 10), resume=True)


def test_names_of_targets_stay_inside_the_folder(tmp_path):
    data = train()
    for name in ("../up", "a/b", "..", "p.os"):
        stages = [tr.Stage(name, "word[0]", tol=1e-2), tr.Stage("chunk", "word[0]", reads=[name], tol=1e-2)]
        inner = tmp_path / "inner"
        shutil.rmtree(inner, ignore_errors=True)
        inner.mkdir()
        tr.Cascade(stages, wire="marginal").fit(
            data.with_column(name, data["pos"]), checkpoint=inner / "run", log=inner / "log.jsonl"
        )
        assert {path.name for path in tmp_path.iterdir()} == {"inner"}
        assert {path.name for path in inner.iterdir() if path.is_dir()} == {"run"}
        for path in [*(inner / "run").iterdir(), *inner.glob("log.*")]:
            assert path.is_dir() == (path.parent == inner / "run")


def test_labels_that_are_not_known_are_no_tags():
    data = train()
    half = int(data.offsets[30])
    column = Column.of([*data["pos"].values()[:half], *["?"] * (data.tokens - half)])
    features = "word[0] + tags(word)[0] + tags_elsewhere(word)[0]"
    lower = tr.Stage("pos", features, partial=True, tol=1e-2)
    upper = tr.Stage("chunk", f"pos[0] + {features.replace('(word)', '(word, pos)')}", reads=["pos"], tol=1e-2)
    cascade = tr.Cascade([lower, upper], wire="marginal").fit(data.with_column("pos", column))
    for stage in cascade.model_.stages:
        assert not [name for name in stage.model.features.names() if name.endswith("=?") and "tags" in name]


def test_files_that_contradict_themselves_are_refused(trained, tmp_path):
    from trellis.store import read_model, write_model

    trained["marginal"].save(tmp_path / "m")
    for change in ({"wire": "gold"}, {"paths": 10**12}, {"least": 0.3}, {"seed": 7}):
        description, tensors = read_model(tmp_path / "m")
        description["how"].update(change)
        description.pop("format")
        write_model(tmp_path / "changed", description, tensors)
        with pytest.raises(DamagedModelError):
            tr.load(tmp_path / "changed")


def test_one_stage_is_a_cascade(tmp_path):
    cascade = tr.Cascade(two()[:1]).fit(train())
    cascade.save(tmp_path / "c")
    assert tr.load(tmp_path / "c").predict(test()) == cascade.predict(test())


@pytest.mark.parametrize(
    "settings",
    [
        {"optimizer": "newton-cg", "max_iter": 4},
        {"optimizer": "sgd", "options": {"epochs": 4}},
        {"schedule": "alternate", "rounds": 1, "max_iter": 3},
        {"frozen": "pos", "max_iter": 4},
        {"jackknife": 2, "max_iter": 4},
    ],
    ids=lambda settings: str(next(iter(settings.items()))),
)
def test_an_interruption_changes_nothing(settings, tmp_path):
    data = train().slice(0, 25)

    def fit(stop_after=None, **more):
        calls = []

        def progress(found):
            calls.append(found)
            if len(calls) == stop_after:
                raise KeyboardInterrupt

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a few iterations are not the end
            cascade = tr.Cascade(two(), **settings).fit(data, progress=progress, **more)
        return cascade.model_.weights, len(calls)

    whole, calls = fit()
    with pytest.raises(KeyboardInterrupt):
        fit(calls - 1, checkpoint=tmp_path, checkpoint_every=1)
    np.testing.assert_array_equal(fit(checkpoint=tmp_path, resume=True)[0], whole)
