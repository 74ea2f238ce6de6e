"""Every round of boosting takes the best change by its bound, the bound holds, and what is kept is true; all compared
with enumeration of all paths."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trellis.engine import ThreadedObjective
from trellis.engine.boosting import Boosting
from trellis.errors import DataError, SettingError
from trellis.features import Packed
from trellis.lattice import Allowed
from trellis.losses import Target, find_loss
from trellis.objective import L2, Examples, PlainShard, cut_into_shards
from trellis.scoring import WeightLayout, observed_layout, with_observed_arcs

SMOOTHING = 0.1
BOUNDS = ["tokens", "paths"]
# a share of paths that is 0 comes out as some roundings, which a change multiplies by up to 1e6: 1e-12 is certain there
ROUNDED = {"tokens": 1e-9, "paths": 64 * np.finfo(float).eps * 1e6}
LOSSES = {"exp": (50.0, False), "tangent soon": (1.5, False), "log": (0.0, False), "uniform": (1.0, True)}

each_bound = pytest.mark.parametrize("by", BOUNDS)
losses = st.sampled_from(list(LOSSES.values()))


@dataclass
class Problem:
    layout: WeightLayout
    examples: Examples

    def boosting(self, pieces=1):
        cuts = np.linspace(0, len(self.examples.offsets) - 1, pieces + 1).astype(int).tolist()
        parts = [self.examples.part(a, b) for a, b in itertools.pairwise(cuts)]
        return Boosting([PlainShard(self.layout, part, find_loss("exp")) for part in parts], self.layout.size)

    def objective(self, loss="exp", threads=1):
        return ThreadedObjective(
            cut_into_shards(self.layout, self.examples, find_loss(loss)), self.layout.size, L2(0.0), threads
        )


def make_problem(seed, labels=3, lengths=(3, 0, 1, 4, 2), valued=False, everything=False, weighted=False, attributes=7):
    """Of the attributes, a third go with any label, the others with one or two; some are several times on a token."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    gold = rng.integers(0, labels, offsets[-1]).astype(np.int32)
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 5, offsets[-1]))]).astype(np.int64)
    ids = rng.integers(0, attributes, indptr[-1]).astype(np.int32)
    here = np.repeat(gold, np.diff(indptr))
    ids = np.where(ids % 3 == 0, ids, np.minimum(3 * (here // 2) + ids % 3, attributes - 1)).astype(np.int32)
    values = np.round(rng.normal(size=len(ids)) * 2, 1) if valued else None  # some are 0
    layout = observed_layout(indptr, ids, gold, offsets, attributes, labels, everything, everything)
    more = Target(gold, weights=rng.integers(0, 4, len(lengths)) / 2.0) if weighted else None
    return Problem(layout, Examples(indptr, ids, values, gold, offsets, more=more))


problems = st.builds(
    make_problem,
    st.integers(0, 2**32 - 1),
    labels=st.integers(1, 4),
    lengths=st.lists(st.integers(0, 4), min_size=1, max_size=4),
    valued=st.booleans(),
    everything=st.booleans(),
    weighted=st.booleans(),
)


class Slow:
    """Everything by enumeration: of each sentence all paths, with what they have of each weight."""

    def __init__(self, problem):
        layout, data = problem.layout, problem.examples
        self.size, self.labels = layout.size, layout.labels
        number = {(i, j): layout.pairs + k for k, (i, j) in enumerate(zip(layout.source, layout.target, strict=True))}
        weights = np.ones(len(data.offsets) - 1) if data.more is None else data.more.weights
        self.sentences = []
        for s, (a, b) in enumerate(itertools.pairwise(data.offsets.tolist())):
            if a == b or weights[s] == 0.0:
                continue
            # a site is where a weight may be or not be: its number, its value, and whether a path has it
            sites = []
            for t in range(a, b):
                for k in range(data.indptr[t], data.indptr[t + 1]):
                    x = 1.0 if data.values is None else data.values[k]
                    for p in range(layout.pair_start[data.ids[k]], layout.pair_start[data.ids[k] + 1]):
                        sites.append((p, x, lambda y, t=t - a, j=layout.pair_label[p]: y[t] == j))
                if t > a:
                    for (i, j), p in number.items():
                        sites.append((p, 1.0, lambda y, t=t - a, i=i, j=j: (y[t - 1], y[t]) == (i, j)))
            gold = tuple(data.gold[a:b].tolist())
            paths = [y for y in itertools.product(range(self.labels), repeat=b - a) if y != gold]
            where = np.array([p for p, _, _ in sites], int)
            values = np.array([x for _, x, _ in sites])
            on_gold = np.array([on(gold) for _, _, on in sites], float)
            # what a path differs by from the gold one, site by site
            differs = np.array([[on(y) for _, _, on in sites] for y in paths], float).reshape(len(paths), len(sites))
            differs = (differs - on_gold) * values
            self.sentences.append((b - a, weights[s], where, values, on_gold, differs))

    def sums(self, theta, straight_from, uniform):
        """Of each sentence: its loss, and the weight of each wrong path in a bound that is linear in exp(S(y') - S)."""
        out = []
        for length, weight, where, _, _, differs in self.sentences:
            ratio = np.exp(differs @ theta[where])
            start = self.labels**length - 1
            c = weight / start if uniform and start else weight
            excess = math.log1p(ratio.sum())
            if uniform or excess < straight_from:
                out.append((c * ratio.sum(), c * ratio))
            else:
                top = math.exp(straight_from)
                out.append((c * (top * (1 + excess - straight_from) - 1), c * top * ratio / (1 + ratio.sum())))
        return out

    def loss(self, theta, straight_from, uniform):
        return sum(loss for loss, _ in self.sums(theta, straight_from, uniform))

    def bounds(self, by, theta, straight_from, uniform, smoothing):
        """Of each weight the bound of the loss as a function of its change."""
        sums = self.sums(theta, straight_from, uniform)
        total = sum(loss for loss, _ in sums)
        make = self.by_tokens if by == "tokens" else self.by_paths
        return {k: make(k, sums, total, smoothing) for k in self.seen()}

    def seen(self):
        """Weights that occur at all."""
        return sorted({p for _, _, where, values, _, _ in self.sentences for p in where[values != 0.0].tolist()})

    def by_tokens(self, k, sums, total, smoothing):
        parts, smallest = self._parts(k, sums)

        def bound(d):
            out = (
                total
                + smoothing * total / len(sums) * (math.exp(d * smallest) + math.exp(-d * smallest) - 2) / smallest
            )
            for m, up, down in parts:
                out += up / m * math.expm1(d * m) + down / m * math.expm1(-d * m)
            return out

        bound.is_lowest_somewhere = True
        return bound

    def _parts(self, k, sums):
        amounts = [np.abs(values[where == k]).sum() for _, _, where, values, _, _ in self.sentences]
        if k >= self.size - self.transitions:  # every token but the first has the transition, or has it not
            amounts = [length - 1.0 for length, *_ in self.sentences]
        most = max(amounts)
        parts = []
        for (_, _, where, _, _, differs), (_, mass), amount in zip(self.sentences, sums, amounts, strict=True):
            if amount > 0:
                u = differs[:, where == k]
                m = most / 2 ** math.floor(math.log2(most / amount))
                up, down = mass @ np.maximum(u, 0).sum(axis=1), mass @ np.maximum(-u, 0).sum(axis=1)
                parts.append((m, up, down))
        return parts, min(m for m, _, _ in parts)

    def by_paths(self, k, sums, total, smoothing):
        q, p, mass, slope, largest = 0.0, 0.0, 0.0, 0.0, 0.0
        for (_, _, where, values, on_gold, differs), (_, weight) in zip(self.sentences, sums, strict=True):
            u, x, g = differs[:, where == k].sum(axis=1), values[where == k], on_gold[where == k] > 0
            if k < self.size - self.transitions:  # as if several on one token could differ, too
                gains = np.where(g, -x, x)
                q, p = max(q, np.maximum(gains, 0).sum()), max(p, np.maximum(-gains, 0).sum())
            else:
                q, p = max(q, u.max(initial=0.0)), max(p, -u.min(initial=0.0))
            mass, slope = mass + weight.sum(), slope + weight @ u
            largest = max(largest, np.abs(x).max(initial=0.0))
        q, p = max(q, largest), max(p, largest)
        left, right = (q * mass - slope) / (p + q), (slope + p * mass) / (p + q)

        def bound(d):
            return total - mass + left * math.exp(-d * p) + right * math.exp(d * q)

        bound.is_lowest_somewhere = min(left, right) > 1e-10 * mass  # or it falls without end
        return bound


def slow_of(problem):
    slow = Slow(problem)
    slow.transitions = len(problem.layout.source)
    return slow


def lowest(function):
    """The minimum of a convex function."""
    low, high = -60.0, 60.0
    for _ in range(200):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        with np.errstate(over="ignore"):
            low, high = (low, b) if _value(function, a) < _value(function, b) else (a, high)
    return _value(function, 0.5 * (low + high))


def _value(function, d):
    try:
        return function(d)
    except OverflowError:
        return math.inf


def some_theta(problem, seed=0, scale=0.5):
    return np.random.default_rng(seed).normal(size=problem.layout.size) * scale


def one_round(boosting, theta, straight_from, uniform, by, search=False, count=1):
    return boosting.rounds(theta, count, straight_from, uniform, by, SMOOTHING, search)


@each_bound
@given(problem=problems, loss=losses, start=st.sampled_from([0.0, 0.5]))
@example(problem=make_problem(1344342303, 2, [1], valued=True, everything=True), loss=(50.0, False), start=0.5)
def test_a_round_makes_the_change_that_its_bound_likes_best(by, problem, loss, start):
    straight_from, uniform = loss
    theta, slow = some_theta(problem, scale=start), slow_of(problem)
    done = one_round(problem.boosting(), theta, straight_from, uniform, by)
    total = slow.loss(theta, straight_from, uniform)
    assert done.start == pytest.approx(total, rel=1e-9, abs=1e-12)
    bounds = slow.bounds(by, theta, straight_from, uniform, SMOOTHING)
    best = min((lowest(bound) for bound in bounds.values() if bound.is_lowest_somewhere), default=total)
    if done.ended:
        assert best >= total * (1 - 1e-9) - 1e-12
        return
    k, change = int(done.weight[0]), float(done.change[0])
    after = theta.copy()
    after[k] += change
    np.testing.assert_array_equal(done.theta, after)
    assert done.bound[0] == pytest.approx(bounds[k](change), rel=1e-9, abs=ROUNDED[by] * total)
    assert done.bound[0] <= best + 1e-9 * total
    assert done.loss[0] == pytest.approx(slow.loss(after, straight_from, uniform), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("by", "search"), [("paths", False), ("tokens", False), ("tokens", True)])
@given(problem=problems, loss=losses)
def test_the_loss_stays_below_its_bound_and_never_rises(search, by, problem, loss):
    straight_from, uniform = loss
    theta, slow = np.zeros(problem.layout.size), slow_of(problem)
    done = one_round(problem.boosting(), theta, straight_from, uniform, by, search, count=12)
    last = done.start
    for k, change, bound, now in zip(done.weight, done.change, done.bound, done.loss, strict=True):
        theta[k] += change
        true = slow.loss(theta, straight_from, uniform)
        assert now == pytest.approx(true, rel=1e-8, abs=1e-12)
        assert true <= bound * (1 + 1e-7) + 1e-12
        assert bound <= last
        last = now
    np.testing.assert_allclose(done.theta, theta, atol=1e-12)


@given(problem=problems, loss=losses)
def test_sums_that_change_from_round_to_round_are_those_of_the_weights(problem, loss):
    straight_from, uniform = loss
    one, other = problem.boosting(), problem.boosting()
    done = one_round(one, np.zeros(problem.layout.size), straight_from, uniform, "tokens", True, count=15)
    one_round(other, done.theta, straight_from, uniform, "tokens", count=0)
    scale = math.exp(other.shift - one.shift)
    for kept, afresh in zip(one.now[2:9], other.now[2:9], strict=True):
        by = 1.0 if kept is one.now.excess else scale
        np.testing.assert_allclose(kept, by * afresh, rtol=1e-6, atol=1e-6 * max(one.now.loss.sum(), 1e-9))


@given(problem=problems, loss=losses)
def test_the_norm_is_that_of_the_gradient(problem, loss):
    straight_from, uniform = loss
    theta, slow = some_theta(problem), slow_of(problem)
    norm = one_round(problem.boosting(), theta, straight_from, uniform, "tokens", count=0).gradient_norm
    gradient = np.zeros(len(theta))
    for (_, _, where, _, _, differs), (_, mass) in zip(
        slow.sentences, slow.sums(theta, straight_from, uniform), strict=True
    ):
        np.add.at(gradient, where, mass @ differs)
    assert norm == pytest.approx(np.linalg.norm(gradient), rel=1e-8, abs=1e-10)


def test_a_sentence_of_a_thousand_tokens_neither_overflows_nor_hides_the_others():
    problem = make_problem(3, labels=4, lengths=(1300, 6, 5, 7))
    for straight_from, uniform in LOSSES.values():
        boosting = problem.boosting()
        done = one_round(boosting, np.zeros(problem.layout.size), straight_from, uniform, "tokens", True, count=4)
        assert np.isfinite(done.loss).all()
        assert np.all(done.loss <= done.bound * (1 + 1e-9))
        assert done.loss[-1] < done.start
        assert boosting.now.excess[:3].sum() < 18 * math.log(4)


def test_scores_that_spread_far_are_done_in_the_log_domain():
    problem = make_problem(5, lengths=(4, 3, 2))
    slow = slow_of(problem)
    theta = some_theta(problem, scale=30.0)
    theta[0] = 2000.0
    theta[-1] = -900.0
    done = one_round(problem.boosting(), theta, 0.0, False, "tokens", count=0)
    excess = 0.0
    for _, _, where, _, _, differs in slow.sentences:
        excess += np.logaddexp.reduce(np.append(differs @ theta[where], 0.0))
    assert done.start == pytest.approx(excess, rel=1e-9)


@each_bound
def test_shards_are_one_text(by):
    problem = make_problem(7, lengths=(3, 2, 0, 4, 1, 3, 2, 5), weighted=True, valued=True)
    theta = some_theta(problem)
    whole, cut = (one_round(problem.boosting(n), theta, 5.0, False, by, True, count=8) for n in (1, 3))
    np.testing.assert_array_equal(whole.weight, cut.weight)
    np.testing.assert_allclose(whole.theta, cut.theta, atol=1e-10)


def test_the_loss_with_its_tangent_at_50_is_the_objective():
    problem = make_problem(8, lengths=(40, 3, 2, 5), weighted=True)
    theta = some_theta(problem)
    with problem.objective() as objective:
        done = one_round(objective.boosting(), theta, 50.0, False, "tokens", count=0)
        value, gradient = objective.value_and_gradient(theta)
    assert done.start == pytest.approx(value, rel=1e-10)
    assert done.gradient_norm == pytest.approx(np.linalg.norm(gradient), rel=1e-9)


def test_a_weight_of_two_is_the_sentence_twice():
    problem = make_problem(9, lengths=(3, 4, 2))
    data = problem.examples
    twice = np.append(data.offsets, data.offsets[-1] + data.offsets[1])
    first = data.part(0, 1)
    again = Examples(
        np.append(data.indptr, data.indptr[-1] + first.indptr[1:]), np.append(data.ids, first.ids), None,
        np.append(data.gold, first.gold), twice,
    )  # fmt: skip
    weighted = replace(data, more=Target(data.gold, weights=np.array([2.0, 1.0, 1.0])))
    # smoothing knows how many sentences there are, so the paper's bound
    one, other = (
        one_round(Problem(problem.layout, each).boosting(), np.zeros(problem.layout.size), 5.0, False, "paths", count=9)
        for each in (weighted, again)
    )
    np.testing.assert_array_equal(one.weight, other.weight)
    np.testing.assert_allclose(one.loss, other.loss, rtol=1e-9)


class TestRefuses:
    def test_other_losses(self):
        message = "boosting minimises the loss 'exp', not 'log'; use loss='exp'"
        with make_problem(0).objective("log") as objective, pytest.raises(SettingError, match=message):
            objective.boosting()

    def test_tag_dictionaries_and_attributes_on_transitions(self):
        problem = make_problem(0)
        data, layout = problem.examples, problem.layout
        allowed = Allowed(np.zeros(len(data.gold), np.int32), np.array([0, 3]), np.arange(3, dtype=np.int32))
        arcs = Packed(np.arange(len(data.gold) + 1), np.zeros(len(data.gold), np.int32), None)
        patched = with_observed_arcs(layout, arcs.indptr, arcs.ids, data.gold, data.offsets, 1)
        for other in (
            Problem(layout, replace(data, allowed=allowed)),
            Problem(patched, replace(data, arcs=arcs)),
        ):
            with other.objective() as objective, pytest.raises(SettingError, match="leave them out"):
                objective.boosting()

    @pytest.mark.parametrize("value", [1e60, 1e-60])
    def test_extreme_values(self, value):
        problem = make_problem(0, valued=True)
        problem.examples.values[0] = value
        with (
            problem.objective() as objective,
            pytest.raises(SettingError, match=rf"is {value:g}; boosting expects".replace("+", r"\+")),
        ):
            objective.boosting()

    def test_no_sentences(self):
        empty = make_problem(0, lengths=())
        with empty.objective() as objective, pytest.raises(DataError, match="no sentences to learn from"):
            objective.boosting()

    def test_sentences_that_weigh_too_much(self):
        problem = make_problem(0)
        heavy = Target(problem.examples.gold, weights=np.full(5, 1e60))
        other = Problem(problem.layout, replace(problem.examples, more=heavy))
        with other.objective() as objective, pytest.raises(SettingError, match=r"weight of a sentence is 1e\+60"):
            objective.boosting()

    def test_weights_that_are_too_large_to_start_from(self):
        problem = make_problem(0)
        theta = some_theta(problem, scale=1e6)
        with pytest.raises(DataError, match="not finite where boosting starts"):
            one_round(problem.boosting(), theta, 1.0, True, "tokens")
