"""What several rooms' tests share: a small corpus to learn from, and the choice between the two ways to compute."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from unittest import mock

import numpy as np
import pytest
from hypothesis import settings

from trellis.corpus import Corpus
from trellis.models import CRF

settings.register_profile("trellis", deadline=None, max_examples=60)
settings.load_profile("trellis")

# every module that chooses between compiled loops and plain NumPy
_CHOOSERS = [
    "trellis.corpus.appending",
    "trellis.corpus.columns",
    "trellis.corpus.intern",
    "trellis.features.numbering",
    "trellis.features.packed",
    "trellis.lattice.chain",
    "trellis.lattice.history",
    "trellis.models.arcs",
    "trellis.models.kernel_chain",
    "trellis.models.linear",
    "trellis.neural.encoder",
    "trellis.weak.functions.casts",
    "trellis.weak.functions.lists",
    "trellis.weak.patterns",
    "trellis.weak.voters",
]

_NOUNS = ["dog", "cat", "house", "idea", "Ann", "river", "câlin"]
_VERBS = ["sees", "has", "likes", "finds"]
_OTHERS = [("the", "DT"), ("a", "DT"), ("big", "JJ"), ("red", "JJ")]


def pytest_configure(config):
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":  # hashes wrap around, scores overflow: only NumPy remarks on it
        for what in ("overflow", "invalid value"):
            config.addinivalue_line("filterwarnings", f"ignore:{what} encountered in scalar:RuntimeWarning")


@pytest.fixture(scope="session")
def computing():
    """`with computing("plain"):` or `with computing("compiled"):`, whatever the size of the input."""

    @contextmanager
    def choose(way):
        with ExitStack() as stack:
            for module in _CHOOSERS:
                stack.enter_context(mock.patch(f"{module}.worthwhile", return_value=way == "compiled"))
            yield

    return choose


@pytest.fixture(scope="session")
def make_corpus():
    """`make_corpus(sentences, seed)`: words, parts of speech, and base phrases (IOB2) that follow from both."""
    return _make_corpus


@pytest.fixture(scope="session")
def corpus():
    return _make_corpus(60, seed=1)


@pytest.fixture(scope="session")
def heldout():
    return _make_corpus(25, seed=2)


def _make_corpus(sentences, seed):
    rng = np.random.default_rng(seed)
    columns = {"word": [], "pos": [], "chunk": []}
    for _ in range(sentences):
        rows = [*_phrase(rng), (rng.choice(_VERBS), "VB", "B-VP"), *_phrase(rng)]
        rows += [(".", ".", "O")] * int(rng.random() < 0.7)
        for name, values in zip(columns, zip(*rows, strict=True), strict=True):
            columns[name].append([str(value) for value in values])
    return Corpus.from_lists(columns)


def _phrase(rng):
    rows = [_OTHERS[k] for k in rng.permutation(len(_OTHERS))[: rng.integers(0, 3)]]
    rows += [(rng.choice(_NOUNS), "NN")]
    return [(word, pos, "I-NP" if k else "B-NP") for k, (word, pos) in enumerate(rows)]


@pytest.fixture(scope="session")
def small_model():
    """A trained CRF whose file is small enough to try every byte of it."""
    words = [["a", "b", "c"], ["b", "é"], ["a"]]
    tags = [["X", "Y", "Z"], ["Y", "X"], ["Z"]]
    small = Corpus.from_lists({"word": words, "tag": tags})
    return CRF(target="tag", features="U0:%x[0,word]\nU1:%x[-1,word]/%x[0,word]", l2=0.5).fit(small)
