"""`trellis augment`: a column file with changed copies of its sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trellis.cli import options
from trellis.cli.console import print_json, say
from trellis.cli.output import check_json, check_outputs, counted, saying_warnings, write_output
from trellis.errors import DataError

if TYPE_CHECKING:
    from trellis.fewlabels.augment import Table

METHODS = (
    "mentions, tokens, synonyms, shuffle or paste; a+b: one and then the other. Given several times: copies by each."
)


@click.command()
@click.argument("files", metavar="TRAIN...", nargs=-1, required=True)
@options.columns
@click.option("--target", metavar="NAME", help="The column with the labels; the last one if not given.")
@click.option("--method", "methods", multiple=True, default=["mentions"], show_default=True, help=METHODS)
@click.option("--copies", type=int, default=1, show_default=True, help="Copies by each method.")
@click.option("--p", type=float, metavar="P", help="How probable a change is; by default as usual for the method.")
@click.option("--table", metavar="FILE", help="WORD (or TYPE for mentions), tab, what may stand in its place, tab, ...")
@click.option("--encoding", metavar="NAME", help="The encoding of segments (iob2, ...); detected if not given.")
@click.option("--seed", default=0, show_default=True, help="Of what is drawn at random.")
@click.option("--output", "-o", metavar="FILE", help="Where to write; standard output if not given.")
@options.comments
@options.as_json
def augment(
    files: tuple[str, ...],
    columns: str | None,
    target: str | None,
    methods: tuple[str, ...],
    copies: int,
    p: float | None,
    table: str | None,
    encoding: str | None,
    seed: int,
    output: str | None,
    comments: bool,
    json: bool,
) -> None:
    """Write the sentences of column files, and after them changed copies of them to learn from as well.

    Labels stay right, all columns travel with their tokens, and copies that are like another sentence are left out.

    \b
    Example:
      trellis augment train.txt --columns word,pos,chunk --method mentions --copies 2 --output more.txt
      trellis augment train.txt --method synonyms --table synonyms.tsv --p 0.3 > more.txt
    """
    from trellis.corpus import read_conll, write_conll
    from trellis.fewlabels import augmented
    from trellis.fewlabels.augment.fitting import no_longer_well_formed

    check_json(json, output)
    check_outputs({"--output": output}, [*files, *([table] if table else [])])
    corpus = read_conll(*files, columns=options.names_of(columns), comments=comments)
    if not corpus.tokens:
        raise DataError("there is no token to make more of", files[0])
    entries = None if table is None else read_table(table)
    methods = tuple("".join(name.split()) for name in methods)
    wanted = target or list(corpus.columns)[-1]
    with saying_warnings():
        more = augmented(corpus, wanted, methods, copies, p, seed, entries, encoding)
    for name in no_longer_well_formed(corpus, more, wanted):
        say(f"trellis: warning: segments of '{name}' are torn apart in copies; learn no '{name}' from them")
    write_output(output, write_conll(more))
    say(
        f"{counted(len(corpus), 'sentence')}, {counted(corpus.tokens, 'token')}; with changed copies {len(more):,} and "
        f"{more.tokens:,} ({', '.join(methods)})"
    )
    if json:
        print_json(
            {
                "sentences": len(more),
                "tokens": more.tokens,
                "original_sentences": len(corpus),
                "original_tokens": corpus.tokens,
                "methods": list(methods),
            }
        )


def read_table(path: str) -> Table:
    """What may stand in the place of what, of a file."""
    from trellis.fewlabels import parse_table
    from trellis.files import read_bytes

    return parse_table(read_bytes(path), path)
