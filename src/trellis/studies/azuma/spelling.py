"""Labels of the last stage spelt in another encoding for training, and spelt back to be scored."""

from __future__ import annotations

from trellis.corpus import Column, Corpus
from trellis.labels import detect
from trellis.labels.encode import encoded
from trellis.metrics.segments import segment_types, segments
from trellis.studies.azuma.systems import System


def in_training(corpus: Corpus, system: System, target: str) -> Corpus:
    """`target`: of the last stage."""
    if system.encoding is None:
        return corpus
    return corpus.with_column(target, _spelt(corpus[target], corpus, system.encoding))


def as_scored(found: Column, test: Corpus, system: System, target: str) -> Column:
    """The predicted column in the encoding that the test data have."""
    if system.encoding is None:
        return found
    gold = test[target]
    encoding = detect(gold.strings, gold.ids, test.offsets)
    assert encoding is not None
    return _spelt(found, test, encoding)


def _spelt(column: Column, corpus: Corpus, encoding: str) -> Column:
    """Labels of the corpus's tokens; segments are those that conlleval sees."""
    found = segments(column.ids, column.strings, corpus.offsets)
    return Column(*encoded(*found, segment_types(column.strings), corpus.offsets, encoding)).compact()
