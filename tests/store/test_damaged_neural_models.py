"""Files of models with an encoder that are not exactly what was written are refused with one typed error."""

from __future__ import annotations

import numpy as np
import pytest
from changes import changed, put, replacing, setting, without

from trellis import NeuralCRF
from trellis.corpus import Corpus
from trellis.errors import DamagedModelError, NewerModelError
from trellis.store import from_bytes, put_strings

WORDS = {"word": [["a", "B"], ["é"]], "pos": [["p", "q"], ["p"]], "tag": [["X", "Y"], ["X"]]}
SIZES = {"embedding": 4, "letters": 1, "filters": 1, "hidden": 1, "epochs": 1}


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    (folder / "v.txt").write_text("zoo 1 2 3 4\nb 0 1 0 1\n")
    model = NeuralCRF("tag", "word[0] + pos[0]", vectors=folder / "v.txt", **SIZES).fit(Corpus.from_lists(WORDS))
    model.set_params(vectors=None).save(folder / "m")
    return (folder / "m").read_bytes()


def test_the_file_itself_is_fine(raw, loading):
    model = loading(raw)
    assert model.classes_ == ["X", "Y"]
    assert changed(raw, lambda *_: None) == raw
    text = Corpus.from_lists({"word": [["a", "zoo", "quite new"]], "pos": [["p", "r", "q"]]})
    np.testing.assert_allclose(model.predict_marginals(text)[0].sum(axis=1), 1.0)
    assert "encoder.fixed" in from_bytes(raw)[1]


def test_every_truncation(raw, loading):
    for length in range(0, len(raw), 3):
        with pytest.raises(DamagedModelError):
            loading(raw[:length])


def test_every_changed_byte(raw, loading):
    for at in range(len(raw)):
        data = bytearray(raw)
        data[at] ^= 0x01 << at % 8
        with pytest.raises((DamagedModelError, NewerModelError)):
            loading(bytes(data))


NUMBERS = ("words", "letters", "filters", "filters.bias", "layer.0.forward.input", "layer.0.backward.state", "output")
BAD = {
    **{f"{name} not a number": setting(f"encoder.{name}", np.nan) for name in (*NUMBERS, "fixed")},
    **{f"{name} infinite": setting(f"encoder.{name}", np.inf) for name in NUMBERS},
    **{f"{name} too short": replacing(f"encoder.{name}", lambda v: v[:-1]) for name in (*NUMBERS, "fixed")},
    **{f"{name} in double precision": replacing(f"encoder.{name}", lambda v: v.astype(np.float64)) for name in NUMBERS},
    **{f"without {name}": lambda _, t, name=name: t.pop(f"encoder.{name}") for name in NUMBERS},
    "more of the encoder": lambda _, t: t.update({"encoder.more": np.ones(1, np.float32)}),
    "a tensor that is not known": lambda _, t: t.update({"more": np.ones(1)}),
    "words in a table": replacing("encoder.words", lambda v: v.reshape(2, -1)),
    "no encoder": without("encoder"),
    "an encoder that is none": put("encoder", value=[1]),
    "an encoder with more": put("encoder", "more", value=1),
    "no columns": put("encoder", "columns", value=[]),
    "a column twice": put("encoder", "columns", value=["word", "word"]),
    "a column that is no name": put("encoder", "columns", value=["word", 1]),
    "a column too many": put("encoder", "columns", value=["word", "pos", "tag"]),
    "hidden 0": put("encoder", "hidden", value=0),
    "hidden 2": put("encoder", "hidden", value=2),
    "hidden as a float": put("encoder", "hidden", value=1.0),
    "hidden true": put("encoder", "hidden", value=True),
    "an embedding that no memory holds": put("encoder", "embedding", value=10**12),
    "layers without end": put("encoder", "layers", value=10**6),
    "two layers": put("encoder", "layers", value=2),
    "a word twice": lambda _, t: put_strings(t, "inputs.0", ["a", "a", "é", "zoo"]),
    "a word too few": lambda _, t: put_strings(t, "inputs.0", ["a", "b", "é"]),
    "a letter of two": lambda _, t: put_strings(t, "letters", ["aa", "B", "é"]),
    "a letter too many": lambda _, t: put_strings(t, "letters", ["a", "B", "é", "c"]),
    "more vectors than words": replacing("encoder.fixed", lambda v: np.tile(v, 99)),
    "a parameter out of range": put("params", "dropout", value=1.5),
    "a parameter of another model": put("params", "tol", value=0.1),
    "a model of another kind": put("model", value="CRF"),
    "sparse weights that are no numbers": setting("weights", np.nan),
}


@pytest.mark.parametrize("change", BAD.values(), ids=BAD.keys())
def test_parts_that_do_not_fit_are_refused(raw, loading, change):
    with pytest.raises(DamagedModelError):
        loading(changed(raw, change))
