"""The objective with attributes on arcs: weights for (attribute at t, label at t - 1, label at t)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.engine import ThreadedObjective
from trellis.features import Packed
from trellis.lattice import Allowed
from trellis.losses import find_loss
from trellis.objective import L2, Examples, PlainShard, cut_into_shards
from trellis.scoring import WeightLayout, observed_layout, with_observed_arcs


@dataclass
class Problem:
    layout: WeightLayout
    examples: Examples

    @property
    def size(self):
        return self.layout.size


@pytest.fixture(params=["ready factors", "changed factors"], autouse=True)
def way(request, monkeypatch):
    """Through factors made once for a kind of token, and through one that is changed at every token."""
    monkeypatch.setattr("trellis.scoring.arcs._OFTEN", 1 if request.param == "ready factors" else 10**9)


def pack(rng, tokens, attributes, most, lowest=-1):
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, most + 1, tokens))]).astype(np.int64)
    return indptr, rng.integers(lowest, attributes, indptr[-1]).astype(np.int32)


def make_problem(seed, labels=3, lengths=(3, 0, 1, 4), valued=False, everything=False, attributes=4):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    gold = rng.integers(0, labels, offsets[-1]).astype(np.int32)
    indptr, ids = pack(rng, offsets[-1], 6, 3, lowest=0)
    arc_indptr, arc_ids = pack(rng, offsets[-1], attributes, 3)
    values = rng.normal(size=len(arc_ids)) * 2 if valued else None
    layout = observed_layout(indptr, ids, gold, offsets, 6, labels, everything, everything)
    layout = with_observed_arcs(layout, arc_indptr, arc_ids, gold, offsets, attributes, everything)
    return Problem(layout, Examples(indptr, ids, None, gold, offsets, Packed(arc_indptr, arc_ids, values)))


def enumerated(problem, theta):
    """log Z - S(y) over all sentences, and E[features] - features(y), from a list of all paths."""
    layout, data, arcs = problem.layout, problem.examples, problem.examples.arcs
    values = np.ones(len(arcs.ids)) if arcs.values is None else arcs.values
    total, gradient = 0.0, np.zeros(layout.size)
    follows = {pair: layout.pairs + k for k, pair in enumerate(zip(layout.source, layout.target, strict=True))}

    def features(path, first):
        out = np.zeros(layout.size)
        for t, j in enumerate(path, first):
            for a in data.ids[data.indptr[t] : data.indptr[t + 1]]:
                for p in range(layout.pair_start[a], layout.pair_start[a + 1]):
                    out[p] += layout.pair_label[p] == j
        for t, (i, j) in enumerate(pairwise(path), first + 1):
            if (i, j) in follows:
                out[follows[i, j]] += 1.0
            for k in range(arcs.indptr[t], arcs.indptr[t + 1]):
                a = arcs.ids[k]
                for p in range(layout.arc_start[a], layout.arc_start[a + 1]) if a >= 0 else ():
                    out[layout.arcs_at + p] += values[k] * (layout.arc_pair[p] == i * layout.labels + j)
        return out

    for a, b in pairwise(data.offsets.tolist()):
        lists = [range(layout.labels)] * (b - a) if data.allowed is None else allowed_lists(data.allowed.part(a, b))
        table = np.array([features(path, a) for path in product(*lists)])
        scores = table @ theta
        powers = np.exp(scores - scores.max())
        gold = features(tuple(data.gold[a:b].tolist()), a)
        total += scores.max() + np.log(powers.sum()) - gold @ theta
        gradient += powers @ table / powers.sum() - gold
    return total, gradient


def allowed_lists(allowed):
    return [np.flatnonzero(row).tolist() for row in allowed.mask()]


def whole_shard(problem, theta):
    """One shard's answer in the order of theta."""
    shard = PlainShard(problem.layout, problem.examples, find_loss("log"))
    value, local = shard.value_and_gradient(theta)
    gradient = np.zeros(problem.size)
    shard.add_to(gradient, local)
    return value, gradient


