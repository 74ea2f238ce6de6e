"""`trellis weak apply`: labeling functions vote on a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from trellis.cli import options
from trellis.cli.column_names import names_for, outputs, write_names
from trellis.cli.console import measuring, print_json, say
from trellis.cli.output import check_json, check_outputs, counted, open_sink, saying_warnings
from trellis.cli.weak_votes import coarse_of, is_items
from trellis.errors import SettingError

if TYPE_CHECKING:
    from trellis.corpus import Piece
    from trellis.weak import Votes
    from trellis.weak.functions import LabelingFunction, Loaded

_AT_ONCE = 10_000  # items


@click.command("apply")
@click.argument("functions", metavar="FUNCTIONS.py")
@click.argument("file", metavar="DATA")
@options.columns
@click.option("--output", "-o", metavar="FILE", help="Where to write; standard output if not given.")
@options.pairs("--coarse", "X=A+B,...", "Coarse labels, and which labels they may mean; COARSE in FUNCTIONS.py also.")
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Processes for functions in Python; 1.")
@options.threads
@options.comments
@options.as_json
def apply_(
    functions: str,
    file: str,
    columns: str | None,
    output: str | None,
    coarse: object,
    workers: int | None,
    threads: int | None,
    comments: bool,
    json: bool,
) -> None:
    """Let the labeling functions of a Python file vote: one column lf:NAME for each is added to a column file.

    FUNCTIONS.py is run: use files you trust. `_` stands for no vote. Names of all columns are written to
    OUTPUT.columns, where the other commands of `trellis weak` find them. Sentences are answered as they come, so an
    endless pipe works, unless a function has to see whole documents.

    Functions on items vote on JSON lines: {"text": ...} gets {"votes": {NAME: LABEL or null}}.

    \b
    Example:
      trellis weak apply rules.py raw.txt --columns word,pos --output votes.txt
      trellis weak apply rules.py comments.jsonl --output votes.jsonl --workers 2
    """
    from trellis.weak import load_functions
    from trellis.weak.functions.running import with_asked

    check_json(json, output)
    check_outputs(outputs(output), [functions, file])
    loaded = load_functions(functions)
    table = coarse_of(coarse) or loaded.coarse
    how = {"labels": loaded.labels, "coarse": table, "workers": workers, "threads": threads}
    with saying_warnings(), measuring() as tell:
        if loaded.functions[0].votes == "items":
            tally = _on_items(loaded, file, output, how, tell)
        elif is_items(file):
            what = f"{file} is a file of items, and {loaded.functions[0].name} votes on {loaded.functions[0].votes}"
            raise SettingError(f"{what} of sentences; give a column file, or functions on items (weak.items)")
        else:
            tally = _on_columns(loaded, file, names_for(file, columns), output, comments, how, tell)
    votes = ", ".join(f"{name} {many:,}" for name, many in tally.votes.items())
    say(f"{counted(tally.done, tally.what)}; votes: {votes}")
    silent = [name for name, many in tally.votes.items() if not many]
    if silent and tally.done:
        say(f"trellis: warning: never voted: {', '.join(silent)}")
    accounts = {one.name: told for one in with_asked(loaded.functions) if (told := one.report()) is not None}
    for name, account in accounts.items():
        say(f"{name}: {account.line}")
    if json:
        values = {f"{tally.what}s": tally.done, "votes": tally.votes, "output": output}
        reports = {name: account.values for name, account in accounts.items()}
        print_json({**values, "reports": reports} if reports else values)


class _Tally:
    """How much is done, and on how many tokens (items) each function voted."""

    def __init__(self, what: str, functions: Sequence[LabelingFunction]):
        self.what, self.done = what, 0
        self.votes = {one.name: 0 for one in functions}

    def progress(self, tell: Callable[[str], None]) -> Callable[[int, int], None]:
        before = self.done
        return lambda done, of: tell(f"{before + done:,} {self.what}s")

    def add(self, votes: Votes) -> None:
        self.done += len(votes)
        for names, said in ((votes.functions, votes.values), (votes.linkers, votes.links)):
            for name, many in zip(names, (said >= 0).sum(axis=0).tolist(), strict=True):
                self.votes[name] += many


def _on_columns(
    loaded: Loaded,
    file: str,
    columns: list[str] | None,
    output: str | None,
    comments: bool,
    how: dict[str, Any],
    tell: Any,
) -> _Tally:
    from trellis.corpus.columns import append_columns
    from trellis.files import write_all
    from trellis.weak import apply

    tally, names = _Tally("sentence", loaded.functions), columns
    added = [f"{'link' if one.votes == 'links' else 'lf'}:{one.name}" for one in loaded.functions]
    with ExitStack() as stack:
        sink = open_sink(output, stack)
        for piece in _pieces(loaded, file, columns, comments, stack):
            names = list(piece.corpus.file_columns or ()) or names
            _check_new(names or [], added)
            if piece.corpus.tokens:
                votes = apply(loaded.functions, piece.corpus, **how, first=tally.done, progress=tally.progress(tell))
                tally.add(votes)
                write_all(sink, append_columns(piece, _spelt(votes, added)))
            else:
                write_all(sink, piece.data)
    every = [*(names or []), *added]
    if output is None or output == "-":
        say(f"columns: {','.join(every)}")
    else:
        write_names(output, every)
    return tally


def _check_new(names: Sequence[str], added: Sequence[str]) -> None:
    for name in added:
        if name in names:
            raise SettingError(
                f"the file has a column '{name}' already; leave it out, or give the function another name"
            )


def _pieces(loaded: Loaded, file: str, columns: list[str] | None, comments: bool, stack: ExitStack) -> Iterator[Piece]:
    """As they come; all in one where a function has to see whole documents."""
    from trellis.corpus import Piece, parse_conll, stream_conll
    from trellis.files import open_bytes, read_bytes

    if any(one.whole for one in loaded.functions):
        data = read_bytes(file)
        return iter([Piece(data, 1, parse_conll(data, columns, file, comments))])
    return stream_conll(stack.enter_context(open_bytes(file)), columns, file, comments=comments)


def _spelt(votes: Votes, added: Sequence[str]) -> list[list[str]]:
    """The columns of these names, as strings."""
    from trellis.weak.vote_columns import columns_of_votes

    said = columns_of_votes(votes)
    return [said[name].values() for name in added]


def _on_items(loaded: Loaded, file: str, output: str | None, how: dict[str, Any], tell: Any) -> _Tally:
    from itertools import islice

    from trellis.errors import DataError
    from trellis.files import write_all
    from trellis.weak import apply
    from trellis.weak.functions.contract import ItemError
    from trellis.weak.item_files import item_lines, item_records

    tally = _Tally("item", loaded.functions)
    records = item_records(file, None)
    with ExitStack() as stack:
        sink = open_sink(output, stack)
        while batch := list(islice(records, _AT_ONCE)):
            for line, record in batch:
                earlier = record.get("votes") or {}
                twice = [one.name for one in loaded.functions if isinstance(earlier, dict) and one.name in earlier]
                if twice or not isinstance(earlier, dict):
                    found = f"'{twice[0]}' has voted on this item already" if twice else "its votes are no object"
                    raise DataError(f"{found}; leave these votes out, or give the function another name", file, line)
            items = [record for _, record in batch]
            try:
                votes = apply(loaded.functions, items, **how, first=tally.done, progress=tally.progress(tell))
            except ItemError as error:
                line = batch[error.item - tally.done][0]
                raise DataError(str(error), file, line) from error
            tally.add(votes)
            write_all(sink, b"".join(item_lines(items, votes)))
    return tally
