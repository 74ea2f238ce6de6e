"""Value and gradient of the training objective equal enumeration and finite differences, for any number of threads."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.engine import ThreadedObjective
from trellis.errors import DataError, SettingError
from trellis.losses import find_loss
from trellis.objective import L2, Examples, PlainShard, cut_into_shards
from trellis.optim import LBFGS
from trellis.scoring import WeightLayout, observed_layout


@dataclass
class Problem:
    layout: WeightLayout
    examples: Examples

    @property
    def size(self):
        return self.layout.size


def make_problem(seed, labels=3, lengths=(3, 0, 1, 4), valued=False, attributes=6, everything=False):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 4, offsets[-1]))]).astype(np.int64)
    ids = rng.integers(0, attributes, indptr[-1]).astype(np.int32)
    gold = rng.integers(0, labels, offsets[-1]).astype(np.int32)
    values = rng.normal(size=len(ids)) * 2 if valued else None
    layout = observed_layout(indptr, ids, gold, offsets, attributes, labels, everything, everything)
    return Problem(layout, Examples(indptr, ids, values, gold, offsets))


def enumerated(problem, theta):
    """log Z - S(y) over all sentences, and E[features] - features(y), from a list of all paths."""
    layout, data = problem.layout, problem.examples
    values = np.ones(len(data.ids)) if data.values is None else data.values
    total, gradient = 0.0, np.zeros(layout.size)
    at = {(int(i), int(j)): layout.pairs + k for k, (i, j) in enumerate(zip(layout.source, layout.target, strict=True))}

    def features(path, first):
        out = np.zeros(layout.size)
        for t, j in enumerate(path, first):
            for k in range(data.indptr[t], data.indptr[t + 1]):
                for p in range(layout.pair_start[data.ids[k]], layout.pair_start[data.ids[k] + 1]):
                    out[p] += values[k] * (layout.pair_label[p] == j)
        for pair in pairwise(path):
            if pair in at:
                out[at[pair]] += 1.0
        return out

    for a, b in zip(data.offsets.tolist(), data.offsets[1:].tolist(), strict=False):
        paths = list(product(range(layout.labels), repeat=b - a))
        table = np.array([features(path, a) for path in paths])
        scores = table @ theta
        powers = np.exp(scores - scores.max())
        gold = features(tuple(data.gold[a:b].tolist()), a)
        total += scores.max() + np.log(powers.sum()) - gold @ theta
        gradient += powers @ table / powers.sum() - gold
    return total, gradient


def whole_shard(problem, theta):
    """One shard's answer in the order of theta."""
    shard = PlainShard(problem.layout, problem.examples, find_loss("log"))
    value, local = shard.value_and_gradient(theta)
    gradient = np.zeros(problem.size)
    shard.add_to(gradient, local)
    return value, gradient


def threaded(problem, l2=0.0, threads=1):
    shards = cut_into_shards(problem.layout, problem.examples, find_loss("log"))
    return ThreadedObjective(shards, problem.size, L2(l2), threads)


problems = st.builds(
    make_problem,
    st.integers(0, 2**32 - 1),
    labels=st.integers(1, 4),
    lengths=st.lists(st.integers(0, 4), max_size=4),
    valued=st.booleans(),
    everything=st.booleans(),
)


@given(problem=problems, seed=st.integers(0, 1000), scale=st.sampled_from([0.0, 1.0, 10.0]))
def test_a_shard_equals_enumeration(problem, seed, scale):
    theta = np.random.default_rng(seed).normal(size=problem.size) * scale
    value, gradient = whole_shard(problem, theta)
    expected, expected_gradient = enumerated(problem, theta)
    assert value == pytest.approx(expected, rel=1e-11, abs=1e-11)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("weight", [900.0, -900.0, 1e4])
@pytest.mark.parametrize("where", ["attribute", "transition"])
@pytest.mark.parametrize("valued", [False, True])
def test_sentences_that_underflow_are_as_exact(weight, where, valued):
    """A weight this large sends sentences through the log domain; the others stay as they were."""
    for seed in range(5):
        problem = make_problem(seed, lengths=(3, 1, 4, 2, 4, 3, 3), valued=valued, everything=True)
        theta = np.random.default_rng(seed).normal(size=problem.size)
        theta[0 if where == "attribute" else -2] = weight
        value, gradient = whole_shard(problem, theta)
        expected, expected_gradient = enumerated(problem, theta)
        assert value == pytest.approx(expected, rel=1e-11, abs=1e-9)
        np.testing.assert_allclose(gradient, expected_gradient, atol=1e-9)


