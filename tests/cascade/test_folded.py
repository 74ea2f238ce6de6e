"""Joint training in which lower stages know sentences as if they had not learned from them."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tests.cascade.joint_problems import numerical

import trellis as tr
from trellis.cascade.folded import Folded
from trellis.cascade.jackknife import jackknifed
from trellis.cascade.learning import Learning
from trellis.cascade.stage import in_order
from trellis.cascade.together import Joined, joint_prior, parts_of, stage_shards
from trellis.corpus import Column
from trellis.engine import ThreadedObjective
from trellis.errors import ConvergenceWarning, DataError, SettingError
from trellis.losses.log import LogLoss
from trellis.models.keeping import Keeping
from trellis.models.probabilities import log_probabilities_in

LEAST = 1e-4
POS = tr.Stage("pos", "word[0] + suffix(word, 1, 2)[0] + tags(word)[0]", tol=1e-2)
CHUNK = tr.Stage("chunk", "word[0] + pos[-1:1] + transitions(pos[-1] & pos[0])", reads=["pos"], tol=1e-2, weight=0.5)
ENTITY = tr.Stage("entity", "word[0] + pos[0] + chunk[0] + (chunk[-1] & chunk[0])", reads=["pos", "chunk"], tol=1e-2)


def train():
    return tr.sample_corpus("train").slice(0, 40)


def often(data, column):
    """With another label in place of those that one of three folds has alone."""
    labels, ends = data[column].values(), data.offsets[np.linspace(0, len(data), 4).astype(int)]
    parts = [set(labels[a:b]) for a, b in pairwise(ends)]
    common = [name for name in dict.fromkeys(labels) if sum(name in part for part in parts) > 1]
    return data.with_column(column, Column.of([name if name in common else common[0] for name in labels]))


def learned(stages, folds=3, data=None):
    """Stages trained one by one, and where joint training begins."""
    cascade = tr.Cascade(stages, jackknife=folds, tol=1e-2, threads=1)
    learning = Learning(cascade, in_order(stages), train() if data is None else data, None, Keeping())
    learning.stage_by_stage()
    return learning, learning.model.weights


def objective_of(learning, theta, shards):
    return ThreadedObjective(shards, len(theta), joint_prior(learning.ready, 0, shards, theta), 1)


STAGES = {"two": [POS, CHUNK], "three": [POS, CHUNK, ENTITY]}


@pytest.mark.parametrize("stages", STAGES.values(), ids=STAGES)
def test_gradient_and_products_equal_finite_differences(stages):
    learning, start = learned(stages)
    folded = Folded(learning, learning.folds, start)
    rng = np.random.default_rng(0)
    theta, direction = start + 0.1 * rng.normal(size=len(start)), rng.normal(size=len(start))
    with objective_of(learning, theta, folded.shards(0.0)) as objective:
        value, gradient = objective.value_and_gradient(theta)
        assert value == pytest.approx(objective.value(theta), rel=1e-12)
        index = rng.choice(len(theta), 25, replace=False)
        expected = numerical(objective.value, theta, index)
        np.testing.assert_allclose(gradient[index], expected, atol=1e-5, rtol=1e-5)
        step = 1e-5
        moved = [objective.gradient(theta + sign * step * direction) for sign in (1, -1)]
        product = objective.hessian_vector(theta, direction)
        np.testing.assert_allclose(product, (moved[0] - moved[1]) / (2 * step), atol=1e-4, rtol=1e-4)
        assert (objective.hessian_diagonal(theta) > 0).all()


LOWER = {
    "as it is": {},
    "hashed": {"hash_size": 512},
    "of order 0": {"order": 0},
    "with attributes on transitions": {"features": "word[0] + transitions(suffix(word, 1)[0])"},
}


def of_the_last(shards, theta):
    """The last stage's loss: that of all stages without what lower ones say of themselves."""
    for shard in shards:
        for stage in shard.stages[:-1]:
            stage.shard.loss = Silent()
    return sum(shard.value(theta) for shard in shards)


class Silent(LogLoss):
    def answer(self, kept, target):
        found = super().answer(kept, target)
        return replace(found, values=np.zeros_like(found.values))


@pytest.mark.parametrize("settings", LOWER.values(), ids=LOWER)
def test_at_first_the_upper_stage_reads_what_the_folds_say(settings):
    """Its loss is that of a stage which is given the folds' beliefs; labels that a fold never saw are not read."""
    lower = tr.Stage("pos", **{"features": POS.features, "tol": 1e-2, **settings})
    learning, theta = learned([lower, CHUNK], data=often(train(), "pos"))
    upper = of_the_last(Folded(learning, learning.folds, theta).shards(LEAST), theta)
    given = stage_shards(learning.ready[1], [jackknifed(learning, learning.folds, 0)], LEAST)
    own = theta[learning.starts[1] :]
    assert upper == pytest.approx(CHUNK.weight * sum(shard.value(own) for shard in given), rel=1e-9)


