"""Training under constraints: no other labellings are possible there, and labels to learn from keep to them."""

from __future__ import annotations

import numpy as np
import pytest

import trellis.objective
from trellis import CRF, Constraints, KernelPerceptron, SemiCRF
from trellis.corpus import Corpus
from trellis.errors import CheckpointError, DataError, NoLegalPathError, SettingError

FEATURES = "word[0] + pos[0]"
MODELS = {
    "order 0": lambda: CRF("chunk", FEATURES, order=0),
    "order 1": lambda: CRF("chunk", FEATURES),
    "order 2": lambda: CRF("chunk", FEATURES, order=2),
    "pruned": lambda: CRF("chunk", FEATURES, order=2, prune=0.01),
    "encoding": lambda: CRF("chunk", FEATURES, encoding="auto"),
    "segments": lambda: SemiCRF("chunk", FEATURES, longest=3),
}
each_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


@pytest.fixture(scope="module")
def simple():
    """Sentences with one VP at most."""
    words = [["the", "dog", "barks"], ["dogs", "bark"], ["the", "old", "dog", "sleeps"], ["it", "barks", "loudly"]]
    pos = [["D", "N", "V"], ["N", "V"], ["D", "J", "N", "V"], ["P", "V", "R"]]
    chunk = [
        ["B-NP", "I-NP", "B-VP"],
        ["B-NP", "B-VP"],
        ["B-NP", "I-NP", "I-NP", "B-VP"],
        ["B-NP", "B-VP", "O"],
    ]
    return Corpus.from_lists({"word": words * 3, "pos": pos * 3, "chunk": chunk * 3})


def objective_of(model, corpus, constraints):
    """- log P(labels) of all sentences, where only labellings that keep to constraints are possible, and the prior."""
    theta, total = model.model_.weights, 0.0
    for s in range(len(corpus)):
        one = corpus.slice(s, s + 1)
        allowed = None if constraints.allowed is None else [constraints.allowed[s]]
        own = Constraints(allowed, constraints.penalties, constraints.at_most_once)
        paths = model.predict_kbest(one, 10_000, own)[0]
        gold = one.sentences("chunk")[0]
        total -= next(path.log_probability for path in paths if path.labels == gold)
    return total + model.l2 / 2 * theta @ theta


@each_model
@pytest.mark.parametrize(
    "given",
    [
        {"penalties": {"O": -1.0, "B-VP": 0.5}},
        {"at_most_once": ["VP"]},
        {"at_most_once": ["VP", "NP"], "penalties": {"O": 0.3}},
        {"allowed": True},
        {"allowed": True, "at_most_once": ["NP"], "penalties": {"I-NP": 1.0}},
    ],
)
def test_the_objective_is_that_of_the_constrained_model(make, simple, given):
    if "allowed" in given:
        rows = simple.sentences("chunk")
        given = given | {"allowed": [[{label, "O"} if t else None for t, label in enumerate(row)] for row in rows]}
    constraints = Constraints(**given)
    model = make().set_params(l2=0.5, tol=1e-8).fit(simple, constraints=constraints)
    assert model.objective_ == pytest.approx(objective_of(model, simple, constraints), rel=1e-7)
    without = make().set_params(l2=0.5, tol=1e-8).fit(simple)
    assert model.objective_ != pytest.approx(without.objective_, rel=1e-3)


@pytest.mark.parametrize("make", [MODELS[name] for name in ("order 0", "order 1", "order 2", "encoding")])
def test_so_it_is_with_penalties_of_pairs(make, simple):
    constraints = Constraints(penalties={"B-NP -> B-VP": -2.0, "O -> O": -np.inf})
    model = make().set_params(l2=0.5, tol=1e-8).fit(simple, constraints=constraints)
    assert model.objective_ == pytest.approx(objective_of(model, simple, constraints), rel=1e-7)


@each_model
def test_constraints_that_say_nothing_change_nothing(make, simple):
    nothing = Constraints(allowed=[[None] * n for n in np.diff(simple.offsets)], penalties={"O": 0.0})
    with_them = make().fit(simple, constraints=nothing)
    assert with_them.objective_ == pytest.approx(make().fit(simple).objective_, rel=1e-5)


