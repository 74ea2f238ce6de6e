"""CRFs of other orders than one, and pruning."""

from __future__ import annotations

import warnings
from itertools import pairwise, product

import numpy as np
import pytest

from trellis import CRF, load
from trellis.corpus import Corpus
from trellis.errors import SettingError

ORDERS = [0, 1, 2, 3]
FEATURES = "word[-1:1] + pos[0]"


def trained(corpus, **settings):
    return CRF("chunk", FEATURES, **settings).fit(corpus)


@pytest.fixture(scope="module")
def models(corpus):
    return {order: trained(corpus, order=order) for order in ORDERS}


def path_score(model, scores, path):
    """The score of one path from the weights themselves."""
    layout, weights = model.layout, model.weights
    total = sum(scores[t, j] for t, j in enumerate(path))
    moves = dict(zip(zip(layout.source.tolist(), layout.target.tolist(), strict=True),
                     weights[layout.pairs : layout.arcs_at], strict=True))  # fmt: skip
    total += sum(moves.get(pair, 0.0) for pair in pairwise(path))
    tuples = dict(
        zip((tuple(row) for rows in layout.tuples for row in rows.tolist()), weights[layout.tuples_at :], strict=True)
    )
    lengths = range(3, layout.order + 2)
    return total + sum(tuples.get(path[t - n : t], 0.0) for n in lengths for t in range(n, len(path) + 1))


@pytest.mark.parametrize("order", ORDERS)
def test_predictions_equal_enumeration(models, heldout, order):
    from trellis.scoring import plain_scores

    crf = models[order]
    model = crf.model_
    assert model.layout.order == order
    packed, offsets = model.pack(heldout), heldout.offsets
    scores = plain_scores(model.layout, model.weights, packed.indptr, packed.ids, packed.values)
    best, marginals = crf.predict_ids(heldout), crf.predict_marginals(heldout)
    short = [s for s, length in enumerate(np.diff(offsets)) if length <= 5]
    assert len(short) > 2
    for s in short:
        a, b = offsets[s : s + 2].tolist()
        paths = list(product(range(len(crf.classes_)), repeat=b - a))
        totals = np.array([path_score(model, scores[a:b], path) for path in paths])
        assert paths[totals.argmax()] == tuple(best[a:b].tolist())
        p = np.exp(totals - totals.max())
        p /= p.sum()
        expected = np.zeros((b - a, len(crf.classes_)))
        for path, probability in zip(paths, p, strict=True):
            expected[np.arange(b - a), list(path)] += probability
        np.testing.assert_allclose(marginals[s], expected, atol=1e-9)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("prune", [None, 0.01])
