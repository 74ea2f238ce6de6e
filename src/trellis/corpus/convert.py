"""A column of labels in another encoding (`trellis.labels.conversion`): of a corpus, and of a column file's bytes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trellis.corpus.column import Column
from trellis.corpus.columns import parse_conll
from trellis.corpus.corpus import Corpus
from trellis.corpus.fields import Text, cut_fields
from trellis.corpus.splice import spliced
from trellis.errors import DataError
from trellis.labels import illegal
from trellis.labels.conversion import Converted, converted, encoding_in, ill_formed


def convert_column(
    corpus: Corpus, column: str, to: str, repair: str = "conlleval", encoding: str | None = None
) -> Corpus:
    """The same corpus with one column in the encoding `to`. Its own encoding is detected if None; how ill-formed labels
    are read is one of `trellis.labels.REPAIRS`, an error says where the first one is."""
    found = _converted(corpus, column, to, repair, encoding)
    return corpus.with_column(column, Column(found.ids, found.labels).compact())


def convert_text(
    data: bytes,
    to: str,
    column: str | None = None,
    repair: str = "conlleval",
    encoding: str | None = None,
    columns: Sequence[str] | None = None,
    path: str | Path | None = None,
    comments: bool = False,
) -> tuple[bytes, Corpus, Converted]:
    """(the bytes of a column file with one column converted, the corpus that was in them, what there was to do).

    All other bytes stay: spaces, tabs, line ends, comments. Without a name it is the last column.
    """
    corpus = parse_conll(data, columns, path, comments)
    if not corpus.tokens:
        raise DataError("there is no token in the file", corpus.path)
    name = list(corpus.columns)[-1] if column is None else column
    found = _converted(corpus, name, to, repair, encoding)
    assert corpus.file_columns is not None
    at, fields = corpus.file_columns.index(name), cut_fields(Text(data), comments, None, None)
    return spliced(data, fields.start[:, at], fields.end[:, at], Column(found.ids, found.labels)), corpus, found


def _converted(corpus: Corpus, name: str, to: str, repair: str, encoding: str | None) -> Converted:
    column = corpus[name].compact()
    whose = f"the labels of '{name}'" + ("" if corpus.path is None else f" in {corpus.path}")
    source = encoding_in(column.ids, column.strings, corpus.offsets, encoding, whose)
    if repair == "strict":
        for token in illegal(column.strings, column.ids, corpus.offsets, source)[:1].tolist():
            what = ill_formed(column.strings[column.ids[token]], source)
            if corpus.lines is None:
                raise DataError(f"{corpus.place(token)}: {what}")
            raise DataError(what, corpus.path, int(corpus.lines[token]))
    return converted(column.ids, column.strings, corpus.offsets, to, repair, source)
