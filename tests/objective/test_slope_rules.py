"""Rules that learn from slopes of the log loss make the updates they say they make: compared with whole paths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from online_reference import ATTRIBUTES, InOrder, make_problem

from trellis.objective.rules.adagrad import AdaGradRule
from trellis.objective.rules.saga import SAGARule
from trellis.objective.rules.sgd import SGDRule
from trellis.rows import padded

problems = st.builds(
    make_problem,
    st.integers(0, 2**32 - 1),
    labels=st.integers(1, 4),
    lengths=st.lists(st.integers(0, 4), min_size=1, max_size=6).filter(any),
    valued=st.booleans(),
    everything=st.booleans(),
    allowed=st.booleans(),
)
scales = st.sampled_from([0.0, 0.5, 3.0])


def fours_of(problem):
    """Sentences in groups as a pass in order sees them: four of about the same length."""
    lengths = [len(problem.tokens_of(s)) for s in range(problem.sentences)]
    by_length = sorted(filter(lengths.__getitem__, range(problem.sentences)), key=lengths.__getitem__)
    return [by_length[n : n + 4] for n in range(0, len(by_length), 4)]


def probabilities(problem, s, theta):
    paths = problem.paths(s)
    totals = np.array([theta @ problem.counts(s, path) for path in paths])
    log_z = np.logaddexp.reduce(totals)
    return paths, np.exp(totals - log_z), log_z


def loss_and_gradient(problem, s, theta):
    paths, p, log_z = probabilities(problem, s, theta)
    gold = problem.counts(s, problem.gold(s))
    return log_z - theta @ gold, p @ np.array([problem.counts(s, path) for path in paths]) - gold


def slopes(problem, s, theta):
    """Loss; P - 1(y) of nodes F64[length, labels]; of transitions, added up, F64[labels, labels]."""
    paths, p, log_z = probabilities(problem, s, theta)
    labels, gold = problem.layout.labels, problem.gold(s)
    nodes, arcs = np.zeros((len(gold), labels)), np.zeros((labels, labels))
    for path, share in [*zip(paths, p, strict=True), (gold, -1.0)]:
        for t, j in enumerate(path):
            nodes[t, j] += share
            if t:
                arcs[path[t - 1], j] += share
    return log_z - theta @ problem.counts(s, gold), nodes, arcs


def occurrences(problem, t):
    """Weight, label and value of all that bears on token t: attributes seen with many labels first."""
    layout, data = problem.layout, problem.examples
    width = padded(layout.labels)
    counts = np.diff(layout.pair_start)
    here = range(data.indptr[t], data.indptr[t + 1])
    for dense in (True, False):
        for k in here:
            if (counts[data.ids[k]] >= max(3, width // 8)) is np.bool_(dense):
                for p in range(layout.pair_start[data.ids[k]], layout.pair_start[data.ids[k] + 1]):
                    yield p, layout.pair_label[p], 1.0 if data.values is None else data.values[k]


def shares(problem):
    """1 / n of each weight."""
    counts = np.bincount(problem.examples.ids, minlength=ATTRIBUTES)
    n = np.repeat(counts, np.diff(problem.layout.pair_start))
    n = np.append(n, np.full(len(problem.layout.source), len(fours_of(problem))))
    return 1.0 / np.maximum(n, 1)


class TestSGD:
    @given(problem=problems, seed=st.integers(0, 99), scale=scales, decay=st.sampled_from([0.0, 0.5]))
    def test_steps_along_the_gradient_of_four_sentences_and_their_part_of_the_prior(self, problem, seed, scale, decay):
        start = np.random.default_rng(seed).normal(size=problem.size) * scale
        rule = SGDRule(0.2, decay, 0.7, 5, done=3)
        done = problem.online().epoch(rule, (start,), InOrder())
        theta, k, total = start, 3, 0.0
        for four in fours_of(problem):
            eta = 0.2 * decay ** (k / 5) if decay else 0.2 / (1 + k / 5)
            each = [loss_and_gradient(problem, s, theta) for s in four]
            theta = (1 - eta * len(four) * 0.7 / 5) * theta - eta * sum(gradient for _, gradient in each)
            total += sum(loss for loss, _ in each)
            k += 4
        np.testing.assert_allclose(done.vectors[0], theta, rtol=1e-8, atol=1e-9)
        assert done.tally == pytest.approx((total, 0), rel=1e-9, abs=1e-9)

    def test_shrinks_weights_that_do_not_occur_in_a_shard_by_as_much(self, monkeypatch):
        monkeypatch.setattr("trellis.objective.cutting.SHARD", 10)
        problem = make_problem(3, labels=4, lengths=[3, 4, 2, 5, 1, 3] * 3)
        online, rule = problem.online(), SGDRule(0.1, 0.0, 2.0, 18)
        assert len(online.shards) > 2
        theta = np.random.default_rng(0).normal(size=problem.size)
        parts, expected = theta.copy(), theta.copy()
        done, first = 0, 0
        for shard in online.shards:
            for four in shard.fours:
                count = int((four >= 0).sum())
                eta = 0.1 / (1 + 4 * done / 18)
                gradient = sum(loss_and_gradient(problem, first + s, parts)[1] for s in four[four >= 0])
                parts = (1 - eta * count * 2.0 / 18) * parts - eta * gradient
                done += 1
            first += shard.shard.sentences
        np.testing.assert_allclose(online.epoch(rule, (expected,), InOrder()).vectors[0], parts, rtol=1e-8, atol=1e-10)

    def test_survives_a_prior_that_wants_all_of_a_weight(self):
        problem = make_problem(0)
        done = problem.online().epoch(SGDRule(0.5, 0.85, 1e6, 6), (np.ones(problem.size),), InOrder())
        assert np.isfinite(done.vectors[0]).all()
        assert np.abs(done.vectors[0]).max() < 1.0

    def test_takes_v_over_where_the_factor_has_become_small(self):
        problem = make_problem(0, lengths=[2] * 200)
        start = np.random.default_rng(1).normal(size=problem.size)
        rule = SGDRule(0.05, 0.0, 2000.0, 200)
        theta, k = start, 0
        for four in fours_of(problem):
            eta = min(0.05 / (1 + k / 200), 0.5 / (4 * 2000.0 / 200))
            gradient = sum(loss_and_gradient(problem, s, theta)[1] for s in four)
            theta, k = (1 - eta * 4 * 2000.0 / 200) * theta - eta * gradient, k + 4
        done = problem.online().epoch(rule, (start,), InOrder())
        np.testing.assert_allclose(done.vectors[0], theta, rtol=1e-8, atol=1e-12)


class TestAdaGrad:
    @given(problem=problems, seed=st.integers(0, 99), scale=scales, l1=st.sampled_from([0.0, 0.4]))
    def test_moves_every_weight_at_a_rate_of_its_own_with_its_part_of_the_prior(self, problem, seed, scale, l1):
        rng, share = np.random.default_rng(seed), shares(problem)
        start, squares = rng.normal(size=problem.size) * scale, rng.random(problem.size)
        online = problem.online()
        np.testing.assert_allclose(online.shares, share)
        gain = rng.random(problem.size)
        done = online.epoch(AdaGradRule(0.3, 0.7, l1), (start, squares, share, gain), InOrder())
        theta, squares = start.copy(), squares.copy()

        def move(p, g):
            squares[p] += g * g
            eta = 0.3 * gain[p] / np.sqrt(squares[p] + 1e-4)
            v = theta[p] - eta * g
            theta[p] = np.sign(v) * max(abs(v) - eta * l1 * share[p], 0.0) / (1 + eta * 0.7 * share[p])

        layout = problem.layout
        for four in fours_of(problem):
            each = [slopes(problem, s, theta.copy()) for s in four]
            for s, (_, nodes, _) in zip(four, each, strict=True):
                for n, t in enumerate(problem.tokens_of(s)):
                    for p, j, x in occurrences(problem, t):
                        move(p, x * nodes[n, j])
            arcs = sum(arcs for _, _, arcs in each)
            for p, (i, j) in enumerate(zip(layout.source, layout.target, strict=True), layout.pairs):
                move(p, arcs[i, j])
        np.testing.assert_allclose(done.vectors[0], theta, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(done.vectors[1], squares, rtol=1e-7, atol=1e-9)


class TestSAGA:
    @given(problem=problems, seed=st.integers(0, 99), scale=scales)
    def test_takes_the_last_slopes_off_and_their_mean_on(self, problem, seed, scale):
        layout, online, share = problem.layout, problem.online(), shares(problem)
        theta = np.random.default_rng(seed).normal(size=problem.size) * scale
        mu, old = np.zeros(problem.size), {}
        stores = (
            np.zeros((online.length("tokens"), online.width)),
            np.zeros((online.length("fours"), layout.labels, layout.labels)),
        )
        gain = np.random.default_rng(seed + 1).random(problem.size)
        vectors = theta, mu, online.shares, gain
        for _ in range(2):
            done = online.epoch(SAGARule(0.1, 0.7), vectors, InOrder(), stores)
            vectors, stores = done.vectors, done.stores
        theta = theta.copy()

        def move(p, e):
            theta[p] -= 0.1 * gain[p] * (e + share[p] * (mu[p] + 0.7 * theta[p]))
            mu[p] += e

        for _ in range(2):
            for four in fours_of(problem):
                each = [slopes(problem, s, theta.copy()) for s in four]
                for s, (_, nodes, _) in zip(four, each, strict=True):
                    for n, t in enumerate(problem.tokens_of(s)):
                        for p, j, x in occurrences(problem, t):
                            move(p, x * (nodes[n, j] - old.get((t, j), 0.0)))
                        old.update({(t, j): nodes[n, j] for j in range(layout.labels)})
                arcs = sum(arcs for _, _, arcs in each)
                for p, (i, j) in enumerate(zip(layout.source, layout.target, strict=True), layout.pairs):
                    move(p, arcs[i, j] - old.get((tuple(four), i, j), 0.0))
                    old[tuple(four), i, j] = arcs[i, j]
        np.testing.assert_allclose(vectors[0], theta, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(vectors[1], mu, rtol=1e-7, atol=1e-8)

    def test_knows_the_sum_of_the_last_slopes(self):
        """Which is the gradient, where weights do not move."""
        problem = make_problem(5, labels=4, valued=True)
        online, theta = problem.online(), np.random.default_rng(0).normal(size=problem.size)
        stores = np.zeros((online.length("tokens"), online.width)), np.zeros((online.length("fours"), 4, 4))
        vectors = theta, np.zeros(problem.size), online.shares, np.ones(problem.size)
        done = online.epoch(SAGARule(0.0, 0.7), vectors, np.random.default_rng(0), stores)
        with problem.objective(l2=0.0) as objective:
            np.testing.assert_allclose(done.vectors[1], objective.gradient(theta), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("rule", [SGDRule(0.1, 0.85, 1.0, 7), AdaGradRule(0.1, 1.0, 0.0)])
def test_sentences_whose_scores_spread_too_far_are_left_out_and_counted(rule):
    problem = make_problem(2, everything=True)
    theta = np.random.default_rng(0).normal(size=problem.size) * 1e4
    vectors = (theta,) if isinstance(rule, SGDRule) else (theta, *np.ones((3, problem.size)))
    done = problem.online().epoch(rule, vectors, InOrder())
    assert 0 < done.tally[1] <= 6
    assert np.isfinite(done.vectors[0]).all()
