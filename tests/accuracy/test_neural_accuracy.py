"""An encoder beside sparse features is worth it on CoNLL-2000. Minutes, for `make accuracy`, not for `make test`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from trellis import CRF, NeuralCRF, read_conll
from trellis.metrics import compare_two

DATA = Path(os.environ.get("TRELLIS_DATA") or Path(__file__).parents[3] / "shared" / "data") / "conll2000"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.is_dir(), reason="CoNLL-2000 is not here; set TRELLIS_DATA"),
]


def test_phrases():
    """93.67 and 94.33 (docs/neural.md)."""
    train, test = (read_conll(DATA / f"{part}.txt", columns=["word", "pos", "chunk"]) for part in ("train", "test"))
    crf = CRF("chunk", "chunking", l2=1.0).fit(train)
    both = NeuralCRF("chunk", "chunking", l2=1.0).fit(train)
    found = compare_two(test["chunk"], crf.predict_column(test), both.predict_column(test), test.offsets)
    difference = found.differences["f1"]
    print(f"CRF {crf.score(test):.4f}, with an encoder {both.score(test):.4f}, p = {difference.p:.4f}")
    assert difference.difference > 0.003
    assert difference.p < 0.01
