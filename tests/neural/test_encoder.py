"""The encoder: what it sees, its numbers, and that NumPy and PyTorch say the same of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from trellis.corpus import Corpus
from trellis.features.inputs import LETTERS, InputTables, folded
from trellis.neural.encoder import Encoder
from trellis.neural.network import Noise, Parameters, Reading, scores
from trellis.neural.shape import EncoderShape

WORDS = [["Ann", "sees", "1999"], ["x"], ["Ann", "é"]]
TAGS = [["N", "V", "D"], ["N"], ["N", "V"]]


@pytest.fixture(scope="module")
def corpus():
    return Corpus.from_lists({"word": WORDS, "pos": TAGS})


@pytest.fixture(scope="module")
def tables(corpus):
    return InputTables.learn(corpus, ["word", "pos"])


def shape_of(tables, layers=1, labels=3):
    return EncoderShape(tables.sizes, tables.alphabet, labels, 5, 2, 3, 4, 6, layers)


def drawn(shape, seed):
    """Numbers for an encoder; those that training begins with would score 0."""
    return 0.5 * np.random.default_rng(seed).normal(size=shape.size)


class TestInputs:
    def test_words_are_numbered_without_case_and_digits(self, corpus, tables):
        assert tables.tables[0] == ["ann", "sees", "0000", "x", "é"]
        assert folded("B-52s") == "b-00s"
        found = tables.transform(corpus)
        assert found.ids.tolist() == [[1, 1], [2, 2], [3, 3], [4, 1], [1, 1], [5, 2]]

    def test_what_was_never_seen_is_0_and_its_letters_1(self, tables):
        found = tables.transform(Corpus.from_lists({"word": [["zebra", "1234"]], "pos": [["Q", "N"]]}))
        assert found.ids.tolist() == [[0, 0], [3, 1]]
        assert found.letters[0, :6].tolist() == [1, tables.letters.index("e") + 2, 1, 1, 1, 0]

    def test_of_a_long_word_both_ends_are_seen(self, tables):
        word = "A" + "n" * 100 + "s"
        letters = tables.transform(Corpus.from_lists({"word": [[word]], "pos": [["N"]]})).letters[0]
        number = {letter: i for i, letter in enumerate(tables.letters, 2)}
        assert len(letters) == LETTERS
        assert (letters[0], letters[-1]) == (number["A"], number["s"])

    def test_parts_share_the_letters(self, corpus, tables):
        found = tables.transform(corpus)
        part, chosen = found.part(3, 6), found.picked(np.array([3, 4, 5]))
        assert part.ids.tolist() == chosen.ids.tolist() == found.ids[3:].tolist()
        assert part.letters is found.letters


class TestShape:
    def test_the_vector_and_the_arrays_are_the_same_numbers(self, tables):
        shape = shape_of(tables, layers=2)
        vector = shape.initial(1)
        arrays = shape.arrays(vector)
        assert sum(array.size for array in arrays.values()) == shape.size == len(vector)
        np.testing.assert_allclose(shape.vector(arrays), vector, rtol=1e-6)
        assert arrays["layer.1.backward.input"].shape == (24, 12)
        assert not np.array_equal(vector, shape.initial(2))
        assert np.array_equal(vector, shape.initial(1))

    def test_memories_begin_by_keeping_and_scores_at_0(self, tables):
        arrays = shape_of(tables).arrays(shape_of(tables).initial(0))
        assert arrays["layer.0.forward.bias"].tolist() == [0.0] * 6 + [1.0] * 6 + [0.0] * 12
        assert not arrays["output"].any()


texts = st.lists(st.lists(st.text(max_size=30), max_size=5), min_size=1, max_size=4)


@settings(max_examples=30)
@given(texts, st.integers(1, 2), st.integers(0, 99), st.sampled_from(["plain", "compiled"]))
def test_both_ways_to_compute_are_pytorchs_own(computing, sentences, layers, seed, way):
    corpus = Corpus.from_lists({"word": sentences})
    tables = InputTables.learn(Corpus.from_lists({"word": WORDS}), ["word"])
    shape = shape_of(tables, layers)
    vector = drawn(shape, seed)
    inputs = tables.transform(corpus)
    with computing(way):
        found = Encoder.of(shape, vector).scores(inputs, corpus.offsets)
    assert found.shape == (corpus.tokens, 3)
    if corpus.tokens:
        reading = Reading.of(inputs, corpus.offsets)
        parameters = Parameters(shape, vector, torch.float64)
        expected = scores(parameters, parameters.rows(reading.words), reading)
        np.testing.assert_allclose(found, expected.detach().numpy(), atol=2e-5)


def test_a_sentence_has_its_scores_whatever_stands_beside_it(corpus, tables, computing):
    """To the bit, by compiled loops."""
    shape = shape_of(tables)
    encoder = Encoder.of(shape, drawn(shape, 3))
    with computing("compiled"):
        whole = encoder.scores(tables.transform(corpus), corpus.offsets)
        for s, (a, b) in enumerate(zip(corpus.offsets[:-1], corpus.offsets[1:], strict=True)):
            own = corpus.slice(s, s + 1)
            np.testing.assert_array_equal(encoder.scores(tables.transform(own), own.offsets), whole[a:b])


@pytest.mark.parametrize("way", ["plain", "compiled"])
def test_extreme_numbers_saturate(corpus, tables, computing, way):
    shape = shape_of(tables)
    encoder = Encoder.of(shape, 1e6 * drawn(shape, 8))
    with computing(way):
        found = encoder.scores(tables.transform(corpus), corpus.offsets)
    most = np.abs(encoder.arrays["output"]).sum(axis=0) + np.abs(encoder.arrays["output.bias"])
    assert np.all(np.abs(found) <= 1.001 * most)  # what goes in is from -1 to 1


def test_many_sentences_go_in_pieces(corpus, tables, monkeypatch):
    shape = shape_of(tables)
    encoder, inputs = Encoder.of(shape, drawn(shape, 4)), tables.transform(corpus)
    whole = encoder.scores(inputs, corpus.offsets)
    monkeypatch.setattr("trellis.neural.encoder._AT_ONCE", 2)
    monkeypatch.setattr("trellis.neural.plain._AT_ONCE", 1)
    np.testing.assert_allclose(encoder.scores(inputs, corpus.offsets), whole, atol=1e-6)


def test_a_long_sentence_goes_piece_by_piece(tables, computing, monkeypatch):
    words = [["Ann", "sees", "x", "1999", "zebra"] * 9 + ["Ann"]]
    text = Corpus.from_lists({"word": words, "pos": [["N"] * 46]})
    shape = shape_of(tables, layers=2)
    encoder, seen = Encoder.of(shape, drawn(shape, 3)), tables.transform(text)
    with computing("compiled"):
        whole = encoder.scores(seen, text.offsets)
        monkeypatch.setattr("trellis.neural.compiled._PIECE", 8)
        np.testing.assert_array_equal(encoder.scores(seen, text.offsets), whole)


def test_vectors_of_further_words_are_behind_the_others(corpus, tables):
    shape = shape_of(tables)
    fixed = np.ones((2, 5), np.float32)
    inputs = tables.transform(corpus)
    more = inputs.ids.copy()
    more[0, 0] = shape.tables[0] + 1
    encoder = Encoder.of(shape, drawn(shape, 5), fixed)
    found = encoder.scores(type(inputs)(more, inputs.word, inputs.letters), corpus.offsets)
    assert not np.allclose(found[:3], encoder.scores(inputs, corpus.offsets)[:3])
    np.testing.assert_allclose(found[3:], encoder.scores(inputs, corpus.offsets)[3:], atol=1e-6)


def test_noise_leaves_out_what_it_should(corpus, tables):
    shape = shape_of(tables)
    reading = Reading.of(tables.transform(corpus), corpus.offsets)
    parameters = Parameters(shape, drawn(shape, 6), torch.float64)
    rows = parameters.rows(reading.words)
    nothing = Noise(0.0, np.zeros(6, bool), torch.Generator())
    torch.testing.assert_close(scores(parameters, rows, reading, nothing), scores(parameters, rows, reading))
    hidden = scores(parameters, rows, reading, Noise(0.0, np.ones(6, bool), torch.Generator()))
    (gradient,) = torch.autograd.grad(hidden.sum(), rows)
    assert gradient[0].abs().sum() > 0.0
    assert gradient[1:].abs().sum() == 0.0
    masked = Noise(0.5, np.zeros(6, bool), torch.Generator().manual_seed(1)).on(torch.ones(1000))
    assert set(masked.tolist()) == {0.0, 2.0}
    assert 400 < int((masked > 0).sum()) < 600
