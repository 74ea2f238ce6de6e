"""The objective of sparse features and an encoder: its gradient, its batches, and the steps that are made of it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from trellis.corpus import Corpus
from trellis.features import TemplateFeatures, templates_for
from trellis.features.inputs import InputTables
from trellis.labels.encode import labels_of
from trellis.lattice import Allowed
from trellis.lattice.segments import SegmentTypes
from trellis.losses import Target, find_loss
from trellis.neural.batches import Batches, within_room
from trellis.neural.objective import NeuralObjective
from trellis.neural.shape import EncoderShape
from trellis.objective import Examples
from trellis.objective.kernels.adam import adagrad_step, adam_step, move_towards
from trellis.optim import Adam
from trellis.scoring import observed_layout, of_order
from trellis.scoring.segments import observed_segments

LABELS = 3


def make(kind="chain", loss="log", threads=1, batch=2, l2=0.3, dropout=0.0, alone=0.0, seed=0):
    """An objective in double precision, and weights drawn at random."""
    rng = np.random.default_rng(seed)
    sizes = [3, 1, 4, 2, 2]
    words = [[f"w{rng.integers(5)}" for _ in range(size)] for size in sizes]
    corpus = Corpus.from_lists({"word": words, "pos": [[w[-1] for w in row] for row in words]})
    gold = rng.integers(0, LABELS, corpus.tokens).astype(np.int32)
    features, packed = TemplateFeatures.learn(corpus, templates_for("word[-1:1]", ["word", "pos"], "t"), "t")
    target, allowed, labels = None, None, LABELS
    layout = observed_layout(packed.indptr, packed.ids, gold, corpus.offsets, features.attributes, LABELS)
    if kind == "order 2":
        layout = of_order(layout, 2, gold, corpus.offsets, None, False)
    elif kind == "allowed":
        mask = rng.random((corpus.tokens, LABELS)) < 0.6
        mask[np.arange(corpus.tokens), gold] = True
        allowed = Allowed.of_mask(mask)
    elif kind == "soft":
        soft = rng.dirichlet(np.ones(LABELS), corpus.tokens)
        target, loss = Target(gold, soft=soft), "soft"
    elif kind == "weighted":
        target = Target(gold, np.array([1.0, 0.0, 2.0, 0.5, 1.0]))
    elif kind == "segments":
        labels = len(labels_of(["A", "B"], "iob2"))
        types = SegmentTypes.of([2, 2, 1], [1, 3, 0], [2, 4, -1], labels)
        gold = np.array([1, 2, 0, 3, 1, 0, 3, 4, 0, 1, 1, 2], np.int32)
        tokens = observed_layout(packed.indptr, packed.ids, gold, corpus.offsets, features.attributes, labels)
        layout = observed_segments(tokens.lower(0), types, gold, corpus.offsets, None, 0, False, False)
    tables = InputTables.learn(corpus, ["word", "pos"])
    shape = EncoderShape(tables.sizes, tables.alphabet, labels, 4, 2, 3, 3, 4, 1)
    examples = Examples(packed.indptr, packed.ids, packed.values, gold, corpus.offsets, None, allowed, target)
    found = find_loss("log", "soft") if loss == "soft" else find_loss(loss)
    batches = Batches(layout, examples, tables.transform(corpus), found, shape, batch, seed)
    attributes = (layout.tokens if kind == "segments" else layout).pairs
    amounts = l2, dropout, alone
    objective = NeuralObjective(batches, layout.size, attributes, shape, *amounts, seed, threads, torch.float64)
    return objective, 0.5 * rng.normal(size=objective.size)


CASES = {
    "chain": {},
    "pointwise-log": {"loss": "pointwise-log"},
    "softmax-margin": {"loss": "softmax-margin"},
    "order 2": {"kind": "order 2"},
    "allowed": {"kind": "allowed"},
    "soft": {"kind": "soft"},
    "weighted": {"kind": "weighted"},
    "segments": {"kind": "segments"},
    "large batches": {"batch": 100},
}


@pytest.mark.parametrize("case", CASES)
def test_the_gradient_is_that_of_differences(case):
    objective, theta = make(**CASES[case])
    with objective:
        value, gradient = objective.value_and_gradient(theta)
        rng = np.random.default_rng(1)
        for _ in range(6):
            direction, h = rng.normal(size=len(theta)), 1e-5
            ahead, behind = (objective.value_and_gradient(theta + s * h * direction)[0] for s in (1.0, -1.0))
            np.testing.assert_allclose((ahead - behind) / (2 * h), gradient @ direction, rtol=1e-6, atol=1e-7)
        for i in rng.choice(len(theta), 25, replace=False).tolist():
            step = np.zeros(len(theta))
            step[i] = 1e-5
            ahead, behind = (objective.value_and_gradient(theta + s * step)[0] for s in (1.0, -1.0))
            np.testing.assert_allclose((ahead - behind) / 2e-5, gradient[i], rtol=1e-5, atol=1e-6)
    assert np.isfinite(value)


def test_batches_hold_every_sentence_once_and_share_the_prior_out():
    objective, _ = make()
    batches = [objective.batches[k] for k in range(len(objective.batches))]
    assert sum(batch.sentences for batch in batches) == 5
    prior = np.zeros(objective.sparse)
    for batch in batches:
        assert np.all(np.diff(batch.weights) > 0)
        prior[batch.weights] += batch.shares
    assert set(np.round(prior, 12)) <= {0.0, 1.0}


def test_sentences_without_a_token_are_left_out():
    corpus = Corpus.from_lists({"word": [["a"], [], ["b", "a"]]})
    tables = InputTables.learn(corpus, ["word"])
    shape = EncoderShape(tables.sizes, tables.alphabet, 2, 4, 1, 2, 2, 2, 1)
    features, packed = TemplateFeatures.learn(corpus, templates_for("word[0]", ["word"], "t"), "t")
    gold = np.array([0, 1, 0], np.int32)
    layout = observed_layout(packed.indptr, packed.ids, gold, corpus.offsets, features.attributes, 2)
    examples = Examples(packed.indptr, packed.ids, packed.values, gold, corpus.offsets)
    batches = Batches(layout, examples, tables.transform(corpus), find_loss("log"), shape, 8, 0)
    assert [batches[k].sentences for k in range(len(batches))] == [2]


def test_threads_change_nothing(monkeypatch):
    found = []
    for threads in (1, 2, 3):
        monkeypatch.setattr("trellis.neural.batches._PART", 2)
        objective, theta = make(batch=40)
        assert len(objective.batches[0].parts) == 3
        sizes, amounts = (objective.sparse, objective.sparse - 3, objective.shape), (0.3, 0.5, 0.5)
        with NeuralObjective(objective.batches, *sizes, *amounts, 0, threads) as one:
            state = Adam(epochs=2).start(one, theta)
            for _ in range(2):
                state = Adam(epochs=2).step(one, state)
            found.append(state)
    for other in found[1:]:
        assert other.value == found[0].value
        assert np.array_equal(other.theta, found[0].theta)
        assert np.array_equal(other.current, found[0].current)


def test_the_number_of_threads_of_pytorch_is_as_it_was():
    before = torch.get_num_threads()
    with make(threads=2)[0]:
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


def test_noise_depends_on_the_epoch_and_the_batch_alone():
    objective, theta = make(dropout=0.5)
    with objective:
        first, again, later = (objective.slope(theta, 0, epoch) for epoch in (3, 3, 4))
    assert first.loss == again.loss
    for (_, one), (_, other) in zip(first.encoder, again.encoder, strict=True):
        assert np.array_equal(one, other)
    assert first.loss != later.loss


def test_batches_that_are_made_anew_are_the_same(monkeypatch):
    objective, theta = make(batch=3)
    monkeypatch.setattr("trellis.neural.batches._KEPT", 0)
    anew, _ = make(batch=3)
    with objective, anew:
        for _ in range(2):
            one, other = objective.value_and_gradient(theta), anew.value_and_gradient(theta)
            assert one[0] == other[0]
            assert np.array_equal(one[1], other[1])


def test_parts_are_cut_where_one_long_sentence_would_fill_up_all_others():
    lengths = np.array([2] * 15 + [5000])
    found = within_room(lengths, 0, 16)
    assert [a for a, _ in found] == [0, *(b for _, b in found[:-1])]
    assert found[0][0] == 0
    assert found[-1] == (15, 16)
    assert all((b - a) * lengths[a:b].max() <= 8192 for a, b in found)
    assert within_room(np.array([40] * 16), 0, 16) == [(0, 16)]


def test_where_the_encoder_learns_alone_features_neither_score_nor_learn():
    objective, theta = make(alone=0.999999, l2=0.0)
    with objective:
        slope = objective.slope(theta, 0, 0)
        theta[: objective._attributes] += 1.0
        again = objective.slope(theta, 0, 0)
    places, gradient = slope.sparse
    assert again.loss == slope.loss
    assert not gradient[places < objective._attributes].any()
    assert gradient[places >= objective._attributes].any()


class TestAdam:
    def test_an_epoch_lowers_the_loss_and_leaves_its_state_alone(self):
        objective, theta = make()
        optimizer = Adam(epochs=30, step_size=0.02)
        with objective:
            start = objective.value_and_gradient(theta)[0]
            state = optimizer.start(objective, theta)
            kept = theta.copy()
            while not state.finished:
                state = optimizer.step(objective, state)
            end = objective.value_and_gradient(state.theta)[0]
        assert np.array_equal(theta, kept)
        assert end < 0.5 * start
        assert state.iteration == state.done == 30
        assert optimizer.fraction_done(state) == 1.0

    def test_the_rules_are_the_papers(self):
        rng = np.random.default_rng(2)
        theta, index, gradient = rng.normal(size=5), np.array([1, 3, 4]), np.array([0.5, -2.0, 0.0])
        own, squares = theta.copy(), np.array([0.0, 4.0, 0.0, 0.0, 0.0])
        adagrad_step(own, squares, index, gradient, 2.0, 0.1)
        np.testing.assert_allclose(squares, [0.0, 5.0, 0.0, 16.0, 0.0])
        np.testing.assert_allclose(own - theta, [0.0, -0.1 / np.sqrt(5.0), 0.0, 0.1, 0.0])
        own, means, squares = theta.copy(), np.zeros(5), np.zeros(5)
        for count in (1, 2):
            adam_step(own, means, squares, index, gradient, 1.0, 0.1, 0.9, 0.999, count)
        np.testing.assert_allclose(own - theta, [0.0, -0.2, 0.0, 0.2, 0.0], atol=1e-6)
        average = np.zeros(5)
        move_towards(average, theta, 0.25)
        np.testing.assert_allclose(average, 0.25 * theta)

    def test_slopes_whose_squares_are_nothing_are_left_alone(self):
        theta, squares = np.array([1.0, 2.0]), np.zeros(2)
        adagrad_step(theta, squares, np.array([0, 1]), np.array([1e-200, 0.0]), 1.0, 0.05)
        assert theta.tolist() == [1.0, 2.0]

    def test_long_gradients_are_cut(self):
        objective, theta = make()
        with objective:
            free = Adam(epochs=1, average=0.0, clip=1e9).step(objective, Adam().start(objective, theta))
            cut = Adam(epochs=1, average=0.0, clip=1e-9).step(objective, Adam().start(objective, theta))
        sparse = objective.sparse
        assert free.gradient_norm > 1e-3
        assert (
            np.abs(cut.current[sparse:] - theta[sparse:]).max() < np.abs(free.current[sparse:] - theta[sparse:]).max()
        )

    def test_without_an_average_it_is_where_training_is(self):
        objective, theta = make()
        with objective:
            state = Adam(average=0.0).step(objective, Adam().start(objective, theta))
        assert np.array_equal(state.theta, state.current)
