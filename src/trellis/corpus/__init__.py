"""Text in, text out: columns of interned ids and sentence offsets."""

from trellis.corpus.column import Column
from trellis.corpus.columns import parse_conll, read_conll, stream_conll, write_conll
from trellis.corpus.corpus import Corpus, concatenate

__all__ = ["Column", "Corpus", "concatenate", "parse_conll", "read_conll", "stream_conll", "write_conll"]
