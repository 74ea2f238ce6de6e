"""Predictions under constraints equal enumeration of the labellings that keep to them."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from trellis import CRF, Constraints, SemiCRF
from trellis.corpus import Corpus
from trellis.errors import DataError, NoLegalPathError, SettingError
from trellis.metrics.segments import segment_types, segments

FEATURES = "word[-1:1] + pos[0]"
MODELS = {
    "order 0": lambda: CRF("chunk", FEATURES, order=0),
    "order 1": lambda: CRF("chunk", FEATURES),
    "order 2": lambda: CRF("chunk", FEATURES, order=2),
    "arcs": lambda: CRF("chunk", FEATURES + " + transitions(pos[0])"),
    "encoding": lambda: CRF("chunk", FEATURES, encoding="auto"),
    "segments": lambda: SemiCRF("chunk", FEATURES, segments="length", longest=3),
}


@pytest.fixture(scope="module", params=MODELS)
def crf(request, corpus):
    return MODELS[request.param]().set_params(l2=5.0).fit(corpus)


@pytest.fixture(scope="module")
def short(heldout):
    """A few sentences of three or four tokens, as one corpus."""
    rows = {name: heldout.sentences(name) for name in ("word", "pos", "chunk")}
    few = [s for s, row in enumerate(rows["word"]) if 3 <= len(row) <= 4][:3]
    return Corpus.from_lists({name: [values[s] for s in few] for name, values in rows.items()})


def listed(crf, corpus, s):
    """All labellings of a sentence and their probabilities without constraints."""
    words, pos = corpus.sentences("word")[s], corpus.sentences("pos")[s]
    paths = [list(labels) for labels in product(crf.classes_, repeat=len(words))]
    many = Corpus.from_lists({"word": [words] * len(paths), "pos": [pos] * len(paths), "chunk": paths})
    return paths, np.exp(crf.log_probability(many))


def spans_of(crf, labels):
    ids = np.array([crf.classes_.index(label) for label in labels])
    kinds = segment_types(crf.classes_)
    return [
        (int(a), int(b), kinds[k])
        for a, b, k in zip(*segments(ids, crf.classes_, np.array([0, len(ids)])), strict=True)
    ]


def check(crf, corpus, constraints, factor):
    """`factor(s, labels)`: what the probability of a labelling is multiplied with."""
    best, rows = crf.predict(corpus, constraints), crf.predict_marginals(corpus, constraints)
    paths_found = crf.predict_kbest(corpus, 3, constraints)
    spans, candidates = crf.predict_spans(corpus, 0.0, constraints), crf.predict_candidates(corpus, 0.02, constraints)
    for s in range(len(corpus)):
        paths, p = listed(crf, corpus, s)
        p = p * [factor(s, labels) for labels in paths]
        p /= p.sum()
        assert p[paths.index(best[s])] == pytest.approx(p.max())
        np.testing.assert_allclose(
            [np.exp(path.log_probability) for path in paths_found[s]], np.sort(p)[::-1][:3][p[np.argsort(-p)][:3] > 0],
            atol=1e-8,
        )  # fmt: skip
        nodes, expected = np.zeros(rows[s].shape), {}
        for labels, probability in zip(paths, p, strict=True):
            nodes[np.arange(len(labels)), [crf.classes_.index(label) for label in labels]] += probability
            for span in spans_of(crf, labels):
                expected[span] = expected.get(span, 0.0) + probability
        np.testing.assert_allclose(rows[s], nodes, atol=1e-8)
        assert [span[:3] for span in spans[s]] == spans_of(crf, best[s])
        for span in [*spans[s], *candidates[s]]:
            assert span.probability == pytest.approx(expected[span[:3]], abs=1e-8)


def test_labels_that_are_known(crf, short):
    allowed = [[None] * n for n in np.diff(short.offsets)]
    allowed[0][1] = "O"
    allowed[1][0] = {"O", "B-VP"}
    allowed[2][2] = ["B-NP"]

    def factor(s, labels):
        return all(
            one is None or label in ([one] if isinstance(one, str) else one)
            for one, label in zip(allowed[s], labels, strict=True)
        )

    check(crf, short, Constraints(allowed=allowed), factor)


def test_penalties_of_labels(crf, short):
    check(crf, short, Constraints(penalties={"O": -1.5, "B-VP": 0.7}),
          lambda s, labels: np.exp(-1.5 * labels.count("O") + 0.7 * labels.count("B-VP")))  # fmt: skip


def test_penalties_of_one_label_after_another(crf, short):
    constraints = Constraints(penalties={"B-NP -> B-VP": -2.0, "B-VP -> B-VP": float("-inf")})
    if isinstance(crf, SemiCRF):
        with pytest.raises(SettingError, match="SemiCRF"):
            crf.predict(short, constraints)
        return

    def factor(s, labels):
        pairs = list(pairwise(labels))
        return 0.0 if ("B-VP", "B-VP") in pairs else np.exp(-2.0 * pairs.count(("B-NP", "B-VP")))

    check(crf, short, constraints, factor)


@pytest.mark.parametrize("types", [["NP"], ["VP", "NP"]])
def test_types_that_occur_once_at_most(crf, short, types):
    def factor(s, labels):
        found = [span[2] for span in spans_of(crf, labels)]
        return all(found.count(kind) <= 1 for kind in types)

    check(crf, short, Constraints(at_most_once=types), factor)


def test_all_at_once_and_in_batches(crf, short, heldout, monkeypatch):
    allowed = [["B-NP"] + [None] * (n - 1) for n in np.diff(short.offsets)]
    constraints = Constraints(allowed=allowed, penalties={"O": 1.0}, at_most_once=["VP"])
    whole = crf.predict(short, constraints)
    assert all(labels[0] == "B-NP" for labels in whole)
    monkeypatch.setattr("trellis.models.batches._BATCH", 3)
    assert crf.predict(short, constraints) == whole


def test_no_legal_path_names_the_token(crf, short):
    """I-NP alone is well-formed nowhere, and two labels of a type that occurs once cannot both begin a segment."""
    allowed = [["B-NP", "B-NP"] + [None] * (n - 2) for n in np.diff(short.offsets)]
    with pytest.raises(NoLegalPathError, match="token 2"):
        crf.predict(short, Constraints(allowed=allowed, at_most_once=["NP"]))


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ({"allowed": [["O"]]}, DataError, "sentences"),
        ({"allowed": [["O"], ["O"], ["O"]]}, DataError, "sentence 1: allowed has 1 tokens"),
        ({"penalties": {"X": 1.0}}, SettingError, "expected a label"),
        ({"penalties": {"O": float("nan")}}, SettingError, "expected a number"),
        ({"at_most_once": ["XP"]}, SettingError, "the types are: NP, VP"),
        ({"at_most_once": "NP"}, SettingError, "expected a list"),
    ],
)
def test_what_does_not_fit_is_refused(crf, short, given, error, match):
    with pytest.raises(error, match=match):
        crf.predict(short, Constraints(**given))


def test_labels_that_the_model_does_not_know(crf, short):
    allowed = [["XX"] * n for n in np.diff(short.offsets)]
    with pytest.raises(DataError, match="sentence 1, token 1: allowed has the label 'XX'"):
        crf.predict(short, Constraints(allowed=allowed))


def test_sentences_are_counted_through_all_batches(corpus, heldout, monkeypatch):
    monkeypatch.setattr("trellis.models.batches._BATCH", 20)
    crf = CRF("chunk", "word[0]", tol=1e-2).fit(corpus)
    last = len(heldout)
    forbidden = [[None] * n for n in np.diff(heldout.offsets).tolist()]
    forbidden[-1] = ["B-NP"] * len(forbidden[-1])
    rule = Constraints(allowed=forbidden, penalties={"B-NP": -np.inf})
    with pytest.raises(
        NoLegalPathError, match=f"^sentence {last} has no legal path: every label of token 1 "
    ) as caught:
        crf.predict(heldout, rule)
    assert caught.value.sentence == last - 1


@pytest.mark.parametrize("settings", [{}, {"order": 2}, {"encoding": "auto"}])
def test_what_is_known_survives_pruning(corpus, heldout, settings):
    crf = CRF("chunk", "pos[0]", prune=0.3, tol=1e-2, **settings).fit(corpus)
    for label in crf.classes_:
        known = [[None] * (n - 1) + [label] for n in np.diff(heldout.offsets).tolist()]
        for row in crf.predict(heldout, Constraints(allowed=known)):
            assert row[-1] == label


@pytest.mark.parametrize("wrong", [{"O": -1.0}, ["O"], "O", 5])
def test_what_is_no_constraint(corpus, heldout, wrong):
    crf = CRF("chunk", "pos[0]", tol=1e-2).fit(corpus)
    with pytest.raises(SettingError, match=r"expected trellis.Constraints"):
        crf.predict(heldout, wrong)


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"at_most_once": None}, "at_most_once is None"),
        ({"at_most_once": 5}, "at_most_once is 5"),
        ({"at_most_once": {"NP": 2}}, "at_most_once is {'NP': 2}"),
        ({"allowed": 5}, "allowed is 5"),
        ({"allowed": {"a": 1}}, "allowed is {"),
        ({"allowed": [None] * 25}, "sentence 1: allowed has None"),
        ({"allowed": "x" * 25}, "allowed is 'x"),
        ({"penalties": "O"}, "penalties is 'O'"),
        ({"penalties": [("O", 1.0)]}, "penalties is "),
        ({"penalties": {"O": "x"}}, "the penalty of 'O' is 'x'"),
        ({"penalties": {"O": float("nan")}}, "the penalty of 'O' is nan"),
    ],
)
def test_constraints_that_are_none(corpus, heldout, wrong, what):
    crf = CRF("chunk", "pos[0]", tol=1e-2).fit(corpus)
    with pytest.raises((SettingError, DataError), match=what):
        crf.predict(heldout, Constraints(**wrong))
    assert crf.predict(heldout, Constraints(penalties={"O": np.float32(0.0)})) == crf.predict(heldout)


def test_types_that_occur_once_need_segments(corpus, heldout):
    crf = CRF("pos", "word[0]", tol=1e-2).fit(corpus)
    with pytest.raises(SettingError, match="at_most_once is about segments"):
        crf.predict(heldout, Constraints(at_most_once=["NN"]))


@pytest.mark.parametrize("wrong", [None, "x", 2, float("nan")])
def test_confidences_that_are_none(corpus, heldout, wrong):
    crf = CRF("chunk", "pos[0]", tol=1e-2).fit(corpus)
    with pytest.raises(SettingError, match="min_confidence"):
        crf.predict_spans(heldout, wrong)
    with pytest.raises(SettingError, match="threshold"):
        crf.predict_candidates(heldout, wrong)


@pytest.mark.parametrize("settings", [{}, {"order": 2}, {"encoding": "auto"}])
@pytest.mark.parametrize(
    "rule",
    [
        {"at_most_once": ["NP"]},
        {"at_most_once": ["NP", "VP", "PP", "ADVP", "SBAR", "ADJP"]},
        {"penalties": {"B-NP": -np.inf}},
        {"penalties": {"B-NP -> I-NP": -np.inf, "I-NP -> I-NP": -np.inf}},
    ],
)
def test_pruning_leaves_a_path_that_keeps_to_constraints(corpus, heldout, settings, rule):
    crf = CRF("chunk", "pos[0]", prune=0.2, tol=1e-2, **settings).fit(corpus)
    rule = {**rule, "at_most_once": [kind for kind in rule.get("at_most_once", []) if f"B-{kind}" in crf.classes_]}
    constraints = Constraints(**rule)
    for labels in crf.predict(heldout, constraints):
        found = [kind for _, _, kind in spans_of(crf, labels)]
        assert all(found.count(kind) <= 1 for kind in constraints.at_most_once)
        forbidden = {name for name, value in (constraints.penalties or {}).items() if value == -np.inf}
        assert not forbidden & {*labels, *(" -> ".join(pair) for pair in pairwise(labels))}


def test_scores_under_constraints(crf, heldout):
    constraints = Constraints(penalties={"O": 3.0}, at_most_once=["VP"])
    report = crf.evaluate(heldout, constraints=constraints)
    expected = [label for row in crf.predict(heldout, constraints) for label in row]
    gold = [label for row in heldout.sentences("chunk") for label in row]
    assert report.accuracy == pytest.approx(np.mean([a == b for a, b in zip(expected, gold, strict=True)]))
    assert crf.score(heldout, constraints=constraints) == report.headline
    assert crf.predict_column(heldout, constraints).values() == expected


def test_probabilities_of_given_labels_under_constraints(crf, short):
    constraints = Constraints(penalties={"O": -1.5}, at_most_once=["NP"])
    for s in range(len(short)):
        one = short.slice(s, s + 1)
        for path in crf.predict_kbest(one, 5, constraints)[0]:
            found = crf.log_probability(one, [path.labels], constraints)
            np.testing.assert_allclose(found, path.log_probability, atol=1e-9)
        twice = ["B-NP", "B-NP", *["O"] * (one.tokens - 2)]
        assert crf.log_probability(one, [twice], constraints)[0] == -np.inf


def test_penalties_that_no_number_can_hold(crf, heldout):
    with pytest.raises(SettingError, match="expected a number"):
        crf.predict(heldout, Constraints(penalties={"O": 10**400}))


@pytest.mark.parametrize("prune", [0.05, 0.3])
@pytest.mark.parametrize("rule", [None, {"at_most_once": ["NP"]}, {"penalties": {"B-VP": -np.inf}}])
def test_pruning_leaves_a_path_of_tuples_that_were_seen(corpus, heldout, prune, rule):
    settings = {"order": 2, "only_seen": True, "encoding": "auto", "tol": 1e-2}
    pruned = CRF("chunk", "pos[0]", prune=prune, **settings).fit(corpus)
    whole = CRF("chunk", "pos[0]", **settings).fit(corpus)
    constraints = None if rule is None else Constraints(**rule)
    for s in range(len(heldout)):
        one = heldout.slice(s, s + 1)
        try:
            whole.predict(one, constraints)
        except NoLegalPathError:
            with pytest.raises(NoLegalPathError):
                pruned.predict(one, constraints)
            continue
        assert np.isfinite(pruned.predict_kbest(one, 1, constraints)[0][0].log_probability)


def test_a_tag_dictionary_goes_before_constraints(corpus, heldout):
    """What the dictionary does not allow is not given back for want of another label."""
    rule = Constraints(penalties={"B-NP": -np.inf, "I-NP": -np.inf})
    for prune in (None, 0.01):
        crf = CRF("chunk", "pos[0]", tag_dictionary=1, prune=prune, tol=1e-2).fit(corpus)
        with pytest.raises(NoLegalPathError):
            crf.predict(corpus, rule)


def test_a_label_may_look_like_a_pair():
    X, y = [[["a"], ["b"], ["c"]]], [["A", "B", "A -> B"]]
    crf = CRF().fit(X, y)
    assert crf.predict(X, Constraints(penalties={"A -> B": 1e3})) == [["A -> B"] * 3]