@each_model
@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"at_most_once": ["VP"]}, "sentence 2, token 3: a second segment of the type 'VP'"),
        ({"penalties": {"B-VP": -np.inf}}, "sentence 1, token 2: the constraints rule out its label 'B-VP'"),
        ({"allowed": [[None, None], ["O", None, None]]}, "sentence 2, token 1: the constraints rule out its label"),
    ],
)
def test_labels_that_constraints_rule_out_are_an_error(make, given, match):
    labels = [["B-NP", "B-VP"], ["B-VP", "O", "B-VP"]]
    corpus = Corpus.from_lists(
        {"word": [["a", "b"], ["b", "c", "b"]], "pos": [["A", "B"], list("BCB")], "chunk": labels}
    )
    with pytest.raises(DataError, match=match):
        make().fit(corpus, constraints=Constraints(**given))


def test_so_are_pairs(simple):
    with pytest.raises(DataError, match="sentence 1, token 3: the constraints rule out 'B-VP' after 'I-NP'"):
        CRF("chunk", FEATURES).fit(simple, constraints=Constraints(penalties={"I-NP -> B-VP": -np.inf}))


@pytest.mark.parametrize("make", [lambda: CRF(encoding="iob2"), CRF, SemiCRF])
def test_what_is_known_in_part_must_leave_a_path(make):
    X = [[["a"], ["b"]], [["a"], ["b"], ["c"]]]
    y = [["B-X", "I-X"], [{"B-X"}, None, "B-X"]]
    with pytest.raises(NoLegalPathError, match=r"sentence 2 has no legal path: .* token 3"):
        make().fit(X, y, constraints=Constraints(at_most_once=["X"]))
    assert make().fit(X, y).converged_


@pytest.mark.parametrize("make", [lambda: CRF(encoding="iob2"), SemiCRF])
def test_so_must_it_in_an_encoding(make):
    X = [[["a"], ["b"]], [["a"], ["b"], ["c"]]]
    y = [["B-X", "I-X"], ["O", {"I-X"}, None]]
    with pytest.raises(NoLegalPathError, match=r"sentence 2 has no legal path: .* token 2"):
        make().fit(X, y)


@pytest.mark.parametrize("make", [lambda: CRF(encoding="iob2"), CRF, lambda: CRF(order=2), SemiCRF])
def test_soft_labels_under_constraints(make):
    X = [[["a"], ["b"]], [["a"], ["b"], ["c"]]]
    names = ["B-X", "I-X", "O"]
    soft = [np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]]), np.array([[0.5, 0.2, 0.3]] * 3)]
    constraints = Constraints(at_most_once=["X"])
    model = make().fit(X, soft=soft, labels=names, constraints=constraints)
    assert model.converged_
    assert all(sum(label == "B-X" for label in row) <= 1 for row in model.predict(X, constraints))


@pytest.mark.parametrize("kind", [CRF, SemiCRF])
def test_development_data_are_scored_under_constraints(simple, kind):
    """Where everything is O, whatever the weights, nothing is found."""
    only = Constraints(penalties={"O": 1e6})
    with pytest.warns(UserWarning, match="never rose above 0"):
        kind("chunk", FEATURES).fit(simple, dev=simple, constraints=only)


def test_a_model_does_not_keep_the_constraints_of_its_training(simple, tmp_path):
    crf = CRF("chunk", FEATURES).fit(simple, constraints=Constraints(penalties={"B-VP -> O": -1.0}))
    crf.save(tmp_path / "m.trellis")
    assert CRF.load(tmp_path / "m.trellis").predict(simple) == crf.predict(simple)


