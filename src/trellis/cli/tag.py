"""`trellis tag`: column files in, the same with predicted labels out."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from trellis.cli import options
from trellis.cli.choosing import is_cascade, is_of_texts, refuse_items, tagger_from, targets_of
from trellis.cli.column_names import names_for_model
from trellis.cli.console import print_json
from trellis.cli.output import open_sink, saying_warnings
from trellis.cli.tag_texts import tag_texts

if TYPE_CHECKING:
    from trellis.corpus import Piece
    from trellis.models import Tagger


@click.command()
@click.argument("model")
@click.argument("file", metavar="[INPUT]", default="-")
@click.option("--output", "-o", metavar="FILE", help="Where to write; standard output if not given.")
@click.option("--columns", metavar="NAMES", help="Names of the input's columns, if other than the training file's.")
@click.option("--marginals", is_flag=True, help="Add a column LABEL:PROBABILITY for every label.")
@click.option("--kbest", type=click.IntRange(min=1), metavar="K", help="The K most probable labellings of a sentence.")
@click.option("--spans", is_flag=True, help="Print segments with their probability, a line each, in place of labels.")
@click.option(
    "--min-confidence", type=click.FloatRange(0.0, 1.0), metavar="P", help="Only spans that are at least so probable."
)
@options.once
@options.penalties
@options.comments
@options.threads
@options.as_json
def tag(
    model: str,
    file: str,
    output: str | None,
    columns: str | None,
    marginals: bool,
    kbest: int | None,
    spans: bool,
    min_confidence: float | None,
    at_most_once: str | None,
    penalties: str | None,
    comments: bool,
    threads: int | None,
    json: bool,
) -> None:
    """Tag a column file: one predicted column for each target is added after the input's own.

    The input may have the target columns or not; they are never read. Standard input is answered sentence by
    sentence as it comes.

    With --kbest, each sentence comes K times, best first, each after a line `# RANK LOG_PROBABILITY`. With --spans,
    a line is SENTENCE, START, END, TYPE, PROBABILITY and the words, with tabs between them; sentences count from 1,
    tokens from 0, and END is the token behind the last.

    A model of whole texts adds the field `predicted` to JSON lines (with --marginals also `probabilities`); other files
    are one text a line, and a line of the output is the label and the text with a tab between them.

    \b
    Example:
      trellis tag chunk.trellis test.txt > tagged.txt
      trellis tag spam.trellis comments.jsonl > labelled.jsonl
      trellis tag chunk.trellis test.txt --spans --min-confidence 0.9 > spans.tsv
      trellis tag chunk.trellis test.txt --at-most-once PRT --penalties "O=-1,O -> B-NP=-2"
    """
    from trellis.corpus import stream_conll
    from trellis.errors import DataError, SettingError
    from trellis.files import open_bytes, same_file, write_all
    from trellis.jit import announce, threads_available

    began = time.perf_counter()
    if sum((marginals, kbest is not None, spans)) > 1:
        raise SettingError("--marginals, --kbest and --spans are three ways to answer; give one of them")
    if min_confidence is not None and not spans:
        raise SettingError("--min-confidence is for --spans; give both")
    if output is not None and same_file(output, model):
        raise SettingError(f"--output {output} is the model itself")
    crf = tagger_from(model, texts=True).set_params(threads=threads)
    if is_of_texts(crf):
        if columns or kbest or spans or at_most_once or penalties:
            raise SettingError("whole texts have --marginals only; leave the other options out")
        with saying_warnings():
            done = tag_texts(crf, file, output, marginals)
        if json:
            seconds = time.perf_counter() - began
            print_json({"items": done, "seconds": seconds, "items_per_second": done / seconds})
        return
    refuse_items(file, model)
    asked = options.constraints_of(type(crf), at_most_once, penalties)
    if is_cascade(crf) and crf.model_.wire == "gold":
        raise SettingError(
            f"{model} reads the annotation of lower stages (wire gold), which text to tag has not; `trellis eval` "
            "measures it; train with another wire to tag"
        )
    if kbest is not None and is_cascade(crf):
        raise SettingError("--kbest is for one target; of a cascade ask in Python: predict_kbest(corpus, k)")
    names = names_for_model(file, columns, crf.columns_)
    if not names:
        raise DataError("this model was trained on lists of attributes; it cannot read a column file", model)
    tokens = sentences = 0
    with ExitStack() as stack:
        source = stack.enter_context(open_bytes(file))
        sink = open_sink(output, stack)
        for piece in stream_conll(source, names, file, targets_of(crf), comments, crf.threads or threads_available()):
            if spans:
                write_all(sink, _spans_of(crf, piece, sentences, min_confidence or 0.0, asked))
            elif kbest is not None:
                write_all(sink, _best_of(crf, piece, kbest, asked))
            else:
                write_all(sink, _with_labels(crf, piece, marginals, asked))
            tokens += piece.corpus.tokens
            sentences += len(piece.corpus)
            announce(tokens)
    if json:
        seconds = time.perf_counter() - began
        speed = tokens / seconds
        print_json({"tokens": tokens, "sentences": sentences, "seconds": seconds, "tokens_per_second": speed})


def _with_labels(crf: Any, piece: Piece, marginals: bool, asked: dict[str, Any]) -> bytes:
    """The piece with a column of labels, and one of LABEL:PROBABILITY for every label if wanted."""
    import numpy as np

    from trellis.corpus.appending import append_column
    from trellis.corpus.columns import append_columns
    from trellis.jit import threads_available

    if not piece.corpus.tokens:
        return append_columns(piece, [])
    rows: dict[str, Any]
    if is_cascade(crf):
        columns = [column.values() for column in crf.predict_columns(piece.corpus).values()]
        rows = crf.predict_marginals(piece.corpus) if marginals else {}
        named = {target: [f"{target}={label}" for label in labels] for target, labels in crf.classes_.items()}
    elif not marginals:
        return append_column(piece, crf.predict_column(piece.corpus, **asked), crf.threads or threads_available())
    else:
        columns = [crf.predict_column(piece.corpus, **asked).values()]
        rows = {"": crf.predict_marginals(piece.corpus, **asked)}
        named = {"": crf.classes_}
    for target, parts in rows.items():
        for label, column in zip(named[target], np.concatenate(parts).T.tolist(), strict=True):
            columns.append([f"{label}:{p:.6f}" for p in column])
    return append_columns(piece, columns)


def _spans_of(crf: Tagger[Any], piece: Piece, sentences: int, min_confidence: float, asked: dict[str, Any]) -> bytes:
    """A line for each segment; `sentences` came before."""
    corpus = piece.corpus
    if not corpus.tokens:
        return b""
    words = next(iter(corpus.columns.values())).values() if "word" not in corpus.columns else corpus["word"].values()
    lines = []
    answer = crf.predict_spans(corpus, min_confidence, **asked)
    found = answer if isinstance(answer, dict) else {"": answer}  # a cascade's stages
    for s, first in enumerate(corpus.offsets[:-1].tolist()):
        for target, rows in found.items():
            for start, end, kind, p in rows[s]:
                text, name = " ".join(words[first + start : first + end]), f"{target}:{kind}" if target else kind
                lines.append(f"{sentences + s + 1}\t{start}\t{end}\t{name}\t{p:.6f}\t{text}\n")
    return "".join(lines).encode()


def _best_of(crf: Tagger[Any], piece: Piece, k: int, asked: dict[str, Any]) -> bytes:
    """Each sentence's own lines k times, with the labels of one path after the other."""
    corpus = piece.corpus
    if not corpus.tokens:
        return b""
    assert corpus.lines is not None
    own = piece.data.split(b"\n")
    separator = b"\t" if b"\t" in piece.data else b" "
    out = []
    for first, last, paths in zip(
        corpus.offsets.tolist(), corpus.offsets[1:].tolist(), crf.predict_kbest(corpus, k, **asked), strict=False
    ):
        rows = [own[line - piece.first_line].rstrip() for line in corpus.lines[first:last].tolist()]
        for rank, path in enumerate(paths, 1):
            out.append(f"# {rank} {path.log_probability:.6f}".encode())
            out += [row + separator + label.encode() for row, label in zip(rows, path.labels, strict=True)]
            out.append(b"")
    return b"\n".join(out) + b"\n"
