"""Augmentation and choosing what to annotate are worth it. Minutes, for `make accuracy`, not for `make test`."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from trellis import CRF, augmented, read_conll
from trellis.fewlabels import copy_weights, simulate
from trellis.metrics import differences, tallies
from trellis.metrics.compare import same_table

DATA = Path(os.environ.get("TRELLIS_DATA") or Path(__file__).parents[3] / "shared" / "data")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (DATA / "conll2000").is_dir(), reason="the corpora are not here; set TRELLIS_DATA"),
    pytest.mark.filterwarnings("ignore:labels of .ner. are ill-formed"),
]


def counted(model, test):
    (gold, found), names = same_table(test["ner"], model.predict_column(test))
    return tallies(gold, found, names, test.offsets)


def test_copies_of_a_twentieth_of_spanish_names():
    """Ten samples; docs/few-labels.md has twenty."""
    train, test = (
        read_conll(DATA / "conll2002-es" / f, columns=["word", "pos", "ner"]) for f in ("train.txt", "testb.txt")
    )
    plain, more, size = [], [], round(0.05 * len(train))
    for seed in range(10):
        part = train.picked(np.sort(np.random.default_rng(seed).permutation(len(train))[:size]))
        copies = augmented(part, "ner", "mentions+tokens", copies=16, seed=seed)
        weights = copy_weights(part, copies, 1 / 16)
        plain.append(counted(CRF("ner", "ner", l2=0.2, tol=1e-3).fit(part), test))
        more.append(counted(CRF("ner", "ner", l2=0.5, tol=1e-3).fit(copies, sample_weight=weights), test))
    found = differences(np.sum(plain, axis=0), np.sum(more, axis=0), ["f1"])["f1"]
    print(f"{100 * found.difference:+.2f} ({100 * found.low:+.2f} to {100 * found.high:+.2f}), p = {found.p:.4f}")
    assert found.difference > 0.0
    assert found.p < 0.05


def test_uncertain_sentences_first():
    train, test = (
        read_conll(DATA / "conll2000" / f, columns=["word", "pos", "chunk"]) for f in ("train.txt", "test.txt")
    )
    crf = CRF("chunk", "chunking", l2=0.5, tol=1e-3)
    found = simulate(crf, train, test, ["entropy", "random"], start=1000, batch=1000, rounds=4, repeats=6)
    print(found.as_text("F1"))
    against = found.compared("entropy")
    assert against.area.difference > 0.0
    assert against.area.p < 0.05
    assert against.last.p < 0.05
