"""Stochastic gradient descent makes the updates it says it makes, on every sentence once an epoch."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.engine import ThreadedObjective
from trellis.engine.descent import Descent
from trellis.features import Packed
from trellis.lattice import Allowed
from trellis.losses import LOSSES, Target, find_loss
from trellis.objective import L2, Examples, Hyperbolic, PlainShard, Priors, cut_into_shards
from trellis.objective.descent import DescentShard, Pace, can_descend
from trellis.optim import LBFGS
from trellis.scoring import WeightLayout, observed_layout


@dataclass
class Problem:
    layout: WeightLayout
    examples: Examples

    @property
    def size(self):
        return self.layout.size

    def shards(self, loss="log"):
        return cut_into_shards(self.layout, self.examples, find_loss(loss))

    def descent_shard(self):
        return DescentShard(PlainShard(self.layout, self.examples, find_loss("log")))


def make_problem(seed, labels=3, lengths=(3, 0, 1, 4, 2, 2, 5), valued=False, everything=False, attributes=9):
    """Of the attributes, a third go with any label, the others with one or two."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    gold = rng.integers(0, labels, offsets[-1]).astype(np.int32)
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 6, offsets[-1]))]).astype(np.int64)
    ids = rng.integers(0, attributes, indptr[-1]).astype(np.int32)
    here = np.repeat(gold, np.diff(indptr))
    ids = np.where(ids % 3 == 0, ids, np.minimum(3 * (here // 2) + ids % 3, attributes - 1)).astype(np.int32)
    values = rng.normal(size=len(ids)) * 2 if valued else None
    layout = observed_layout(indptr, ids, gold, offsets, attributes, labels, everything, everything)
    return Problem(layout, Examples(indptr, ids, values, gold, offsets))


problems = st.builds(
    make_problem,
    st.integers(0, 2**32 - 1),
    labels=st.integers(1, 6),
    lengths=st.lists(st.integers(0, 5), min_size=1, max_size=9),
    valued=st.booleans(),
    everything=st.booleans(),
)


@dataclass
class Rates:
    """Of each weight the rate of an update, and what the prior leaves of the weight."""

    rate: np.ndarray
    kept: np.ndarray

    @classmethod
    def of(cls, count, squares, step, l2):
        return cls(*Pace.of(count, squares, l2).at(step))


def descend(shard, theta, groups, rates, shrink):
    shard.learn_at(Pace(rates.rate, (1.0 - rates.kept) / rates.rate))
    return shard.descend(theta, groups, 1.0, shrink)


def some_rates(problem, seed=0, l2=0.3, updates=5):
    """One rate for all weights of an attribute, as descent has them, but otherwise of any size; and the shrinking of
    transitions."""
    layout, rng = problem.layout, np.random.default_rng(seed)
    attribute = np.repeat(np.arange(layout.attributes), np.diff(layout.pair_start))
    rate = np.append(rng.random(layout.attributes)[attribute], rng.random(len(layout.source)))
    kept = np.append(rng.random(layout.attributes)[attribute], np.ones(len(layout.source)))
    return Rates(rate, kept), l2 / updates


def features_of(problem, t):
    """Weight, label and value of all that bears on token t, in the order of its attributes."""
    layout, data = problem.layout, problem.examples
    for k in range(data.indptr[t], data.indptr[t + 1]):
        for p in range(layout.pair_start[data.ids[k]], layout.pair_start[data.ids[k] + 1]):
            yield p, layout.pair_label[p], 1.0 if data.values is None else data.values[k]


def solved(scores, transitions):
    """log Z, P of nodes and P of arcs of one sentence, in the log domain."""
    forward, backward = scores.copy(), np.zeros_like(scores)
    for t in range(1, len(scores)):
        forward[t] += np.logaddexp.reduce(forward[t - 1][:, None] + transitions, axis=0)
    for t in range(len(scores) - 1, 0, -1):
        backward[t - 1] = np.logaddexp.reduce(transitions + (scores[t] + backward[t])[None], axis=1)
    log_z = np.logaddexp.reduce(forward[-1])
    arcs = np.zeros_like(transitions)
    for t in range(1, len(scores)):
        arcs += np.exp(forward[t - 1][:, None] + transitions + (scores[t] + backward[t])[None] - log_z)
    return log_z, np.exp(forward + backward - log_z), arcs


def descended(problem, theta, groups, rates, shrink):
    """The updates as they are documented, one weight at a time; a group is a list of sentences."""
    layout, data, theta, loss = problem.layout, problem.examples, theta.copy(), 0.0
    at = np.arange(layout.pairs, layout.size)
    for group in groups:
        transitions, changes, arcs = layout.transition_matrix(theta[at]), [], np.zeros((layout.labels, layout.labels))
        for s in group:
            a, b = data.offsets[s : s + 2].tolist()
            scores, gold = np.zeros((b - a, layout.labels)), data.gold[a:b]
            for t in range(a, b):
                for p, j, x in features_of(problem, t):
                    scores[t - a, j] += theta[p] * x
            log_z, nodes, expected = solved(scores, transitions)
            loss += log_z - scores[np.arange(b - a), gold].sum() - transitions[gold[:-1], gold[1:]].sum()
            nodes[np.arange(b - a), gold] -= 1.0
            np.add.at(expected, (gold[:-1], gold[1:]), -1.0)
            arcs += expected
            changes += [(p, x * nodes[t - a, j]) for t in range(a, b) for p, j, x in features_of(problem, t)]
        for p, slope in changes:  # all slopes are those before the update
            theta[p] = rates.kept[p] * theta[p] - rates.rate[p] * slope
        gradient = arcs[layout.source, layout.target]
        theta[at] = (1.0 - rates.rate[at] * shrink) * theta[at] - rates.rate[at] * gradient
    return theta, loss


def as_groups(*groups):
    """I64[groups, 4], -1 for none."""
    return np.array([[*group, *[-1] * (4 - len(group))] for group in groups], np.int64).reshape(-1, 4)


def without_none(groups):
    return [[s for s in group if s >= 0] for group in groups.tolist()]


class TestAnUpdate:
    @given(problem=problems, seed=st.integers(0, 1000), scale=st.sampled_from([0.0, 1.0, 10.0]))
    def test_is_the_one_that_is_documented(self, problem, seed, scale):
        rng, shard = np.random.default_rng(seed), problem.descent_shard()
        theta = rng.normal(size=problem.size) * scale
        groups = shard.groups[rng.permutation(len(shard.groups))]
        rates, shrink = some_rates(problem, seed)
        expected, expected_loss = descended(problem, theta, without_none(groups), rates, shrink)
        loss, missing = descend(shard, theta, groups, rates, shrink)
        assert missing == 0
        assert loss == pytest.approx(expected_loss, rel=1e-10, abs=1e-9)
        np.testing.assert_allclose(theta, expected, rtol=1e-9, atol=1e-10)

    @pytest.mark.parametrize("valued", [False, True])
    @pytest.mark.parametrize("labels", [2, 4, 9])
    def test_after_update_is_so_on_longer_sentences(self, labels, valued):
        rng = np.random.default_rng(labels)
        problem = make_problem(labels, labels, rng.integers(0, 15, 22).tolist(), valued, attributes=30)
        shard, theta = problem.descent_shard(), rng.normal(size=problem.size)
        rates, shrink = some_rates(problem)
        expected, expected_loss = descended(problem, theta, without_none(shard.groups), rates, shrink)
        loss, missing = descend(shard, theta, shard.groups, rates, shrink)
        assert (loss, missing) == (pytest.approx(expected_loss, rel=1e-10), 0)
        np.testing.assert_allclose(theta, expected, rtol=1e-8, atol=1e-9)

    @pytest.mark.parametrize("group", [[0], [2, 3], [6, 0, 2], [3, 5, 4, 6], [2, 2, 2]], ids=str)
    def test_is_one_for_up_to_four_sentences(self, group):
        problem = make_problem(1, labels=5, valued=True)
        theta = np.random.default_rng(2).normal(size=problem.size)
        rates, shrink = some_rates(problem)
        expected, expected_loss = descended(problem, theta, [group], rates, shrink)
        loss, _ = descend(problem.descent_shard(), theta, as_groups(group), rates, shrink)
        assert loss == pytest.approx(expected_loss, rel=1e-12)
        np.testing.assert_allclose(theta, expected, rtol=1e-11, atol=1e-12)

    @pytest.mark.parametrize("everything", [False, True])
    def test_after_update_gives_nothing_a_weight_that_has_none(self, everything):
        problem = make_problem(4, labels=5, everything=everything)
        shard, counts = problem.descent_shard(), np.diff(problem.layout.pair_start)
        if not everything:  # rows with gaps, single weights, transitions that are never seen
            assert {int(n) for n in counts} > {1, 3}
            assert len(problem.layout.source) < 25
        theta, expected = np.zeros(problem.size), np.zeros(problem.size)
        rates, shrink = some_rates(problem)
        for _ in range(5):
            expected, _ = descended(problem, expected, without_none(shard.groups), rates, shrink)
            descend(shard, theta, shard.groups, rates, shrink)
        np.testing.assert_allclose(theta, expected, rtol=1e-9, atol=1e-10)
        assert not shard.places.taken([theta])[0].rows[shard.places.tokens.mask == 0].any()

    def test_of_no_group_changes_nothing(self):
        problem = make_problem(0)
        theta = np.random.default_rng(0).normal(size=problem.size)
        before = theta.copy()
        assert descend(problem.descent_shard(), theta, as_groups(), *some_rates(problem)) == (0.0, 0)
        np.testing.assert_array_equal(theta, before)

    def test_with_a_step_of_zero_is_an_evaluation(self):
        problem = make_problem(0, valued=True)
        theta = np.random.default_rng(0).normal(size=problem.size)
        before, shard = theta.copy(), problem.descent_shard()
        shard.learn_at(Pace(np.ones(problem.size), np.ones(problem.size)))
        loss, _ = shard.descend(theta, shard.groups, 0.0, 0.0)
        assert loss == pytest.approx(shard.shard.value(before), rel=1e-12)
        np.testing.assert_array_equal(theta, before)

    def test_minds_labels_that_only_the_rest_of_the_sentence_makes_likely(self):
        """Word for word another label is e^40 times as likely, but nothing may follow that one."""
        gold, offsets = np.array([1, 1, 1], np.int32), np.array([0, 3])
        layout = observed_layout(np.arange(4), np.zeros(3, np.int32), gold, offsets, 1, 2, True, True)
        problem = Problem(layout, Examples(np.arange(4), np.zeros(3, np.int32), None, gold, offsets))
        theta = np.array([40.0, 0.0, -90.0, -90.0, 0.0, 0.0])
        rates, shrink = Rates(np.full(6, 0.5), np.ones(6)), 0.0
        expected, expected_loss = descended(problem, theta, [[0]], rates, shrink)
        loss, _ = descend(problem.descent_shard(), theta, as_groups([0]), rates, shrink)
        assert loss == pytest.approx(expected_loss, rel=1e-12)
        np.testing.assert_allclose(theta, expected, rtol=1e-10, atol=1e-10)

    @pytest.mark.parametrize("spread", [200.0, 340.0, 580.0])
    def test_is_exact_where_transitions_are_far_apart(self, spread):
        for seed in range(5):
            problem = make_problem(seed, everything=True)
            rng = np.random.default_rng(seed)
            theta = rng.normal(size=problem.size) * 0.1
            theta[-9:] = spread * (rng.permutation(9) / 8 - 0.5)
            rates, shrink = some_rates(problem)
            shard = problem.descent_shard()
            expected, expected_loss = descended(problem, theta, without_none(shard.groups[:1]), rates, shrink)
            loss, missing = descend(shard, theta, shard.groups[:1], rates, shrink)
            assert missing == 0
            assert loss == pytest.approx(expected_loss, rel=1e-11)
            np.testing.assert_allclose(theta, expected, rtol=1e-10, atol=1e-10)


class TestSentencesWhoseScoresSpreadTooFar:
    """Sentence 1 is the only one with the last attribute."""

    @pytest.fixture
    def problem(self):
        usual = make_problem(3, lengths=(2, 3, 4, 1, 2), everything=True)
        data, token = usual.examples, 3
        ids = np.insert(data.ids, data.indptr[token], [9, 10])
        indptr = data.indptr + 2 * (np.arange(len(data.indptr)) > token)
        layout = observed_layout(indptr, ids, data.gold, data.offsets, 11, 3, True, True)
        return Problem(layout, Examples(indptr, ids.astype(np.int32), None, data.gold, data.offsets))

    @pytest.mark.parametrize("weights", [(700.0, 0.0), (-700.0, 0.0), (1e300, 0.0), (1.7e308, 1.7e308)], ids=str)
    def test_are_left_out_and_counted(self, problem, weights):
        theta = np.random.default_rng(0).normal(size=problem.size) * 0.1
        theta[[27, 30]] = weights
        rates, shrink = some_rates(problem)
        expected, expected_loss = descended(problem, theta, [[0, 2], [4, 3]], rates, shrink)
        loss, missing = descend(problem.descent_shard(), theta, as_groups([0, 1, 2], [4, 3]), rates, shrink)
        assert missing == 1
        assert loss == pytest.approx(expected_loss, rel=1e-11)
        np.testing.assert_allclose(theta, expected, rtol=1e-10, atol=1e-12)

    def test_may_be_all_there_are(self, problem):
        theta = np.random.default_rng(0).normal(size=problem.size)
        theta[27] = 700.0
        before, (rates, shrink) = theta.copy(), some_rates(problem)
        assert descend(problem.descent_shard(), theta, as_groups([1]), rates, shrink) == (0.0, 1)
        np.testing.assert_array_equal(theta[:33], before[:33])  # only transitions have their prior all the same
        np.testing.assert_allclose(theta[33:], before[33:] * (1.0 - rates.rate[33:] * shrink))

    def test_are_all_of_them_where_transitions_do(self, problem):
        theta = np.random.default_rng(0).normal(size=problem.size)
        theta[-1] = 650.0
        before, (rates, _) = theta.copy(), some_rates(problem)
        assert descend(problem.descent_shard(), theta, as_groups([0, 1, 2], [4, 3]), rates, 0.0) == (0.0, 5)
        np.testing.assert_array_equal(theta, before)


class TestGroups:
    @given(lengths=st.lists(st.integers(0, 9), max_size=30))
    def test_have_every_sentence_that_has_tokens_once_by_length(self, lengths):
        shard = make_problem(0, lengths=lengths).descent_shard()
        flat = [s for s in shard.groups.ravel().tolist() if s >= 0]
        assert sorted(flat) == [s for s, length in enumerate(lengths) if length > 0]
        assert [lengths[s] for s in flat] == sorted(lengths[s] for s in flat)
        assert shard.groups.size < len(flat) + 4

    @given(problem=problems)
    def test_counts_are_of_the_attribute_of_each_weight_and_of_transitions_seen(self, problem):
        shard, data, layout = problem.descent_shard(), problem.examples, problem.layout
        count, squares = np.zeros(problem.size), np.zeros(problem.size)
        for t in range(len(data.gold)):
            for p, _, x in features_of(problem, t):
                count[p] += 1
                squares[p] += x * x
        pairs = [(data.gold[t - 1], data.gold[t]) for t in range(1, len(data.gold)) if t not in data.offsets]
        seen = [pairs.count(pair) for pair in zip(layout.source, layout.target, strict=True)]
        count[layout.pairs :] = squares[layout.pairs :] = seen
        for found, expected in zip(shard.count(), (count, squares), strict=True):
            total = np.zeros(problem.size)
            shard.shard.add_to(total, found)
            np.testing.assert_allclose(total, expected, rtol=1e-12)


class TestRates:
    def test_are_smaller_for_large_values(self):
        count, squares = np.array([1.0, 1.0, 40.0, 40.0]), np.array([1.0, 4.0, 40.0, 160.0])
        rates = Rates.of(count, squares, 0.2, 0.5)
        expected = 0.2 / np.array([1, 4, 1, 4])
        np.testing.assert_allclose(rates.rate, expected, rtol=1e-14)
        np.testing.assert_allclose(rates.kept, 1 - expected * 0.5 / count, rtol=1e-14)

    def test_of_what_never_occurs_are_those_of_what_occurs_once(self):
        """Transitions that have a weight and are not in the data."""
        rates = Rates.of(np.array([0.0, 1.0]), np.array([0.0, 1.0]), 0.2, 0.5)
        assert rates.rate[0] == rates.rate[1]
        assert rates.kept[0] == rates.kept[1]

    @pytest.mark.parametrize("value", [0.0, 1e-300, 1e-160, 1e-3])
    def test_of_tiny_values_do_not_overshoot_the_prior(self, value):
        """Were the slope the same ever after, theta = -n x slope / l2 would be the minimum: no step goes beyond."""
        rates = Rates.of(np.array([3.0]), np.array([3.0 * value**2]), 1.0, 2.0)
        assert 0.0 < rates.rate[0] <= 3.0 / 2.0
        assert rates.kept[0] >= 0.0

    @pytest.mark.parametrize("value", [0.0, 1e-300, 1e-160, 1e-3])
    def test_without_a_prior_are_finite_too(self, value):
        rates = Rates.of(np.array([3.0]), np.array([3.0 * value**2]), 1.0, 0.0)
        assert rates.rate[0] * value <= 1e8
        assert rates.kept[0] == 1.0

    def test_a_strong_prior_on_transitions_makes_them_zero_at_most(self):
        problem = make_problem(0, lengths=(2,), everything=True)
        theta = np.ones(problem.size)
        rates = Rates(np.full(problem.size, 1.0), np.zeros(problem.size))
        descend(problem.descent_shard(), theta, as_groups([]), rates, 7.0)
        np.testing.assert_array_equal(theta[problem.layout.pairs :], 0.0)


@pytest.fixture
def small_shards(monkeypatch):
    monkeypatch.setattr("trellis.objective.cutting.SHARD", 12)


class Recording:
    """What `descend` is asked, and theta after each."""

    def __init__(self, monkeypatch):
        self.calls = []
        descend = DescentShard.descend

        def recorded(shard, theta, groups, step, shrink):
            answer = descend(shard, theta, groups, step, shrink)
            self.calls.append((shard, groups, step, shrink, theta.copy(), answer))
            return answer

        monkeypatch.setattr(DescentShard, "descend", recorded)


@pytest.mark.usefixtures("small_shards")
class TestAnEpoch:
    LENGTHS = (3, 0, 5, 1, 2, 4, 4, 1, 0, 3, 5, 2, 6, 1, 1, 2, 3, 7, 2, 2, 4)

    @pytest.fixture
    def problem(self):
        return make_problem(5, labels=4, lengths=self.LENGTHS, attributes=12)

    @pytest.fixture
    def descent(self, problem):
        descent = Descent(problem.shards(), problem.size, 0.7)
        assert len(descent.shards) == 4
        return descent

    @pytest.mark.parametrize("snapshots", [0, 1, 9])
    def test_visits_every_sentence_once(self, problem, descent, snapshots, monkeypatch):
        recording = Recording(monkeypatch)
        descent.epoch(np.zeros(problem.size), 0.1, 0.85, 0, snapshots, np.random.default_rng(0))
        for shard in descent.shards:
            seen = [s for call in recording.calls if call[0] is shard for s in call[1].ravel().tolist() if s >= 0]
            assert sorted(seen) == np.flatnonzero(np.diff(shard.shard.offsets)).tolist()
        assert descent.sentences == sum(length > 0 for length in self.LENGTHS)

    def test_is_the_updates_of_its_groups_with_a_step_that_falls(self, problem, descent, monkeypatch):
        recording = Recording(monkeypatch)
        theta = np.random.default_rng(1).normal(size=problem.size)
        done = descent.epoch(theta, 0.3, 0.5, 2, 0, np.random.default_rng(0))
        count, squares = problem.descent_shard().count()
        total, total_squares = np.zeros(problem.size), np.zeros(problem.size)
        whole = PlainShard(problem.layout, problem.examples, find_loss("log"))
        whole.add_to(total, count)
        whole.add_to(total_squares, squares)
        updates, loss, first = sum(len(shard.groups) for shard in descent.shards), 0.0, {}
        for shard, a in zip(
            descent.shards, [0, *np.cumsum([len(s.shard.offsets) - 1 for s in descent.shards])], strict=False
        ):
            first[shard] = a
        for n, (shard, groups, *_) in enumerate(recording.calls):
            rates = Rates.of(total, total_squares, 0.3 * 0.5 ** (2 + n / 4), 0.7)
            own = [[s + first[shard] for s in group] for group in without_none(groups)]
            theta, added = descended(problem, theta, own, rates, 0.7 / updates)
            loss += added
        np.testing.assert_allclose(done.theta, theta, rtol=1e-9, atol=1e-10)
        assert done.loss == pytest.approx(loss, rel=1e-11)
        assert done.missing == 0

    def test_depends_on_its_random_numbers_alone(self, problem, descent):
        theta = np.random.default_rng(1).normal(size=problem.size)
        before = theta.copy()
        again = Descent(problem.shards(), problem.size, 0.7)
        ends = [
            one.epoch(theta, 0.3, 0.85, 0, 5, np.random.default_rng(seed))
            for one, seed in [(descent, 7), (descent, 7), (again, 7), (descent, 8)]
        ]
        np.testing.assert_array_equal(theta, before)
        bits = [(end.theta.tobytes(), end.average.tobytes(), end.loss) for end in ends]
        assert bits[0] == bits[1] == bits[2] != bits[3]

    @pytest.mark.parametrize(("snapshots", "taken"), [(1, 4), (4, 4), (9, 12), (40, 40)])
    def test_averages_theta_over_moments_as_many_in_each_shard(self, problem, descent, snapshots, taken, monkeypatch):
        recording = Recording(monkeypatch)
        done = descent.epoch(np.zeros(problem.size), 0.3, 0.85, 0, snapshots, np.random.default_rng(0))
        assert len(recording.calls) == taken
        np.testing.assert_allclose(done.average, np.mean([call[4] for call in recording.calls], axis=0), rtol=1e-12)
        np.testing.assert_array_equal(done.theta, recording.calls[-1][4])

    def test_without_snapshots_the_average_is_theta_itself(self, problem, descent):
        done = descent.epoch(np.zeros(problem.size), 0.3, 0.85, 0, 0, np.random.default_rng(0))
        np.testing.assert_array_equal(done.average, done.theta)

    def test_after_epoch_leads_near_the_optimum(self, problem, descent):
        with ThreadedObjective(problem.shards(), problem.size, L2(0.7)) as objective:
            state = LBFGS(tol=1e-9).start(objective, np.zeros(problem.size))
            zero = state.value
            while not state.converged:
                state = LBFGS(tol=1e-9).step(objective, state)
            theta = np.zeros(problem.size)
            for epoch in range(20):
                done = descent.epoch(theta, 0.2, 0.85, epoch, 20 if epoch == 19 else 0, np.random.default_rng(epoch))
                theta = done.theta
            assert objective.value(done.average) - state.value < 0.05 * (zero - state.value)

    @pytest.mark.parametrize("size", [1e-5, 1.0, 3e3])
    @pytest.mark.parametrize("l2", [1e-4, 1.0, 800.0])
    @pytest.mark.parametrize("everything", [False, True])
    def test_leads_down_whatever_the_prior_and_the_values(self, l2, size, everything):
        """Or, where the optimum is next to zero, not far up."""
        problem = make_problem(7, labels=5, lengths=(4, 6, 2, 7) * 5, valued=True, everything=everything)
        values = np.clip(problem.examples.values * size, -1e4, 1e4)
        problem = Problem(problem.layout, replace(problem.examples, values=values))
        theta = zero = np.zeros(problem.size)
        with ThreadedObjective(problem.shards(), problem.size, L2(l2)) as objective:
            descent = objective.descent()
            step = descent.best_step(theta, (1.0, 0.3, 0.1, 0.02), np.random.default_rng(0))
            for epoch in range(4):
                theta = descent.epoch(theta, step, 0.85, epoch, 0, np.random.default_rng(epoch)).theta
            assert objective.value(theta) < 1.001 * objective.value(zero)

    def test_counts_the_sentences_left_out(self, problem, descent):
        theta = np.zeros(problem.size)
        theta[problem.layout.pairs] = 1e4
        assert descent.epoch(theta, 0.1, 0.85, 0, 0, np.random.default_rng(0)).missing == descent.sentences


@pytest.mark.parametrize("lengths", [(1,), (4,), (0, 0, 3), (0,), (2, 2)], ids=str)
@pytest.mark.parametrize("labels", [1, 4])
def test_small_corpora(lengths, labels):
    problem = make_problem(0, labels=labels, lengths=lengths)
    descent = Descent(problem.shards(), problem.size, 1.0)
    done = descent.epoch(np.zeros(problem.size), 0.3, 0.85, 0, 3, np.random.default_rng(0))
    assert done.loss == pytest.approx(sum(lengths) * np.log(labels), rel=0.5, abs=1e-12)
    assert np.isfinite(done.theta).all()
    assert descent.best_step(np.zeros(problem.size), (1.0, 0.1), np.random.default_rng(0)) in (1.0, 0.1)


class TestTheBestStep:
    STEPS = (3.0, 0.3, 0.001)

    @pytest.fixture
    def problem(self):
        return make_problem(5, labels=4, lengths=(4, 5, 6) * 30, attributes=12)

    def test_is_the_one_whose_pass_over_half_a_sample_helps_the_other_half_most(self, problem):
        descent, zero = Descent(problem.shards(), problem.size, 0.1), np.zeros(problem.size)
        chosen = descent.best_step(zero, self.STEPS, np.random.default_rng(3), sample=32)
        [shard] = descent.shards
        groups = shard.groups[np.random.default_rng(3).permutation(len(shard.groups))][:16]
        losses = []
        for step in self.STEPS:
            theta = zero.copy()
            shard.descend(theta, groups[:8], step, descent._shrink)
            losses.append(shard.descend(theta, groups[8:], 0.0, 0.0)[0])
        assert chosen == self.STEPS[int(np.argmin(losses))] == 0.3
        assert not zero.any()

    def test_does_not_depend_on_their_order(self, problem):
        descent, zero = Descent(problem.shards(), problem.size, 0.1), np.zeros(problem.size)
        rng = np.random.default_rng
        assert descent.best_step(zero, self.STEPS, rng(3)) == descent.best_step(zero, self.STEPS[::-1], rng(3))

    def test_is_never_one_that_throws_sentences_out(self, problem):
        """A sentence that is left out has no loss, which must not look like the smallest of all."""
        descent, zero = Descent(problem.shards(), problem.size, 0.0), np.zeros(problem.size)
        assert descent.best_step(zero, (1e6, 0.3), np.random.default_rng(3)) == 0.3

    @pytest.mark.parametrize("steps", [(1e9, 1e8), (1e308, 1e307), (1e8, 1e9)])
    def test_is_the_smallest_where_none_is_good(self, problem, steps):
        descent, zero = Descent(problem.shards(), problem.size, 0.0), np.zeros(problem.size)
        assert descent.best_step(zero, steps, np.random.default_rng(3)) == min(steps)


class TestDescentIsPossible:
    def can(self, problem, loss="log"):
        return [can_descend(shard) for shard in problem.shards(loss)]

    def changed(self, **more):
        problem = make_problem(0, valued=True, everything=True)
        return Problem(problem.layout, replace(problem.examples, **more))

    def test_for_plain_log_loss(self):
        assert self.can(make_problem(0)) == [True]
        assert self.can(make_problem(0, valued=True)) == [True]

    @pytest.mark.parametrize("loss", [name for name in LOSSES if name != "log"])
    def test_not_for_other_losses(self, loss):
        assert self.can(make_problem(0), loss) == [False]

    def test_not_for_labels_known_in_part_or_soft(self):
        gold = make_problem(0).examples.gold
        known = np.ones((len(gold), 3), bool)
        for kind, more in (("part", {"known": known}), ("soft", {"soft": known / 3.0})):
            problem = self.changed(more=Target(gold, **more))
            shards = cut_into_shards(problem.layout, problem.examples, find_loss("log", kind))
            assert not any(map(can_descend, shards))

    def test_not_with_weights_of_sentences(self):
        problem = make_problem(0)
        weighted = self.changed(more=Target(problem.examples.gold, weights=np.ones(7)))
        assert self.can(weighted) == [False]

    def test_not_with_a_tag_dictionary_or_attributes_on_arcs(self):
        tokens = len(make_problem(0).examples.gold)
        arcs = Packed(np.arange(tokens + 1), np.full(tokens, -1, np.int32), None)
        allowed = Allowed(np.zeros(tokens, np.int32), np.array([0, 3]), np.arange(3, dtype=np.int32))
        assert self.can(self.changed(allowed=allowed)) == [False]
        assert self.can(self.changed(arcs=arcs)) == [False]
        assert self.can(self.changed(arcs=arcs, allowed=allowed)) == [False]

    @pytest.mark.parametrize(("value", "possible"), [(1e4, True), (-1e4, True), (1.1e4, False), (-1e300, False)])
    @pytest.mark.parametrize("everything", [False, True])
    def test_not_with_extreme_values(self, value, possible, everything):
        problem = make_problem(0, valued=True, everything=everything)
        values = problem.examples.values.copy()
        for k in range(0, len(values), 5):
            values[k] = value
        assert self.can(Problem(problem.layout, replace(problem.examples, values=values))) == [possible]

    @pytest.mark.parametrize(
        ("prior", "l1", "possible"),
        [
            (L2(1.0), 0.0, True),
            (L2(0.0), 0.0, True),
            (L2(1.0), 0.1, False),
            (Hyperbolic(1.0), 0.0, False),
            (Priors([L2(1.0)]), 0.0, False),
        ],
        ids=str,
    )
    def test_with_a_gaussian_prior_alone(self, prior, l1, possible):
        problem = make_problem(0)
        with ThreadedObjective(problem.shards(), problem.size, prior, l1=l1) as objective:
            assert (objective.descent() is not None) is possible
            assert objective.descent() is objective.descent()

    def test_only_if_all_shards_are_fit_for_it_and_there_is_one(self, small_shards):
        problem = make_problem(0, valued=True, lengths=(3,) * 12)
        values = problem.examples.values.copy()
        values[-1] = 1e5
        spoilt = Problem(problem.layout, replace(problem.examples, values=values))
        assert self.can(spoilt) == [True, True, False]
        for shards in (spoilt.shards(), []):
            with ThreadedObjective(shards, problem.size, L2(1.0)) as objective:
                assert objective.descent() is None
