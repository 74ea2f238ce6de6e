"""Training on CoNLL-2000 chunking: the reference everybody can compare with."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from trellis import CRF, HMM, read_conll

DATA = Path(os.environ.get("TRELLIS_DATA") or Path(__file__).parents[3] / "shared" / "data") / "conll2000"

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="CoNLL-2000 is not here; set TRELLIS_DATA to a folder that holds conll2000/"
)


@pytest.fixture(scope="module")
def corpora():
    return [read_conll(DATA / f"{part}.txt", columns=["word", "pos", "chunk"]) for part in ("train", "test")]


def test_objective_and_score_are_those_of_crfsuite(corpora):
    """CRFsuite with c2=1: 338,551 attributes, 456,468 features, objective 12887.22, F1 93.56."""
    train, test = corpora
    crf = CRF(target="chunk", features="chunking", l2=2.0).fit(train)
    assert crf.model_.features.attributes == 338_551
    assert crf.model_.layout.size == 456_468
    assert crf.converged_
    assert crf.objective_ == pytest.approx(12887.22, rel=5e-4)
    assert crf.score(test) >= 0.934


def test_one_two_and_eight_threads_give_the_same_bytes(corpora, tmp_path):
    train, _ = corpora
    files = []
    for threads in (1, 2, 8):
        crf = CRF(target="chunk", l2=2.0, max_iter=4, threads=threads)
        with pytest.warns(match="before it converged"):
            crf.fit(train)
        crf.save(tmp_path / "model")
        files.append((tmp_path / "model").read_bytes())
    assert files[0] == files[1] == files[2]


@pytest.mark.parametrize(("order", "least"), [(1, 0.965), (2, 0.968)])
def test_a_hidden_markov_model_tags_parts_of_speech(corpora, order, least):
    """97.09 and 97.38 measured; unknown words by shape and suffix are worth two points of it."""
    train, test = corpora
    assert HMM(target="pos", order=order).fit(train).score(test) >= least
