"""Labels of segments spelt in another encoding for training, and spelt back to be scored."""

from __future__ import annotations

from trellis.corpus import Column, Corpus
from trellis.labels.encode import encoded
from trellis.metrics.segments import segment_types, segments


def spelt(corpus: Corpus, target: str, encoding: str) -> Corpus:
    """The corpus with a column of segments in the encoding."""
    return corpus.with_column(target, in_encoding(corpus[target], corpus, encoding))


def in_encoding(column: Column, corpus: Corpus, encoding: str) -> Column:
    """Labels of the corpus's tokens; segments are those that conlleval sees."""
    found = segments(column.ids, column.strings, corpus.offsets)
    return Column(*encoded(*found, segment_types(column.strings), corpus.offsets, encoding)).compact()
