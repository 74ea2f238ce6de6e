"""Columns and models that vote."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from voting import corpus_of, named, voted

from trellis.cascade import Cascade, Stage
from trellis.errors import SettingError
from trellis.models import CRF
from trellis.weak.applying import apply
from trellis.weak.functions import column, model, pattern


def test_a_column_votes_in_any_encoding_and_may_abstain():
    assert voted(column("ner"), "a b c d", ner=["S-PER O B-LOC E-LOC"]) == ["B-PER O B-LOC I-LOC"]
    assert voted(column("ner", abstain=("_", "O")), "a b c", ner=["B-PER O _"]) == ["B-PER _ _"]
    assert voted(column("pos"), "a b", pos=["NN _"]) == ["NN _"]
    assert column("ner").name == "ner"
    assert column("ner", as_name="spacy").name == "spacy"


def test_labels_are_mapped_by_themselves_or_by_their_type():
    names = column("ner", {"PERSON": "PER", "DATE": None, "MISC": "O", "B-X": "B-Y"})
    assert voted(names, "a b c d e", ner=["B-PERSON I-PERSON B-DATE B-MISC B-X"]) == ["B-PER I-PER _ O B-Y"]
    assert voted(column("pos", {"NNP": "NN"}), "a b", pos=["NNP VB"]) == ["NN VB"]
    with pytest.raises(SettingError, match="label_map has 'a': 3"):
        column("pos", {"a": 3})
    with pytest.raises(SettingError, match="'ner' looks at 'ner'; the columns are: word"):
        apply(column("ner"), corpus_of("a"))


def test_columns_and_spans_go_together():
    votes = apply([column("ner"), pattern("York", "LOC")], corpus_of("New York", ner=["B-PER I-PER"]))
    assert votes.labels == ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")
    assert (named(votes, 0), named(votes, 1)) == (["B-PER I-PER"], ["_ B-LOC"])


@pytest.fixture(scope="module")
def chunker(corpus):
    return CRF("chunk", features="U0:%x[0,word]\nU1:%x[0,pos]\nB", l2=5.0).fit(corpus)


def test_a_model_votes_what_it_predicts(chunker, heldout, tmp_path):
    expected = [" ".join(labels) for labels in chunker.predict(heldout)]
    assert named(apply(model(chunker), heldout)) == expected
    chunker.save(tmp_path / "m")
    assert named(apply(model(tmp_path / "m"), heldout)) == expected
    silent = apply(model(chunker, abstain=("O",)), heldout)
    assert named(silent) == [" ".join("_" if x == "O" else x for x in text.split()) for text in expected]


def test_with_a_threshold_only_sure_segments_and_tokens_vote(chunker, heldout):
    spans = [span for sentence in chunker.predict_spans(heldout) for span in sentence]
    threshold = float(np.median([span.probability for span in spans]))
    got = named(apply(model(chunker, threshold=threshold), heldout))
    marginals = chunker.predict_marginals(heldout)
    outside = chunker.classes_.index("O")
    for s, (labels, found) in enumerate(zip(chunker.predict(heldout), chunker.predict_spans(heldout), strict=True)):
        keep = [marginals[s][t, outside] >= threshold if x == "O" else False for t, x in enumerate(labels)]
        for span in found:
            for t in range(span.start, span.end):
                keep[t] = span.probability >= threshold
        assert got[s].split() == [x if stays else "_" for x, stays in zip(labels, keep, strict=True)]


def test_of_plain_labels_those_of_tokens_count(corpus, heldout):
    tagger = CRF("pos", features="U0:%x[-1,word]", l2=5.0).fit(corpus)
    p = np.concatenate(tagger.predict_marginals(heldout)).max(axis=1)
    votes = apply(model(tagger, threshold=0.6, name="pos"), heldout)
    assert 0 < np.count_nonzero(votes.values >= 0) < heldout.tokens
    assert np.array_equal(votes.values[:, 0] >= 0, p >= 0.6)


def test_a_stage_of_a_cascade_votes(corpus, heldout):
    stages = [
        Stage("pos", features="U0:%x[0,word]"),
        Stage("chunk", features="U0:%x[0,word]\nU1:%x[0,pos]\nB", reads=["pos"]),
    ]
    cascade = Cascade(stages).fit(corpus)
    assert named(apply(model(cascade, target="chunk"), heldout)) == [
        " ".join(labels) for labels in cascade.predict(heldout)["chunk"]
    ]
    some = apply(model(cascade, threshold=0.9, target="chunk"), heldout)
    assert np.count_nonzero(some.values >= 0) < heldout.tokens
    with pytest.raises(SettingError, match="expected one of the stages: pos, chunk"):
        model(cascade)


def test_what_cannot_vote_is_refused(chunker):
    with pytest.raises(SettingError, match="3 cannot vote"):
        model(3)
    with pytest.raises(SettingError, match="threshold is 2"):
        model(chunker, threshold=2)
    with pytest.raises(SettingError, match="is no cascade"):
        model(chunker, target="chunk")


def test_the_file_of_a_cascade_votes_in_a_new_process(tmp_path):
    corpus = corpus_of("a b", "b a", pos=["X Y", "Y X"], chunk=["B-X O", "O B-X"])
    cascade = Cascade([Stage("pos", "word[0]"), Stage("chunk", "word[0]", reads=["pos"])]).fit(corpus)
    cascade.save(tmp_path / "cascade.trellis")
    script = (
        "import sys\nfrom trellis import weak\nfrom trellis.corpus import Corpus\n"
        "corpus = Corpus.from_lists({'word': [['a', 'b']]})\n"
        "votes = weak.apply([weak.model(sys.argv[1], target='chunk')], corpus)\n"
        "print(*[votes.names[k] for k in votes.values[:, 0]])"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "cascade.trellis")]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert said.stdout.split() == cascade.predict(corpus)["chunk"][0]