@pytest.mark.parametrize(
    ("make", "given", "match"),
    [
        (lambda: CRF("chunk", FEATURES), {"at_most_once": ["A", "B", "C", "D", "E"]}, "training can keep to 4"),
        (lambda: SemiCRF("chunk", FEATURES), {"penalties": {"O -> O": -1.0}}, "a SemiCRF has no penalties of one"),
        (lambda: CRF("chunk", FEATURES, optimizer="perceptron"), {"penalties": {"O": -1.0}}, "constraints on paths"),
        (lambda: CRF("chunk", FEATURES + " + transitions(pos[0])"), {"penalties": {"O": -1.0}}, "do not go together"),
        (lambda: CRF("chunk", FEATURES), "O", "expected trellis.Constraints"),
    ],
)
def test_what_does_not_go_together_is_said(make, given, match):
    labels = [[f"B-{kind}" for kind in "ABCDE"], ["O"] * 5]
    corpus = Corpus.from_lists({"word": [list("abcde")] * 2, "pos": [list("abcde")] * 2, "chunk": labels})
    with pytest.raises(SettingError, match=match):
        make().fit(corpus, constraints=Constraints(**given) if isinstance(given, dict) else given)


def test_a_checkpoint_of_other_constraints_is_refused(simple, tmp_path):
    settings = {"checkpoint": tmp_path, "resume": True}
    CRF("chunk", FEATURES).fit(simple, constraints=Constraints(at_most_once=["VP"]), **settings)
    with pytest.raises(CheckpointError, match="was made under other constraints"):
        CRF("chunk", FEATURES).fit(simple, **settings)


def test_kernel_perceptrons_know_no_constraints(simple):
    with pytest.raises(TypeError):
        KernelPerceptron("chunk", FEATURES).fit(simple, constraints=Constraints())


def test_labels_that_are_no_segments(corpus):
    constraints = Constraints(allowed=[[None] * n for n in np.diff(corpus.offsets)], penalties={"NN": -1.0})
    crf = CRF("pos", "word[0]", tol=1e-2).fit(corpus, constraints=constraints)
    assert crf.objective_ != CRF("pos", "word[0]", tol=1e-2).fit(corpus).objective_


@pytest.mark.parametrize("settings", [{"encoding": "auto"}, {"only_seen": True}, {}])
def test_boosting_goes_with_no_constraints(simple, settings):
    constraints = None if settings else Constraints(penalties={"O -> O": -1.0})
    with pytest.raises(SettingError, match="boosting goes with no constraints"):
        CRF("chunk", FEATURES, optimizer="boosting", **settings).fit(simple, constraints=constraints)


def test_pruning_does_not_bring_back_what_constraints_rule_out(monkeypatch):
    given = []
    cut = trellis.objective.cut_into_shards
    monkeypatch.setattr(
        "trellis.objective.cut_into_shards", lambda *args, **more: given.append(args) or cut(*args, **more)
    )
    X = [[["w"], ["w"]]] * 40 + [[["a"], ["b"]]] * 10 + [[["w"], ["b"]]]
    y = [["C", "C"]] * 40 + [["A", "B"]] * 10 + [[{"A", "B"}, "B"]]
    allowed = [[None, None]] * 50 + [[{"A", "C"}, None]]
    crf = CRF(prune=0.2).fit(X, y, constraints=Constraints(allowed=allowed))
    _, examples, _ = given[-1]
    assert not examples.allowed.mask()[100, crf.classes_.index("B")]


@pytest.mark.parametrize("constraints", [None, Constraints(penalties={"O -> I-NP": -np.inf, "B-VP -> I-NP": -np.inf})])
def test_pruning_leaves_a_path_for_labels_known_in_part(corpus, constraints):
    X = [[[word] for word in row] for row in corpus.sentences("word")]
    y = [[label if t % 2 else None for t, label in enumerate(row)] for row in corpus.sentences("chunk")]
    assert CRF(encoding="iob2", prune=0.3, tol=1e-2).fit(X, y, constraints=constraints).converged_


def test_errors_of_development_data_count_its_sentences():
    X, y = [[["a"]], [["b"]]], [["A"], ["B"]]
    dev, dev_y = [[["a"]]] * 1500 + [[["a"], ["b"]]], [["A"]] * 1500 + [["A", "B"]]
    none = Constraints(penalties={f"{a} -> {b}": -np.inf for a in "AB" for b in "AB"})
    with pytest.raises(NoLegalPathError, match=r"^sentence 1501 of the development data has no legal path"):
        CRF().fit(X, y, dev=dev, dev_y=dev_y, constraints=none)
