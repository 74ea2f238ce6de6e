"""What an encoder learns from: the columns that it sees, its shape, and vectors to begin with."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError
from trellis.features import Packed, TemplateFeatures
from trellis.features.inputs import InputTables, folded
from trellis.models.fingerprint import digest
from trellis.neural.encoder import Encoder
from trellis.neural.shape import EncoderShape

if TYPE_CHECKING:
    from trellis.features.inputs import Inputs
    from trellis.models.neural_chain import NeuralChain

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]

_LOG = logging.getLogger("trellis.models.fitting")


class Settings(Protocol):
    """Those of an estimator that are looked at here: see `NeuralCRF`."""

    inputs: str | None
    embedding: int
    letters: int
    filters: int
    hidden: int
    layers: int
    vectors: str | Path | None
    seed: int


@dataclass(frozen=True)
class Pretrained:
    """Vectors by word, as an encoder numbers words."""

    words: list[str]
    values: F64

    @classmethod
    def read(cls, path: str | Path) -> Pretrained:
        """Of words that are the same without their case, the first."""
        from trellis.features.functions.vectors import read_vectors

        found = read_vectors(str(path))
        for i in np.flatnonzero(np.abs(found.values).max(axis=1) > np.finfo(np.float32).max)[:1].tolist():
            raise DataError(f"the vector of '{found.words[i]}' has a number that is too large; make it smaller", path)
        first: dict[str, int] = {}
        for i, word in enumerate(found.words):
            first.setdefault(folded(word), i)
        return cls(list(first), found.values[list(first.values())])


def with_inputs(
    settings: Settings, corpus: Corpus, words: str, features: TemplateFeatures, packed: Packed, targets: Sequence[str]
) -> tuple[TemplateFeatures, Packed]:
    """Features that also give an encoder what it sees, which is none of the targets."""
    columns = [words, *_further(settings.inputs, corpus, words, features, targets)]
    tables = InputTables.learn(corpus, columns)
    return replace(features, inputs=tables), replace(packed, inputs=tables.transform(corpus))


def _further(
    inputs: str | None, corpus: Corpus, words: str, features: TemplateFeatures, targets: Sequence[str]
) -> list[str]:
    """The columns beside the words: those named, or those that the sparse features read."""
    if inputs is None:
        return [name for name in features.columns if name not in (words, *targets)]
    named = [name.strip() for name in inputs.split("+") if name.strip()]
    for name in named:
        if name not in corpus.columns or name in targets:
            others = ", ".join(one for one in corpus.columns if one not in targets)
            raise SettingError(f"inputs names the column '{name}'; beside what is predicted there are: {others}")
    return [name for name in dict.fromkeys(named) if name != words]


def seen_by(model: NeuralChain, inputs: Inputs) -> str:
    """A digest of all that an encoder sees in training: the data, how it is numbered, and vectors that stay."""
    return digest((inputs, model.tables, model.encoder.fixed))


def begun(settings: Settings, features: TemplateFeatures, labels: int) -> tuple[TemplateFeatures, Encoder]:
    """The encoder before it has learnt anything; with vectors, features know their words, too."""
    tables = features.inputs
    assert tables is not None
    shape = EncoderShape(
        tables.sizes, tables.alphabet, labels, int(settings.embedding), int(settings.embedding) // 4,
        int(settings.letters), int(settings.filters), int(settings.hidden), int(settings.layers),
    )  # fmt: skip
    start = Encoder.of(shape, shape.initial(int(settings.seed)))
    if settings.vectors is None:
        return features, start
    given = Pretrained.read(settings.vectors)
    if given.values.shape[1] != shape.embedding:
        raise DataError(
            f"vectors of {given.values.shape[1]} numbers, and embedding is {shape.embedding}; make it the same",
            settings.vectors,
        )
    place, known = {word: i for i, word in enumerate(given.words)}, list(tables.tables[0])
    own = np.array([place.get(word, -1) for word in known], np.int64)
    found = int(np.count_nonzero(own >= 0))
    _LOG.info("%s: vectors for %d of %d words of the training data", settings.vectors, found, len(known))
    if not found:
        warnings.warn(
            f"{settings.vectors} has a vector for none of the {len(known):,} words of the training data; are they of "
            "another language, or cut into words otherwise?",
            stacklevel=3,
        )
    table = start.arrays["words"].copy()
    table[1:][own >= 0] = given.values[own[own >= 0]]
    seen = set(known)
    others = [i for i, word in enumerate(given.words) if word not in seen]
    more = replace(tables, tables=([*known, *(given.words[i] for i in others)], *tables.tables[1:]))
    fixed: F32 = given.values[others].astype(np.float32)
    return replace(features, inputs=more), replace(start, arrays={**start.arrays, "words": table}, fixed=fixed)
