"""Weights carried over from one model to another, by the names of attributes and labels."""

from __future__ import annotations

import numpy as np
import pytest

from trellis import CRF, ConvergenceWarning, load
from trellis.errors import NotFittedError, SettingError
from trellis.models.warm import carried_over

TEMPLATES = "U0:%x[0,word]\nU1:%x[-1,word]/%x[0,pos]\nU2:%x[1,pos]\nU3\n"


def by_name(model, weights):
    """(attribute, label), (label, label) or (arc attribute, label, label) -> weight."""
    layout, labels, out = model.layout, model.labels, {}
    for a, name in enumerate(model.features.names()):
        for k in range(layout.pair_start[a], layout.pair_start[a + 1]):
            out["U", name, labels[layout.pair_label[k]]] = weights[k]
    for k, (i, j) in enumerate(zip(layout.source, layout.target, strict=True)):
        out["T", labels[i], labels[j]] = weights[layout.pairs + k]
    for a, name in enumerate(model.features.arc_names()):
        for k in range(layout.arc_start[a], layout.arc_start[a + 1]):
            i, j = divmod(int(layout.arc_pair[k]), layout.labels)
            out["B", name, labels[i], labels[j]] = weights[layout.arcs_at + k]
    return out


def check(new, old):
    """Every weight by hand; returns how many were carried over."""
    earlier = by_name(old, old.weights)
    theta = carried_over(new, old)
    carried = by_name(new, theta)
    assert len(carried) == len(theta)
    assert carried == {name: earlier.get(name, 0.0) for name in carried}
    return sum(name in earlier for name in carried)


def model_of(data, y=None, **settings):
    """A model whose weights are all different; what it learnt is of no matter."""
    settings = {"target": "chunk", "features": TEMPLATES, "max_iter": 1, **settings}
    with pytest.warns(ConvergenceWarning):
        model = CRF(**settings).fit(data, y).model_
    return model.with_weights(np.arange(1.0, model.layout.size + 1))


class TestWeightsAreCarriedOver:
    def test_to_the_same_features(self, corpus):
        model = model_of(corpus)
        np.testing.assert_array_equal(carried_over(model, model), model.weights)

    def test_to_other_sentences(self, corpus, make_corpus):
        old = model_of(corpus.slice(0, 6))
        new = model_of(make_corpus(80, seed=4).slice(70, 80))
        assert 0 < check(new, old) < new.layout.size
        assert 0 < check(old, new) < old.layout.size

    def test_to_other_templates(self, corpus):
        old = model_of(corpus)
        new = model_of(corpus, features="U2:%x[1,pos]\nU9:%x[0,pos]\nU0:%lower[0,word]\nU3\n")
        assert check(new, old) == 50

    def test_of_templates_that_share_names(self, corpus):
        bag = "U:%x[-1,word]\nU:%x[1,word]\nU9:%x[0,pos]"
        assert check(model_of(corpus.slice(5, 30), features=bag), model_of(corpus, features=bag))

    def test_where_names_could_be_read_two_ways(self, make_corpus):
        corpus = make_corpus(30, seed=6)
        words = [[word.replace("e", "/") for word in sentence] for sentence in corpus.sentences("word")]
        odd = corpus.with_column("word", type(corpus).from_lists({"w": words})["w"])
        model = model_of(odd, features="U:%x[0,word]/%x[1,word]")
        np.testing.assert_array_equal(carried_over(model, model), model.weights)

    def test_of_arc_attributes(self, corpus, make_corpus):
        features = "U0:%x[0,word]\nB1:%x[0,pos]\nB2:%x[-1,pos]/%x[0,pos]\n"
        old, new = (
            model_of(corpus.slice(0, 12), features=features),
            model_of(make_corpus(40, seed=8), features=features),
        )
        assert old.layout.arc_attributes
        assert check(new, old) > 20

    def test_of_keys_too_large_for_a_number(self, corpus):
        wide = "U0:" + "/".join(f"%x[{k % 5 - 2},word]" for k in range(30)) + "\nU1:%x[0,pos]"
        old, new = model_of(corpus, features=wide), model_of(corpus.slice(10, 40), features=wide)
        assert any(group.keys.ranks for group in old.features.labels.groups)
        assert check(new, old) > 100
        assert check(old, new) > 100

    def test_to_other_labels(self, corpus):
        y = [[label.replace("NP", "XX") for label in labels] for labels in corpus.sentences("chunk")]
        new = model_of(corpus, y)
        assert 0 < check(new, model_of(corpus)) < new.layout.size

    def test_of_hashed_attributes_by_place(self, corpus):
        old, new = model_of(corpus, hash_size=64), model_of(corpus.slice(0, 30), hash_size=64)
        assert check(new, old) > 50

    def test_but_not_between_tables_of_different_sizes(self, corpus):
        old, new = model_of(corpus, hash_size=64), model_of(corpus, hash_size=65)
        theta = carried_over(new, old)
        assert not theta[: new.layout.pairs].any()
        assert theta[new.layout.pairs :].all()  # transitions

    def test_nor_between_names_and_hashes(self, corpus):
        for old, new in (({}, {"hash_size": 64}), ({"hash_size": 64}, {})):
            model = model_of(corpus, **new)
            assert not carried_over(model, model_of(corpus, **old))[: model.layout.pairs].any()

    def test_of_given_attributes(self):
        first = ([[["a", "b"], ["c"]]], [["X", "Y"]])
        second = ([[["c", "d"], ["a"]], [["b"]]], [["Y", "X"], ["Z"]])
        old, new = (model_of(*data, target=None) for data in (first, second))
        assert check(new, old) == 2  # c with Y, a with X

    def test_from_templates_to_given_names(self, corpus):
        given = model_of([[["U3", "U0:dog"], ["U0:sees"]]], [["B-NP", "B-VP"]], target=None)
        assert check(given, model_of(corpus)) == 4


