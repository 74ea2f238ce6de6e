"""Every loss equals enumeration; its gradient and curvature equal finite differences, with every prior."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from enumerated import loss_of
from hypothesis import given
from hypothesis import strategies as st

from trellis.engine import ThreadedObjective
from trellis.errors import SettingError
from trellis.losses import LOSSES, PARTIAL, SOFT, Target, find_loss
from trellis.objective import L2, Examples, Hyperbolic, Priors, cut_into_shards
from trellis.scoring import observed_layout

KINDS = [(name, "gold") for name in LOSSES] + [(name, "part") for name in PARTIAL] + [(name, "soft") for name in SOFT]
SMOOTH = [(name, kind) for name, kind in KINDS if find_loss(name, kind).curvature_is]
EXACT = [(name, kind) for name, kind in SMOOTH if find_loss(name, kind).curvature_is == "the Hessian"]
PRIORS = {
    "none": Priors([]),
    "l2": L2(0.7),
    "hyperbolic": Hyperbolic(0.5),
    "both": Priors([L2(0.3), Hyperbolic(0.2, 0.5)]),
}


class Problem:
    """Small random training data for one loss."""

    def __init__(self, seed, kind="gold", labels=3, lengths=(3, 0, 1, 4, 2), valued=True, weighted=True):
        rng = self.rng = np.random.default_rng(seed)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        tokens = int(offsets[-1])
        indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 4, tokens))]).astype(np.int64)
        ids = rng.integers(0, 6, indptr[-1]).astype(np.int32)
        gold = rng.integers(0, labels, tokens).astype(np.int32)
        values = rng.normal(size=len(ids)) if valued else None
        known = rng.random((tokens, labels)) < 0.6
        known[np.arange(tokens), gold] = True
        soft = rng.dirichlet(np.ones(labels), tokens) * (rng.random((tokens, labels)) < 0.8)
        soft[np.arange(tokens), gold] += 0.1
        self.target = Target(
            gold,
            rng.random(len(lengths)) * 2 if weighted else None,
            rng.random(labels) * 2 if weighted else None,
            known if kind == "part" else None,
            soft / soft.sum(axis=1, keepdims=True) if kind == "soft" else None,
        )
        self.layout = observed_layout(indptr, ids, gold, offsets, 6, labels, True, True)
        self.examples = Examples(indptr, ids, values, gold, offsets, more=self.target)

    def objective(self, name, kind, prior=PRIORS["none"], threads=1, **more):
        shards = cut_into_shards(self.layout, self.examples, find_loss(name, kind))
        return ThreadedObjective(shards, self.layout.size, prior, threads, **more)

    def scores(self, theta):
        """Scores F64[tokens, labels] and transitions, without a kernel."""
        data, layout = self.examples, self.layout
        scores = np.zeros((len(data.gold), layout.labels))
        for t in range(len(scores)):
            for k in range(data.indptr[t], data.indptr[t + 1]):
                a = data.ids[k]
                for p in range(layout.pair_start[a], layout.pair_start[a + 1]):
                    scores[t, layout.pair_label[p]] += theta[p] * (1.0 if data.values is None else data.values[k])
        return scores, layout.transition_matrix(theta[layout.pairs :])

    def enumerated(self, name, kind, theta):
        scores, transitions = self.scores(theta)
        target, offsets, total = self.target, self.examples.offsets.tolist(), 0.0
        costs = np.ones(self.layout.labels) if target.costs is None else target.costs
        for s, (a, b) in enumerate(itertools.pairwise(offsets)):
            known = None if target.known is None else target.known[a:b]
            soft = None if target.soft is None else target.soft[a:b]
            value = loss_of(name, scores[a:b], transitions, target.path[a:b].tolist(), costs, known, soft)
            total += value * (1.0 if target.weights is None else target.weights[s])
        return total


@pytest.mark.parametrize(("name", "kind"), KINDS)
@given(
    seed=st.integers(0, 2**32 - 1),
    labels=st.integers(1, 4),
    lengths=st.lists(st.integers(0, 4), max_size=4),
    weighted=st.booleans(),
    scale=st.sampled_from([0.0, 1.0, 5.0]),
)
def test_the_value_equals_enumeration(name, kind, seed, labels, lengths, weighted, scale):
    problem = Problem(seed, kind, labels, lengths, weighted=weighted)
    theta = problem.rng.normal(size=problem.layout.size) * scale
    expected = problem.enumerated(name, kind, theta)
    with problem.objective(name, kind) as objective:
        assert objective.value_and_gradient(theta)[0] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize(("name", "kind"), KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_gradient_equals_central_differences(name, kind, prior, weighted):
    problem = Problem(3, kind, weighted=weighted)
    theta, step = problem.rng.normal(size=problem.layout.size), 1e-5
    with problem.objective(name, kind, PRIORS[prior]) as objective:
        gradient = objective.value_and_gradient(theta)[1]
        for k in range(len(theta)):
            ends = [objective.value(theta + d * (np.arange(len(theta)) == k)) for d in (step, -step)]
            assert gradient[k] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=2e-6, abs=2e-6)


@pytest.mark.parametrize(("name", "kind"), KINDS)
@pytest.mark.parametrize("cache", [0, 2, "all"])
def test_value_gradient_and_both_agree(name, kind, cache):
    problem = Problem(4, kind)
    theta = problem.rng.normal(size=problem.layout.size)
    with problem.objective(name, kind, PRIORS["both"], cache=cache) as objective:
        value, gradient = objective.value_and_gradient(theta)
        assert objective.value(theta) == pytest.approx(value, rel=1e-13)
        np.testing.assert_allclose(objective.gradient(theta), gradient, rtol=1e-13)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize(("name", "kind"), EXACT)
@pytest.mark.parametrize("cache", [0, 2, "all"])
def test_hessian_vector_products_equal_differences_of_gradients(name, kind, prior, cache):
    problem = Problem(5, kind)
    theta, step = problem.rng.normal(size=problem.layout.size), 1e-5
    with problem.objective(name, kind, PRIORS[prior], cache=cache) as objective:
        for _ in range(3):
            r = problem.rng.normal(size=len(theta))
            ends = [objective.gradient(theta + d * r) for d in (step, -step)]
            product = objective.hessian_vector(theta, r)  # after other points were asked about
            np.testing.assert_allclose(product, (ends[0] - ends[1]) / (2 * step), rtol=1e-5, atol=1e-5)
            np.testing.assert_array_equal(objective.hessian_vector(theta, r), product)


@pytest.mark.parametrize("name", ["pointwise-log", "pointwise-exp"])
def test_pointwise_curvature_is_that_of_gauss_and_newton(name):
    """J^T diag(phi'') J with J = dp / dtheta from differences."""
    problem = Problem(6, weighted=True)
    theta, step, size = problem.rng.normal(size=problem.layout.size), 1e-6, problem.layout.size

    def marginals(theta):
        values = []
        scores, transitions = problem.scores(theta)
        offsets = problem.examples.offsets.tolist()
        for a, b in itertools.pairwise(offsets):
            for t in range(b - a):
                costs = np.zeros(problem.layout.labels)
                gold = problem.target.path[a:b].tolist()
                known = np.ones((b - a, problem.layout.labels), bool)
                known[t] = np.arange(problem.layout.labels) == gold[t]
                values.append(np.exp(-loss_of("log", scores[a:b], transitions, gold, costs, known=known)))
        return np.array(values)

    p = marginals(theta)
    jacobian = np.array(
        [(marginals(theta + step * e) - marginals(theta - step * e)) / (2 * step) for e in np.eye(size)]
    ).T
    weights = np.repeat(problem.target.weights, np.diff(problem.examples.offsets))
    bent = weights * problem.target.costs[problem.target.path] * (1 / p**2 if name == "pointwise-log" else 2 / p**3)
    with problem.objective(name, "gold", cache="all") as objective:
        for _ in range(3):
            r = problem.rng.normal(size=size)
            expected = jacobian.T @ (bent * (jacobian @ r))
            np.testing.assert_allclose(objective.hessian_vector(theta, r), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name, kind in SMOOTH if kind != "part"])
def test_curvature_is_symmetric_and_not_negative(name, kind):
    problem = Problem(7, kind)
    theta = problem.rng.normal(size=problem.layout.size)
    with problem.objective(name, kind, cache="all") as objective:
        a, b = problem.rng.normal(size=(2, len(theta)))
        ha, hb = objective.hessian_vector(theta, a), objective.hessian_vector(theta, b)
        assert a @ hb == pytest.approx(b @ ha, rel=1e-9)
        assert a @ ha > -1e-9
        assert np.all(objective.hessian_diagonal(theta) >= 0)


def test_the_diagonal_is_exact_where_nothing_bears_on_anything_else():
    """Sentences of one token with one attribute each."""
    rng = np.random.default_rng(0)
    gold, ids = rng.integers(0, 3, 9).astype(np.int32), rng.permutation(9).astype(np.int32)
    layout = observed_layout(np.arange(10), ids, gold, np.arange(10), 9, 3, True, True)
    examples = Examples(np.arange(10), ids, rng.normal(size=9), gold, np.arange(10))
    theta = rng.normal(size=layout.size)
    shards = cut_into_shards(layout, examples, find_loss("log"))
    with ThreadedObjective(shards, layout.size, L2(0.1)) as objective:
        expected = [objective.hessian_vector(theta, e)[k] for k, e in enumerate(np.eye(len(theta)))]
        np.testing.assert_allclose(objective.hessian_diagonal(theta), expected, rtol=1e-12)


@pytest.mark.parametrize(("name", "kind"), SMOOTH)
def test_the_same_bits_for_any_number_of_threads(name, kind, monkeypatch):
    monkeypatch.setattr("trellis.objective.cutting.SHARD", 20)
    problem = Problem(8, kind, lengths=[4, 2, 7, 1] * 12)
    theta, r = problem.rng.normal(size=(2, problem.layout.size))
    answers = set()
    for threads in (1, 2, 8):
        with problem.objective(name, kind, PRIORS["l2"], threads, cache=20) as objective:
            assert len(objective.shards) > 5
            value, gradient = objective.value_and_gradient(theta)
            product, diagonal = objective.hessian_vector(theta, r), objective.hessian_diagonal(theta)
            answers.add((value, gradient.tobytes(), product.tobytes(), diagonal.tobytes()))
    assert len(answers) == 1


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_a_weight_of_two_is_a_sentence_given_twice(name, kind):
    problem = Problem(9, kind, lengths=(3,))
    theta = problem.rng.normal(size=problem.layout.size)
    single = problem.examples.part(0, 1)
    once = Examples(
        single.indptr, single.ids, single.values, single.gold, single.offsets,
        more=Target(single.gold, np.array([2.0]), None, problem.target.known, problem.target.soft),
    )  # fmt: skip

    def doubled(array):
        return None if array is None else np.concatenate([array, array])

    twice = Examples(
        np.concatenate([single.indptr, single.indptr[1:] + single.indptr[-1]]), doubled(single.ids),
        doubled(single.values), doubled(single.gold), np.array([0, 3, 6]),
        more=Target(doubled(single.gold), None, None, doubled(problem.target.known), doubled(problem.target.soft)),
    )  # fmt: skip
    answers = []
    for examples in (once, twice):
        shards = cut_into_shards(problem.layout, examples, find_loss(name, kind))
        with ThreadedObjective(shards, problem.layout.size, PRIORS["none"]) as objective:
            answers.append(objective.value_and_gradient(theta))
    assert answers[0][0] == pytest.approx(answers[1][0], rel=1e-12)
    np.testing.assert_allclose(answers[0][1], answers[1][1], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_a_sentence_of_a_thousand_tokens_is_finite_from_zero(name):
    problem = Problem(10, labels=9, lengths=(1300, 2), weighted=False)
    with problem.objective(name, "gold") as objective:
        value, gradient = objective.value_and_gradient(np.zeros(problem.layout.size))
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("weight", [900.0, -900.0])
@pytest.mark.parametrize(
    ("name", "kind"), [("log", "gold"), ("log", "part"), ("log", "soft"), ("softmax-margin", "gold")]
)
def test_products_are_exact_where_the_log_domain_is_needed(name, kind, weight):
    problem = Problem(11, kind, valued=False)
    theta, step = problem.rng.normal(size=problem.layout.size), 1e-5
    theta[-2] = weight
    with problem.objective(name, kind, cache="all") as objective:
        r = problem.rng.normal(size=len(theta))
        ends = [objective.gradient(theta + d * r) for d in (step, -step)]
        product = objective.hessian_vector(theta, r)
        np.testing.assert_allclose(product, (ends[0] - ends[1]) / (2 * step), rtol=1e-4, atol=1e-4)


def test_a_loss_without_curvature_says_so():
    problem = Problem(12)
    with problem.objective("hinge", "gold") as objective, pytest.raises(SettingError, match="no curvature"):
        objective.hessian_vector(np.zeros(problem.layout.size), np.zeros(problem.layout.size))


def test_losses_that_need_gold_labels_refuse_others():
    with pytest.raises(SettingError, match="known in part"):
        find_loss("hinge", "part")
    with pytest.raises(SettingError, match="is not known"):
        find_loss("logg")