def test_at_first_all_of_three_stages_read_what_the_folds_say():
    learning, theta = learned([POS, CHUNK, ENTITY], data=often(often(train(), "pos"), "chunk"))
    top = of_the_last(Folded(learning, learning.folds, theta).shards(LEAST), theta)
    beliefs = [jackknifed(learning, learning.folds, s) for s in (0, 1)]
    given = stage_shards(learning.ready[2], beliefs, LEAST)
    assert top == pytest.approx(sum(shard.value(theta[learning.starts[2] :]) for shard in given), rel=1e-9)


def test_at_first_the_lower_stages_own_loss_is_that_of_the_folds():
    learning, theta = learned([POS, CHUNK], data=often(train(), "pos"))
    shards = Folded(learning, learning.folds, theta).shards(LEAST)
    lower = sum(shard.value(theta) for shard in shards) - of_the_last(shards, theta)
    said = 0.0
    for fold in learning.folds:
        stage, part = fold.model.stages[0], learning.corpus.slice(fold.first, fold.last)
        number = {name: j for j, name in enumerate(stage.labels)}
        gold = np.array([number[name] for name in part["pos"].values()], np.int32)
        lattice = stage.model.lattice_of_packed(stage.model.pack(part), part.offsets)
        said -= float(log_probabilities_in(lattice, gold).sum())
    assert lower == pytest.approx(said, rel=1e-9)


def with_tags(data, changes):
    tags = [*data["pos"].values()]
    for token, tag in changes.items():
        tags[token] = tag
    return data.with_column("pos", Column.of(tags))


PARTLY = dict.fromkeys(range(0, 300, 3), "?")


@pytest.mark.parametrize(
    ("changes", "settings"),
    [
        ({1: "RARE"}, {}),
        ({1: "RARE", **PARTLY}, {"partial": True}),
        ({1: "RARE", 4: "NN|RARE", **PARTLY}, {"partial": True, "order": 2}),
    ],
    ids=["all known", "known in part", "choices, order 2"],
)
def test_labels_that_no_other_fold_has_can_still_be_learned(changes, settings):
    lower = tr.Stage("pos", POS.features, tol=1e-2, **settings)
    learning, theta = learned([lower, CHUNK], data=with_tags(train(), changes))
    shards = Folded(learning, learning.folds, theta).shards(LEAST)
    with objective_of(learning, theta, shards) as objective:
        value, gradient = objective.value_and_gradient(theta)
        assert np.isfinite(value)
        layout, rare = learning.ready[0].model.layout, learning.ready[0].labels.index("RARE")
        assert gradient[: layout.pairs][layout.pair_label == rare].any()
        index = np.random.default_rng(0).choice(len(theta), 15, replace=False)
        np.testing.assert_allclose(gradient[index], numerical(objective.value, theta, index), atol=1e-4, rtol=1e-4)


def test_labels_that_an_encoding_asks_for_elsewhere_are_allowed():
    """In a sentence `? I-RARE`, what is not known has to be B-RARE, which no other fold has either."""
    lower = tr.Stage("chunk", "word[0]", partial=True, encoding="iob2", tol=1e-2)
    upper = tr.Stage("pos", "word[0] + chunk[0]", reads=["chunk"], tol=1e-2)
    data = train()
    tags = [*data["chunk"].values()]
    second = int(data.offsets[1])
    tags[:2], tags[second : second + 2] = ["B-RARE", "I-RARE"], ["?", "I-RARE"]
    learning, theta = learned([lower, upper], data=data.with_column("chunk", Column.of(tags)))
    shards = Folded(learning, learning.folds, theta).shards(LEAST)
    assert np.isfinite(sum(shard.value(theta) for shard in shards))


