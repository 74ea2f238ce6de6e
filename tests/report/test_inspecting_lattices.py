"""What models beyond the chain consist of."""

from __future__ import annotations

import numpy as np
import pytest

from trellis import Lattice, LatticeCRF, Lexicon, Node, SemiCRF, unspaced
from trellis.errors import SettingError
from trellis.report import inspect


def test_segments_have_features_of_tokens_and_of_themselves(corpus, heldout):
    semi = SemiCRF("chunk", "word[0] + pos[0]", "length + surface").fit(corpus)
    found = inspect(semi, heldout, top=5)
    assert [cost.on for cost in found.templates] == ["labels", "labels", "segments", "segments"]
    assert sum(cost.weights for cost in found.templates) + len(semi.model_.layout.source) == found.weights
    assert all(cost.per_token > 0 for cost in found.templates)
    assert found.strongest[0].weight == pytest.approx(max((one.weight for one in found.strongest), key=abs))
    every = inspect(semi, top=10**6)
    names = {(one.feature, one.label) for one in every.strongest}
    assert ("surface=the dog", "NP") in names or any(name.startswith("surface=") for name, _ in names)
    assert {one.label for one in every.transitions} <= {"NP", "VP", "O"}
    total = np.abs([one.weight for one in (*every.strongest, *every.transitions)]).sum()
    assert total == pytest.approx(np.abs(semi.model_.weights).sum())


def test_lattices_have_features_of_nodes_and_of_arcs(corpus):
    texts, segments = unspaced(corpus, "pos")
    lattices = Lexicon.learn(corpus, "pos", min_count=1, unknown=2).lattices(texts)
    model = LatticeCRF("word[0]", arcs="word + known").fit(lattices, segments)
    found = inspect(model, top=10**6)
    assert [(cost.template[-16:], cost.on) for cost in found.templates][1:] == [("word", "arcs"), ("known", "arcs")]
    total = np.abs([one.weight for one in (*found.strongest, *found.transitions)]).sum()
    assert total == pytest.approx(np.abs(model.model_.weights).sum())
    with pytest.raises(SettingError, match="no data"):
        inspect(model, corpus)


def test_lattices_with_attributes_as_given():
    lattices = [Lattice([Node(0, 1, "X", ["a"]), Node(0, 2, "Y", ["b"]), Node(1, 2, "Y", ["c"])], [(0, 2, ["d"])])]
    found = inspect(LatticeCRF().fit(lattices, [[0, 2]]))
    assert [(cost.on, cost.attributes) for cost in found.templates] == [("labels", 2), ("arcs", 1)]
    assert {one.feature for one in found.strongest} == {"a", "c", "d"}
