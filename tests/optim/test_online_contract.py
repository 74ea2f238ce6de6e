"""What every online optimiser keeps: its state is all there is, it learns, and it says how it ended. A new one is a
line here."""

from __future__ import annotations

import numpy as np
import pytest
from optim_problems import bits, rebuilt, states

from trellis.corpus import sample_corpus
from trellis.engine import ThreadedObjective
from trellis.errors import SettingError
from trellis.features import TemplateFeatures, templates_for
from trellis.losses import Target, find_loss
from trellis.objective import L2, Examples, cut_into_shards
from trellis.optim import (
    AROW,
    BCFW,
    EG,
    MIRA,
    OPTIMIZERS,
    SAGA,
    SGD,
    STATES,
    AdaGrad,
    PassiveAggressive,
    Perceptron,
    bytes_of,
    is_over,
    traits_of,
)
from trellis.scoring import observed_layout

# optimiser -> what it makes of itself, given more settings
OPTIMISERS = {
    "sgd": SGD,
    "sgd, inverse": lambda **more: SGD(schedule="inverse", averaged=False, **more),
    "adagrad": AdaGrad,
    "saga": SAGA,
    "eg": EG,
    "eg, gap now and then": lambda **more: EG(gap_every=4, **more),
    "perceptron": Perceptron,
    "perceptron, not averaged": lambda **more: Perceptron(averaged=False, **more),
    "perceptron, batch": lambda **more: Perceptron(batch=True, **{"epochs": 200, **more}),
    "perceptron, batch, not averaged": lambda **more: Perceptron(batch=True, averaged=False, **{"epochs": 200, **more}),
    "pa": PassiveAggressive,
    "pa-ii, worst, not averaged": lambda **more: PassiveAggressive(variant=2, margin="worst", averaged=False, **more),
    "arow": AROW,
    "arow, not averaged": lambda **more: AROW(averaged=False, **more),
    "mira": MIRA,
    "mira, k=1": lambda **more: MIRA(k=1, **more),
    "bcfw": BCFW,
    "bcfw, not averaged": lambda **more: BCFW(averaged=False, **more),
}
# those whose `value` is not a guess
EVALUATES = {
    "eg": [0, 1, 2, 3],
    "eg, gap now and then": [0, 0, 0, 1],
    "bcfw": [0, 1, 2, 3],
    "bcfw, not averaged": [0, 1, 2, 3],
}
DRAWS = [name for name in OPTIMISERS if "batch" not in name]  # those that look at sentences in an order of their own

each_optimiser = pytest.mark.parametrize("optimiser", OPTIMISERS.values(), ids=OPTIMISERS)


@pytest.fixture(scope="module")
def parts():
    """Layout and examples of chunking on the corpus that ships."""
    corpus = sample_corpus("train").slice(0, 120).compact()
    templates = templates_for("chunking", list(corpus.columns), "chunk", corpus.file_columns)
    features, packed = TemplateFeatures.learn(corpus, templates, "chunk")
    gold = corpus["chunk"]
    layout = observed_layout(
        packed.indptr, packed.ids, gold.ids, corpus.offsets, features.attributes, len(gold.strings)
    )
    return layout, Examples(packed.indptr, packed.ids, packed.values, gold.ids, corpus.offsets)


@pytest.fixture
def make_objective(parts, monkeypatch):
    """`make_objective(optimizer)`: what it minimises, in several shards."""
    monkeypatch.setattr("trellis.objective.cutting.SHARD", 300)
    layout, examples = parts

    def make(optimizer, threads=1, l2=1.0, examples=examples):
        traits = traits_of(type(optimizer))
        shards = cut_into_shards(layout, examples, find_loss(traits.learns[0]), plain=True)
        return ThreadedObjective(shards, layout.size, L2(l2 if traits.uses_prior else 0.0), threads)

    return make


def wrong_labels(objective, theta):
    """The share of training tokens that weights get wrong."""
    wrong = tokens = 0
    for shard in objective.shards:
        point = shard._load(theta)
        for n, target in enumerate(shard.targets):
            best, _ = shard._chain(point, n).best()
            wrong, tokens = wrong + int((best != target.path).sum()), tokens + len(best)
    return wrong / tokens