@pytest.mark.parametrize("valued", [False, True])
@pytest.mark.parametrize("labels", [1, 2, 5, 9])
def test_the_gradient_equals_central_differences(valued, labels, monkeypatch):
    monkeypatch.setattr("trellis.objective.cutting.SHARD", 12)
    rng = np.random.default_rng(labels)
    problem = make_problem(labels, labels, rng.integers(1, 9, 12).tolist(), valued, attributes=15)
    with threaded(problem, l2=0.7, threads=2) as objective:
        assert len(objective.shards) > 2
        theta = rng.normal(size=problem.size)
        gradient = objective.value_and_gradient(theta)[1]
        step = 1e-5
        for k in range(problem.size):
            ends = [objective.value_and_gradient(theta + d * (np.arange(problem.size) == k))[0] for d in (step, -step)]
            assert gradient[k] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("valued", [False, True])
def test_many_shards_and_blocks_add_up_to_one(valued, monkeypatch):
    problem = make_problem(3, 4, [3, 0, 5, 1, 2, 4, 4, 1, 0, 3] * 3, valued, attributes=20)
    theta = np.random.default_rng(0).normal(size=problem.size)
    value, gradient = whole_shard(problem, theta)
    monkeypatch.setattr("trellis.objective.cutting.SHARD", 6)
    monkeypatch.setattr("trellis.objective.shard.BLOCK", 3)
    with threaded(problem) as objective:
        assert len(objective.shards) > 5
        assert max(len(shard.blocks) for shard in objective.shards) > 1
        cut_value, cut_gradient = objective.value_and_gradient(theta)
    assert cut_value == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(cut_gradient, gradient, rtol=1e-12, atol=1e-12)


def test_the_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr("trellis.objective.cutting.SHARD", 100)
    problem = make_problem(5, 5, [7, 3, 11, 1] * 60, attributes=300)
    theta = np.random.default_rng(1).normal(size=problem.size)
    answers = []
    for threads in (1, 2, 8):
        with threaded(problem, 1.3, threads) as objective:
            assert len(objective.shards) > 8
            answers += [objective.value_and_gradient(theta) for _ in range(3)]
    assert len({(value, gradient.tobytes()) for value, gradient in answers}) == 1


@given(lengths=st.lists(st.integers(0, 30), min_size=1, max_size=40))
def test_shards_are_whole_sentences_in_order(lengths):
    problem = make_problem(0, lengths=lengths, attributes=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("trellis.objective.cutting.SHARD", 20)
        shards = cut_into_shards(problem.layout, problem.examples, find_loss("log"))
    assert len(shards) <= 16
    np.testing.assert_array_equal(np.concatenate([shard.gold for shard in shards]), problem.examples.gold)
    assert [n for shard in shards for n in np.diff(shard.offsets).tolist()] == lengths


def test_a_shard_reads_only_the_weights_its_tokens_touch(monkeypatch):
    monkeypatch.setattr("trellis.objective.cutting.SHARD", 4)
    problem = make_problem(2, lengths=[4] * 6, attributes=40)
    for shard in cut_into_shards(problem.layout, problem.examples, find_loss("log")):
        assert len(set(shard.index.tolist())) == len(shard.index) < problem.size


def test_the_prior_is_half_l2_times_the_squared_length():
    theta = np.array([3.0, -4.0])
    gradient = np.array([1.0, 1.0])
    prior = L2(0.5)
    prior.add_gradient(theta, gradient)
    assert prior.value(theta) == 0.5 / 2 * 25
    assert gradient.tolist() == [2.5, -1.0]


def test_the_objective_leaves_theta_alone():
    problem = make_problem(0)
    theta = np.ones(problem.size)
    with threaded(problem, l2=1.0, threads=None) as objective:
        first, again = objective.value_and_gradient(theta), objective.value_and_gradient(theta)
    assert np.all(theta == 1.0)
    assert first[0] == again[0]
    assert first[1].tobytes() == again[1].tobytes()


def test_no_sentence_at_all_is_worth_nothing():
    problem = make_problem(0, lengths=())
    with threaded(problem) as objective:
        value, gradient = objective.value_and_gradient(np.zeros(problem.size))
    assert (value, gradient.tolist()) == (0.0, [0.0] * problem.size)


@pytest.mark.parametrize("bad", [np.nan, 1e308])
def test_scores_that_are_not_finite_are_explained_where_training_starts(bad):
    """And in the middle of it they are a step too far: no number, which a line search answers with a shorter one."""
    problem = make_problem(1, valued=True, everything=True)
    theta = np.full(problem.size, bad)
    assert not np.isfinite(whole_shard(problem, theta)[0])
    with threaded(problem) as objective, pytest.raises(DataError, match="not finite"):
        LBFGS().start(objective, theta)


def test_an_unknown_loss_is_named_together_with_those_there_are():
    with pytest.raises(SettingError, match="loss 'squared' is not known; the losses are: log"):
        find_loss("squared")