def test_a_saved_model_answers_the_same(corpus, heldout, tmp_path, order, prune):
    crf = trained(corpus, order=order, prune=prune, tag_dictionary=5)
    crf.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.predict(heldout) == crf.predict(heldout)
    assert (again.order, again.prune) == (order, prune)
    for found, expected in zip(again.predict_marginals(heldout), crf.predict_marginals(heldout), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("order", ORDERS)
def test_plain_and_compiled_answers_agree(models, heldout, computing, order):
    with computing("plain"):
        plain, rows = models[order].predict_ids(heldout), models[order].predict_marginals(heldout)
    with computing("compiled"):
        np.testing.assert_array_equal(models[order].predict_ids(heldout), plain)
        for found, expected in zip(models[order].predict_marginals(heldout), rows, strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-12)


def test_what_needs_two_labels_before_is_learnt_with_order_two():
    """Labels that repeat in threes: no word says anything, nor does the label before."""
    labels = [["A", "A", "B", "A", "A", "B", "A", "A", "B", "A"][k:] for k in range(3)] * 10
    corpus = Corpus.from_lists({"word": [["x"] * len(row) for row in labels], "tag": labels})
    scores = {order: CRF("tag", "word[0]", order=order, l2=0.01).fit(corpus).objective_ for order in (1, 2)}
    assert scores[2] < 0.5 * scores[1]


def test_a_lower_threshold_prunes_less_and_nearly_nothing_changes_nothing(corpus, heldout):
    exact = trained(corpus, order=1)
    loose, tight = (trained(corpus, order=1, prune=threshold) for threshold in (1e-12, 0.2))
    assert loose.predict(heldout) == exact.predict(heldout)
    assert loose.objective_ == pytest.approx(exact.objective_, rel=1e-3)
    assert tight.pruning_[0].labels < loose.pruning_[0].labels
    assert 0.0 <= loose.pruning_[0].lost <= tight.pruning_[0].lost < 1.0
    assert exact.pruning_ == []


def test_pruning_says_what_it_loses_on_development_data(corpus, heldout):
    crf = CRF("chunk", FEATURES, order=2, prune=0.1).fit(corpus, dev=heldout)
    assert [stage.order for stage in crf.pruning_] == [0, 1]
    for stage in crf.pruning_:
        assert 0.0 <= stage.dev_lost < 0.5
        assert 1.0 <= stage.labels <= len(crf.classes_)


@pytest.mark.parametrize("order", [0, 2])
@pytest.mark.parametrize("loss", ["log", "hinge", "pointwise-log", "exp", "softmax-margin"])
def test_other_losses(corpus, heldout, order, loss):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the hinge may end at a kink
        crf = trained(corpus, order=order, loss=loss, optimizer="lbfgs", tol=1e-3)
    assert crf.score(heldout) > 0.9


@pytest.mark.parametrize("order", [0, 2])
def test_newton(corpus, order):
    newton = trained(corpus, order=order, optimizer="newton-cg")
    assert newton.objective_ == pytest.approx(trained(corpus, order=order, optimizer="lbfgs").objective_, rel=1e-3)


@pytest.mark.parametrize(("order", "prune"), [(0, None), (2, None), (1, 0.01), (2, 0.01)])
def test_labels_known_in_part(corpus, heldout, order, prune):
    y = [list(row) for row in sentences(corpus)]
    rng = np.random.default_rng(0)
    for row in y:
        for t in range(len(row)):
            if rng.random() < 0.3:
                row[t] = None if rng.random() < 0.5 else {row[t], "O"}
    X = [[{"w": word} for word in row] for row in words(corpus)]
    crf = CRF(order=order, prune=prune).fit(X, y)
    score = crf.score([[{"w": word} for word in row] for row in words(heldout)], sentences(heldout))
    assert score > (0.8 if order else 0.5)  # words alone do not tell where phrases begin


@pytest.mark.parametrize(("order", "prune"), [(0, None), (2, None), (1, 0.01), (2, 0.01)])
def test_soft_labels(corpus, heldout, order, prune):
    names = sorted(set(corpus["chunk"].values()))
    soft = [np.where(np.array(row)[:, None] == names, 0.9, 0.1 / (len(names) - 1)) for row in sentences(corpus)]
    crf = CRF("chunk", FEATURES, order=order, prune=prune).fit(corpus, soft=soft, labels=names)
    assert crf.score(heldout) > 0.9


def test_no_label_but_those_of_the_tag_dictionary_stays(corpus, heldout):
    crf = trained(corpus, order=2, prune=0.05, tag_dictionary=1)
    seen = {}
    for word, label in zip(corpus["word"].values(), corpus["chunk"].values(), strict=True):
        seen.setdefault(word, set()).add(label)
    predicted = [label for row in crf.predict(heldout) for label in row]
    for word, label in zip(heldout["word"].values(), predicted, strict=True):
        assert word not in seen or label in seen[word]


@pytest.mark.parametrize("settings", [{"order": 2}, {"prune": 0.1}])
def test_attributes_on_transitions_go_with_order_one(corpus, settings):
    with pytest.raises(SettingError, match="transitions"):
        CRF("chunk", FEATURES + " + transitions(pos[0])", **settings).fit(corpus)


@pytest.mark.parametrize("setting", [{"order": -1}, {"order": 5}, {"order": 1.5}, {"prune": 0}, {"prune": 1.0}])
def test_settings_are_checked(corpus, setting):
    with pytest.raises(SettingError, match=next(iter(setting))):
        CRF("chunk", **setting).fit(corpus)


@pytest.mark.parametrize("optimizer", ["sgd", "perceptron", "eg", "boosting"])
@pytest.mark.parametrize("order", [0, 2])
def test_learners_that_know_order_one_only_say_so(corpus, optimizer, order):
    with pytest.raises(SettingError, match="order"):
        trained(corpus, order=order, optimizer=optimizer)


@pytest.mark.parametrize(("order", "prune"), [(0, None), (2, None), (2, 0.01)])
def test_threads_change_nothing(corpus, order, prune, monkeypatch):
    monkeypatch.setattr("trellis.objective.cutting.SHARD", 50)
    weights = {trained(corpus, order=order, prune=prune, threads=n).model_.weights.tobytes() for n in (1, 2)}
    assert len(weights) == 1


def test_a_checkpoint_of_another_order_is_refused(corpus, tmp_path):
    from trellis.errors import CheckpointError

    trained_in = CRF("chunk", FEATURES, order=2)
    trained_in.fit(corpus, checkpoint=tmp_path / "c")
    with pytest.raises(CheckpointError, match="order"):
        CRF("chunk", FEATURES, order=1).fit(corpus, checkpoint=tmp_path / "c", resume=True)
    again = CRF("chunk", FEATURES, order=2).fit(corpus, checkpoint=tmp_path / "c", resume=True)
    np.testing.assert_array_equal(again.model_.weights, trained_in.model_.weights)


def test_weights_are_carried_over_to_another_order(corpus, models):
    warm = CRF("chunk", FEATURES, order=2, max_iter=1000).fit(corpus, start=models[2])
    assert warm.iterations_ < models[2].iterations_
    up = CRF("chunk", FEATURES, order=2).fit(corpus, start=models[1])
    assert up.objective_ == pytest.approx(models[2].objective_, rel=1e-3)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("prune", [None, 0.001])
def test_only_what_was_seen(corpus, heldout, order, prune, tmp_path):
    crf = trained(corpus, order=order, prune=prune, only_seen=True, l2=20.0)

    def tuples(rows):
        return {row[t - n : t] for row in map(tuple, rows) for n in range(2, order + 2) for t in range(n, len(row) + 1)}

    predicted = crf.predict(heldout)
    assert tuples(predicted) <= tuples(sentences(corpus))
    free = trained(corpus, order=order, prune=prune, l2=20.0)
    assert crf.objective_ < free.objective_
    crf.save(tmp_path / "m")
    assert load(tmp_path / "m").predict(heldout) == predicted
    assert load(tmp_path / "m").only_seen
    for row in crf.predict_kbest(heldout, 3):
        assert tuples([path.labels for path in row]) <= tuples(sentences(corpus))


def test_only_what_was_seen_needs_something_that_was_not(corpus):
    for other in ({"all_transitions": True}, {"order": 0}):
        with pytest.raises(SettingError, match="only_seen"):
            trained(corpus, only_seen=True, **other)


def words(corpus):
    return rows_of(corpus, "word")


def sentences(corpus):
    return rows_of(corpus, "chunk")


def rows_of(corpus, column):
    values = corpus[column].values()
    return [values[a:b] for a, b in pairwise(corpus.offsets.tolist())]


def test_too_many_tuples_are_refused_before_memory_runs_out():
    words = [[str(k) for k in range(300)]]
    corpus = Corpus.from_lists({"word": words, "tag": words})
    for order in (3, 4):
        with pytest.raises(SettingError, match=r"tuples of labels, which is too many; give `prune`"):
            CRF("tag", "word[0]", order=order).fit(corpus)
