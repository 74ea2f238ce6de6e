"""The boosting optimiser: iterations of several rounds, from states that hold all there is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from optim_problems import bits, rebuilt, states

from trellis.engine import ThreadedObjective
from trellis.errors import DataError, SettingError
from trellis.losses import find_loss
from trellis.objective import L2, Examples, PlainShard
from trellis.optim import LBFGS, OPTIMIZERS, STATES, Boosting, BoostingState, bytes_of, find_optimizer, is_over
from trellis.scoring import observed_layout
from trellis.training.states import Reader, Writer


def make_objective(threads=1, l1=0.0, loss="exp", sentences=12, longest=6, seed=0):
    """Labels that mostly follow from the attributes, in three shards."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, longest + 1, sentences))]).astype(np.int64)
    ids = rng.integers(0, 8, (offsets[-1], 2)).astype(np.int32)
    gold = np.where(rng.random(len(ids)) < 0.9, ids[:, 0] % 3, 0).astype(np.int32)
    indptr = np.arange(0, 2 * len(ids) + 1, 2, dtype=np.int64)
    layout = observed_layout(indptr, ids.ravel(), gold, offsets, 8, 3)
    examples = Examples(indptr, ids.ravel(), None, gold, offsets)
    cuts = np.linspace(0, sentences, 4).astype(int).tolist()
    shards = [PlainShard(layout, examples.part(a, b), find_loss(loss)) for a, b in itertools.pairwise(cuts)]
    return ThreadedObjective(shards, layout.size, L2(0.0), threads, l1=l1)


def run(optimizer, objective=None):
    objective = make_objective() if objective is None else objective
    return list(states(optimizer, objective, np.zeros(objective.size)))


def test_it_is_in_the_registry():
    assert find_optimizer("boosting", 1e-3, rounds=50, weights="uniform") == Boosting(1e-3, 50, weights="uniform")
    assert OPTIMIZERS["boosting"] is Boosting
    assert STATES["BoostingState"] is BoostingState
    assert Boosting.learns == ("exp",)
    assert not Boosting.uses_prior


@pytest.mark.parametrize("options", [{}, {"weights": "uniform"}, {"bound": "paths"}, {"search": False}])
def test_the_loss_falls_from_iteration_to_iteration(options):
    _, *after = run(Boosting(rounds=60, rounds_per_step=20, **options))
    assert [state.rounds for state in after] == [20, 40, 60]
    assert [is_over(state) for state in after] == [False, False, True]
    assert all(a.value > b.value for a, b in itertools.pairwise(after))
    assert all(state.value <= state.promised for state in after)
    assert all(state.evaluations == 0 and not state.stuck for state in after)


def test_with_its_tangent_at_50_it_comes_to_the_minimum_of_the_objective():
    """Noisy labels: the loss has a minimum, and boosting finds the one that L-BFGS finds."""
    objective = make_objective(sentences=80, longest=2)
    last = run(Boosting(tol=1e-9, straight_from=50.0, rounds=500, smoothing=1e-6), objective)[-1]
    *_, other = states(LBFGS(tol=1e-9), objective, np.zeros(objective.size))
    assert last.value == pytest.approx(objective.value_and_gradient(last.theta)[0], rel=1e-9)
    assert last.value == pytest.approx(other.value, rel=1e-3)


def test_few_rounds_use_few_weights():
    last = run(Boosting(rounds=4))[-1]
    assert 0 < np.count_nonzero(last.theta) <= 4


def test_a_step_depends_on_the_state_alone():
    """So a run can be stopped, stored and taken up again, to the same bits, with any number of threads."""
    optimizer, objective = Boosting(rounds=40, rounds_per_step=10), make_objective()
    for state in run(optimizer, objective):
        before = bits(state)
        ways = [optimizer.step(objective, start) for start in (state, state, rebuilt(state))]
        ways += [optimizer.step(make_objective(threads), rebuilt(state)) for threads in (1, 2)]
        assert bits(state) == before
        assert len({bits(new) for new in ways}) == 1


def test_checkpoints_hold_its_states():
    for state in run(Boosting(rounds=20, rounds_per_step=10)):
        writer = Writer()
        written = writer.write(state)
        assert bits(Reader(writer.tensors, len(state.theta)).state(written)) == bits(state)


def test_it_ends_when_the_loss_hardly_falls():
    last = run(Boosting(tol=0.1, rounds_per_step=5))[-1]
    assert last.converged
    assert last.rounds < Boosting().rounds


def test_it_ends_where_nothing_is_promised():
    objective = make_objective(seed=1, sentences=3, longest=2)
    last = run(Boosting(), objective)[-1]
    beyond = Boosting().step(objective, last)
    assert last.converged
    assert bits(beyond) == bits(last)


def test_the_guess_of_what_is_done_is_a_fraction():
    optimizer = Boosting(rounds=60, rounds_per_step=20)
    assert [optimizer.fraction_done(state) for state in run(optimizer)] == [0.0, 1 / 3, 2 / 3, 1.0]


class TestRefuses:
    def test_l1(self):
        with make_objective(l1=0.5) as objective, pytest.raises(SettingError, match=r"l1 is 0\.5.*knows no prior"):
            Boosting().start(objective, np.zeros(objective.size))

    def test_other_losses_at_once(self):
        with make_objective(loss="log") as objective, pytest.raises(SettingError, match="minimises the loss 'exp'"):
            Boosting().start(objective, np.zeros(objective.size))

    def test_weights_that_are_no_numbers(self):
        with make_objective() as objective, pytest.raises(DataError, match="not finite"):
            Boosting().start(objective, np.full(objective.size, np.nan))

    @pytest.mark.parametrize(
        ("option", "value"),
        [("rounds", 0), ("rounds_per_step", 0), ("smoothing", 0.0), ("straight_from", 501.0), ("weights", "none"),
         ("bound", "loose"), ("search", 1)],
    )  # fmt: skip
    def test_options_that_do_not_fit(self, option, value):
        with pytest.raises(SettingError, match=f"{option} is {value!r}; expected"):
            Boosting(**{option: value})


def test_sums_that_cannot_be_numbered_are_refused(monkeypatch):
    monkeypatch.setattr("trellis.objective.boosting_units._MOST_CELLS", 5)
    with pytest.raises(SettingError, match=r"boosting would need [0-9]+ sums, of which 5 can be numbered"):
        run(Boosting())


def test_memory_is_known_beforehand():
    objective = make_objective()
    now = objective.boosting().now
    assert bytes_of(Boosting(), objective, 0) > sum(each.nbytes for each in now)


def test_the_bound_by_paths_has_no_smoothing():
    with pytest.raises(SettingError, match="smoothing is 5, which the bound 'paths' does not know; leave one"):
        Boosting(bound="paths", smoothing=5.0)


def test_memory_that_is_not_there_is_not_asked_for(monkeypatch):
    monkeypatch.setattr("trellis.objective.memory.MOST", 100)
    with pytest.raises(SettingError, match=r"would need 0 GB .* sums of all weights; use lbfgs, fewer sentences or"):
        run(Boosting())
