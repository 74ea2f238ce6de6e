"""Every loss equals enumeration, and its gradient and curvature equal finite differences: on every kind of chain that
it goes together with, with every prior."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import ALL, EXACT, KINDS, ON_OTHERS, OTHER_CHAINS, PRIORS, SMOOTH, Problem, differences

from trellis.errors import SettingError
from trellis.features import Packed
from trellis.lattice.segments import SpanAttributes
from trellis.losses import LOSSES, Target, find_loss
from trellis.objective import Examples, PlainShard
from trellis.objective.restricted import RestrictedShard
from trellis.scoring import observed_layout, with_observed_arcs

problems = {
    "seed": st.integers(0, 2**32 - 1),
    "labels": st.integers(1, 4),
    "lengths": st.lists(st.integers(0, 4), max_size=4),
    "weighted": st.booleans(),
    "scale": st.sampled_from([0.0, 1.0, 5.0]),
}


def check_the_value(chain, name, kind, seed, labels, lengths, weighted, scale):
    problem = Problem(seed, chain, kind, labels, lengths, weighted=weighted)
    theta = problem.theta(scale)
    with problem.objective(name, kind) as objective:
        assert objective.value_and_gradient(theta)[0] == pytest.approx(problem.enumerated(name, theta), 1e-9, 1e-9)


@pytest.mark.parametrize(("name", "kind"), KINDS)
@given(**problems)
def test_the_value_equals_enumeration(name, kind, **drawn):
    check_the_value("plain", name, kind, **drawn)


@pytest.mark.parametrize(("chain", "name", "kind"), ON_OTHERS)
@settings(max_examples=15)
@given(**problems)
def test_the_value_equals_enumeration_on_other_chains(chain, name, kind, **drawn):
    check_the_value(chain, name, kind, **drawn)


def check_the_gradient(objective, theta):
    gradient = objective.value_and_gradient(theta)[1]
    slopes = [differences(objective.value, theta, e, 1e-5) for e in np.eye(len(theta))]
    np.testing.assert_allclose(gradient, slopes, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize(("chain", "name", "kind"), ALL)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_gradient_equals_central_differences(chain, name, kind, weighted):
    problem = Problem(3, chain, kind, weighted=weighted)
    with problem.objective(name, kind) as objective:
        check_the_gradient(objective, problem.theta())


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_so_does_that_of_losses_with_priors(name, kind, prior):
    problem = Problem(3, kind=kind)
    with problem.objective(name, kind, prior) as objective:
        check_the_gradient(objective, problem.theta())


@pytest.mark.parametrize(("chain", "name", "kind"), ALL)
@pytest.mark.parametrize("cache", [0, 2, "all"])
def test_value_gradient_and_both_agree(chain, name, kind, cache):
    problem = Problem(4, chain, kind)
    theta = problem.theta()
    with problem.objective(name, kind, "both", cache=cache) as objective:
        value, gradient = objective.value_and_gradient(theta)
        assert objective.value(theta) == pytest.approx(value, rel=1e-13)
        np.testing.assert_allclose(objective.gradient(theta), gradient, rtol=1e-13)
    with problem.objective(name, kind, "both") as other:
        np.testing.assert_allclose(other.gradient(theta), gradient, rtol=1e-11, atol=1e-12)


def check_products(objective, problem, tolerance=1e-5):
    theta = problem.theta()
    for _ in range(3):
        r = problem.theta()
        expected = differences(objective.gradient, theta, r, 1e-5)
        product = objective.hessian_vector(theta, r)  # after other points were asked about
        np.testing.assert_allclose(product, expected, rtol=tolerance, atol=tolerance)
        np.testing.assert_array_equal(objective.hessian_vector(theta, r), product)


@pytest.mark.parametrize(("chain", "name", "kind"), EXACT)
@pytest.mark.parametrize("cache", [0, 2, "all"])
@pytest.mark.parametrize("weighted", [False, True])
def test_hessian_vector_products_equal_differences_of_gradients(chain, name, kind, cache, weighted):
    problem = Problem(5, chain, kind, weighted=weighted)
    with problem.objective(name, kind, cache=cache) as objective:
        check_products(objective, problem)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize(("name", "kind"), [(name, kind) for chain, name, kind in EXACT if chain == "plain"])
def test_so_do_those_of_losses_with_priors(name, kind, prior):
    problem = Problem(5, kind=kind)
    with problem.objective(name, kind, prior, cache=2) as objective:
        check_products(objective, problem)


@pytest.mark.parametrize("chain", ["plain", *OTHER_CHAINS])
@pytest.mark.parametrize("name", ["pointwise-log", "pointwise-exp"])
def test_pointwise_curvature_is_that_of_gauss_and_newton(chain, name):
    """J^T diag(phi'') J with J = dp / dtheta from differences."""
    problem = Problem(6, chain)
    theta, target = problem.theta(), problem.target
    p = problem.marginals(theta)
    jacobian = np.array([differences(problem.marginals, theta, e, 1e-6) for e in np.eye(problem.size)]).T
    weights = np.repeat(target.weights, np.diff(problem.examples.offsets))
    bent = weights * target.costs[target.path] * (1 / p**2 if name == "pointwise-log" else 2 / p**3)
    with problem.objective(name, "gold", cache="all") as objective:
        for _ in range(3):
            r = problem.theta()
            expected = jacobian.T @ (bent * (jacobian @ r))
            np.testing.assert_allclose(objective.hessian_vector(theta, r), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("chain", "name", "kind"), SMOOTH)
@pytest.mark.parametrize(("cache", "near"), [(0, 1e-9), ("all", 1e-5)])
def test_curvature_is_symmetric_and_not_negative(chain, name, kind, cache, near):
    problem = Problem(7, chain, kind)
    theta, a, b = problem.theta(), problem.theta(), problem.theta()
    with problem.objective(name, kind, cache=cache) as objective:
        ha, hb = objective.hessian_vector(theta, a), objective.hessian_vector(theta, b)
        assert a @ hb == pytest.approx(b @ ha, rel=near)
        assert np.all(objective.hessian_diagonal(theta) >= 0)
        if kind not in ("part", "evidence"):  # which are not convex
            assert a @ ha > -1e-9


@pytest.mark.parametrize(("chain", "name", "kind"), SMOOTH)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [0.0, 1.0, 5.0])
def test_products_from_what_is_kept_have_five_digits(chain, name, kind, weighted, scale):
    """Of their largest entry or of the direction's, where losses keep single precision; those whose curvature divides
    by small probabilities do not."""
    problem = Problem(6, chain, kind, lengths=(3, 0, 5, 1, 9, 4, 30), weighted=weighted)
    theta = problem.theta(scale)
    with problem.objective(name, kind) as exact, problem.objective(name, kind, cache="all") as kept:
        for _ in range(3):
            r = problem.theta()
            expected, found = exact.hessian_vector(theta, r), kept.hessian_vector(theta, r)
            near = 1e-5 if kept.shards[0].loss.narrows else 1e-12
            np.testing.assert_allclose(found, expected, rtol=0, atol=near * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize(("chain", "name", "kind"), SMOOTH)
@pytest.mark.parametrize("cache", [0, 2, "all"])
def test_what_is_kept_at_a_point_is_not_lost_by_questions_about_others(chain, name, kind, cache):
    problem = Problem(8, chain, kind)
    theta, other, r = problem.theta(), problem.theta(), problem.theta()
    with problem.objective(name, kind, "l2", cache=cache) as objective:
        objective.value_and_gradient(theta)
        product, diagonal = objective.hessian_vector(theta, r), objective.hessian_diagonal(theta)
        for ask in (objective.value, objective.hessian_diagonal, objective.gradient):
            objective.value_and_gradient(theta)
            ask(other)
            np.testing.assert_allclose(objective.hessian_vector(theta, r), product, rtol=1e-12)
            np.testing.assert_allclose(objective.hessian_diagonal(theta), diagonal, rtol=1e-12)


@pytest.mark.parametrize(("chain", "name", "kind"), SMOOTH)
def test_the_diagonal_is_not_negative_where_probabilities_round_to_one(chain, name, kind):
    for seed in range(10):
        problem = Problem(seed, chain, kind, lengths=(6, 5, 7, 1, 9))
        with problem.objective(name, kind) as objective:
            assert np.all(objective.hessian_diagonal(problem.theta(20.0)) >= 0.0)


class TestTheDiagonalIsExact:
    """Where no two occurrences of a weight bear on one another: here each is in a sentence once."""

    def problem(self, chain, kind="gold", weighted=True):
        """Sentences of two tokens, whose attributes (of nodes and of arcs) are their own."""
        problem = Problem(9, chain, kind, lengths=(2, 2, 0, 2, 1), weighted=weighted)
        data = problem.examples
        ids, values = np.array([0, 1, 2, 0, 1, 2, 0], np.int32), problem.rng.normal(size=7)
        problem.layout = observed_layout(np.arange(8), ids, data.gold, data.offsets, 3, 3, True, True)
        problem.examples = replace(data, indptr=np.arange(8), ids=ids, values=values)
        if data.arcs is not None:
            valued = None if data.arcs.values is None else values[::-1].copy()
            arcs = Packed(np.arange(8), np.array([1, 0, 1, 0, 1, 1, 0], np.int32), valued)
            problem.examples = replace(problem.examples, arcs=arcs)
            problem.layout = with_observed_arcs(problem.layout, arcs.indptr, arcs.ids, data.gold, data.offsets, 2, True)
        return problem

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("name", ["log", "softmax-margin"])
    @pytest.mark.parametrize("chain", ["plain", *OTHER_CHAINS])
    def test_on_every_chain(self, chain, name, weighted):
        self.check(self.problem(chain, weighted=weighted), name, "gold")

    def test_with_soft_labels(self):
        self.check(self.problem("plain", "soft"), "log", "soft")

    def check(self, problem, name, kind):
        theta = problem.theta()
        with problem.objective(name, kind, "both") as objective:
            expected = [objective.hessian_vector(theta, e)[k] for k, e in enumerate(np.eye(problem.size))]
            np.testing.assert_allclose(objective.hessian_diagonal(theta), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("chain", "name", "kind"), SMOOTH)
def test_the_same_bits_for_any_number_of_threads(chain, name, kind, monkeypatch):
    monkeypatch.setattr("trellis.objective.cutting.SHARD", 20)
    problem = Problem(8, chain, kind, lengths=[4, 2, 7, 1] * 12)
    theta, r = problem.theta(), problem.theta()
    answers = set()
    for threads in (1, 2, 8):
        with problem.objective(name, kind, "l2", threads, cache=20) as objective:
            assert len(objective.shards) > 5
            value, gradient = objective.value_and_gradient(theta)
            product, diagonal = objective.hessian_vector(theta, r), objective.hessian_diagonal(theta)
            answers.add((value, gradient.tobytes(), product.tobytes(), diagonal.tobytes()))
    assert len(answers) == 1


@pytest.mark.parametrize(("chain", "name", "kind"), SMOOTH)
def test_shards_and_blocks_add_up_to_one(chain, name, kind, monkeypatch):
    problem = Problem(8, chain, kind, lengths=[3, 0, 5, 1, 2, 4, 4, 1, 0, 3])
    theta, r = problem.theta(), problem.theta()

    def answers():
        with problem.objective(name, kind, cache=5) as objective:
            value, gradient = objective.value_and_gradient(theta)
            parts = np.concatenate([np.array([value]), gradient, objective.hessian_diagonal(theta)])
            cuts = len(objective.shards), max(len(shard.blocks) for shard in objective.shards)
            return *cuts, parts, objective.hessian_vector(theta, r)

    *_, whole, whole_product = answers()
    monkeypatch.setattr("trellis.objective.cutting.SHARD", 10)
    monkeypatch.setattr("trellis.objective.shard.BLOCK", 4)
    monkeypatch.setattr("trellis.objective.windows._ARCS", 8)
    monkeypatch.setattr("trellis.objective.windows._WRITTEN", 8)
    monkeypatch.setattr("trellis.objective.segments._CELLS", 40)
    shards, blocks, cut, product = answers()
    assert shards > 1
    assert blocks > 1
    np.testing.assert_allclose(cut, whole, rtol=1e-10, atol=1e-11)
    # some blocks are kept in single precision, others are not kept
    np.testing.assert_allclose(product, whole_product, rtol=0, atol=1e-5 * np.abs(product).max())


@pytest.mark.parametrize(("chain", "name", "kind"), ALL)
def test_a_weight_of_two_is_a_sentence_given_twice(chain, name, kind):
    problem = Problem(9, chain, kind, lengths=(3,), weighted=False)
    once, theta = problem.examples, problem.theta()
    target = once.target
    weighted = replace(once, more=replace(target, weights=np.array([2.0])))

    def doubled(array):
        return None if array is None else np.concatenate([array, array])

    def packed_twice(packed):
        indptr = np.concatenate([packed.indptr, packed.indptr[1:] + packed.indptr[-1]])
        return Packed(indptr, doubled(packed.ids), doubled(packed.values))

    def spans_twice(spans):
        start = np.concatenate([spans.start, spans.start[1:] + spans.start[-1]])
        return SpanAttributes(start, doubled(spans.ids), spans.longest)

    both = [doubled(array) for array in (target.known, target.soft, target.evidence, target.pairs)]
    more = Target(doubled(target.path), None, None, *both)
    packed = packed_twice(Packed(once.indptr, once.ids, once.values))
    twice = Examples(
        packed.indptr,
        packed.ids,
        packed.values,
        doubled(once.gold),
        np.array([0, 3, 6]),
        None if once.arcs is None else packed_twice(once.arcs),
        None if once.allowed is None else once.allowed.of_tokens(doubled(once.allowed.which)),
        more,
        None if once.spans is None else spans_twice(once.spans),
        once.rules,
        imposed=once.imposed,
    )
    answers = []
    for examples in (weighted, twice):
        with problem.objective(name, kind, examples=examples) as objective:
            answers.append(objective.value_and_gradient(theta))
    assert answers[0][0] == pytest.approx(answers[1][0], rel=1e-12)
    np.testing.assert_allclose(answers[0][1], answers[1][1], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("chain", "name", "kind"), ALL)
@pytest.mark.parametrize("scale", [1.0, 300.0, 1e4])
def test_a_weight_of_zero_is_a_sentence_that_is_not_there(chain, name, kind, scale):
    """Even where its loss is infinite."""
    problem = Problem(9, chain, kind)
    examples = replace(problem.examples, more=replace(problem.target, weights=np.zeros(5)))
    with problem.objective(name, kind, examples=examples) as objective:
        value, gradient = objective.value_and_gradient(problem.theta(scale))
    assert value == 0.0
    assert not gradient.any()


@pytest.mark.parametrize("name", ["pointwise-log", "pointwise-exp"])
def test_labels_that_cost_nothing_are_not_there_for_pointwise_losses(name):
    problem = Problem(9)
    examples = replace(problem.examples, more=replace(problem.target, costs=np.zeros(3)))
    with problem.objective(name, "gold", examples=examples) as objective:
        value, gradient = objective.value_and_gradient(problem.theta(300.0))
    assert value == 0.0
    assert not gradient.any()


@pytest.mark.parametrize("chain", ["plain", *OTHER_CHAINS])
@pytest.mark.parametrize("name", LOSSES)
def test_a_sentence_of_a_thousand_tokens_is_finite_from_zero(chain, name):
    problem = Problem(10, chain, labels=9, lengths=(1300, 2), weighted=False)
    with problem.objective(name, "gold") as objective:
        value, gradient = objective.value_and_gradient(np.zeros(problem.size))
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("weight", [900.0, -900.0])
@pytest.mark.parametrize(("chain", "name", "kind"), [case for case in EXACT if case[1] in ("log", "softmax-margin")])
def test_products_are_exact_where_the_log_domain_is_needed(chain, name, kind, weight):
    problem = Problem(11, chain, kind, valued=False)
    theta, r = problem.theta(), problem.theta()
    theta[problem.after_transitions - 2] = weight
    with problem.objective(name, kind, cache="all") as objective:
        expected = differences(objective.gradient, theta, r, 1e-5)
        np.testing.assert_allclose(objective.hessian_vector(theta, r), expected, rtol=1e-4, atol=1e-4)


def test_chains_are_those_that_are_meant():
    for chain in ["plain", *OTHER_CHAINS]:
        with Problem(0, chain).objective("log", "gold") as objective:
            [shard] = objective.shards
            assert type(shard) is (RestrictedShard if chain == "allowed" else PlainShard)
            assert (getattr(shard, "arcs", None) is not None) is ("arcs" in chain)


def test_a_loss_without_curvature_says_so():
    problem = Problem(12)
    zero = np.zeros(problem.size)
    with problem.objective("hinge", "gold") as objective:
        for ask in (lambda: objective.hessian_vector(zero, zero), lambda: objective.hessian_diagonal(zero)):
            with pytest.raises(SettingError, match="the loss 'hinge' has no curvature"):
                ask()


def test_losses_that_need_gold_labels_refuse_others():
    with pytest.raises(SettingError, match="known in part"):
        find_loss("hinge", "part")
    with pytest.raises(SettingError, match="is not known"):
        find_loss("logg")


class TestKeptProductsOfExtremeNumbers:
    """Single precision ends at 3e38 and 1e-38."""

    @pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e307])
    def test_directions(self, scale):
        problem = Problem(3)
        theta, r = problem.theta(), problem.theta()
        with problem.objective("log", "gold", "l2", cache="all") as objective:
            expected = objective.hessian_vector(theta, r)
            product = objective.hessian_vector(theta, scale * r) / scale
        np.testing.assert_allclose(product, expected, rtol=0, atol=1e-5 * np.abs(expected).max())

    @pytest.mark.parametrize("what", ["values", "weights"])
    @pytest.mark.parametrize("size", [1e20, 1e39])
    def test_values_and_weights(self, what, size):
        problem = Problem(3)
        data = problem.examples
        if what == "values":
            data, theta = replace(data, values=data.values * size), problem.theta(1.0 / size)
        else:
            data, theta = replace(data, more=replace(data.more, weights=data.more.weights * size)), problem.theta()
        r = problem.theta()
        with problem.objective("log", "gold", "l2", examples=data) as objective:
            expected = objective.hessian_vector(theta, r)
        with problem.objective("log", "gold", "l2", examples=data, cache="all") as objective:
            np.testing.assert_allclose(objective.hessian_vector(theta, r), expected, rtol=1e-9)
