"""Only well-formed labels: constraints from the encoding, in training and after."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from trellis import CRF, load
from trellis.corpus import Corpus, parse_conll, sample_corpus
from trellis.errors import DataError, NoLegalPathError, SettingError
from trellis.labels import illegal

WEAK = "pos[0]"  # features that lead to ill-formed labels where nothing forbids them
KINDS = {
    "order 1": {},
    "order 2": {"order": 2},
    "pruned": {"order": 2, "prune": 0.01},
    "tag dictionary": {"tag_dictionary": 3},
    "arcs": {"features": "word[0] + transitions(pos[0])"},
    "Newton": {"optimizer": "newton-cg"},
    "hinge": {"loss": "softmax-margin"},
}


@pytest.fixture(scope="module")
def noise(make_corpus):
    """Sentences whose words say little of where phrases begin."""
    rng, corpus = np.random.default_rng(0), make_corpus(80, seed=5)
    rows = [[str(rng.choice(["NN", "VB"])) for _ in range(n)] for n in np.diff(corpus.offsets)]
    chunks = corpus.sentences("chunk")
    return Corpus.from_lists({"word": corpus.sentences("word"), "pos": rows, "chunk": chunks})


@pytest.mark.parametrize("kind", KINDS)
def test_no_ill_formed_sequence_comes_out(noise, kind, tmp_path, computing):
    settings = {"features": WEAK, "l2": 10.0, **KINDS[kind]}
    crf = CRF("chunk", encoding="auto", **settings).fit(noise)
    ids = crf.predict_ids(noise)
    assert not len(illegal(crf.classes_, ids, noise.offsets, "iob2"))
    for row in crf.predict_marginals(noise):
        np.testing.assert_allclose(row.sum(axis=1), 1.0)
        assert row[0, crf.classes_.index("I-NP")] == 0.0
    for paths in crf.predict_kbest(noise, 3)[:10]:
        for path in paths:
            found = np.array([crf.classes_.index(label) for label in path.labels])
            assert not len(illegal(crf.classes_, found, np.array([0, len(found)]), "iob2"))
    crf.save(tmp_path / "m")
    again = load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict_ids(noise), ids)
    if "order" not in settings:
        with computing("plain"):
            np.testing.assert_array_equal(crf.predict_ids(noise), ids)


def test_without_the_constraint_there_are_such(noise):
    crf = CRF("chunk", "word[0]", order=0, l2=10.0).fit(noise)
    assert len(illegal(crf.classes_, crf.predict_ids(noise), noise.offsets, "iob2"))


def test_labels_that_no_sequence_has_are_refused_with_a_remedy_that_helps():
    corpus = Corpus.from_lists({"word": [["a", "b"], ["c"]], "label": [["O", "B-X|S-X"], ["S-X"]]})
    with pytest.raises(SettingError, match=r"nothing in bioes can have the label 'B-X'; leave the encoding out$"):
        CRF("label", "word[0]", encoding="bioes", partial=True).fit(corpus)


def test_probabilities_are_those_of_the_legal_paths_alone(noise):
    free = CRF("chunk", WEAK, l2=1.0).fit(noise)
    bound = CRF("chunk", WEAK, l2=1.0, encoding="iob2").fit(noise)
    small = noise.slice(0, 5)
    log_p = bound.log_probability(small)
    assert (log_p <= 0.0).all()
    assert bound.objective_ < free.objective_  # nothing is given to what cannot be
    first = small.slice(0, 1)
    n = first.tokens
    total = 0.0
    for labels in itertools.product(bound.classes_, repeat=n) if n <= 6 else ():
        total += float(np.exp(bound.log_probability(first, [list(labels)])[0]))
    assert n > 6 or total == pytest.approx(1.0)


def test_labels_known_in_part_and_soft_ones(noise):
    chunks = noise.sentences("chunk")
    part = [[None if t % 3 == 1 else label for t, label in enumerate(row)] for row in chunks]
    crf = CRF("chunk", WEAK, encoding="auto").fit(noise, part)
    assert not len(illegal(crf.classes_, crf.predict_ids(noise), noise.offsets, "iob2"))
    names = sorted({label for row in chunks for label in row})
    soft = [np.where(np.array(row)[:, None] == names, 0.7, 0.3 / (len(names) - 1)) for row in chunks]
    crf = CRF("chunk", WEAK, encoding="auto").fit(noise, soft=soft, labels=names)
    assert not len(illegal(crf.classes_, crf.predict_ids(noise), noise.offsets, "iob2"))


def test_labels_to_learn_from_must_be_well_formed():
    corpus = parse_conll(b"a B-X\nb I-X\n\nc O\nd I-X\n", ["word", "tag"], "train.txt")
    with pytest.raises(
        DataError, match=r"train.txt:5: sentence 2, token 2: the label 'I-X' may not stand there in iob2"
    ):
        CRF("tag", "word[0]", encoding="iob2").fit(corpus)


def test_what_does_not_fit_is_refused(corpus):
    with pytest.raises(SettingError, match="spell no segments"):
        CRF("pos", "word[0]", encoding="auto").fit(corpus)
    with pytest.raises(SettingError, match="expected auto, io"):
        CRF("chunk", encoding="iob3").fit(corpus)
    with pytest.raises(SettingError, match="order 0"):
        CRF("chunk", encoding="iob2", order=0).fit(corpus)
    with pytest.raises(SettingError, match="constraints on paths"):
        CRF("chunk", encoding="iob2", optimizer="perceptron").fit(corpus)
    with pytest.raises(SettingError, match="not bioes"):
        CRF("pos", "word[0]", encoding="bioes").fit(corpus)


def test_no_legal_path_names_the_token():
    """A word that may only go on, at the beginning of a sentence."""
    X = [["a", "b"], ["c", "b"], ["c", "c"]]
    y = [["B-X", "I-X"], ["O", "O"], ["O", "O"]]
    corpus = Corpus.from_lists({"word": [*X, ["d", "e"]], "tag": [*y, ["B-X", "I-X"]]})
    crf = CRF("tag", "word[0]", encoding="iob2", tag_dictionary=1).fit(corpus)
    with pytest.raises(NoLegalPathError, match="token"):
        crf.predict(Corpus.from_lists({"word": [["e", "a"]]}))
    with pytest.raises(NoLegalPathError, match="token"):
        crf.predict_marginals(Corpus.from_lists({"word": [["e", "a"]]}))


@pytest.mark.parametrize("order", [1, 2])
def test_pruning_leaves_a_well_formed_path(order):
    train, test = sample_corpus("train").slice(0, 150), sample_corpus("test")
    crf = CRF("chunk", "word[0]", encoding="auto", prune=0.4, order=order, tol=1e-2, patience=1)
    crf.fit(train, dev=test)
    ids = crf.predict_ids(test)
    assert not len(illegal(crf.classes_, ids, test.offsets, "iob2"))
    lattice = crf.model_.lattice_of_packed(crf.model_.pack(test), test.offsets)
    assert np.isfinite(lattice.marginals().log_z).all()


class TestGaps:
    WORDS = (["She", "looked", "the", "word", "up", "."], ["He", "slept", "."], ["They", "gave", "it", "up", "."])
    LABELS = ("OBooIO", "OOO", "OBoIO")

    def model(self, encoding):
        columns = {"word": [*self.WORDS] * 3, "mwe": [list(row) for row in self.LABELS] * 3}
        corpus = Corpus.from_lists(columns)
        return CRF(target="mwe", features="word[-1:1]", encoding=encoding, l2=0.1).fit(corpus), corpus

    @pytest.mark.parametrize("encoding", ["gappy", "auto"])
    def test_a_model_keeps_to_them_and_is_scored_by_spans(self, encoding):
        model, corpus = self.model(encoding)
        assert model.model_.encoding == "gappy"
        report = model.evaluate(corpus)
        assert (report.f1, report.encoding) == (1.0, "gappy")
        assert model.score(corpus) == 1.0

    def test_spans_have_no_probabilities(self):
        model, corpus = self.model("gappy")
        with pytest.raises(SettingError, match="spans with gaps have no probabilities here"):
            model.predict_spans(corpus)
