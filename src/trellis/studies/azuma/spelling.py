"""Labels of the last stage spelt in another encoding for training, and spelt back to be scored."""

from __future__ import annotations

from trellis.corpus import Column, Corpus
from trellis.corpus.convert import convert_column
from trellis.labels import detect
from trellis.studies.azuma.systems import System


def in_training(corpus: Corpus, system: System, target: str) -> Corpus:
    """`target`: of the last stage."""
    return corpus if system.encoding is None else convert_column(corpus, target, system.encoding)


def as_scored(found: Column, test: Corpus, system: System, target: str) -> Column:
    """The predicted column in the encoding that the test data have; segments are those that conlleval sees."""
    if system.encoding is None:
        return found
    gold = test[target]
    encoding = detect(gold.strings, gold.ids, test.offsets)
    assert encoding is not None
    return convert_column(test.with_column(target, found), target, encoding)[target]
