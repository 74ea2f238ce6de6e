"""`trellis tag`: column files in, the same with predicted labels out."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from trellis.cli import options
from trellis.cli.console import print_json
from trellis.errors import FileAccessError

if TYPE_CHECKING:
    from trellis.corpus import Piece
    from trellis.models import Tagger


@click.command()
@click.argument("model")
@click.argument("file", metavar="[INPUT]", default="-")
@click.option("--output", "-o", metavar="FILE", help="Where to write; standard output if not given.")
@click.option("--columns", metavar="NAMES", help="Names of the input's columns, if other than the training file's.")
@click.option("--marginals", is_flag=True, help="Add a column LABEL:PROBABILITY for every label.")
@options.comments
@options.threads
@options.as_json
def tag(
    model: str,
    file: str,
    output: str | None,
    columns: str | None,
    marginals: bool,
    comments: bool,
    threads: int | None,
    json: bool,
) -> None:
    """Tag a column file: one predicted column is added after the input's own.

    The input may have the target column or not; it is never read. Standard input is answered sentence by
    sentence as it comes.

    \b
    Example:
      trellis tag chunk.trellis test.txt > tagged.txt
    """
    from trellis.corpus import stream_conll
    from trellis.errors import DataError, SettingError
    from trellis.files import open_bytes, same_file, write_all
    from trellis.jit import announce
    from trellis.models import load

    began = time.perf_counter()
    if output is not None and same_file(output, model):
        raise SettingError(f"--output {output} is the model itself")
    crf = load(model).set_params(threads=threads)
    names = options.names_of(columns) or crf.columns_
    if not names:
        raise DataError("this model was trained on lists of attributes; it cannot read a column file", model)
    tokens = sentences = 0
    with ExitStack() as stack:
        source = stack.enter_context(open_bytes(file))
        sink = _open_sink(output, stack)
        for piece in stream_conll(source, names, file, crf.target, comments):
            write_all(sink, _with_labels(crf, piece, marginals))
            tokens += piece.corpus.tokens
            sentences += len(piece.corpus)
            announce(tokens)
    if json:
        seconds = time.perf_counter() - began
        speed = tokens / seconds
        print_json({"tokens": tokens, "sentences": sentences, "seconds": seconds, "tokens_per_second": speed})


def _open_sink(output: str | None, stack: ExitStack) -> BinaryIO:
    if output is None:
        if sys.stdout is None:
            raise FileAccessError("standard output is closed")
        sys.stdout.flush()
        return sys.stdout.buffer
    from trellis.files import replacing

    return stack.enter_context(replacing(output))


def _with_labels(crf: Tagger[Any], piece: Piece, marginals: bool) -> bytes:
    """The piece with a column of labels, and one of LABEL:PROBABILITY for every label if wanted."""
    import numpy as np

    from trellis.corpus.columns import append_columns

    if not piece.corpus.tokens:
        return append_columns(piece, [])
    columns = [crf.predict_column(piece.corpus).values()]
    if marginals:
        nodes = np.concatenate(crf.predict_marginals(piece.corpus))
        for label, column in zip(crf.classes_, nodes.T.tolist(), strict=True):
            columns.append([f"{label}:{p:.6f}" for p in column])
    return append_columns(piece, columns)
