"""`trellis select`: the sentences of a pool that are most worth annotating next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from trellis.cli import options
from trellis.cli.choosing import is_cascade, tagger_from
from trellis.cli.console import print_json, say
from trellis.cli.output import check_json, check_outputs, counted, saying_warnings, write_output
from trellis.errors import DataError, SettingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from trellis.corpus import Corpus

RANKINGS = "entropy, least-confidence, margin or random."


@click.command()
@click.argument("model")
@click.argument("file", metavar="POOL")
@click.option("--by", default="entropy", show_default=True, help=RANKINGS)
@click.option(
    "--per-token/--per-sentence",
    default=None,
    help="Divide by the number of tokens; by default entropy and least-confidence are.",
)
@click.option("--count", type=int, metavar="N", help="So many sentences.")
@click.option("--tokens", type=int, metavar="N", help="As many as fit into so many tokens, but one at least.")
@click.option("--distinct", type=float, metavar="P", help="Pass over those that share so many of their words with one.")
@click.option("--output", "-o", metavar="FILE", help="Where to write the batch; standard output if not given.")
@click.option("--rest", metavar="FILE", help="Where to write all other sentences.")
@click.option("--prefill", is_flag=True, help="With the model's labels in the target column, to be corrected.")
@click.option("--scores", is_flag=True, help="A line `#uncertainty=X` before each sentence; read with --comments.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of --by random.")
@click.option("--columns", metavar="NAMES", help="Names of the pool's columns, if other than the training file's.")
@options.comments
@options.threads
@options.as_json
def select(
    model: str,
    file: str,
    by: str,
    per_token: bool | None,
    count: int | None,
    tokens: int | None,
    distinct: float | None,
    output: str | None,
    rest: str | None,
    prefill: bool,
    scores: bool,
    seed: int,
    columns: str | None,
    comments: bool,
    threads: int | None,
    json: bool,
) -> None:
    """Write the sentences of a pool that the model is least sure of, to be annotated next, the most uncertain first.

    The pool may have the target column or not; it is never read. Comments of the pool are left out.

    \b
    Example:
      trellis select chunk.trellis pool.txt --count 50 --prefill --output next.txt --rest rest.txt
      trellis select chunk.trellis pool.txt --by margin --tokens 1000 --distinct 0.8 > next.txt
    """
    from trellis.fewlabels import next_batch, rest_of, uncertainty

    check_json(json, output)
    check_outputs({"--output": output, "--rest": rest}, [model, file])
    if rest == "-" and output in (None, "-"):
        raise SettingError("the batch and --rest would both go to standard output; give --output FILE")
    tagger = tagger_from(model).set_params(threads=threads)
    if is_cascade(tagger):
        raise SettingError("select does not know cascades yet; train a model of one of its targets and select by that")
    if (count is None) == (tokens is None):
        raise SettingError("give --count N (sentences) or --tokens N, one of the two")
    if by == "random" and per_token:
        raise SettingError("--per-token would favour short sentences where --by random favours none; leave it out")
    pool = _pool(tagger, options.names_of(columns) or tagger.columns_, file, model, comments)
    with saying_warnings():
        found = uncertainty(tagger, pool, by, per_token, seed)
    first = "word" if "word" in pool.columns else next(iter(pool.columns))
    chosen = next_batch(pool, found, count, tokens, distinct, first)
    left = rest_of(pool, chosen)
    batch, others = pool.picked(chosen), pool.picked(left)
    if prefill:
        batch = _prefilled(tagger, batch)
    write_output(output, _written(batch, found[chosen] if scores else None))
    if rest is not None:
        write_output(rest, _written(others))
    size = f"{counted(len(batch), 'sentence')}, {counted(batch.tokens, 'token')}"
    left_over = f"{len(others):,} {'is' if len(others) == 1 else 'are'} left"
    say(f"{size} to annotate next, by {by}; {left_over}{_remark(batch, others, count, tokens)}")
    if json:
        print_json(
            {
                "by": by,
                "sentences": len(batch),
                "tokens": batch.tokens,
                "rest_sentences": len(others),
                "rest_tokens": others.tokens,
                "selected": [
                    {"sentence": s + 1, "uncertainty": score, "tokens": int(size)}
                    for s, score, size in zip(
                        chosen.tolist(), found[chosen].tolist(), batch.offsets[1:] - batch.offsets[:-1], strict=True
                    )
                ],
            }
        )


def _remark(batch: Corpus, others: Corpus, count: int | None, tokens: int | None) -> str:
    """Where the batch is not as large as was asked for, or larger."""
    if tokens is not None and batch.tokens > tokens:
        return f"; one is always written, though it has more than {counted(tokens, 'token')}"
    if count is not None and len(batch) < count:
        return "; the pool has no more" if not len(others) else "; these are too like those chosen (--distinct)"
    return ""


def _pool(tagger: Any, names: list[str], file: str, model: str, comments: bool) -> Corpus:
    """The file with all its columns, the target's too if it is there; those that the model leaves out have names."""
    from trellis.corpus import parse_conll
    from trellis.files import read_bytes

    if not names:
        raise DataError("this model was trained on lists of attributes; it cannot read a column file", model)
    kept = [f"left_out{k}" if name == "_" else name for k, name in enumerate(names)]
    pool = parse_conll(read_bytes(file), kept, file, comments, optional=[tagger.target])
    if not pool.tokens:
        raise DataError("there is no token to choose from", file)
    return pool


def _prefilled(tagger: Any, batch: Corpus) -> Corpus:
    """With the model's labels as the target column: in its place, or where the training file has it."""
    from dataclasses import replace

    labels = tagger.predict_column(batch)
    if tagger.target in batch.columns:
        return batch.with_column(tagger.target, labels)
    before = tagger.columns_[: tagger.columns_.index(tagger.target)] if tagger.target in tagger.columns_ else None
    names = list(batch.columns)
    at = len(names) if before is None else min(len(before), len(names))
    columns = dict(batch.with_column(tagger.target, labels).columns)
    order = [*names[:at], tagger.target, *names[at:]]
    return replace(batch, columns={name: columns[name] for name in order})


def _written(corpus: Corpus, scores: NDArray[np.float64] | None = None) -> bytes:
    """As a column file, with a comment before each sentence if there are scores."""
    from trellis.corpus import write_conll

    if scores is None:
        return write_conll(corpus)
    first = next(iter(corpus.columns))
    odd = [value for value in corpus[first].compact().strings if value.startswith("#")]
    if odd:
        raise SettingError(
            f"'{odd[0]}' in the column '{first}' would be read as a comment, too; leave --scores out and use --json"
        )
    # never as many columns as the data, so that who forgets --comments is told
    mark = "#uncertainty=" if len(corpus.columns) > 1 else "# uncertainty="
    parts = write_conll(corpus).split(b"\n\n")
    heads = [f"{mark}{score:.6f}\n".encode() for score in scores.tolist()]
    return b"".join(head + part + b"\n\n" for head, part in zip(heads, parts[: len(heads)], strict=True))
