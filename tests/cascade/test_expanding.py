"""Choices of lower labels: the compiled way equals the plain one, and both equal a list of all choices."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.cascade.context import context_columns
from trellis.cascade.expand_kernels import expand as compiled
from trellis.cascade.parting import parted
from trellis.cascade.plain import expand_plainly
from trellis.cascade.plan import Beliefs, gold_beliefs, joined, lower_of
from trellis.cascade.wiring import Wiring, expand
from trellis.corpus import Column, Corpus
from trellis.features import templates_for
from trellis.lattice import Chain

LOWER = {"s0": "abc", "s1": "xy"}
OFFSETS = np.array([0, 4, 4, 5, 8])
TEMPLATES = [
    "s0[0]",
    "s0[-2:2] + s1[1]",
    "s0[0] + (s0[-1] & s0[0])",
    "s0[0] + (s0[-1] & s0[0] & s0[1]) + (s0[1] & s0[0])",
    "(s0[-1] & s0[1]) + (s0[0] & s1[0]) + (s0[-1] & s0[0] & s1[-1] & s1[0])",
    "(word[0] & s0[0]) + (word[-1] & s0[-1] & s0[0])",
    "regex(s0, 'a')[0] + (prefix(s1, 1)[-1] & regex(s0, 'b')[0])",
    "s0[0] + transitions(s0[-1] & s0[0]) + transitions(s1[0])",
    "(s0[0] & regex(s0, 'a')[0]) + (s0[-1] & s0[0] & regex(s0, 'b')[0] & s0[1])",
    'U:%apply_pair[0,s0,"f"]\nU2:%apply_pair[1,s0,"f"]/%x[0,s1]',
    'U:%apply_pair[0,s0,"f"]/%x[0,s0]/%x[1,s0]\nU:%x[-1,s0]/%apply_pair[0,s0,"g"]\nB:%apply_pair[0,s1,"f"]',
    "U:%x[-1,s0]\nU:%x[1,s0]\nB:%x[0,s1]",
]


FUNCTIONS = {
    "f": lambda before, here: f"{before}-{here}" if here != "c" else None,
    "g": lambda before, here: {"x": 0.5, here: -2.0},
}


def problem(seed, text):
    rng = np.random.default_rng(seed)
    tokens = int(OFFSETS[-1])
    columns = {"word": Column(rng.integers(0, 3, tokens).astype(np.int32), ["u", "v", "w"])}
    gold, chains, beliefs = {}, {}, []
    for name, labels in LOWER.items():
        gold[name] = rng.integers(0, len(labels), tokens).astype(np.int32)
        columns[name] = Column(gold[name], list(labels))
    corpus = Corpus(columns, OFFSETS)
    _, wired = parted(templates_for(text, list(columns), ""), list(LOWER))
    names = [name for name in LOWER if any(p.view.column == name for t in wired for p in t.parts)]
    lower = {name: LOWER[name] for name in names}
    seen = [gold_beliefs(gold[name], len(LOWER[name]), OFFSETS) for name in names]
    wiring = Wiring.learn(wired, corpus, "upper", lower, seen, FUNCTIONS)
    for name in names:
        size = len(LOWER[name])
        chains[name] = Chain(rng.normal(size=(tokens, size)), rng.normal(size=(size, size)), OFFSETS)
        beliefs.append(dense(chains[name]))
    columns_ = None if wiring.context is None else context_columns(wiring.context, corpus)
    return wiring, beliefs, chains, corpus, columns_


def dense(chain):
    """All nodes and arcs of a chain."""
    from trellis.cascade.believing import marginals_of

    return marginals_of(chain, chain.scores.shape[1], True, 0.0)


@pytest.mark.parametrize("text", TEMPLATES)
@pytest.mark.parametrize("least", [0.0, 0.02, 0.2])
@given(seed=st.integers(0, 10**6))
def test_both_ways_find_the_same(text, least, seed):
    wiring, beliefs, _, _, columns = problem(seed, text)
    lower = lower_of(beliefs)
    context = np.zeros((int(OFFSETS[-1]), 0), np.int32) if columns is None else columns
    for inner, plan in ((False, wiring.on_labels), (True, wiring.on_transitions)):
        if len(plan.first) == 1:
            continue
        plain = expand_plainly(lower, plan, context, OFFSETS, least, inner)
        found = expand(lower, plan, columns, OFFSETS, least, inner, None)
        for name, values in plain.items():
            mine = getattr(found, name)
            if values.dtype == np.float64:
                np.testing.assert_allclose(mine, values, rtol=1e-12)
            else:
                np.testing.assert_array_equal(mine, values)


def test_room_grows_where_it_is_too_small(monkeypatch):
    wiring, beliefs, _, _, columns = problem(0, TEMPLATES[3])
    whole = wiring.expand(beliefs, columns, OFFSETS, 0.0)[0]
    monkeypatch.setattr("trellis.cascade.wiring._A_TEMPLATE", 0)
    again = wiring.expand(beliefs, columns, OFFSETS, 0.0)[0]
    np.testing.assert_array_equal(whole.ids, again.ids)
    assert compiled is not None


@given(seed=st.integers(0, 10**6))
def test_values_of_runs_are_the_probabilities_of_paths_through_them(seed):
    wiring, beliefs, chains, _, _ = problem(seed, "s0[0] + (s0[-1] & s0[0] & s0[1])")
    found = wiring.expand(beliefs, None, OFFSETS, 0.0)[0]
    names, chain = wiring.names(), chains["s0"]
    for t in range(int(OFFSETS[-1])):
        s = int(np.searchsorted(OFFSETS, t, side="right")) - 1
        a, b = int(OFFSETS[s]), int(OFFSETS[s + 1])
        paths = list(product(range(3), repeat=b - a))
        scores = np.array([
            sum(chain.scores[a + k, j] for k, j in enumerate(p)) +
            sum(chain.transitions[i, j] for i, j in pairwise(p)) for p in paths
        ])  # fmt: skip
        chance = np.exp(scores - scores.max())
        chance /= chance.sum()
        for k in range(found.start[t], found.start[t + 1]):
            name = names[found.ids[k]]
            values = name.split("=", 1)[1].split("/")
            places = [t] if len(values) == 1 else [t - 1, t, t + 1]

            def there(path, values=values, places=places, a=a, b=b):
                at = [
                    LOWER["s0"][path[p - a]] if a <= p < b else f"_B{p - a if p < a else f'+{p - b + 1}'}"
                    for p in places
                ]
                return at == values

            expected = sum(c for c, path in zip(chance, paths, strict=True) if there(path))
            assert found.p[k] == pytest.approx(expected, abs=1e-12)
            assert found.occurring.values[k] == pytest.approx(expected, abs=1e-12)


@given(seed=st.integers(0, 10**6))
def test_what_is_certain_counts_as_the_annotation_does(seed):
    wiring, _, _, corpus, _ = problem(seed, "s0[-1:1] + (s0[-1] & s0[0])")
    sure = [gold_beliefs(corpus["s0"].ids, 3, OFFSETS)]
    plain = wiring.expand(sure, None, OFFSETS, 0.0)[0]
    cut = wiring.expand(sure, None, OFFSETS, 0.01)[0]
    assert len(plain.ids) == 4 * int(OFFSETS[-1])  # each template has an attribute for what it was learnt from
    np.testing.assert_array_equal(plain.ids, cut.ids)
    np.testing.assert_allclose(plain.occurring.values, 1.0)
    np.testing.assert_allclose(cut.occurring.values, 1.0)


@given(seed=st.integers(0, 10**6), cut=st.integers(0, 4))
def test_beliefs_may_be_cut_and_joined(seed, cut):
    _, beliefs, _, _, _ = problem(seed, "s0[0]")
    at = int(OFFSETS[cut])
    whole: Beliefs = beliefs[0]
    again = joined([whole.part(0, at), whole.part(at, whole.tokens)])
    for one, other in ((whole.nodes, again.nodes), (whole.arcs, again.arcs)):
        for mine, theirs in zip(one, other, strict=True):
            np.testing.assert_array_equal(mine, theirs)
