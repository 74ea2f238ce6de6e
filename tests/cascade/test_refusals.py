"""What joint training cannot do is refused before any stage is trained."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

import trellis as tr
from trellis.corpus import Column
from trellis.errors import CheckpointError, ConvergenceWarning, DataError, SettingError, TemplateError


def data():
    return tr.sample_corpus("train").slice(0, 20)


def stages(**upper):
    return [tr.Stage("pos", "word[0]"), tr.Stage("chunk", "word[0] + pos[0]", reads=["pos"], **upper)]


def never(progress):
    raise AssertionError("training has begun")


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"optimizer": "adagrad"}, "'adagrad'; use auto"),
        ({"optimizer": "saga"}, "'saga'; use auto"),
        ({"optimizer": "perceptron"}, "'perceptron'; use auto"),
        ({"optimizer": "sdg"}, "'sdg' is not known"),
        ({"options": {"memry": 3}}, "memry"),
        ({"optimizer": "sgd", "frozen": "pos"}, "frozen"),
        ({"optimizer": "sgd", "schedule": "alternate"}, "'alternate'"),
        ({"optimizer": "newton-cg", "options": {"hvp": "ad", "cache": 0}}, "hvp"),
        ({"frozen": "p"}, "frozen names 'p'"),
        ({"frozen": "pos", "wire": "marginal"}, "the wire is 'marginal'"),
        ({"frozen": ["pos", "chunk"]}, "frozen names all stages"),
        ({"wire": "kbest", "k": 10**9}, "k is"),
    ],
)
def test_settings_are_looked_at_first(settings, what):
    with pytest.raises(SettingError, match=what):
        tr.Cascade(stages(), **settings).fit(data(), progress=never)


@pytest.mark.parametrize(
    ("upper", "what"),
    [
        ({"l1": 0.5}, "knows no l1"),
        ({"optimizer": "perceptron"}, "loss and no prior"),
        ({"optimizer": "boosting"}, "no prior"),
    ],
)
def test_stages_are_looked_at_first(upper, what):
    with pytest.raises(SettingError, match=f"stage 'chunk': .*{what}"):
        tr.Cascade(stages(**upper)).fit(data(), progress=never)
    tr.Cascade(stages(**upper), wire="marginal").check()


def test_folds_are_for_stages_that_read_others():
    with pytest.raises(SettingError, match="jackknife is for stages that read others"):
        tr.Cascade([tr.Stage("pos"), tr.Stage("chunk")], jackknife=2).fit(data(), progress=never)


def unknown(corpus, column, first, last):
    """With `?` for the labels of sentences first..last."""
    labels = [*corpus[column].values()]
    a, b = int(corpus.offsets[first]), int(corpus.offsets[last])
    labels[a:b] = ["?"] * (b - a)
    return corpus.with_column(column, Column.of(labels))


def test_the_wire_gold_needs_all_of_the_annotation():
    lower = tr.Stage("pos", "word[0]", partial=True)
    with pytest.raises(DataError, match=r"reads the annotation of 'pos', which \d+ tokens do not have"):
        tr.Cascade([lower, stages()[1]], wire="gold").fit(unknown(data(), "pos", 0, 3), progress=never)


@pytest.mark.parametrize("settings", [{}, {"all_pairs": True}], ids=str)
def test_layers_that_are_annotated_in_other_sentences_are_mentioned(settings):
    both = [tr.Stage("pos", "word[0]", partial=True, tol=0.1), stages(partial=True, tol=0.1, **settings)[1]]
    apart = unknown(unknown(data(), "pos", 4, 20), "chunk", 0, 3)
    expected = pytest.warns(UserWarning, match="stage 'chunk': only .* tokens .* of pos as well; .*all_pairs=True")
    with nullcontext() if settings else expected:
        tr.Cascade(both, wire="marginal").fit(apart)


def test_the_end_of_a_training_is_said_of_its_stage():
    both = [tr.Stage("pos", "word[0]", max_iter=1), stages(tol=0.1)[1]]
    with pytest.warns(ConvergenceWarning, match="stage 'pos': training stopped after 1 iterations"):
        tr.Cascade(both, wire="marginal").fit(data())


def test_a_start_must_have_what_is_to_go_on():
    start = tr.Cascade([tr.Stage("pos", "word[0]", tol=0.1)], wire="marginal").fit(data())
    with pytest.raises(SettingError, match="no stage in common: its stages are pos"):
        tr.Cascade([tr.Stage("chunk", "word[0]")]).fit(data(), start=start, progress=never)
    with pytest.raises(SettingError, match="'chunk' is frozen, and the start has none"):
        tr.Cascade(stages(), frozen="chunk").fit(data(), start=start, progress=never)
    with pytest.raises(SettingError, match=r"'pos' is frozen, but [\d,]+ of its [\d,]+ weights .* would be lost"):
        tr.Cascade(stages(), frozen="pos").fit(data().slice(0, 5), start=start, progress=never)


@pytest.mark.parametrize("missing", ["pos", "chunk"])
def test_development_data_are_looked_at_first(missing):
    columns = {name: column for name, column in data().columns.items() if name != missing}
    dev = tr.Corpus(columns, data().offsets)
    with pytest.raises(DataError, match=f"the development data have no column '{missing}', only word"):
        tr.Cascade(stages()).fit(data(), dev=dev, progress=never)


@pytest.mark.parametrize(
    ("wire", "changed"),
    [
        ("marginal", {"jackknife": 2}),
        ("marginal", {"least": 0.01}),
        ("marginal", {"wire": "onebest"}),
        ("kbest", {"k": 3}),
        ("sample", {"samples": 3}),
    ],
    ids=str,
)
def test_checkpoints_say_that_lower_stages_were_read_otherwise(wire, changed, tmp_path):
    def fit(**more):
        both = [tr.Stage("pos", "word[0]", tol=1e-2), tr.Stage("chunk", "word[0]", reads=["pos"], tol=1e-2)]
        tr.Cascade(both, **{"wire": wire, **more}).fit(data(), checkpoint=tmp_path, resume=bool(more))

    fit()
    fit(**{"marginal": {"k": 3}}.get(wire, {"least": 0.01}))  # which make no difference
    with pytest.raises(CheckpointError, match=f"the checkpoint was made with {next(iter(changed))}="):
        fit(**changed)


@pytest.mark.parametrize("name", ["joint", "joint-1-pos"])
def test_a_stage_is_not_called_as_joint_training_is(name):
    with pytest.raises(SettingError, match=f"cannot be called '{name}'"):
        tr.Stage(name)


def test_what_learns_from_columns_cannot_read_a_stage():
    upper = tr.Stage("chunk", "word[0] + tags(pos)[0]", reads=["pos"])
    with pytest.raises(TemplateError, match="learns from a column"):
        tr.Cascade([stages()[0], upper]).fit(data(), progress=never)
    beside = tr.Stage("chunk", "word[0] + (tags(word)[0] & pos[0])", reads=["pos"])
    with pytest.raises(SettingError, match="several values"):
        tr.Cascade([stages()[0], beside]).fit(data(), progress=never)


def test_functions_of_pairs_that_fail_are_named():
    from trellis.features import apply_pair, columns

    word, pos = columns("word", "pos")

    def first(tag):
        return tag

    upper = tr.Stage("chunk", word[0] + apply_pair(pos, first)[0], reads=["pos"])
    with pytest.raises(DataError, match="first"):
        tr.Cascade([stages()[0], upper]).fit(data(), progress=never)


def test_functions_of_probabilities_that_fail_are_refused():
    with pytest.raises(SettingError, match="ZeroDivisionError"):
        tr.Smooth(lambda p: 1 / 0, lambda p: p)
