"""SGD, AdaGrad and SAGA on the corpus that ships: how near they come to the optimum, and what they do on the way."""

from __future__ import annotations

import numpy as np
import pytest
from optim_problems import states

from trellis.corpus import sample_corpus
from trellis.engine import ThreadedObjective
from trellis.errors import SettingError
from trellis.features import TemplateFeatures, templates_for
from trellis.losses import find_loss
from trellis.objective import L2, Examples, Hyperbolic, cut_into_shards
from trellis.optim import LBFGS, OWLQN, SAGA, SGD, AdaGrad, is_over
from trellis.scoring import observed_layout


@pytest.fixture(scope="module")
def make_objective():
    """`make_objective(prior, l1=...)`: the log loss of chunking."""
    corpus = sample_corpus("train").slice(0, 200).compact()
    templates = templates_for("chunking", list(corpus.columns), "chunk", corpus.file_columns)
    features, packed = TemplateFeatures.learn(corpus, templates, "chunk")
    gold = corpus["chunk"]
    layout = observed_layout(
        packed.indptr, packed.ids, gold.ids, corpus.offsets, features.attributes, len(gold.strings)
    )
    examples = Examples(packed.indptr, packed.ids, packed.values, gold.ids, corpus.offsets)

    def make(prior, **more):
        shards = cut_into_shards(layout, examples, find_loss("log"))
        return ThreadedObjective(shards, layout.size, prior, 1, **more)

    return make


def last_of(optimizer, objective, most=1000):
    *_, last = states(optimizer, objective, np.zeros(objective.size), most)
    return last


@pytest.fixture(scope="module")
def lowest(make_objective):
    with make_objective(L2(1.0)) as objective:
        return last_of(LBFGS(tol=1e-9), objective).value


@pytest.mark.parametrize(
    ("optimizer", "within"),
    [
        (SGD(), 0.01),
        (SGD(averaged=False), 0.02),
        (SGD(schedule="inverse"), 0.04),
        (AdaGrad(), 0.01),
        (SAGA(epochs=60), 1e-3),
        (SAGA(epochs=400, tol=1e-9), 1e-7),
    ],
    ids=str,
)
def test_comes_near_the_optimum(make_objective, lowest, optimizer, within):
    with make_objective(L2(1.0)) as objective:
        last = last_of(optimizer, objective)
        assert is_over(last)
        assert lowest <= objective.value(last.theta) <= lowest * (1 + within)


class TestSGD:
    def test_chooses_its_step_by_a_trial(self, make_objective):
        with make_objective(L2(1.0)) as objective:
            start = SGD().start(objective, np.zeros(objective.size))
            assert start.numbers[0] in (0.5, 0.1, 0.05, 0.01)
            assert SGD(step_size=0.3).start(objective, np.zeros(objective.size)).numbers == (0.3,)

    def test_a_step_that_goes_too_far_is_made_again_smaller(self, make_objective):
        with make_objective(L2(0.0)) as objective:
            seen = list(states(SGD(step_size=1e300, epochs=300), objective, np.zeros(objective.size)))
        assert all(np.isfinite(state.theta).all() for state in seen)
        assert seen[-1].numbers[0] < 1e300

    def test_what_it_meets_falls(self, make_objective):
        with make_objective(L2(1.0)) as objective:
            met = [state.value for state in states(SGD(epochs=10), objective, np.zeros(objective.size))]
        assert met[0] == np.inf
        assert met[-1] < 0.25 * met[1]


class TestAdaGrad:
    def test_makes_weights_zero_with_l1_as_owlqn_does(self, make_objective):
        def whole(objective, theta):
            return objective.value(theta) + objective.l1 * np.abs(theta).sum()

        with make_objective(L2(0.1), l1=0.5) as objective:
            best = last_of(OWLQN(tol=1e-8), objective)
            last = last_of(AdaGrad(epochs=100), objective)
            assert whole(objective, last.theta) <= 1.04 * best.value
            assert np.count_nonzero(best.theta) < np.count_nonzero(last.theta) < 0.2 * objective.size

    def test_has_no_weight_where_l1_is_strong(self, make_objective):
        with make_objective(L2(0.0), l1=1e6) as objective:
            assert not last_of(AdaGrad(epochs=3), objective).theta.any()


class TestSAGA:
    def test_knows_the_gradient_about(self, make_objective):
        with make_objective(L2(1.0)) as objective:
            last = last_of(SAGA(epochs=60), objective)
            gradient = np.linalg.norm(objective.gradient(last.theta))
            assert last.gradient_norm == pytest.approx(gradient, rel=0.5, abs=0.05)

    def test_a_step_that_is_too_large_is_halved(self, make_objective):
        with make_objective(L2(1.0)) as objective:
            last = last_of(SAGA(epochs=60, step_size=50.0), objective)
            assert last.numbers[0] < 5.0
            assert np.isfinite(last.theta).all()


class TestRefuses:
    @pytest.mark.parametrize("optimizer", [SGD(), SAGA()], ids=["sgd", "saga"])
    def test_l1(self, make_objective, optimizer):
        with (
            make_objective(L2(1.0), l1=1.0) as objective,
            pytest.raises(SettingError, match=r"l1 is 1, which s.* does not know; use the optimizer adagrad or owlqn"),
        ):
            optimizer.start(objective, np.zeros(objective.size))

    @pytest.mark.parametrize("optimizer", [SGD(), SAGA(), AdaGrad()], ids=["sgd", "saga", "adagrad"])
    def test_a_prior_of_another_kind(self, make_objective, optimizer):
        with (
            make_objective(Hyperbolic(1.0)) as objective,
            pytest.raises(SettingError, match="know no hyperbolic prior; use lbfgs or auto"),
        ):
            last_of(optimizer, objective)