def test_every_online_optimiser_of_the_registry_is_here():
    online = {kind for kind in OPTIMIZERS.values() if traits_of(kind).is_online}
    assert {type(make()) for make in OPTIMISERS.values()} == online


@each_optimiser
def test_learns(optimiser, make_objective):
    with make_objective(optimiser()) as objective:
        zero = np.zeros(objective.size)
        *_, last = states(optimiser(), objective, zero)
        assert is_over(last)
        assert wrong_labels(objective, zero) > 0.5
        assert wrong_labels(objective, last.theta) < 0.02


@pytest.mark.parametrize("name", OPTIMISERS)
def test_makes_as_many_epochs_as_it_was_asked_for(name, make_objective):
    made = OPTIMISERS[name](epochs=3)
    with make_objective(made) as objective:
        seen = list(states(made, objective, np.zeros(objective.size)))
    assert [state.iteration for state in seen] == [0, 1, 2, 3]
    assert [state.products for state in seen] == [0, 1, 2, 3]
    assert [state.evaluations for state in seen] == EVALUATES.get(name, [0, 0, 0, 0])
    assert [is_over(state) for state in seen] == [False, False, False, True]
    assert not seen[-1].converged  # it has done what it was asked for, which is something else
    fractions = [made.fraction_done(state) for state in seen]
    assert fractions == sorted(fractions)
    assert (fractions[0], fractions[-1]) == (0.0, 1.0)


@each_optimiser
def test_a_step_depends_on_the_state_alone(optimiser, make_objective):
    """So a run can be stopped, stored and taken up again, to the same bits, on any number of threads."""
    with make_objective(optimiser()) as objective, make_objective(optimiser(), threads=2) as other:
        for state in states(optimiser(epochs=3), objective, np.zeros(objective.size)):
            assert STATES[type(state).__name__] is type(state)
            before = bits(state)
            ways = [(objective, state), (objective, state), (other, state), (other, rebuilt(state))]
            assert len({bits(optimiser(epochs=3).step(where, start)) for where, start in ways}) == 1
            assert bits(state) == before


@each_optimiser
def test_begins_where_it_is_told_to(optimiser, make_objective):
    made = optimiser()
    with make_objective(made) as objective:
        *_, first = states(made, objective, np.zeros(objective.size))
        theta = first.theta.copy()
        start = made.start(objective, theta)
        np.testing.assert_array_equal(start.theta, first.theta)
        assert wrong_labels(objective, made.step(objective, start).theta) < 0.03
        np.testing.assert_array_equal(theta, first.theta)


@pytest.mark.parametrize("name", DRAWS)
def test_the_seed_makes_the_difference(name, make_objective):
    optimiser = OPTIMISERS[name]
    with make_objective(optimiser()) as objective:
        ends = []
        for seed in (0, 0, 1):
            *_, last = states(optimiser(epochs=2, seed=seed), objective, np.zeros(objective.size))
            ends.append(last.theta.tobytes())
    assert ends[0] == ends[1] != ends[2]


@pytest.mark.parametrize("name", DRAWS)
def test_weights_of_sentences_are_refused(name, make_objective, parts):
    examples = parts[1]
    weighted = Target(examples.gold, np.full(len(examples.offsets) - 1, 2.0))
    made = OPTIMISERS[name]()
    given = Examples(examples.indptr, examples.ids, examples.values, examples.gold, examples.offsets, more=weighted)
    with (
        make_objective(made, examples=given) as objective,
        pytest.raises(SettingError, match="cannot learn with weights of sentences; use lbfgs or auto"),
    ):
        made.step(objective, made.start(objective, np.zeros(objective.size)))


@each_optimiser
def test_memory_is_known_beforehand_and_not_asked_for_where_it_is_not_there(optimiser, make_objective, monkeypatch):
    made = optimiser()
    with make_objective(made) as objective:
        _, state, *_ = states(made, objective, np.zeros(objective.size))
        stores = sum(store.nbytes for store in state.stores)
        assert bytes_of(made, objective, objective.size) == 8 * made.vectors * objective.size + 2 * stores
        monkeypatch.setattr("trellis.objective.memory.MOST", 100)
        if stores:
            with pytest.raises(SettingError, match="tokens and sentences with 16 labels; use lbfgs, fewer"):
                made.step(objective, made.start(objective, np.zeros(objective.size)))
