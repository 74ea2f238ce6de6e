"""Exponentiated gradient: its steps and its dual, compared with sums over whole paths."""

from __future__ import annotations

import numpy as np
import pytest
from eg_reference import Dual
from hypothesis import example, given, settings
from hypothesis import strategies as st
from online_reference import InOrder, make_problem, problems

from trellis.objective.rules.eg import EGRule

plain_problems = problems.filter(lambda problem: problem.examples.arcs is None)


def made_anew(problem, l2, stores, theta=None, **options):
    """theta and the dual that potentials give."""
    zero = np.zeros(problem.size)
    rule = EGRule(l2, fresh=True, **options)
    done = problem.online().epoch(rule, (zero, zero if theta is None else theta), InOrder(), stores)
    return done.vectors[0], done.tally[0], done.stores


@settings(max_examples=40)
@given(problem=plain_problems, seed=st.integers(0, 1000), l2=st.sampled_from([0.1, 1.0, 10.0]))
def test_theta_and_the_dual_are_what_the_potentials_say(problem, seed, l2):
    reference = Dual(problem, l2)
    stores = reference.stores(seed)
    theta, dual, kept = made_anew(problem, l2, stores)
    expected, expected_theta = reference.value(reference.at(*stores[:2]))
    np.testing.assert_allclose(theta, expected_theta, rtol=1e-10, atol=1e-10)
    assert dual == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert dual <= reference.primal(theta) + 1e-9
    if problem.examples.allowed is None:
        for after, before in zip(kept, stores, strict=True):
            np.testing.assert_array_equal(after, before)


@example(make_problem(0, labels=2, lengths=[4, 4], valued=True), 0, 0.1)  # scores spread too far for whole steps
@settings(max_examples=40)
@given(problem=plain_problems, seed=st.integers(0, 1000), l2=st.sampled_from([0.1, 1.0, 10.0]))
def test_an_epoch_makes_the_steps_of_the_formula_and_the_dual_rises(problem, seed, l2):
    reference = Dual(problem, l2)
    stores = reference.stores(seed, rate=0.8)
    theta, dual, stores = made_anew(problem, l2, stores)
    done = problem.online().epoch(EGRule(l2), (theta,), InOrder(), stores)
    nodes, transitions, rates, failed = reference.epoch(stores)
    mask = reference.mask()
    np.testing.assert_allclose(done.stores[0][mask], nodes[mask], rtol=1e-8, atol=1e-8)
    assert not done.stores[0][~mask].any()
    np.testing.assert_allclose(done.stores[1][reference.sentences], transitions[reference.sentences], atol=1e-8)
    np.testing.assert_allclose(done.stores[2], rates, rtol=1e-12)
    risen, tries, unmoved = done.tally
    assert (tries, unmoved) == (failed, 0)
    assert risen >= -1e-9
    after, after_theta = reference.value(reference.at(*done.stores[:2]))
    assert dual + risen == pytest.approx(after, rel=1e-10, abs=1e-9)
    np.testing.assert_allclose(done.vectors[0], after_theta, rtol=1e-9, atol=1e-9)


@given(problem=plain_problems, seed=st.integers(0, 1000))
def test_potentials_may_begin_with_the_scores_of_weights(problem, seed):
    theta = np.random.default_rng(seed).normal(size=problem.size)
    reference = Dual(problem, 1.0)
    nodes, matrix = reference.scores(theta)
    _, _, stores = made_anew(problem, 1.0, reference.stores(), theta, share=1.0)
    mask = reference.mask()
    np.testing.assert_allclose(stores[0][mask], nodes[mask], rtol=1e-12, atol=1e-12)
    for s in reference.sentences:
        np.testing.assert_allclose(stores[1][s], matrix, rtol=1e-12)


def test_a_bonus_brings_potentials_near_the_gold_labels():
    problem = make_problem(2)
    reference = Dual(problem, 1.0)
    theta, dual, stores = made_anew(problem, 1.0, reference.stores(), bonus=12.0)
    expected = np.zeros_like(stores[0])
    expected[np.arange(len(expected)), problem.examples.gold] = 12.0
    np.testing.assert_array_equal(stores[0], expected)
    assert not stores[1].any()
    assert np.abs(theta).max() < 1e-3
    assert dual == pytest.approx(0.0, abs=0.01)


@pytest.fixture
def in_shards(monkeypatch):
    monkeypatch.setattr("trellis.objective.cutting.SHARD", 20)
    problem = make_problem(1, labels=4, lengths=[3, 2, 4, 1, 0, 3] * 6)
    assert len(problem.shards()) > 2
    return problem


def test_an_epoch_over_several_shards_is_one_over_all_sentences(in_shards):
    reference = Dual(in_shards, 0.5)
    theta, _, stores = made_anew(in_shards, 0.5, reference.stores(3))
    done = in_shards.online().epoch(EGRule(0.5), (theta,), InOrder(), stores)
    nodes, transitions, rates, failed = reference.epoch(stores)
    np.testing.assert_allclose(done.stores[0], nodes, atol=1e-8)
    np.testing.assert_allclose(done.stores[1][reference.sentences], transitions[reference.sentences], atol=1e-8)
    np.testing.assert_allclose(done.stores[2], rates, rtol=1e-12)
    assert done.tally[1] == failed


@pytest.mark.parametrize("size", [1e3, 1e6, 1e300])
def test_scores_that_spread_too_far_are_taken_in_part(size):
    problem = make_problem(4, labels=4)
    given = np.random.default_rng(0).normal(size=problem.size) * size
    reference = Dual(problem, 1.0)
    theta, dual, stores = made_anew(problem, 1.0, reference.stores(), given, share=1.0)
    done = problem.online().epoch(EGRule(1.0), (theta,), InOrder(), stores)
    assert all(np.isfinite(each).all() for each in (theta, *done.vectors, *done.stores))
    assert done.tally[0] >= 0.0
    expected, expected_theta = reference.value(reference.at(*stores[:2]))
    assert dual == pytest.approx(expected)
    np.testing.assert_allclose(theta, expected_theta, rtol=1e-9, atol=1e-9)
