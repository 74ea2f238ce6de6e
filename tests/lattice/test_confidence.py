"""Probabilities of segments equal enumeration."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lattices import ChainsWrittenOut, ExplicitLattices, PairsOfAllowed, Recipe, WindowsOfOrder2, WindowsOfOrder3

from trellis.errors import SettingError
from trellis.lattice import Chain
from trellis.lattice.confidence import (
    probabilities_in_chain,
    segments_in_chain,
    segments_in_lattice,
)
from trellis.lattice.spelling import Spelling
from trellis.metrics.segments import segments, spelling_of

recipes = st.builds(
    Recipe, st.integers(0, 2**32 - 1), st.lists(st.integers(0, 4), max_size=3), st.sampled_from([0.0, 1.0, 8.0]),
    st.sampled_from([0.0, 1.0, 8.0]),
)  # fmt: skip
LABELS = {1: ["B-X"], 2: ["O", "I-X"], 3: ["O", "B-X", "I-X"], 5: ["O", "B-X", "I-X", "B-Y", "I-Y"]}
OTHERS = {3: [["S-X", "E-X", "I-Y"], ["B", "I", "O"], ["I-X", "I-Y", "O"]]}


def enumerated(lattice, labels):
    """(start, end, kind) -> P."""
    found = {}
    for s in range(lattice.sentences):
        first = int(lattice.offsets[s])
        paths, _, p, _ = lattice.enumerated(s)
        for path, probability in zip(paths, p, strict=True):
            ids = np.array(path[0], np.int32)
            for start, end, kind in zip(*segments(ids, labels, np.array([0, len(ids)])), strict=True):
                key = (first + int(start), first + int(end), int(kind))
                found[key] = found.get(key, 0.0) + probability
    return found


def check(found, expected, threshold):
    got = dict(zip(zip(found.start.tolist(), found.end.tolist(), found.kind.tolist(), strict=True),
                   found.probability.tolist(), strict=True))  # fmt: skip
    assert all(p >= threshold for p in got.values())
    for key, p in expected.items():
        if p > threshold + 1e-9:
            assert got[key] == pytest.approx(p, abs=1e-9)
    for key, p in got.items():
        assert expected.get(key, 0.0) == pytest.approx(p, abs=1e-9)


def names_for(lattice, seed):
    count = lattice.lattice.labels
    choices = [LABELS[count], *OTHERS.get(count, [])]
    return choices[seed % len(choices)]


@given(recipe=recipes, threshold=st.sampled_from([0.0, 1e-6, 0.1, 0.5]), seed=st.integers(0, 9))
def test_chains(recipe, threshold, seed):
    lattice = ChainsWrittenOut(recipe)
    labels = names_for(lattice, seed)
    chain = Chain(
        lattice.node_scores.reshape(-1, len(labels)), lattice.arc_scores.reshape(len(labels), -1), lattice.offsets
    )
    answer = chain.marginals(each_arc=True)
    spelling, expected = Spelling(*spelling_of(labels)), enumerated(lattice, labels)
    check(segments_in_chain(answer.nodes, answer.arcs, lattice.offsets, spelling, threshold), expected, threshold)
    some = np.array(sorted(expected), np.int64).reshape(-1, 3)
    found = probabilities_in_chain(answer.nodes, answer.arcs, lattice.offsets, spelling, *some.T)
    np.testing.assert_allclose(found, [expected[tuple(key)] for key in some.tolist()], atol=1e-9)


@pytest.mark.parametrize("kind", [ChainsWrittenOut, PairsOfAllowed, WindowsOfOrder2, WindowsOfOrder3])
@given(recipe=recipes, threshold=st.sampled_from([0.0, 1e-6, 0.1, 0.5]), seed=st.integers(0, 9))
def test_lattices_by_their_graphs(kind, recipe, threshold, seed):
    lattice = kind(recipe)
    labels = names_for(lattice, seed)
    found = segments_in_lattice(lattice.lattice, Spelling(*spelling_of(labels)), threshold)
    check(found, enumerated(lattice, labels), threshold)


def test_lattices_without_labels_of_tokens_say_so():
    lattice = ExplicitLattices(Recipe(3, [2])).lattice
    with pytest.raises(SettingError, match="spell no segments"):
        segments_in_lattice(lattice, Spelling(*spelling_of(["O", "B-X"])), 0.1)


def test_spelling_agrees_with_how_segments_are_counted():
    labels = ["O", "B-X", "I-X", "E-X", "S-X", "I-Y"]
    kind, starts = spelling_of(labels)
    rng = np.random.default_rng(0)
    ids = rng.integers(0, len(labels), 500).astype(np.int32)
    start, end, types = segments(ids, labels, np.array([0, 500]))
    begun = [t for t in range(500) if kind[ids[t]] >= 0 and (t == 0 or starts[ids[t - 1], ids[t]])]
    assert begun == start.tolist()
    assert [kind[ids[t]] for t in begun] == types.tolist()
    assert len(list(pairwise(end.tolist()))) == len(end) - 1
