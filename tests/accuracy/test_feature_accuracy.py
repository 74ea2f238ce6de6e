"""How good the presets are on real corpora. Minutes each: `make accuracy` runs them, `make test` does not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from trellis import CRF, read_conll

DATA = Path(os.environ.get("TRELLIS_DATA") or Path(__file__).parents[3] / "shared" / "data")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (DATA / "ud-en-ewt").is_dir(), reason="the corpora are not here; set TRELLIS_DATA"),
]


def corpora(folder, parts, columns):
    return [read_conll(DATA / folder / f"{part}.txt", columns=columns) for part in parts]


def test_spanish_names():
    """CRFsuite with a comparable set of features: 79.76."""
    train, test = corpora("conll2002-es", ("train", "testb"), ["word", "pos", "ner"])
    assert CRF(target="ner", features="ner", l2=0.2).fit(train).score(test) >= 0.795


def test_english_parts_of_speech_with_and_without_a_tag_dictionary():
    train, test = corpora("ud-en-ewt", ("train", "test"), ["word", "upos", "xpos", "feats", "full"])
    free = CRF(target="xpos", features="pos", l2=1.0, threads=1).fit(train)
    bound = CRF(target="xpos", features="pos", l2=1.0, threads=1, tag_dictionary=10).fit(train)
    print(f"free {free.score(test):.5f} {free.seconds_:.1f} s; bound {bound.score(test):.5f} {bound.seconds_:.1f} s")
    assert free.score(test) >= 0.94
    assert bound.score(test) >= 0.94
    assert free.seconds_ / bound.seconds_ >= 1.5
