"""Spans with gaps, and spans in layers, out of the columns of a corpus and into them."""

from __future__ import annotations

from collections.abc import Sequence

from trellis.corpus.column import Column
from trellis.corpus.corpus import Corpus
from trellis.errors import SettingError
from trellis.labels import SpanSet, read_gappy, read_layers, write_gappy, write_layers


def gappy_spans(corpus: Corpus, column: str, reading: str = "conlleval") -> SpanSet:
    """Those of one column in the encoding of `trellis.labels.gaps`."""
    found = corpus[column].compact()
    return read_gappy(found.ids, found.strings, corpus.offsets, reading)


def with_gappy(corpus: Corpus, column: str, spans: SpanSet) -> Corpus:
    """The same corpus with the spans in one column, new or replaced."""
    return corpus.with_column(column, Column(*write_gappy(spans, corpus.offsets)).compact())


def layered_spans(
    corpus: Corpus, columns: Sequence[str], reading: str = "conlleval", encoding: str | None = None
) -> SpanSet:
    """Those of several columns together, one a layer (`trellis.labels.layers`)."""
    found = [corpus[name].compact() for name in _listed(columns)]
    return read_layers([(one.ids, one.strings) for one in found], corpus.offsets, reading, encoding)


def with_layers(corpus: Corpus, columns: str | Sequence[str], spans: SpanSet, encoding: str = "iob2") -> Corpus:
    """The same corpus with the spans in columns, new or replaced: a list names them all, and what is not needed is O;
    of one name, say `entity`, there are as many as are needed: entity1, entity2, ..."""
    names = None if isinstance(columns, str) else _listed(columns)
    layers = write_layers(spans, corpus.offsets, encoding, None if names is None else len(names))
    for name, layer in zip(names or [f"{columns}{k + 1}" for k in range(len(layers))], layers, strict=True):
        corpus = corpus.with_column(name, Column(*layer).compact())
    return corpus


def _listed(columns: Sequence[str]) -> list[str]:
    if isinstance(columns, str) or not columns or len(set(columns)) < len(columns):
        raise SettingError(f"columns is {columns!r}; expected a list of the names of the layers, each of them once")
    return list(columns)
