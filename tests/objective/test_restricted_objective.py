"""Training on allowed labels: value and gradient are those of the lattice without the other labels."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.engine import ThreadedObjective
from trellis.errors import DataError
from trellis.lattice import Allowed
from trellis.losses import find_loss
from trellis.objective import L2, Examples, cut_into_shards
from trellis.optim import LBFGS
from trellis.scoring import observed_layout, plain_scores


def make_problem(seed, labels=3, lengths=(3, 0, 1, 4), valued=False, attributes=6, everything=False, own=False):
    """A layout (with `own`, only of weights that can learn something) and examples."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    lists = [np.arange(labels), rng.integers(labels, size=1), np.unique(rng.integers(labels, size=2))]
    which = rng.integers(0, 3, offsets[-1]).astype(np.int32)
    allowed = Allowed(which, np.cumsum([0, *map(len, lists)]), np.concatenate(lists).astype(np.int32))
    gold = np.array([rng.choice(lists[k]) for k in which], np.int32)
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 4, offsets[-1]))]).astype(np.int64)
    ids = rng.integers(0, attributes, indptr[-1]).astype(np.int32)
    values = rng.normal(size=len(ids)) * 2 if valued else None
    sizes = attributes, labels
    layout = observed_layout(indptr, ids, gold, offsets, *sizes, everything, everything, allowed if own else None)
    return layout, Examples(indptr, ids, values, gold, offsets, allowed=allowed)


def threaded(layout, examples, l2=0.0, threads=1):
    return ThreadedObjective(cut_into_shards(layout, examples, find_loss("log")), layout.size, L2(l2), threads)


def evaluate(layout, examples, theta):
    with threaded(layout, examples) as objective:
        return objective.value_and_gradient(theta)


def enumerated_value(layout, data, theta):
    """log Z - S(y) over the paths of allowed labels."""
    scores = plain_scores(layout, theta, data.indptr, data.ids, data.values)
    transitions = layout.transition_matrix(theta[layout.pairs :])
    lists = [np.flatnonzero(row).tolist() for row in data.allowed.mask()]

    def score(path, a):
        total = sum(scores[t, j] for t, j in enumerate(path, a))
        return total + sum(transitions[i, j] for i, j in pairwise(path))

    value = 0.0
    for a, b in pairwise(data.offsets.tolist()):
        all_scores = np.array([score(path, a) for path in product(*lists[a:b])])
        high = all_scores.max()
        value += high + np.log(np.exp(all_scores - high).sum()) - score(data.gold[a:b].tolist(), a)
    return value


problems = st.builds(
    make_problem,
    st.integers(0, 2**32 - 1),
    labels=st.integers(1, 4),
    lengths=st.lists(st.integers(0, 4), max_size=4),
    valued=st.booleans(),
    everything=st.booleans(),
    own=st.booleans(),
)


@given(problem=problems, seed=st.integers(0, 1000), scale=st.sampled_from([0.0, 1.0, 10.0]))
def test_the_value_equals_enumeration(problem, seed, scale):
    theta = np.random.default_rng(seed).normal(size=problem[0].size) * scale
    assert evaluate(*problem, theta)[0] == pytest.approx(enumerated_value(*problem, theta), rel=1e-11, abs=1e-10)


@pytest.mark.parametrize("valued", [False, True])
@pytest.mark.parametrize("labels", [1, 2, 5, 9])
def test_the_gradient_equals_central_differences(valued, labels, monkeypatch):
    monkeypatch.setattr("trellis.objective.cutting.SHARD", 12)
    rng = np.random.default_rng(labels)
    layout, examples = make_problem(labels, labels, rng.integers(1, 9, 12).tolist(), valued, attributes=15)
    with threaded(layout, examples, l2=0.7, threads=2) as objective:
        assert len(objective.shards) > 2
        theta = rng.normal(size=layout.size)
        gradient, step = objective.value_and_gradient(theta)[1], 1e-5
        for k in range(layout.size):
            ends = [objective.value_and_gradient(theta + d * (np.arange(layout.size) == k))[0] for d in (step, -step)]
            assert gradient[k] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6, abs=1e-6)


