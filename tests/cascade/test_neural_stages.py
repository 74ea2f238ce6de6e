"""Stages with an encoder: below others, above them, and trained as one with them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import trellis
from trellis import Cascade, Stage
from trellis.cascade.learning import Learning
from trellis.cascade.neural_joint import NeuralJointObjective
from trellis.errors import SettingError
from trellis.models.keeping import Keeping
from trellis.optim import Adam

SMALL = {"embedding": 8, "letters": 4, "filters": 4, "hidden": 6, "epochs": 3}


def stages(lower="neural-crf", upper="crf", **more):
    return [
        Stage("pos", "word[0]", model=lower, **(SMALL if lower == "neural-crf" else {}), **more),
        Stage("chunk", "word[-1:1]", reads=["pos"], model=upper, **(SMALL if upper == "neural-crf" else {})),
    ]


PAIRS = [("neural-crf", "crf"), ("crf", "neural-crf"), ("neural-crf", "neural-crf"), ("neural-crf", "semi-crf")]
each_pair = pytest.mark.parametrize("pair", PAIRS, ids=" below ".join)


@each_pair
@pytest.mark.parametrize("wire", ["gold", "onebest", "kbest", "sample", "marginal", "joint"])
def test_every_wire_trains_answers_and_is_saved(pair, wire, corpus, heldout, tmp_path):
    cascade = Cascade(stages(*pair), wire=wire, max_iter=5).fit(corpus.slice(0, 20))
    cascade.save(tmp_path / "c")
    again = trellis.load(tmp_path / "c")
    assert again.predict(heldout) == cascade.predict(heldout)
    assert again.stages == cascade.stages
    for rows in cascade.predict_marginals(heldout)["chunk"]:
        np.testing.assert_allclose(rows.sum(axis=1), 1.0)


@each_pair
@pytest.mark.parametrize("reads_pairs", [False, True])
def test_the_joint_gradient_is_that_of_differences(pair, reads_pairs, corpus):
    own = stages(*pair)
    if reads_pairs and pair[1] != "semi-crf":
        own[1] = Stage(
            "chunk", "word[0] + (pos[-1] & pos[0]) + transitions(pos[0])", reads=["pos"], model=pair[1],
            **(SMALL if pair[1] == "neural-crf" else {}),
        )  # fmt: skip
    cascade = Cascade(own, wire="joint", least=0.0)
    learning = Learning(cascade, cascade.check(), corpus.slice(0, 5).compact(), None, Keeping())
    rng = np.random.default_rng(1)
    theta = 0.3 * rng.normal(size=len(learning.model.weights))
    with NeuralJointObjective(learning, torch.float64) as objective:
        _, gradient = objective.value_and_gradient(theta)
        for _ in range(5):
            direction, h = rng.normal(size=len(theta)), 1e-6  # small, for the corners of the maximum over letters
            ahead, behind = (objective.value_and_gradient(theta + s * h * direction)[0] for s in (1.0, -1.0))
            np.testing.assert_allclose((ahead - behind) / (2 * h), gradient @ direction, rtol=1e-5, atol=1e-5)


def test_joint_training_moves_the_encoder_below_by_the_loss_above(corpus):
    """With a lower stage whose own loss does not count, what it learns comes from above."""
    lower = Stage("pos", "", model="neural-crf", weight=1e-9, **SMALL)
    cascade = Cascade([lower, Stage("chunk", "word[0]", reads=["pos"])], wire="joint")
    learning = Learning(cascade, cascade.check(), corpus, None, Keeping())
    theta = learning.model.weights + 0.1
    with NeuralJointObjective(learning) as objective:
        slope = objective.slope(theta, 0)
        assert max(np.abs(numbers).max() for _, numbers in slope.encoder) > 1e-4
        optimizer = Adam(epochs=3, step_size=0.01)
        state = optimizer.start(objective, theta)
        before = objective.value_and_gradient(theta)[0]
        while not state.finished:
            state = optimizer.step(objective, state)
        assert objective.value_and_gradient(state.current)[0] < before


def test_a_killed_joint_training_goes_on_to_the_same_bits(corpus, tmp_path):
    part = corpus.slice(0, 20)
    whole = Cascade(stages(), wire="joint", max_iter=5).fit(part)

    class Stopped(Exception):
        pass

    seen = []

    def stop(progress):
        seen.append(progress)
        if len(seen) > 9:
            raise Stopped

    cascade = Cascade(stages(), wire="joint", max_iter=5)
    with pytest.raises(Stopped):
        cascade.fit(part, checkpoint=tmp_path / "run", checkpoint_every=1, progress=stop)
    again = Cascade(stages(), wire="joint", max_iter=5)
    again.fit(part, checkpoint=tmp_path / "run", checkpoint_every=1, resume=True)
    assert np.array_equal(again.model_.weights, whole.model_.weights)


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"optimizer": "lbfgs"}, "knows no optimizer 'lbfgs'"),
        ({"frozen": ["pos"]}, "knows no stages that are frozen"),
        ({"schedule": "alternate"}, "knows no schedule 'alternate'"),
        ({"jackknife": 3}, "knows no jackknife"),
    ],
)
def test_what_joint_training_with_an_encoder_cannot_do_is_said_first(settings, what, corpus):
    with pytest.raises(SettingError, match=f"stage 'pos' has an encoder, .*{what}"):
        Cascade(stages(), wire="joint", **settings).fit(corpus)


def test_folds_may_be_labelled_by_stages_with_an_encoder(corpus, heldout):
    cascade = Cascade(stages(), wire="marginal", jackknife=2, max_iter=5).fit(corpus.slice(0, 20))
    assert len(cascade.predict(heldout)["chunk"]) == len(heldout)


def test_a_stage_may_have_no_sparse_features_of_its_own(corpus, heldout):
    own = {"model": "neural-crf", **SMALL}
    cascade = Cascade([Stage("pos", "", **own), Stage("chunk", "", reads=["pos"], **own)], wire="marginal").fit(corpus)
    assert cascade.model_.stages[0].model.layout.attributes == 0
    assert cascade.score(heldout) > 0.0


def test_development_data_stop_a_stage(corpus, heldout):
    own = stages()
    own[0] = Stage("pos", "word[0]", model="neural-crf", patience=1, sparse_first=False, **{**SMALL, "epochs": 30})
    cascade = Cascade(own, wire="marginal", max_iter=5).fit(corpus, dev=heldout)
    assert cascade.outcomes_["pos"].iterations < 30
    assert cascade.outcomes_["pos"].dev_score > 0.5


@pytest.mark.parametrize("settings", [{"inputs": "pos"}, {"words": "pos"}], ids=str)
def test_an_encoder_sees_nothing_that_another_stage_predicts(settings, corpus):
    upper = Stage("chunk", "word[0]", reads=["pos"], model="neural-crf", **SMALL, **settings)
    with pytest.raises(SettingError, match=r"stage 'chunk': (inputs names the column|words is) 'pos'"):
        Cascade([Stage("pos", "word[0]"), upper]).fit(corpus)


def test_a_start_may_lack_a_stage_that_has_an_encoder(corpus, heldout):
    start = Cascade([Stage("pos", "word[0]")], wire="marginal").fit(corpus)
    own = [Stage("pos", "word[0]"), Stage("chunk", "word[0]", reads=["pos"], model="neural-crf", **SMALL)]
    cascade = Cascade(own, wire="joint").fit(corpus, start=start)
    assert cascade.score(heldout) > 0.0
