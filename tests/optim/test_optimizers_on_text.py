"""On the corpus that ships, every optimiser ends at the one optimum that there is."""

from __future__ import annotations

import numpy as np
import pytest

from trellis.corpus import sample_corpus
from trellis.engine import ThreadedObjective
from trellis.features import TemplateFeatures, templates_for
from trellis.losses import find_loss
from trellis.objective import L2, Examples, cut_into_shards
from trellis.optim import LBFGS, OPTIMIZERS, OWLQN, Auto, NewtonCG, NonlinearCG, traits_of
from trellis.scoring import observed_layout


@pytest.fixture(scope="module")
def make_objective():
    """`make_objective(l2, l1=..., cache=...)`: the log loss of chunking."""
    corpus = sample_corpus("train").slice(0, 150).compact()
    templates = templates_for("chunking", list(corpus.columns), "chunk", corpus.file_columns)
    features, packed = TemplateFeatures.learn(corpus, templates, "chunk")
    gold = corpus["chunk"]
    labels = len(gold.strings)
    layout = observed_layout(packed.indptr, packed.ids, gold.ids, corpus.offsets, features.attributes, labels)
    examples = Examples(packed.indptr, packed.ids, packed.values, gold.ids, corpus.offsets)

    def make(l2, **more):
        return ThreadedObjective(cut_into_shards(layout, examples, find_loss("log")), layout.size, L2(l2), **more)

    return make


@pytest.fixture(autouse=True)
def large_enough(monkeypatch):
    monkeypatch.setattr("trellis.optim.auto._FEWEST", 100)
    monkeypatch.setattr("trellis.objective.cutting.SHARD", 700)


def run(optimizer, objective, most=1000):
    state = optimizer.start(objective, np.zeros(objective.size))
    while not (state.converged or state.stuck) and state.iteration < most:
        state = optimizer.step(objective, state)
    assert state.converged
    return state


@pytest.fixture(scope="module")
def lowest(make_objective):
    """The optimum, much more closely than needed."""
    with make_objective(0.5) as objective:
        return run(LBFGS(tol=1e-9), objective).value


# (optimizer, sentences whose lattices are kept)
WAYS = {
    "lbfgs": (LBFGS(tol=1e-6), 0),
    "lbfgs, diagonal": (LBFGS(tol=1e-6, diagonal=True), 0),
    "auto": (Auto(tol=1e-6), 0),
    "owlqn": (OWLQN(tol=1e-6), 0),
    "cg": (NonlinearCG(tol=1e-6), 0),
    "newton-cg": (NewtonCG(tol=1e-6), 0),
    "newton-cg, kept": (NewtonCG(tol=1e-6), "all"),
    "newton-cg, some kept": (NewtonCG(tol=1e-6), 40),
    "newton-cg, preconditioned": (NewtonCG(tol=1e-6, preconditioned=True), "all"),
    "newton-cg, line search": (NewtonCG(tol=1e-6, globalisation="line-search"), "all"),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_same_optimum(make_objective, lowest, way):
    optimizer, cache = WAYS[way]
    with make_objective(0.5, cache=cache) as objective:
        state = run(optimizer, objective)
        assert state.value == objective.value_and_gradient(state.theta)[0]
    assert lowest <= state.value * (1 + 1e-9)
    assert state.value == pytest.approx(lowest, rel=1e-4)


def test_none_is_left_out():
    batch = {kind for kind in OPTIMIZERS.values() if not traits_of(kind).learns}
    assert {type(optimizer) for optimizer, _ in WAYS.values()} == batch


def test_lattices_that_are_kept_lead_the_same_way(make_objective):
    """Products from lattices that are kept have five digits; ends are as near as the tolerance says or they have."""
    for tol, near in ((1e-4, 1e-3), (1e-6, 1e-5)):
        ends = []
        for cache in (0, 40, "all"):
            with make_objective(0.5, cache=cache) as objective:
                ends.append(run(NewtonCG(tol=tol), objective))
        for end in ends[1:]:
            assert tol < 1e-4 or (end.iteration, end.products) == (ends[0].iteration, ends[0].products)
            assert end.value == pytest.approx(ends[0].value, rel=1e-7)
            np.testing.assert_allclose(end.theta, ends[0].theta, rtol=0, atol=near * np.abs(end.theta).max())


def test_newton_reaches_the_minimum_on_products_of_single_precision(make_objective):
    with make_objective(0.5, cache="all") as objective:
        end = run(NewtonCG(tol=1e-13), objective)
        assert np.linalg.norm(objective.gradient(end.theta)) < 1e-6 * max(1.0, np.linalg.norm(end.theta))
    with make_objective(0.5) as objective:
        lowest = run(LBFGS(tol=1e-14), objective).value
    assert end.value <= lowest * (1 + 1e-10)


class TestL1:
    @pytest.mark.parametrize("l2", [0.0, 0.3])
    def test_owlqn_ends_where_the_conditions_of_an_optimum_hold(self, make_objective, l2):
        l1, near = 0.5, 1e-3
        with make_objective(l2, l1=l1) as objective:
            state = run(OWLQN(tol=1e-12, gradient_tol=near), objective)
            value, gradient = objective.value_and_gradient(state.theta)
        zero = state.theta == 0.0
        assert 0.5 < zero.mean() < 1.0
        assert np.all(np.abs(gradient[zero]) <= l1 + near)
        np.testing.assert_allclose(gradient[~zero], -l1 * np.sign(state.theta[~zero]), atol=near)
        assert state.value == pytest.approx(value + l1 * np.abs(state.theta).sum(), rel=1e-12)

    def test_auto_ends_there_too(self, make_objective):
        with make_objective(0.3, l1=0.5) as objective:
            auto, owlqn = (run(kind(tol=1e-6), objective) for kind in (Auto, OWLQN))
        assert auto.theta.tobytes() == owlqn.theta.tobytes()

    def test_more_of_it_makes_fewer_weights(self, make_objective):
        active = []
        for l1 in (0.1, 0.5, 2.0):
            with make_objective(0.0, l1=l1) as objective:
                active.append(np.count_nonzero(run(OWLQN(tol=1e-4), objective).theta))
        assert active == sorted(active, reverse=True)
        assert len(set(active)) == 3
