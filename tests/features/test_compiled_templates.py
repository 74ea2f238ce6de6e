"""Attributes found by one kernel are those that NumPy finds, template by template."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from trellis.corpus import Corpus
from trellis.features import TemplateFeatures, lookup
from trellis.features.notation import parse_templates

TEXT = """
U00:%x[-2,w]
U01:%x[0,w]/%x[1,w]
U02:%x[-1,p]/%x[0,p]/%x[1,p]
U03:%x[@1,w]/%x[@-1,p]
U04
U05:%lower[0,w]/%suffix[0,w,2]
U06:%x[-1,w]
U06:%x[1,w]
U07:%x[-1,p]/%x[0,p]
U07:%x[0,p]/%x[1,p]
U08:%ngrams[0,w,2]/%x[0,p]
B
B1:%x[-1,p]/%x[0,p]
"""


def corpus(seed, words, tokens=1000):
    """Sentences of any length, of words `w0 ... wN` in either case, and their parts of speech."""
    rng = np.random.default_rng(seed)
    words = [f"{'wW'[n % 7 == 0]}{n}" for n in rng.integers(0, words, tokens).tolist()]
    pos = [f"p{n}" for n in rng.integers(0, 9, tokens).tolist()]
    cuts = [0, *np.sort(rng.integers(0, tokens, tokens // 6)).tolist(), tokens]
    columns = {"w": words, "p": pos}
    return Corpus.from_lists({name: [own[a:b] for a, b in pairwise(cuts)] for name, own in columns.items()})


@pytest.mark.parametrize("text", [TEXT, "U0", "U0:%ngrams[0,w,2]", "U0\nB0:%x[0,w]/%x[1,w]"])
@pytest.mark.parametrize("few", [0, 1 << 20], ids=["hashed", "by place"])
def test_they_are_the_same(text, few, computing, monkeypatch):
    monkeypatch.setattr(lookup, "_FEW", few)
    monkeypatch.setattr(lookup, "_SPARSE", 0)
    templates = parse_templates(text, ["w", "p"], target="t")
    features, _ = TemplateFeatures.learn(corpus(0, 100), templates)
    other = corpus(1, 130)
    found = {}
    for way in ("plain", "compiled"):
        with computing(way):
            reading = features.translated(other)
            assert (reading.labels.quick is None) == (way == "plain")
            found[way] = [features.transform(batch) for batch in [other, *reading.batches(300)]]
    for plain, compiled in zip(found["plain"], found["compiled"], strict=True):
        for a, b in ((plain, compiled), (plain.arcs, compiled.arcs)) if plain.arcs else ((plain, compiled),):
            np.testing.assert_array_equal(a.indptr, b.indptr)
            np.testing.assert_array_equal(a.ids, b.ids)
            np.testing.assert_array_equal(a.values, b.values)


def test_a_table_knows_just_its_keys(monkeypatch):
    monkeypatch.setattr(lookup, "_FEW", 0)
    templates = parse_templates("U0:%x[0,w]/%x[1,w]\nU1:%x[0,p]/%x[1,p]", ["w", "p"], target="t")
    features, _ = TemplateFeatures.learn(corpus(0, 300), templates)
    table = lookup.Lookup.of(features.labels.groups)
    assert table.bits[0] > 0  # hashed
    assert table.bits[1] == 0
    for g, group in enumerate(features.labels.groups):
        wanted = np.arange(-1, group.keys.largest())
        np.testing.assert_array_equal(table.find(g, wanted), group.numbers(wanted))
