"""Losses, priors and optimisers under their names; labels that are weighted, known in part, or soft."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import trellis
from trellis import CRF
from trellis.errors import ConvergenceWarning, DataError, SettingError
from trellis.losses import LOSSES

X = [[["a", "x"], ["b"]], [["b", "x"], ["c"], ["a"]], [["c"]]]
Y = [["A", "B"], ["B", "C", "A"], ["C"]]


@pytest.fixture(scope="module")
def corpus():
    return trellis.sample_corpus("train")


@pytest.fixture(scope="module")
def heldout():
    return trellis.sample_corpus("test")


def quiet_fit(model, *args, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*args, **more)


WITH_A_MINIMUM = [name for name in LOSSES if name != "perceptron"]


class TestLosses:
    @pytest.mark.parametrize("loss", WITH_A_MINIMUM)
    def test_every_one_learns(self, loss, corpus, heldout):
        l2 = 0.1 if loss in ("log", "softmax-margin", "hinge") else 1.0
        crf = quiet_fit(CRF("chunk", loss=loss, l2=l2, max_iter=60), corpus)
        assert crf.score(heldout) > 0.75
        assert np.isfinite(crf.objective_)

    def test_where_none_is_named_it_is_the_optimizers_own(self):
        assert CRF().fit(X, Y).objective_ == CRF(loss="log").fit(X, Y).objective_
        own = CRF(optimizer="perceptron").fit(X, Y)
        assert own.converged_
        assert own.predict(X) == Y
        assert own.objective_ == 0.0  # no prior, and no sentence is wrong

    def test_an_optimizer_with_a_loss_of_its_own_takes_no_other(self):
        with pytest.raises(
            SettingError, match="'perceptron' does not minimise the loss 'hinge'; its own is perceptron"
        ):
            CRF(optimizer="perceptron", loss="hinge").fit(X, Y)
        with pytest.raises(SettingError, match="its minimum at zero weights; use the optimizer 'perceptron'"):
            CRF(loss="perceptron").fit(X, Y)

    @pytest.mark.parametrize("prior", ["l1", "hyperbolic"])
    def test_an_optimizer_without_priors_takes_none(self, prior):
        with pytest.raises(SettingError, match=f"'perceptron' knows no prior, and {prior} is given; leave it out"):
            CRF(optimizer="perceptron", **{prior: 1.0}).fit(X, Y)

    @pytest.mark.parametrize(("l2", "told"), [(0.0, False), (1.0, False), (5.0, True)])
    def test_l2_which_may_be_meant_for_others_is_only_told_of(self, l2, told, caplog):
        with caplog.at_level("INFO"):
            CRF(optimizer="perceptron", l2=l2).fit(X, Y)
        assert ("'perceptron' knows no prior: l2 has no effect" in caplog.text) == told

    @pytest.mark.parametrize("optimizer", ["sgd", "adagrad"])
    def test_steps_that_are_all_too_large_are_told_as_that(self, corpus, optimizer):
        settings = {"target": "chunk", "optimizer": optimizer, "max_iter": 3}
        first = quiet_fit(CRF(**settings), corpus)
        for start in (None, first):
            with pytest.warns(ConvergenceWarning, match="the last .*epochs? led too far .* give a smaller step_size"):
                CRF(**settings, options={"step_size": 1e300}).fit(corpus, start=start)

    def test_weights_that_a_prior_keeps_at_0_are_no_such_thing(self, corpus):
        with pytest.warns(ConvergenceWarning, match=r"raise max_iter \(now 3\) or tol"):
            CRF("chunk", optimizer="adagrad", l1=1e5, max_iter=3).fit(corpus)

    @pytest.mark.parametrize("optimizer", ["perceptron", "pa", "arow", "mira"])
    def test_any_number_of_epochs_is_an_end_where_there_is_no_minimum(self, corpus, optimizer):
        crf = CRF("chunk", optimizer=optimizer, max_iter=2).fit(corpus)
        assert (crf.iterations_, crf.converged_) == (2, True)

    @pytest.mark.parametrize("optimizer", ["sgd", "adagrad", "saga", "eg"])
    def test_too_few_epochs_on_the_way_to_a_minimum_are_told(self, corpus, optimizer):
        with pytest.warns(ConvergenceWarning, match=r"after 2 iterations .* raise max_iter \(now 2\) or tol"):
            assert not CRF("chunk", optimizer=optimizer, max_iter=2).fit(corpus).converged_
        with pytest.warns(ConvergenceWarning, match=r"after 2 iterations .* raise the option epochs \(now 2\) or tol"):
            assert not CRF("chunk", optimizer=optimizer, options={"epochs": 2}).fit(corpus).converged_

    def test_the_name_is_part_of_the_model(self, tmp_path):
        CRF(loss="pointwise-log", costs={"A": 2}, options={"memory": 5}, optimizer="lbfgs").fit(X, Y).save(
            tmp_path / "m"
        )
        loaded = trellis.load(tmp_path / "m")
        assert (loaded.loss, loaded.costs, loaded.options) == ("pointwise-log", {"A": 2}, {"memory": 5})

    def test_costs_move_the_answers(self, corpus, heldout):
        """Where a label is dear to miss, it is given rather too often."""
        dear = quiet_fit(CRF("chunk", loss="softmax-margin", costs={"B-VP": 20.0}, max_iter=40), corpus)
        cheap = quiet_fit(CRF("chunk", loss="softmax-margin", costs={"B-VP": 0.0}, max_iter=40), corpus)
        assert dear.evaluate(heldout).by_type["VP"].predicted > cheap.evaluate(heldout).by_type["VP"].predicted

    def test_one_cost_for_all_labels(self, tmp_path):
        one, each = (
            quiet_fit(CRF(loss="softmax-margin", costs=costs, max_iter=5), X, Y)
            for costs in (2.0, {"A": 2.0, "B": 2.0, "C": 2.0})
        )
        assert one.objective_ == each.objective_
        one.save(tmp_path / "m.trellis")
        assert trellis.load(tmp_path / "m.trellis").costs == 2.0
        assert one.objective_ != quiet_fit(CRF(loss="softmax-margin", max_iter=5), X, Y).objective_

    def test_costs_for_a_loss_without(self):
        with pytest.raises(
            SettingError, match="loss 'log' knows no costs; use softmax-margin, hinge or a pointwise loss"
        ):
            CRF(costs={"A": 2.0}).fit(X, Y)
        with pytest.raises(SettingError, match=r"'perceptron' knows no costs; .* with lbfgs or auto"):
            CRF(optimizer="perceptron", costs={"A": 2.0}).fit(X, Y)

    def test_costs_of_labels_there_are_not(self):
        with pytest.raises(SettingError, match="costs names the label 'Z'; the labels are: A, B, C"):
            CRF(loss="hinge", costs={"Z": 2.0}).fit(X, Y)

    @pytest.mark.parametrize("costs", [{"A": -1}, {"A": "much"}, {1: 1.0}, "A=2", -1.0, float("nan"), True, [2.0]])
    def test_costs_that_are_none(self, costs):
        with pytest.raises(SettingError, match="costs is"):
            CRF(loss="hinge", costs=costs).fit(X, Y)


class TestPriors:
    def test_l1_leaves_few_weights(self, corpus):
        dense, sparse = CRF("chunk", l2=1.0).fit(corpus), CRF("chunk", l2=0.0, l1=1.0).fit(corpus)
        active = [int(np.count_nonzero(crf.model_.weights)) for crf in (dense, sparse)]
        assert active[1] < active[0] / 10

    def test_elastic_net_lies_between(self, corpus):
        counts = [
            np.count_nonzero(CRF("chunk", l1=l1, l2=l2).fit(corpus).model_.weights)
            for l1, l2 in ((1.0, 0.0), (0.1, 1.0), (0.0, 1.0))
        ]
        assert counts == sorted(counts)

    def test_hyperbolic_lets_large_weights_be_larger(self, corpus):
        gaussian, hyperbolic = CRF("chunk", l2=1.0).fit(corpus), CRF("chunk", l2=0.0, hyperbolic=1.0).fit(corpus)
        assert np.abs(hyperbolic.model_.weights).max() > np.abs(gaussian.model_.weights).max()

    def test_l1_with_an_optimizer_that_cannot(self):
        with pytest.raises(SettingError, match="owlqn"):
            CRF(l1=1.0, optimizer="lbfgs").fit(X, Y)


class TestOptimizers:
    @pytest.mark.parametrize("optimizer", ["auto", "owlqn", "cg", "newton-cg"])
    def test_all_find_the_same_optimum(self, optimizer, corpus):
        known = CRF("chunk", optimizer="lbfgs", l2=1.0, tol=1e-7).fit(corpus)
        found = CRF("chunk", optimizer=optimizer, l2=1.0, tol=1e-7).fit(corpus)
        assert found.objective_ == pytest.approx(known.objective_, rel=1e-5)
        assert found.converged_

    def test_an_option_there_is_not(self):
        with pytest.raises(SettingError, match="'lbfgs' has no option 'memori'; it has: memory=10"):
            CRF(optimizer="lbfgs", options={"memori": 3}).fit(X, Y)

    @pytest.mark.parametrize("name", ["tol", "seed"])
    def test_an_option_that_is_a_setting(self, name):
        with pytest.raises(SettingError, match="a setting of its own"):
            CRF(options={name: 1}).fit(X, Y)

    def test_hinge_has_no_curvature_for_newton(self):
        with pytest.raises(SettingError, match="no curvature"):
            CRF(loss="hinge", optimizer="newton-cg").fit(X, Y)


class TestWeights:
    @pytest.mark.parametrize("loss", WITH_A_MINIMUM)
    def test_two_is_given_twice(self, loss):
        weighted = quiet_fit(CRF(loss=loss, max_iter=20), X, Y, sample_weight=[2, 1, 3])
        repeated = quiet_fit(CRF(loss=loss, max_iter=20), [X[0], *X, X[2], X[2]], [Y[0], *Y, Y[2], Y[2]])
        if loss == "hinge":  # ends at a kink, which rounding may choose
            assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-3)
            return
        assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)

    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            ([1, 2], "expected one number"),
            ([1, -1, 1], "sentence 2 is -1"),
            ([1, 1, np.nan], "sentence 3"),
            ("abc", "numbers"),
            ([0, 0, 0], "nothing to learn from"),
            ([1, 10**400, 1], "numbers"),
        ],
    )
    def test_that_do_not_fit(self, weights, message):
        with pytest.raises(DataError, match=message):
            CRF().fit(X, Y, sample_weight=weights)


def test_conjugate_gradient_is_not_for_losses_with_corners():
    with pytest.raises(SettingError, match="'hinge' has corners, where cg stops; use lbfgs or auto"):
        CRF(loss="hinge", optimizer="cg").fit(X, Y)


class TestKnownInPart:
    def test_all_known_is_plain_training(self):
        plain = CRF().fit(X, Y)
        part = CRF().fit(X, [[{label} for label in row] for row in Y])
        assert part.objective_ == pytest.approx(plain.objective_, rel=1e-6)
        assert part.predict(X) == plain.predict(X)

    def test_what_is_not_known_is_found_out(self, corpus, heldout):
        """Every third label is hidden."""
        labels = corpus.sentences("chunk")
        part = [[None if (s + t) % 3 == 0 else label for t, label in enumerate(row)] for s, row in enumerate(labels)]
        full, learnt = CRF("chunk", l2=0.1).fit(corpus), quiet_fit(CRF("chunk", l2=0.1), corpus, part)
        assert learnt.score(heldout) > full.score(heldout) - 0.05

    def test_in_a_column(self, tmp_path):
        text = "a x\nb ?\n\nb x|y\nc z\n\na x\nb y\nc z\n\n"
        (tmp_path / "data").write_text(text)
        crf = CRF("label", "U0:%x[0,0]", partial=True)
        crf.fit(trellis.read_conll(tmp_path / "data", columns=["word", "label"]))
        assert sorted(crf.classes_) == ["x", "y", "z"]
        lists = CRF().fit(
            [[["a"], ["b"]], [["b"], ["c"]], [["a"], ["b"], ["c"]]], [["x", None], [("x", "y"), "z"], ["x", "y", "z"]]
        )
        assert crf.objective_ == pytest.approx(lists.objective_, rel=1e-6)

    def test_weights_are_for_what_was_seen(self):
        crf = CRF().fit([[["a"]], [["b"]], [["c"]]], [["A"], [{"A", "B"}], [None]])
        layout = crf.model_.layout
        assert np.diff(layout.pair_start).tolist() == [1, 2, 0]

    @pytest.mark.parametrize(
        ("labels", "message"),
        [
            ([["A", set()]], "sentence 1, token 2: an empty choice"),
            ([["A", {"B", None}]], "sentence 1, token 2: None in a choice"),
            ([[None, None]], "no token has a label"),
        ],
    )
    def test_that_teach_nothing(self, labels, message):
        with pytest.raises(DataError, match=message):
            CRF().fit(X[:1], labels)

    def test_other_losses_refuse_it(self):
        with pytest.raises(SettingError, match="cannot learn from labels known in part; use log"):
            CRF(loss="exp").fit(X[:1], [["A", None]])

    @pytest.mark.parametrize("optimizer", ["perceptron", "sgd", "boosting"])
    def test_so_do_optimizers_with_a_loss_of_their_own(self, optimizer):
        with pytest.raises(SettingError, match=f"'{optimizer}' needs one label for each token; use lbfgs or auto"):
            CRF(optimizer=optimizer).fit(X[:1], [["A", None]])

    def test_development_data_needs_one_label_for_each_token(self, tmp_path):
        (tmp_path / "data").write_text("b y\na x|y\n")
        corpus = trellis.read_conll(tmp_path / "data", columns=["word", "label"])
        with pytest.raises(DataError, match=r"data:2: the label is 'x\|y'; development data needs one label"):
            CRF("label", "U0:%x[0,0]", partial=True).fit(corpus, dev=corpus)

    @pytest.mark.parametrize(("label", "wrong"), [("x|", "an empty"), ("x|?", "'\\?' as")])
    def test_a_part_that_is_none(self, tmp_path, label, wrong):
        (tmp_path / "data").write_text(f"b y\na {label}\n")
        corpus = trellis.read_conll(tmp_path / "data", columns=["word", "label"])
        with pytest.raises(DataError, match=rf"data:2: the label '.*' has {wrong} part"):
            CRF("label", "U0:%x[0,0]", partial=True).fit(corpus)


class TestSoftLabels:
    def one_hot(self):
        names = ["A", "B", "C"]
        return [np.array([[float(name == label) for name in names] for label in row]) for row in Y], names

    def test_certain_ones_are_plain_training(self):
        soft, names = self.one_hot()
        plain, certain = CRF().fit(X, Y), CRF().fit(X, soft=soft, labels=names)
        assert certain.objective_ == pytest.approx(plain.objective_, rel=1e-6)
        assert certain.predict(X) == plain.predict(X)

    def test_marginals_follow_them(self):
        crf = CRF(l2=1e-4).fit([[["a"]]] * 3, soft=[np.array([[0.7, 0.3]])] * 3, labels=["A", "B"])
        np.testing.assert_allclose(crf.predict_marginals([[["a"]]])[0], [[0.7, 0.3]], atol=1e-3)

    def test_that_do_not_fit(self):
        soft, names = self.one_hot()
        with pytest.raises(SettingError, match="need the names"):
            CRF().fit(X, soft=soft)
        with pytest.raises(SettingError, match="give one of them"):
            CRF().fit(X, Y, soft=soft, labels=names)
        with pytest.raises(DataError, match="3 sentences and 2 arrays"):
            CRF().fit(X, soft=soft[:2], labels=names)
        with pytest.raises(DataError, match="sentence 1: soft labels of the shape"):
            CRF().fit(X, soft=soft, labels=names[:2])
        with pytest.raises(SettingError, match="named for soft labels only"):
            CRF().fit(X, Y, labels=names)

    @pytest.mark.parametrize(
        ("names", "message"),
        [
            ([], "labels is []; expected the names of the labels, at least one"),
            (3, "labels is 3; expected a list with the names of the labels"),
            (np.array(3), "expected a list with the names of the labels"),
            ("ABC", "labels is 'ABC'; expected a list with the names of the labels"),
            ({"A": 0, "B": 1, "C": 2}, "expected a list with the names of the labels"),
            (["A", "B", "A"], "labels has 'A' 2 times; expected every name once"),
            (["A", 2, "C"], "labels has 2; expected names, as text"),
            (["A", None, "C"], "labels has None; expected names, as text"),
        ],
    )
    def test_names_that_are_none(self, names, message):
        with pytest.raises(SettingError) as caught:
            CRF().fit(X, soft=self.one_hot()[0], labels=names)
        assert message in str(caught.value)

    @pytest.mark.parametrize(
        ("soft", "message"),
        [
            (3, "soft is int; expected a list with an array [tokens, labels] for each sentence"),
            ("abc", "soft is str; expected a list with an array"),
            ([[["x", "y"]]], "sentence 1: soft labels that are no numbers; expected an array [tokens, labels]"),
            ([[[0.5, 0.5], [1.0]]], "sentence 1: soft labels that are no numbers"),
            ([[[{}, None]]], "sentence 1: soft labels that are no numbers"),
            ([[[10**400, 0]]], "sentence 1: soft labels that are no numbers"),
            ([[[1j, 0]]], "sentence 1: soft labels that are no numbers"),
            ([7], "sentence 1: soft labels of the shape (); expected 1 tokens, 2 labels"),
        ],
    )
    def test_probabilities_that_are_none(self, soft, message):
        with pytest.raises(DataError) as caught:
            CRF().fit([[["a"]]], soft=soft, labels=["A", "B"])
        assert message in str(caught.value)

    def test_names_may_come_from_an_array(self, tmp_path):
        soft, names = self.one_hot()
        CRF().fit(X, soft=soft, labels=np.array(names)).save(tmp_path / "m")
        assert trellis.load(tmp_path / "m").classes_ == names


def test_a_question_mark_that_is_learned_as_a_label_is_mentioned():
    corpus = trellis.Corpus.from_lists({"word": [["a", "b"], ["b", "c"]], "tag": [["A", "?"], ["B", "A"]]})
    with pytest.warns(UserWarning, match=r"'\?' is a label like any other in the column 'tag'; .*`partial`"):
        crf = CRF(target="tag", features="word[0]").fit(corpus)
    assert "?" in crf.classes_
    assert "?" not in CRF(target="tag", features="word[0]", partial=True).fit(corpus).classes_