def threaded(problem, l2=0.0, threads=1):
    shards = cut_into_shards(problem.layout, problem.examples, find_loss("log"))
    return ThreadedObjective(shards, problem.size, L2(l2), threads)


@given(
    seed=st.integers(0, 2**32 - 1),
    labels=st.integers(1, 4),
    lengths=st.lists(st.integers(0, 4), max_size=4),
    valued=st.booleans(),
    everything=st.booleans(),
    scale=st.sampled_from([0.0, 1.0, 10.0]),
)
def test_a_shard_equals_enumeration(seed, labels, lengths, valued, everything, scale):
    problem = make_problem(seed, labels, lengths, valued, everything)
    theta = np.random.default_rng(seed).normal(size=problem.size) * scale
    value, gradient = whole_shard(problem, theta)
    expected, expected_gradient = enumerated(problem, theta)
    assert value == pytest.approx(expected, rel=1e-11, abs=1e-11)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("weight", [900.0, -900.0, 200.0, -300.0, 1e4])
@pytest.mark.parametrize("where", ["attribute", "transition", "arc attribute"])
@pytest.mark.parametrize("valued", [False, True])
def test_sentences_that_underflow_are_as_exact(weight, where, valued):
    """A weight this large sends sentences through the log domain; the others stay as they were."""
    for seed in range(5):
        problem = make_problem(seed, lengths=(3, 1, 4, 2, 4, 3, 3), valued=valued, everything=True)
        theta = np.random.default_rng(seed).normal(size=problem.size)
        layout = problem.layout
        theta[{"attribute": 0, "transition": layout.pairs, "arc attribute": layout.arcs_at + 4}[where]] = weight
        value, gradient = whole_shard(problem, theta)
        expected, expected_gradient = enumerated(problem, theta)
        assert value == pytest.approx(expected, rel=1e-11, abs=1e-9)
        np.testing.assert_allclose(gradient, expected_gradient, atol=1e-9)


@pytest.mark.parametrize("valued", [False, True])
@pytest.mark.parametrize("labels", [1, 2, 5])
def test_the_gradient_equals_central_differences(valued, labels, monkeypatch):
    monkeypatch.setattr("trellis.objective.cutting.SHARD", 12)
    rng = np.random.default_rng(labels)
    problem = make_problem(labels, labels, rng.integers(1, 9, 12).tolist(), valued)
    with threaded(problem, l2=0.7, threads=2) as objective:
        assert len(objective.shards) > 2
        theta = rng.normal(size=problem.size)
        gradient = objective.value_and_gradient(theta)[1]
        step = 1e-5
        for k in range(problem.size):
            ends = [objective.value_and_gradient(theta + d * (np.arange(problem.size) == k))[0] for d in (step, -step)]
            assert gradient[k] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("valued", [False, True])
def test_many_shards_and_blocks_add_up_to_one(valued, monkeypatch):
    problem = make_problem(3, 4, [3, 0, 5, 1, 2, 4, 4, 1, 0, 3] * 3, valued, attributes=9)
    theta = np.random.default_rng(0).normal(size=problem.size)
    value, gradient = whole_shard(problem, theta)
    monkeypatch.setattr("trellis.objective.cutting.SHARD", 6)
    monkeypatch.setattr("trellis.objective.shard.BLOCK", 3)
    with threaded(problem) as objective:
        assert len(objective.shards) > 5
        assert max(len(shard.blocks) for shard in objective.shards) > 1
        cut_value, cut_gradient = objective.value_and_gradient(theta)
    assert cut_value == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(cut_gradient, gradient, rtol=1e-12, atol=1e-12)


def test_the_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr("trellis.objective.cutting.SHARD", 100)
    problem = make_problem(5, 5, [7, 3, 11, 1] * 60, attributes=30)
    theta = np.random.default_rng(1).normal(size=problem.size)
    answers = []
    for threads in (1, 2, 8):
        with threaded(problem, 1.3, threads) as objective:
            assert len(objective.shards) > 8
            answers += [objective.value_and_gradient(theta) for _ in range(3)]
    assert len({(value, gradient.tobytes()) for value, gradient in answers}) == 1


