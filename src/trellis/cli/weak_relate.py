"""`trellis weak relate`: facts of a knowledge base label pairs of names in a text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from trellis.cli import options
from trellis.cli.column_names import names_for
from trellis.cli.console import measuring, print_json, say
from trellis.cli.output import check_json, check_outputs, open_sink, saying_warnings
from trellis.cli.weak_votes import is_items
from trellis.errors import SettingError

if TYPE_CHECKING:
    from trellis.corpus import Corpus
    from trellis.weak import KnowledgeBase, Relating


@click.command("relate")
@click.argument("facts", metavar="KB.tsv")
@click.argument("file", metavar="TEXT", default="-")
@options.columns
@click.option("--output", "-o", metavar="FILE", help="Where to write; standard output if not given.")
@click.option("--entities", metavar="COLUMN", help="A column whose labels mark names: B-PER, I-PER, O.")
@click.option("--aliases", metavar="FILE", help="Other names of entities: NAME<TAB>ALIAS.")
@click.option("--types", metavar="FILE", help="Types of entities: NAME<TAB>TYPE.")
@click.option("--arguments", metavar="FILE", help="Types of arguments: RELATION<TAB>SUBJECT TYPE<TAB>OBJECT TYPE.")
@click.option(
    "--negatives", type=float, default=0.01, show_default=True, metavar="SHARE", help="Of pairs that no fact relates."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Which of them.")
@click.option("--all", "every", is_flag=True, help="Write pairs without a label, too: their relation is null.")
@click.option(
    "--several",
    default="each",
    show_default=True,
    metavar="each|leave",
    help="A pair with several relations is an example of each, or not labelled.",
)
@click.option("--lower", is_flag=True, help="Ignore case where names are looked for.")
@click.option("--word", metavar="COLUMN", help="The column of words; the first if not given.")
@click.option(
    "--max-between",
    type=click.IntRange(min=0),
    default=25,
    show_default=True,
    metavar="N",
    help="Words between two names.",
)
@click.option(
    "--max-names", type=click.IntRange(min=2), default=32, show_default=True, metavar="N", help="Names in one sentence."
)
@click.option(
    "--window", type=click.IntRange(min=0), default=3, show_default=True, metavar="N", help="Words before and after."
)
@options.comments
@options.as_json
def relate_(
    facts: str,
    file: str,
    columns: str | None,
    output: str | None,
    entities: str | None,
    aliases: str | None,
    types: str | None,
    arguments: str | None,
    negatives: float,
    seed: int,
    every: bool,
    several: str,
    lower: bool,
    word: str | None,
    max_between: int,
    max_names: int,
    window: int,
    comments: bool,
    json: bool,
) -> None:
    """Label relations by distant supervision: a sentence with both entities of a fact is an example of its relation.

    KB.tsv has lines SUBJECT<TAB>RELATION<TAB>OBJECT, names as in the text, tokens apart by spaces. Written are JSON
    lines, a pair of names in a sentence each: the words between, before and after them, their order and types, and
    `relation`. Of the pairs that no fact relates, a share is `none`; with --all the others are there as well. Sentences
    are answered as they come.

    \b
    Example:
      trellis weak relate kb.tsv train.txt --columns word,entity --entities entity --output examples.jsonl
      trellis weak relate kb.tsv new.txt --columns word,entity --entities entity --all --output pairs.jsonl
    """
    from trellis.weak import KnowledgeBase, Relating
    from trellis.weak.distant.candidates import Limits

    check_json(json, output)
    if is_items(file):
        raise SettingError(f"{file} is a file of items; names are looked for in sentences, of column files")
    read = [path for path in (facts, file, aliases, types, arguments) if path is not None]
    check_outputs({"--output": output}, read)
    limits = Limits(between=max_between, mentions=max_names, window=window)
    kb = KnowledgeBase.read(facts, aliases, types, arguments, lower)
    relating = Relating(kb, entities, negatives, seed, every, several, word, limits)
    with saying_warnings(), measuring() as tell, ExitStack() as stack:
        written = _written(relating, _pieces(file, columns, comments, stack), output, tell, stack)
    say(relating.counts.as_text())
    _warn(kb, relating)
    if json:
        more = {"duplicate_facts": kb.duplicates, "ambiguous_names": kb.ambiguous}
        print_json({**relating.counts.as_json(), **more, "written": written, "output": output})


def _pieces(file: str, columns: str | None, comments: bool, stack: ExitStack) -> Iterator[Corpus]:
    from trellis.corpus import stream_conll
    from trellis.files import open_bytes

    source = stack.enter_context(open_bytes(file))
    for piece in stream_conll(source, names_for(file, columns), file, comments=comments):
        if piece.corpus.tokens:
            yield piece.corpus


def _written(relating: Relating, pieces: Iterator[Corpus], output: str | None, tell: Any, stack: ExitStack) -> int:
    """How many lines; a few are written at a time, and at the latest when a piece of the text is done."""
    from trellis.files import write_all
    from trellis.weak.item_files import item_lines

    sink, written = open_sink(output, stack), 0
    for corpus in pieces:
        lines: list[bytes] = []
        for record in relating.records(corpus):
            lines += item_lines([record])
            if len(lines) == 1000:
                write_all(sink, b"".join(lines))
                written, lines = written + len(lines), []
        write_all(sink, b"".join(lines))
        written += len(lines)
        tell(f"{relating.counts.sentences:,} sentences")
    return written


def _warn(kb: KnowledgeBase, relating: Relating) -> None:
    if kb.duplicates:
        say(f"trellis: warning: {kb.duplicates:,} facts are there more than once; each counts once")
    if kb.ambiguous:
        say(f"trellis: warning: {kb.ambiguous:,} names stand for several entities; aliases of that kind are not used")
    counts = relating.counts
    if counts.sentences and not counts.seen:
        hint = "" if kb.lower else ", or ignore case: --lower"
        say(
            f"trellis: warning: no sentence has both entities of a fact; names have to be spelt as in the text{hint}; "
            "text has a token a line, and a blank line behind a sentence"
        )
    few = 10 * counts.negatives < counts.examples.total() and counts.negatives < counts.unrelated
    if few and relating.labelling.negatives:
        many = f"{counts.negatives:,} of {counts.unrelated:,} unrelated pairs"
        say(f"trellis: warning: only {many} drawn for `none`, so that nearly all would be related; raise --negatives")