@given(problem=problems, seed=st.integers(0, 1000))
def test_where_every_label_is_allowed_nothing_changes(problem, seed):
    layout, examples = problem
    free = Allowed(np.zeros_like(examples.gold), np.array([0, layout.labels]), np.arange(layout.labels, dtype=np.int32))
    theta = np.random.default_rng(seed).normal(size=layout.size)
    value, gradient = evaluate(layout, replace(examples, allowed=free), theta)
    expected, expected_gradient = evaluate(layout, replace(examples, allowed=None), theta)
    assert value == pytest.approx(expected, rel=1e-11, abs=1e-11)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("weight", [900.0, -800.0, 1e4])
@pytest.mark.parametrize("where", ["attribute", "transition"])
@pytest.mark.parametrize("valued", [False, True])
def test_sentences_that_underflow_are_as_exact(weight, where, valued):
    for seed in range(5):
        problem = make_problem(seed, lengths=(3, 1, 4, 2, 4, 3, 3), valued=valued, everything=True)
        theta = np.random.default_rng(seed).normal(size=problem[0].size)
        theta[0 if where == "attribute" else -2] = weight
        value, gradient = evaluate(*problem, theta)
        assert value == pytest.approx(enumerated_value(*problem, theta), rel=1e-11, abs=1e-9)
        assert np.isfinite(gradient).all()


@pytest.mark.parametrize("bad", [np.nan, 1e308])
def test_scores_that_are_not_finite_are_explained_where_training_starts(bad):
    layout, examples = make_problem(1, lengths=(4, 5, 6), valued=True, everything=True)
    theta = np.full(layout.size, bad)
    assert not np.isfinite(evaluate(layout, examples, theta)[0])
    with threaded(layout, examples) as objective, pytest.raises(DataError, match="not finite"):
        LBFGS().start(objective, theta)


def test_the_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr("trellis.objective.cutting.SHARD", 100)
    layout, examples = make_problem(5, 5, [7, 3, 11, 1] * 60, attributes=300)
    theta = np.random.default_rng(1).normal(size=layout.size)
    answers = []
    for threads in (1, 2, 8):
        with threaded(layout, examples, 1.3, threads) as objective:
            assert len(objective.shards) > 8
            answers += [objective.value_and_gradient(theta) for _ in range(3)]
    assert len({(value, gradient.tobytes()) for value, gradient in answers}) == 1


def test_many_shards_and_blocks_add_up_to_one(monkeypatch):
    layout, examples = make_problem(3, 4, [3, 0, 5, 1, 2, 4, 4, 1, 0, 3] * 3, attributes=20)
    theta = np.random.default_rng(0).normal(size=layout.size)
    value, gradient = evaluate(layout, examples, theta)
    monkeypatch.setattr("trellis.objective.cutting.SHARD", 6)
    monkeypatch.setattr("trellis.objective.shard.BLOCK", 3)
    with threaded(layout, examples) as objective:
        assert max(len(shard.blocks) for shard in objective.shards) > 1
        cut_value, cut_gradient = objective.value_and_gradient(theta)
    assert cut_value == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(cut_gradient, gradient, rtol=1e-12, atol=1e-12)


def test_tokens_without_a_choice_teach_nothing_about_their_attributes():
    layout, examples = make_problem(0, lengths=(5, 6), everything=True)
    fixed = Allowed(examples.gold + 1, np.array([0, 3, 4, 5, 6]), np.array([0, 1, 2, 0, 1, 2], np.int32))
    theta = np.random.default_rng(0).normal(size=layout.size)
    value, gradient = evaluate(layout, replace(examples, allowed=fixed), theta)
    assert value == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-12)


def test_a_label_that_its_token_may_not_have_is_named():
    _, examples = make_problem(0, labels=3, lengths=(2, 0, 3))
    only_first = Allowed(np.array([0, 0, 0, 0, 1], np.int32), np.array([0, 3, 4]), np.array([0, 1, 2, 0], np.int32))
    gold = np.array([0, 1, 2, 0, 2], np.int32)
    with pytest.raises(
        DataError, match="sentence 3, token 3: its own label, number 2, is not among the labels allowed"
    ):
        replace(examples, gold=gold, allowed=only_first)


def test_label_sets_that_do_not_fit_the_data_are_refused():
    layout, examples = make_problem(0, labels=3, lengths=(2, 3))
    with pytest.raises(DataError, match="for 4 of 5 tokens"):
        replace(examples, allowed=examples.allowed.part(0, 4))
    more = Allowed(np.zeros(5, np.int32), np.array([0, 4]), np.arange(4, dtype=np.int32))
    with pytest.raises(DataError, match="4 labels; there are 3"):
        cut_into_shards(layout, replace(examples, allowed=more), find_loss("log"))
