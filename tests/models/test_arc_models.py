"""A chain with attributes on arcs: decoding, marginals and the model file."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.corpus import Corpus
from trellis.errors import DamagedModelError, DataError
from trellis.features import Packed, TemplateFeatures, templates_for
from trellis.models.linear import LinearChain
from trellis.models.serial import description_of, model_from
from trellis.scoring import observed_layout, with_observed_arcs
from trellis.store import from_bytes, to_bytes

TRAINING = {
    "objective": 1.0, "converged": True, "iterations": 1, "evaluations": 1,
    "stopped_early": False, "dev_score": None, "columns": [],
}  # fmt: skip


def make_model(seed, labels=3, lengths=(3, 1, 4), valued=False, attributes=4, scale=1.0):
    """A model with random weights, and data for it: packed attributes, with those of arcs, and offsets."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    gold = rng.integers(0, labels, offsets[-1]).astype(np.int32)

    def pack(number):
        indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 4, offsets[-1]))]).astype(np.int64)
        return indptr, rng.integers(0, number, indptr[-1]).astype(np.int32)

    (indptr, ids), (arc_indptr, arc_ids) = pack(5), pack(attributes)
    layout = observed_layout(indptr, ids, gold, offsets, 5, labels)
    layout = with_observed_arcs(layout, arc_indptr, arc_ids, gold, offsets, attributes)
    arc_ids = np.where(rng.random(len(arc_ids)) < 0.2, -1, arc_ids).astype(np.int32)
    values = rng.normal(size=len(arc_ids)) if valued else None
    names = tuple(f"L{j}" for j in range(labels))
    weights = rng.normal(size=layout.size) * scale
    model = LinearChain(names, make_features(5, attributes), layout, weights)
    return model, (Packed(indptr, ids, arcs=Packed(arc_indptr, arc_ids, values)), offsets)


def make_features(labels, arcs):
    """Features with so many attributes of labels and of arcs."""
    tokens = range(max(labels, arcs))
    data = Corpus.from_lists({"w": [[f"w{t % labels}" for t in tokens]], "v": [[f"v{t % arcs}" for t in tokens]]})
    features, _ = TemplateFeatures.learn(data, templates_for("U:%x[0,w]\nB:%x[0,v]", ["w", "v"], ""))
    assert (features.attributes, features.arc_attributes) == (labels, arcs)
    return features


def paths_and_scores(model, packed, offsets):
    """For each sentence all paths and their scores, by looking every weight up."""
    layout, weights, arcs = model.layout, model.weights, packed.arcs
    labels = layout.labels
    follows = {
        (i, j): weights[layout.pairs + k] for k, (i, j) in enumerate(zip(layout.source, layout.target, strict=True))
    }
    values = np.ones(len(arcs.ids)) if arcs.values is None else arcs.values

    def score(path, first):
        total = 0.0
        for t, j in enumerate(path, first):
            for a in packed.ids[packed.indptr[t] : packed.indptr[t + 1]]:
                here = slice(layout.pair_start[a], layout.pair_start[a + 1])
                total += weights[here][layout.pair_label[here] == j].sum()
        for t, (i, j) in enumerate(pairwise(path), first + 1):
            total += follows.get((i, j), 0.0)
            for k in range(arcs.indptr[t], arcs.indptr[t + 1]):
                if arcs.ids[k] >= 0:
                    here = slice(*layout.arc_start[arcs.ids[k] : arcs.ids[k] + 2])
                    found = layout.arc_pair[here] == i * labels + j
                    total += values[k] * weights[layout.arcs_at :][here][found].sum()
        return total

    for a, b in pairwise(offsets.tolist()):
        paths = list(product(range(labels), repeat=b - a))
        yield a, b, np.array(paths, int).reshape(len(paths), b - a), np.array([score(path, a) for path in paths])


@pytest.mark.parametrize("way", ["plain", "compiled"])
@given(
    seed=st.integers(0, 2**32 - 1),
    labels=st.integers(1, 4),
    lengths=st.lists(st.integers(0, 4), max_size=4),
    valued=st.booleans(),
    scale=st.sampled_from([1.0, 300.0]),
)
def test_best_paths_and_marginals_equal_enumeration(way, computing, seed, labels, lengths, valued, scale):
    model, data = make_model(seed, labels, lengths, valued, scale=scale)
    with computing(way):
        best, nodes = model.best_of_packed(*data), model.marginals_of_packed(*data)
    assert nodes.shape == (len(best), labels)
    for a, b, paths, scores in paths_and_scores(model, *data):
        own = scores[np.flatnonzero((paths == best[a:b]).all(axis=1))[0]]
        assert own == pytest.approx(scores.max(), rel=1e-12, abs=1e-9)
        p = np.exp(scores - scores.max())
        expected = np.array([[p[paths[:, t] == j].sum() for j in range(labels)] for t in range(b - a)])
        np.testing.assert_allclose(nodes[a:b], expected.reshape(-1, labels) / p.sum(), atol=1e-9)


def test_plain_work_goes_by_runs_of_sentences(computing, monkeypatch):
    model, data = make_model(2, lengths=(3, 0, 5, 1, 4))
    with computing("plain"):
        whole = model.best_of_packed(*data), model.marginals_of_packed(*data)
        monkeypatch.setattr("trellis.models.arcs._HELD", 4 * 9)
        parts = model.best_of_packed(*data), model.marginals_of_packed(*data)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_sentence_whose_blocks_would_not_fit_is_left_to_the_kernels(monkeypatch):
    model, data = make_model(2)
    monkeypatch.setattr("trellis.models.arcs.worthwhile", lambda tokens: tokens > 1000)
    assert not model._arcs.compiled(data[1])
    monkeypatch.setattr("trellis.models.arcs._MOST_HELD", 4 * 9 - 1)
    assert model._arcs.compiled(data[1])


