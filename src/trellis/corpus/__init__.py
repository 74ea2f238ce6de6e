"""Text in, text out: columns of interned ids and sentence offsets."""

from trellis.corpus.column import Column
from trellis.corpus.columns import Piece, parse_conll, read_conll, stream_conll, write_conll
from trellis.corpus.corpus import Corpus, concatenate
from trellis.corpus.sample import sample_corpus, sample_path

__all__ = [
    "Column",
    "Corpus",
    "Piece",
    "concatenate",
    "parse_conll",
    "read_conll",
    "sample_corpus",
    "sample_path",
    "stream_conll",
    "write_conll",
]
