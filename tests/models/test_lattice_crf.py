"""CRFs over lattices that are given node by node."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest

from trellis import Arc, ConvergenceWarning, Lattice, LatticeCRF, Lexicon, Node, load, unspaced
from trellis.corpus import Corpus
from trellis.errors import CheckpointError, DataError, NoLegalPathError, SettingError

NODES = [
    Node(0, 1, "X", ["a"]),
    Node(0, 2, "Y", {"ab": 1.0, "long": 0.5}),
    Node(1, 2, "X", ["b"]),
    Node(1, 2, "Y", ["b", "odd"]),
    Node(2, 3, "Y", ["c"]),
]
ARCS = [Arc(0, 2, ["ab"]), Arc(0, 3), Arc(1, 4, ["ends"]), Arc(2, 4, ["ends", "x"]), Arc(3, 4, {"w": 2.0})]
LATTICES = [Lattice(NODES, ARCS), Lattice(NODES), Lattice(NODES[:1]), Lattice([])]
PATHS = [[0, 2, 4], [(0, 2, "Y"), (2, 3, "Y")], [0], []]
ALL = [[0, 2, 4], [0, 3, 4], [1, 4]]  # of the first two


@pytest.fixture(scope="module")
def small():
    return LatticeCRF(l2=0.1, tol=1e-8, all_nodes=True).fit(LATTICES, PATHS)


@pytest.fixture(scope="module")
def words(corpus, heldout):
    """A lexicon, and texts of the two corpora with their segments."""
    lexicon = Lexicon.learn(corpus, "pos", min_count=1, unknown=4)
    return lexicon, unspaced(corpus, "pos"), unspaced(heldout, "pos")


@pytest.fixture(scope="module")
def segmenter(words):
    lexicon, (texts, gold), _ = words
    return LatticeCRF(l2=0.1, arcs="word").fit(lexicon.lattices(texts), gold)


def scores_of(model, lattice, paths):
    """By names, from the weights."""
    kept = model.model_
    layout, theta = kept.layout, kept.weights
    names, labels = kept.features.names(), list(kept.labels)
    pairs = {}
    for a, name in enumerate(names):
        for k in range(layout.pairs.pair_start[a], layout.pairs.pair_start[a + 1]):
            pairs[name, labels[layout.pairs.pair_label[k]]] = theta[k]
    moves = zip(layout.pairs.source.tolist(), layout.pairs.target.tolist(), strict=True)
    follows = {(labels[i], labels[j]): theta[layout.pairs.pairs + k] for k, (i, j) in enumerate(moves)}
    arcs = {name: theta[layout.pairs.arcs_at + k] for k, name in enumerate(kept.arcs.names())}
    given = {(arc.source, arc.target): arc.attributes for arc in lattice.arcs or []}

    def valued(attributes):
        return attributes.items() if isinstance(attributes, dict) else [(name, 1.0) for name in attributes]

    out = []
    for path in paths:
        total = sum(pairs.get((n, lattice.nodes[v].label), 0.0) * x for v in path
                    for n, x in valued(lattice.nodes[v].attributes))  # fmt: skip
        for u, v in pairwise(path):
            total += follows.get((lattice.nodes[u].label, lattice.nodes[v].label), 0.0)
            total += sum(arcs.get(n, 0.0) * x for n, x in valued(given.get((u, v), ())))
        out.append(total)
    return np.array(out)


class TestAnswers:
    def test_equal_enumeration(self, small):
        p = []
        for s in range(2):
            scores = scores_of(small, LATTICES[s], ALL)
            own = np.exp(scores - scores.max())
            p.append(own / own.sum())
        for s, row in enumerate(small.predict_marginals(LATTICES)[:2]):
            wanted = [sum(q for q, path in zip(p[s], ALL, strict=True) if v in path) for v in range(5)]
            np.testing.assert_allclose(row, wanted, atol=1e-12)
        best = small.predict_kbest(LATTICES, 5)
        for s in range(2):
            order = np.argsort(-p[s])
            assert [[seg[:2] for seg in path.segments] for path in best[s]] == [
                [NODES[v][:2] for v in ALL[k]] for k in order
            ]
            np.testing.assert_allclose([path.log_probability for path in best[s]], np.log(p[s][order]))
        assert small.predict_nodes(LATTICES) == [ALL[p[0].argmax()], ALL[p[1].argmax()], [0], []]
        assert small.predict(LATTICES)[2] == [(0, 1, "X")]
        np.testing.assert_allclose(
            small.log_probability(LATTICES, [[1, 4], [0, 3, 4], [0], []]),
            [np.log(p[0][2]), np.log(p[1][1]), 0.0, 0.0],
            atol=1e-12,
        )
        assert small.log_probability(LATTICES[:2], [[0, 4], [(0, 1, "Q"), (1, 3, "Y")]]).tolist() == [-np.inf] * 2

    def test_entropy_samples_and_posteriors(self, small):
        paths = small.predict_kbest(LATTICES, 100)
        entropy = [-sum(np.exp(one.log_probability) * one.log_probability for one in own) for own in paths]
        np.testing.assert_allclose(small.entropy(LATTICES), entropy, atol=1e-12)
        drawn, p = small.sample(LATTICES, 3000, seed=5), small.predict_marginals(LATTICES)
        assert drawn == small.sample(LATTICES, 3000, seed=5)
        for own, found, best, rows in zip(paths, drawn, small.predict_posterior(LATTICES), p, strict=True):
            for one in own:
                assert abs(found.count(one.segments) / 3000 - np.exp(one.log_probability)) < 0.04
            sums = {tuple(one.segments): sum(rows[[NODES[v][:3] for v in range(len(rows))].index(segment)]
                                             for segment in one.segments) for one in own}  # fmt: skip
            assert sums[tuple(best)] == pytest.approx(max(sums.values()))

    def test_spans_have_the_probabilities_of_their_nodes(self, small):
        p = small.predict_marginals(LATTICES)
        for s, (spans, nodes) in enumerate(
            zip(small.predict_spans(LATTICES), small.predict_nodes(LATTICES), strict=True)
        ):
            assert [span.probability for span in spans] == p[s][nodes].tolist()
            sure = small.predict_spans(LATTICES, min_confidence=0.7)[s]
            assert sure == [span for span in spans if span.probability >= 0.7]

    def test_it_learns_to_cut_and_to_label(self, segmenter, words):
        lexicon, _, (texts, gold) = words
        lattices = lexicon.lattices(texts)
        assert segmenter.score(lattices, gold) > 0.9
        report = segmenter.evaluate(lattices, gold)
        assert set(report.by_type) == set(lexicon.labels)
        assert report.tokens == sum(map(len, gold))
        for text, own in zip(texts, segmenter.predict(lattices), strict=True):
            assert "".join(text[s.start : s.end] for s in own) == text

    def test_beams_are_near(self, small):
        best = small.predict_kbest(LATTICES, 1)
        for width in (1, 5, 10**12):
            near = small.predict_near(LATTICES, width)
            found = small.log_probability(LATTICES, [path.segments for path in near])
            for one, p, own in zip(near, found, best, strict=True):
                assert own[0].log_probability - p <= one.gap + 1e-9
        assert [path.segments for path in near] == small.predict(LATTICES)
        assert all(path.gap < 1e-9 for path in near)
        with pytest.raises(SettingError, match="beam is 0"):
            small.predict_near(LATTICES, 0)

    @pytest.mark.parametrize("wrong", [None, "x", 2, -0.1, float("nan")])
    def test_confidences_that_are_none(self, small, wrong):
        with pytest.raises(SettingError, match=r"min_confidence is .*; expected a probability"):
            small.predict_spans(LATTICES, wrong)

    def test_no_path_is_said(self, small):
        with pytest.raises(NoLegalPathError, match=r"^lattice 2 has no legal path: none comes further than node 0, "):
            small.predict([LATTICES[0], Lattice([Node(0, 1, "X"), Node(2, 3, "X")])])


class TestLearning:
    def test_the_objective_is_that_of_the_right_paths(self, small):
        logs = small.log_probability(LATTICES, PATHS)
        assert small.objective_ == pytest.approx(-logs.sum() + 0.05 * (small.model_.weights**2).sum(), rel=1e-9)

    def test_nodes_by_number_or_by_span_are_the_same(self):
        numbers = [[0, 2, 4], [1, 4], [0], []]
        spans = [[(NODES[v].start, NODES[v].end, NODES[v].label) for v in path] for path in numbers]
        assert (
            LatticeCRF().fit(LATTICES, numbers).model_.weights == LatticeCRF().fit(LATTICES, spans).model_.weights
        ).all()

    def test_what_is_known_in_part(self):
        """The likelihood of all paths that agree."""
        known = [[(0, 1, None)], [(1, 2, {"X", "Y"})], [], []]
        model = LatticeCRF(l2=0.1, tol=1e-8, partial=True, all_nodes=True).fit(LATTICES, known)
        value = 0.05 * (model.model_.weights**2).sum()
        for s, agree in ((0, [0, 1]), (1, [0, 1])):
            scores = scores_of(model, LATTICES[s], ALL)
            value += np.logaddexp.reduce(scores) - np.logaddexp.reduce(scores[agree])
        assert model.objective_ == pytest.approx(value, rel=1e-9)

    def test_several_labels_of_a_whole_path(self):
        model = LatticeCRF(l2=0.1, all_nodes=True).fit(
            LATTICES, [[(0, 1, "X"), (1, 2, None), (2, 3, "Y")], [1, 4], [0], []]
        )
        p = model.predict_marginals(LATTICES)[0]
        assert p[0] > 0.5 > p[1]

    def test_soft_labels(self):
        sure = [
            np.isin(np.arange(n), path).astype(float)
            for n, path in zip((5, 5, 1, 0), ([0, 2, 4], [1, 4], [0], []), strict=True)
        ]
        soft = LatticeCRF(tol=1e-9).fit(LATTICES, soft=sure)
        gold = LatticeCRF(tol=1e-9).fit(LATTICES, [[0, 2, 4], [1, 4], [0], []])
        np.testing.assert_allclose(soft.model_.weights, gold.model_.weights, atol=1e-5)
        assert LatticeCRF().fit(LATTICES, soft=[[0.5, 0.5, 0.2, 0.3, 1.0]] * 2 + [[1.0], []]).converged_

    @pytest.mark.filterwarnings("ignore::trellis.ConvergenceWarning")  # the hinge has corners
    @pytest.mark.parametrize("loss", ["exp", "pointwise-log", "pointwise-exp", "hinge", "softmax-margin"])
    def test_other_losses(self, words, loss):
        lexicon, (texts, gold), _ = words
        model = LatticeCRF(loss=loss, l2=0.1, tol=1e-2).fit(lexicon.lattices(texts[:20]), gold[:20])
        assert model.score(lexicon.lattices(texts[:20]), gold[:20]) > 0.95

    def test_probabilities_of_nodes_come_out_as_they_went_in(self):
        nodes = [Node(0, 1, "X", ["a"]), Node(0, 2, "X", ["b"]), Node(1, 2, "X", ["c"])]
        model = LatticeCRF(l2=1e-6, tol=1e-9).fit([Lattice(nodes)], soft=[[0.5, 0.5, 0.5]])
        np.testing.assert_allclose(model.predict_marginals([Lattice(nodes)])[0], 0.5, atol=1e-4)

    def test_lattices_without_arcs(self):
        apart = [Lattice([Node(0, 1, "X", ["a"]), Node(2, 3, "X", ["b"])])]
        with pytest.raises(DataError, match="no path"):
            LatticeCRF().fit(apart, [[0, 1]])
        single = [Lattice([Node(0, 1, "X", ["a"])])]
        model = LatticeCRF().fit(single, [[0]])
        assert model.log_probability(single, [[]]).tolist() == [-np.inf]

    def test_labels_of_a_lexicon_need_not_be_in_the_training_texts(self):
        lexicon = Lexicon({"ab": "N", "cd": "N", "zz": "V"}, unknown_labels=["N"])
        model = LatticeCRF().fit(lexicon.lattices(["abcd"]), [[(0, 2, "N"), (2, 4, "N")]])
        assert model.classes_ == ["N", "V"]
        assert model.predict(lexicon.lattices(["abzz"]))

    def test_weights_of_lattices_count(self):
        twice = LatticeCRF(tol=1e-9).fit(LATTICES[:2] + LATTICES[:1], PATHS[:2] + PATHS[:1])
        heavy = LatticeCRF(tol=1e-9).fit(LATTICES[:2], PATHS[:2], sample_weight=[2.0, 1.0])
        np.testing.assert_allclose(twice.model_.weights, heavy.model_.weights, atol=1e-6)

    def test_lattices_that_lack_a_segment_are_left_out(self):
        with pytest.warns(UserWarning, match="1 of 5 lattices lack a segment that y has"):
            model = LatticeCRF().fit([*LATTICES, Lattice(NODES)], [*PATHS, [(0, 3, "X")]])
        assert (model.model_.weights == LatticeCRF().fit(LATTICES, PATHS).model_.weights).all()
        with pytest.raises(DataError, match="no lattice has all of its segments"):
            LatticeCRF().fit(LATTICES[:1], [[(0, 3, "X")]])

    def test_development_data_stops_it(self, words):
        lexicon, (texts, gold), (other, right) = words
        model = LatticeCRF(l2=1e-3, tol=1e-9, patience=2).fit(
            lexicon.lattices(texts), gold, dev=lexicon.lattices(other), dev_y=right
        )
        assert model.stopped_early_
        assert model.dev_score_ == model.score(lexicon.lattices(other), right)

    def test_threads_change_nothing(self, words, monkeypatch):
        lexicon, (texts, gold), (other, _) = words
        monkeypatch.setattr("trellis.objective.cutting.SHARD", 500)
        monkeypatch.setattr("trellis.models.lattice_model._BATCH", 3000)
        X, new = lexicon.lattices(texts), lexicon.lattices(other)
        one, two = (LatticeCRF(threads=n, tol=1e-3).fit(X, gold) for n in (1, 2))
        assert (one.model_.weights == two.model_.weights).all()
        assert one.predict_spans(new) == two.predict_spans(new)

    def test_an_interrupted_training_goes_on_to_the_same_bits(self, words, tmp_path):
        lexicon, (texts, gold), _ = words
        X, settings = lexicon.lattices(texts), {"l2": 0.1, "optimizer": "lbfgs"}
        whole = LatticeCRF(**settings, max_iter=12, tol=1e-9)
        with pytest.warns(ConvergenceWarning):
            whole.fit(X, gold)
        with pytest.warns(ConvergenceWarning):
            LatticeCRF(**settings, max_iter=5, tol=1e-9).fit(X, gold, checkpoint=tmp_path)
        with pytest.warns(ConvergenceWarning):
            resumed = LatticeCRF(**settings, max_iter=12, tol=1e-9).fit(X, gold, checkpoint=tmp_path, resume=True)
        assert (resumed.model_.weights == whole.model_.weights).all()
        with pytest.raises(CheckpointError):
            LatticeCRF(**settings, arcs="word", max_iter=12, tol=1e-9).fit(X, gold, checkpoint=tmp_path, resume=True)


class TestFiles:
    def test_a_model_file_holds_it(self, small, segmenter, words, tmp_path):
        lexicon, _, (texts, _) = words
        for model, data in ((small, LATTICES), (segmenter, lexicon.lattices(texts))):
            model.save(tmp_path / "m")
            again = load(tmp_path / "m")
            assert again.predict_spans(data) == model.predict_spans(data)
            assert again.get_params() == {**model.get_params(), "threads": None}
            assert pickle.loads(pickle.dumps(model)).predict(data) == model.predict(data)


class TestWrongInput:
    @pytest.mark.parametrize(
        ("y", "what"),
        [
            (PATHS[:2], "4 lattices and 2 lists"),
            ("abcd", "lists of segments"),
            ([[0, 7], [], [], []], "lattice 1 has no node 7; it has 5"),
            ([[(0, 1)], [], [], []], r"lattice 1: \(0, 1\) in y; expected the number of a node, or"),
            ([[(0, 1, 5)], [], [], []], "the label 5 in y"),
            ([[(5, -10, "X")], [], [], []], r"lattice 1: \(5, -10, 'X'\) in y"),
            ([[(0.9, 2.7, "X")], [], [], []], r"lattice 1: \(0.9, 2.7, 'X'\) in y"),
            ([5, [], [], []], "lattice 1: 5 in y; expected a list of segments"),
            ([[(0, 1, [["X"]])], [], [], []], "in y; expected the number of a node"),
            ([[0, 4], [1, 4], [0], []], "lattice 1: the segments in y are no path"),
            ([[0, 1, 4], [1, 4], [0], []], "lattice 1: the segments 0 to 1 and 0 to 2 in y overlap"),
        ],
    )
    def test_paths(self, y, what):
        with pytest.raises(DataError, match=what):
            LatticeCRF().fit(LATTICES, y)

    def test_constraints_that_leave_no_path(self):
        lattice = Lattice([*NODES[:2], Node(1, 3, "Y")], [Arc(0, 2)])
        with pytest.raises(DataError, match="lattice 1: the segments in y leave no path"):
            LatticeCRF(partial=True).fit([lattice], [[1]])

    @pytest.mark.parametrize("X", ["ab", LATTICES[0], 7, [["a"]]])
    def test_lattices_that_are_none(self, small, X):
        with pytest.raises(DataError, match=r"expected|Lattice"):
            small.predict(X)

    def test_settings(self, words):
        lexicon, (texts, gold), _ = words
        X = lexicon.lattices(texts)
        for settings, what in (
            ({"features": "word[-1]"}, r"at the node itself, \[0\]"),
            ({"features": "word[0] + transitions(word[0])"}, "at the node itself"),
            ({"arcs": "pos"}, "arcs names the column 'pos'; the nodes have: word, known"),
            ({"optimizer": "perceptron"}, "perceptron"),
            ({"arcs": 3}, "arcs is 3"),
        ):
            with pytest.raises(SettingError, match=what):
                LatticeCRF(**settings).fit(X, gold)
        with pytest.raises(SettingError, match="neither is given"):
            LatticeCRF().fit(X)
        with pytest.raises(SettingError, match="give attributes to the arcs"):
            LatticeCRF(arcs="word").fit(LATTICES, PATHS)
        with pytest.raises(SettingError, match="dev_y is given without dev"):
            LatticeCRF().fit(X, gold, dev_y=gold)
        with pytest.raises(DataError, match="expected lattices"):
            LatticeCRF().fit(Corpus.from_lists({"word": [["a"]]}), gold)
        with pytest.raises(SettingError, match="give dev_y too"):
            LatticeCRF().fit(X, gold, dev=X)

    def test_attributes(self, small):
        bad = Lattice([NODES[0], Node(1, 2, "X", 5)])
        for ask in (
            lambda: small.predict([LATTICES[0], bad]),
            lambda: LatticeCRF().fit([LATTICES[0], bad], [[1, 4], [0, 1]]),
        ):
            with pytest.raises(DataError, match=r"^lattice 2, node 1: "):
                ask()
        bad = Lattice(NODES, [Arc(0, 2), Arc(2, 4, {"a": float("nan")})])
        with pytest.raises(DataError, match=r"^lattice 1, arc 1: "):
            LatticeCRF().fit([bad], [[0, 2, 4]])
        with pytest.raises(DataError, match="lattice 1: soft leaves no path"):
            LatticeCRF().fit(LATTICES[:1], soft=[[0.0] * 5])

    def test_labels_and_features_that_the_model_does_not_know(self, small, segmenter, words):
        lexicon = words[0]
        with pytest.raises(DataError, match="lattice 2: the label 'Q', which the model does not know"):
            small.predict([LATTICES[0], Lattice([Node(0, 1, "Q")])])
        with pytest.raises(DataError, match="trained on lists"):
            small.predict(Lexicon({"a": "X"}).lattices(["a"]))
        with pytest.raises(DataError, match="it was given lists"):
            segmenter.predict([Lattice([Node(0, 1, lexicon.labels[0])])])
        with pytest.raises(SettingError, match="k is 0"):
            small.predict_kbest(LATTICES, 0)
        for y, what in (([[9]], "has no node 9"), ([[(0, 1)]], "expected the number of a node"), ([], "0 lists")):
            with pytest.raises(DataError, match=what):
                small.score(LATTICES[:1], y)
        with pytest.raises(DataError, match="one label for each segment"):
            small.score(LATTICES[:1], [[(0, 1, None)]])