@pytest.mark.parametrize("optimizer", ["auto", "newton-cg", "sgd"])
def test_weights_of_what_one_fold_has_alone_stay(optimizer):
    """They are not seen there, and would all fall to 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        settings = {"jackknife": 3, "tol": 1e-2, "max_iter": 5, "threads": 1}
        start = tr.Cascade([POS, CHUNK], wire="marginal", **settings).fit(train()).model_.stages[0].model
        found = tr.Cascade([POS, CHUNK], optimizer=optimizer, **settings).fit(train()).model_.stages[0].model
    words = train()["word"].values()
    once = next(word for word in words if words.count(word) == 1)
    n = next(n for n, name in enumerate(start.features.names()) if name.endswith(f"={once}"))
    a, b = start.layout.pair_start[n : n + 2]
    assert np.abs(start.weights[a:b]).max() > 0.01
    np.testing.assert_allclose(found.weights[a:b], start.weights[a:b], rtol=1e-12)
    assert np.abs(found.weights - start.weights).max() > 0.01


def test_small_shards_are_the_same_objective():
    learning, theta = learned([POS, CHUNK])
    folded = Folded(learning, learning.folds, theta)
    totals = []
    for size in (None, 1, 7):
        total, value = np.zeros(len(theta)), 0.0
        for shard in folded.shards(LEAST, size):
            own, gradient = shard.value_and_gradient(theta)
            shard.add_to(total, gradient)
            value += own
        totals.append((value, total))
    for value, total in totals[1:]:
        assert value == pytest.approx(totals[0][0], rel=1e-9)
        np.testing.assert_allclose(total, totals[0][1], atol=1e-9)


def test_without_folds_it_is_the_usual_objective():
    """Of folds that say the same as all data do, nothing is moved."""
    learning, theta = learned([POS, CHUNK])
    folded = Folded(learning, learning.folds, theta)
    folded._parts = [parts_of(learning.ready, learning) for _ in learning.folds]
    with (
        objective_of(learning, theta, folded.shards(LEAST)) as one,
        objective_of(learning, theta, Joined(learning).shards(LEAST)) as usual,
    ):
        np.testing.assert_allclose(one.value_and_gradient(theta)[0], usual.value_and_gradient(theta)[0], rtol=1e-12)
        np.testing.assert_allclose(one.gradient(theta), usual.gradient(theta), atol=1e-9)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"optimizer": "newton-cg"},
        {"optimizer": "sgd", "options": {"epochs": 3}},
        {"schedule": "alternate", "rounds": 1},
        {"frozen": "pos"},
        {"jackknife": 10**30},
    ],
    ids=str,
)
def test_cascades_are_trained_with_folds(settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        cascade = tr.Cascade([POS, CHUNK], **{"jackknife": 2, "tol": 1e-2, "max_iter": 10, **settings})
        cascade.fit(train())
    assert cascade.evaluate(tr.sample_corpus("test"))["chunk"].f1 > 0.5


def test_results_do_not_depend_on_threads():
    one, more = (tr.Cascade([POS, CHUNK], jackknife=3, tol=1e-2, threads=n).fit(train()).model_.weights for n in (1, 3))
    np.testing.assert_array_equal(one, more)


def test_errors_name_the_fold():
    """Only the first sentences have parts of speech, and a fold has all of these."""
    data = train()
    known = int(data.offsets[10])
    column = Column.of([*data["pos"].values()[:known], *["?"] * (data.tokens - known)])
    lower = tr.Stage("pos", "word[0]", partial=True, tol=1e-2)
    with pytest.raises(DataError) as error:
        tr.Cascade([lower, CHUNK], jackknife=3).fit(data.with_column("pos", column))
    assert "without sentences 1 to 13 (jackknife)" in error.value.__notes__[-1]


def test_what_does_not_go_together_is_refused():
    segments = tr.Stage("chunk", "word[0]", model="semi-crf")
    upper = tr.Stage("pos", "word[0] + chunk[0]", reads=["chunk"])
    with pytest.raises(
        SettingError, match="stage 'chunk': jackknife in joint training is for lower stages that are of the model"
    ):
        tr.Cascade([segments, upper], jackknife=2).check()
    for name, value in (("only_seen", True), ("tag_dictionary", 2)):
        limited = tr.Stage("pos", "word[0]", **{name: value})
        with pytest.raises(SettingError, match=rf"stage 'pos': jackknife in joint training .* without {name}"):
            tr.Cascade([limited, CHUNK], jackknife=2).check()
    with pytest.raises(DataError, match="there is one sentence, and jackknife needs two"):
        tr.Cascade([POS, CHUNK], jackknife=2).fit(train().slice(0, 1))
    start = tr.Cascade([POS, CHUNK], wire="marginal").fit(train())
    with pytest.raises(SettingError, match="folds know nothing"):
        tr.Cascade([POS, CHUNK], jackknife=2).fit(train(), start=start)
    with pytest.raises(SettingError, match="start is 'x'; expected a trained Cascade"):
        tr.Cascade([POS, CHUNK], jackknife=2).fit(train(), start="x")
