"""`trellis tag`: column files in, the same with predicted labels out."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, BinaryIO

import click

from trellis.cli import options
from trellis.cli.console import print_json

if TYPE_CHECKING:
    from trellis.corpus import Piece
    from trellis.models import CRF


@click.command()
@click.argument("model")
@click.argument("file", metavar="[INPUT]", default="-")
@click.option("--output", "-o", metavar="FILE", help="Where to write; standard output if not given.")
@click.option("--columns", metavar="NAMES", help="Names of the input's columns, if other than the training file's.")
@click.option("--marginals", is_flag=True, help="Add a column LABEL:PROBABILITY for every label.")
@options.threads
@options.as_json
def tag(
    model: str, file: str, output: str | None, columns: str | None, marginals: bool, threads: int | None, json: bool
) -> None:
    """Tag a column file: one predicted column is added after the input's own.

    The input may have the target column or not; it is never read. Standard input is answered sentence by
    sentence as it comes.

    \b
    Example:
      trellis tag chunk.trellis test.txt > tagged.txt
    """
    from trellis.corpus import stream_conll
    from trellis.files import open_bytes
    from trellis.jit import announce
    from trellis.models import load

    began = time.perf_counter()
    crf = load(model).set_params(threads=threads)
    names = options.names_of(columns) or crf.columns_
    tokens = sentences = 0
    with ExitStack() as stack:
        source = stack.enter_context(open_bytes(file))
        sink = _open_sink(output, stack)
        for piece in stream_conll(source, names, file, optional=crf.target):
            sink.write(_with_labels(crf, piece, marginals))
            sink.flush()
            tokens += piece.corpus.tokens
            sentences += len(piece.corpus)
            announce(tokens)
    if json:
        seconds = time.perf_counter() - began
        speed = tokens / seconds
        print_json({"tokens": tokens, "sentences": sentences, "seconds": seconds, "tokens_per_second": speed})


def _open_sink(output: str | None, stack: ExitStack) -> BinaryIO:
    if output is None:
        sys.stdout.flush()
        return sys.stdout.buffer
    from trellis.files import replacing

    return stack.enter_context(replacing(output))


def _with_labels(crf: CRF, piece: Piece, marginals: bool) -> bytes:
    """Each token's line with its label after it; other lines as they are."""
    import numpy as np

    data, corpus = piece.data, piece.corpus
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    separator = b"\t" if b"\t" in data else b" "
    suffixes = np.full(len(lines), b"", object)
    assert corpus.lines is not None
    at = corpus.lines - piece.first_line
    if corpus.tokens:
        names = np.array([separator + label.encode() for label in crf.classes_], object)
        suffixes[at] = names[crf.predict_ids(corpus)]
        if marginals:
            rows = np.concatenate(crf.predict_marginals(corpus))
            for j, label in enumerate(crf.classes_):
                head = separator + label.encode() + b":"
                suffixes[at] += np.array([head + b"%.6f" % p for p in rows[:, j].tolist()], object)
    tagged = map(bytes.__add__, map(bytes.rstrip, lines), suffixes.tolist())
    return b"\n".join(tagged) + (b"\n" if lines else b"")