def with_arcs(problem, indptr, ids, values=None):
    data = problem.examples
    return Problem(
        problem.layout,
        Examples(data.indptr, data.ids, data.values, data.gold, data.offsets, Packed(indptr, ids, values)),
    )


def test_arc_attributes_of_first_tokens_and_unknown_ones_have_no_effect():
    """Not even with values that would overflow."""
    problem = make_problem(8, lengths=(3, 0, 1, 4, 2), everything=True)
    offsets, tokens = problem.examples.offsets, int(problem.examples.offsets[-1])
    first = np.isin(np.arange(tokens), offsets[:-1])
    theta = np.random.default_rng(3).normal(size=problem.size)
    ids = np.stack([np.where(first, 2, 1), np.full(tokens, -1)], axis=1).ravel().astype(np.int32)
    values = np.stack([np.where(first, 1e300, 0.5), np.full(tokens, 1e300)], axis=1).ravel()
    loud = with_arcs(problem, np.arange(0, 2 * tokens + 1, 2), ids, values)
    quiet = with_arcs(
        problem,
        np.concatenate([[0], np.cumsum(~first)]),
        np.ones(np.sum(~first), np.int32),
        np.full(np.sum(~first), 0.5),
    )
    (value, gradient), (expected, expected_gradient) = whole_shard(loud, theta), whole_shard(quiet, theta)
    assert value == expected
    np.testing.assert_array_equal(gradient, expected_gradient)


@pytest.mark.parametrize("valued", [False, True])
def test_without_an_arc_attribute_in_sight_the_rest_is_as_ever(valued):
    """A shard may have none at all, or only such as have no weight."""
    problem = make_problem(4, lengths=(4, 2, 3))
    tokens = int(problem.examples.offsets[-1])
    bare = Problem(problem.layout.restricted(np.arange(6))[0], problem.examples)
    theta = np.random.default_rng(0).normal(size=problem.size)
    unknown = np.full(tokens, -1, np.int32)
    values = np.ones(tokens) if valued else None
    value, gradient = whole_shard(with_arcs(problem, np.arange(tokens + 1), unknown, values), theta)
    data = bare.examples
    bare.examples = Examples(data.indptr, data.ids, data.values, data.gold, data.offsets)
    expected, expected_gradient = whole_shard(bare, theta[: bare.size])
    assert value == pytest.approx(expected, rel=1e-13)
    np.testing.assert_allclose(gradient[: bare.size], expected_gradient, atol=1e-13)
    assert not gradient[bare.size :].any()


@pytest.mark.parametrize("bad", [np.nan, 1e308])
def test_weights_that_go_too_far_give_no_number(bad):
    problem = make_problem(1, everything=True)
    assert not np.isfinite(whole_shard(problem, np.full(problem.size, bad))[0])


@given(seed=st.integers(0, 2**32 - 1), valued=st.booleans(), scale=st.sampled_from([1.0, 300.0]))
def test_with_labels_that_are_not_allowed_it_is_the_lattice_of_the_others(seed, valued, scale):
    problem = make_problem(seed, valued=valued)
    rng, data = np.random.default_rng(seed), problem.examples
    # every token may have its own label and maybe others
    sets = [(0, 1, 2), *((j,) for j in range(3)), *((i, j) for i in range(3) for j in range(i + 1, 3))]
    which = [rng.choice([k for k, labels in enumerate(sets) if gold in labels]) for gold in data.gold]
    start = np.cumsum([0, *map(len, sets)])
    labels = np.array([j for several in sets for j in several], np.int32)
    allowed = Allowed(np.array(which, np.int32), start, labels)
    problem.examples = replace(data, allowed=allowed)
    theta = rng.normal(size=problem.size) * scale
    value, gradient = enumerated(problem, theta)
    with threaded(problem) as objective:
        own_value, own_gradient = objective.value_and_gradient(theta)
    assert own_value == pytest.approx(value, rel=1e-9, abs=1e-7)
    np.testing.assert_allclose(own_gradient, gradient, atol=1e-7 * scale)