@pytest.mark.parametrize("way", ["plain", "compiled"])
def test_scores_too_large_to_add_up_are_an_error(way, computing):
    model, data = make_model(0, lengths=[6] * 5)
    huge = model.with_weights(np.full(model.layout.size, 1e308))
    with computing(way), np.errstate(over="ignore", invalid="ignore"), pytest.raises(DataError):
        huge.marginals_of_packed(*data)


def test_a_model_with_weights_for_arcs_must_be_given_arcs():
    model, (packed, offsets) = make_model(0)
    packed = replace(packed, arcs=None)
    for ask in (model.best_of_packed, model.marginals_of_packed):
        with pytest.raises(DataError, match="on transitions"):
            ask(packed, offsets)


def test_other_weights_for_the_same_model():
    model, data = make_model(0)
    other = model.with_weights(-model.weights)
    fresh = LinearChain(model.labels, model.features, model.layout, -model.weights)
    np.testing.assert_array_equal(other.marginals_of_packed(*data), fresh.marginals_of_packed(*data))


class TestFile:
    def test_what_is_written_is_read(self):
        model, data = make_model(1)
        again = read(written(model))
        np.testing.assert_array_equal(again.layout.arc_start, model.layout.arc_start)
        np.testing.assert_array_equal(again.layout.arc_pair, model.layout.arc_pair)
        np.testing.assert_array_equal(again.weights, model.weights)
        np.testing.assert_array_equal(again.marginals_of_packed(*data), model.marginals_of_packed(*data))
        assert written(again) == written(model)

    def test_a_model_without_arc_attributes_has_no_tensors_for_them(self):
        model, _ = make_model(1)
        layout = model.layout.restricted(np.arange(5))[0]
        _, tensors = from_bytes(
            written(LinearChain(model.labels, model.features, layout, model.weights[: layout.size]))
        )
        assert not {"arc_counts", "arc_pairs"} & set(tensors)

    @pytest.mark.parametrize("labels", [1, 3])
    def test_attributes_without_a_weight(self, labels):
        """As many as there are, and where there are none at all."""
        model, _ = make_model(3, labels, lengths=(1, 1), attributes=7)
        assert len(model.layout.arc_pair) == 0
        assert read(written(model)).layout.arc_attributes == 7


def written(model):
    return to_bytes(*description_of("CRF", {}, TRAINING, model))


def read(raw):
    return model_from(*from_bytes(raw), [], "file", {})[2]


def setting(name, *values, at=0):
    def change(tensors):
        tensors[name][np.arange(at, at + len(values))] = values

    return change


def replacing(name, make):
    def change(tensors):
        tensors[name] = make(tensors[name])

    return change


def order_of(name, make):
    """Changes the pairs of the first arc attribute that has two."""

    def change(tensors):
        counts = tensors["arc_counts"]
        first = int(np.flatnonzero(counts >= 2)[0])
        at = counts[:first].sum()
        tensors[name][at : at + 2] = make(tensors[name][at : at + 2].copy())

    return change


BAD = {
    "counts missing": lambda t: t.pop("arc_counts"),
    "pairs missing": lambda t: t.pop("arc_pairs"),
    "both missing": lambda t: (t.pop("arc_counts"), t.pop("arc_pairs")),
    "pair out of range": setting("arc_pairs", 9, at=-1),
    "pair negative": setting("arc_pairs", -1),
    "pair far out of range": setting("arc_pairs", 2**31 - 1, at=-1),
    "pairs not ascending": order_of("arc_pairs", lambda v: v[::-1]),
    "pair twice": order_of("arc_pairs", lambda v: v[[0, 0]]),
    "one pair too few": replacing("arc_pairs", lambda v: v[:-1]),
    "one pair too many": replacing("arc_pairs", lambda v: np.append(v, v[:1])),
    "pairs of int64": replacing("arc_pairs", lambda v: v.astype(np.int64)),
    "pairs as a table": replacing("arc_pairs", lambda v: v[None]),
    "count negative": lambda t: setting("arc_counts", -1, t["arc_counts"][:2].sum() + 1)(t),
    "count larger than there are pairs of labels": setting("arc_counts", 10),
    "counts that do not add up": lambda t: setting("arc_counts", t["arc_counts"][0] + 1)(t),
    "counts of uint16": replacing("arc_counts", lambda v: v.astype(np.uint16)),
    "no count": replacing("arc_counts", lambda v: v[:0]),
    "no arc attribute": lambda t: t.update(
        arc_counts=t["arc_counts"][:0], weights=t["weights"][: -len(t["arc_pairs"])], arc_pairs=t["arc_pairs"][:0]
    ),
    "one attribute too few": lambda t: t.update(
        arc_pairs=t["arc_pairs"][: -t["arc_counts"][-1] or None],
        weights=t["weights"][: -t["arc_counts"][-1] or None],
        arc_counts=t["arc_counts"][:-1],
    ),
    "one attribute too many": replacing("arc_counts", lambda v: np.append(v, v[:1] * 0)),
    "one weight too few": replacing("weights", lambda v: v[:-1]),
    "one weight too many": replacing("weights", lambda v: np.append(v, 0.0)),
    "weight infinite": setting("weights", np.inf, at=-1),
}  # fmt: skip


@pytest.mark.parametrize("change", BAD.values(), ids=BAD.keys())
def test_tensors_that_do_not_fit_together_are_refused(change):
    model, _ = make_model(1, lengths=(6, 6, 6))
    description, tensors = from_bytes(written(model))
    change(tensors)
    with pytest.raises(DamagedModelError):
        read(to_bytes({k: v for k, v in description.items() if k != "format"}, tensors))