class TestFit:
    def test_a_second_fit_goes_on(self, corpus):
        crf = CRF("chunk", warm_start=True, tol=1e-8).fit(corpus)
        first = crf.iterations_, crf.objective_
        assert crf.fit(corpus).iterations_ < first[0] / 2
        assert crf.objective_ == pytest.approx(first[1], rel=1e-6)

    def test_without_it_a_second_fit_starts_afresh(self, corpus):
        crf = CRF("chunk").fit(corpus)
        first = crf.iterations_
        assert crf.fit(corpus).iterations_ == first

    def test_the_first_fit_of_a_warm_model_is_a_plain_one(self, corpus):
        assert CRF("chunk", warm_start=True).fit(corpus).objective_ == CRF("chunk").fit(corpus).objective_

    def test_another_model_may_be_the_start(self, corpus, make_corpus, tmp_path):
        old = CRF("chunk", tol=1e-8).fit(make_corpus(50, seed=11))
        old.save(tmp_path / "m")
        cold = CRF("chunk", tol=1e-8).fit(corpus)
        warm = CRF("chunk", tol=1e-8).fit(corpus, start=load(tmp_path / "m"))
        assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-6)
        assert warm.iterations_ < cold.iterations_

    def test_the_start_is_left_alone(self, corpus, heldout):
        old = CRF("chunk").fit(heldout)
        before = old.model_.weights.copy()
        CRF("chunk").fit(corpus, start=old)
        np.testing.assert_array_equal(old.model_.weights, before)

    def test_with_a_development_set_the_start_may_be_the_best(self, corpus, heldout):
        good = CRF("chunk").fit(corpus)
        little = corpus.slice(0, 2)
        again = CRF("chunk", patience=1, features=good.features).fit(little, start=good, dev=heldout)
        cold = CRF("chunk", patience=1).fit(little, dev=heldout)
        assert again.dev_score_ >= cold.dev_score_

    def test_models_with_nothing_in_common(self, corpus):
        old = CRF().fit([[["q"], ["r"]]], [["X", "Y"]])
        with pytest.warns(UserWarning, match="no weight is carried over"):
            CRF("chunk").fit(corpus, start=old)

    def test_what_is_no_start(self, corpus):
        with pytest.raises(SettingError, match="start is a str; expected a trained CRF"):
            CRF("chunk").fit(corpus, start="model")
        with pytest.raises(NotFittedError):
            CRF("chunk").fit(corpus, start=CRF())

    def test_warm_start_and_seed_are_kept_in_the_file(self, corpus, tmp_path):
        CRF("chunk", warm_start=True, seed=5).fit(corpus).save(tmp_path / "m")
        again = load(tmp_path / "m")
        assert (again.warm_start, again.seed) == (True, 5)
