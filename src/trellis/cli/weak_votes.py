"""What the commands of `trellis weak` share: votes out of files, whose columns have names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trellis.cli import options
from trellis.errors import DataError, SettingError

if TYPE_CHECKING:
    from trellis.corpus import Corpus
    from trellis.weak import Items, Votes
    from trellis.weak.models.contract import Dev

Command = Callable[..., None]

GOLD = "gold"  # the column with gold labels, where none is named
_ITEMS = (".jsonl", ".json", ".ndjson")

_OPTIONS = (
    click.option(
        "--columns",
        metavar="NAMES",
        help="Names of the columns from left to right; by default those in FILE.columns or in columns.txt beside it.",
    ),
    click.option(
        "--functions", metavar="NAMES", help="Columns that vote; all whose names begin with lf: if not given."
    ),
    click.option(
        "--gold", metavar="NAME", help="The column (of items: field) with gold labels; gold (label) if there."
    ),
    click.option(
        "--abstain", metavar="LABELS", default="_", show_default=True, help="What stands for no vote: _,O for instance."
    ),
    options.pairs("--coarse", "X=A+B,...", "Coarse labels, and which labels (types) they may mean: ENT=PER+LOC+ORG."),
    click.option("--labels", metavar="NAMES", help="Labels (types) that are possible beside those voted for."),
    options.comments,
)


def vote_options(command: Command) -> Command:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class Voted:
    """Votes, what they are about, and gold labels I32[tokens] where there are any."""

    votes: Votes
    gold: Any
    corpus: Corpus | None
    items: Items | None

    @property
    def words(self) -> Any:
        """For examples."""
        if self.items is None:
            return self.corpus
        return [str(record.get("text", "")) for record in self.items.records]

    @property
    def dev(self) -> Dev | None:
        return None if self.gold is None else (self.votes, self.gold)


def is_items(path: str) -> bool:
    return path.lower().endswith(_ITEMS)


def coarse_of(text: object) -> dict[str, list[str]] | None:
    """ENT=PER+LOC,... -> a table."""
    table = options.table_of(text, "--coarse")
    return None if table is None else {name: str(members).split("+") for name, members in table.items()}


def names_for(path: str, columns: str | None) -> list[str] | None:
    """Names of a file's columns: as given, or as in `FILE.columns`, or as in `columns.txt` in its folder."""
    if columns is not None:
        return options.names_of(columns)
    if path == "-":
        return None
    for beside in (Path(f"{path}.columns"), Path(path).with_name("columns.txt")):
        if beside.is_file():
            try:
                return beside.read_text(encoding="utf-8").split()
            except (OSError, UnicodeDecodeError) as error:
                raise DataError(f"the names of columns cannot be read: {error}; give --columns", beside) from None
    return None


def read_votes(
    files: Sequence[str],
    columns: str | None,
    functions: str | None,
    gold: str | None,
    abstain: str,
    coarse: object,
    labels: str | None,
    comments: bool,
) -> Voted:
    """The votes in files, column files or items."""
    more = {"coarse": coarse_of(coarse), "labels": options.names_of(labels)}
    if any(map(is_items, files)):
        return _items(files, gold, functions, more)
    from trellis.corpus import read_conll
    from trellis.corpus.corpus import concatenate
    from trellis.weak import gold_of, votes_of

    parts = [read_conll(path, columns=names_for(path, columns), comments=comments) for path in files]
    corpus = concatenate(parts)
    if not corpus.tokens:
        raise DataError("there is no token in the file", files[0])
    votes = votes_of(corpus, options.names_of(functions), abstain=abstain.split(","), **_with_gold(corpus, gold, more))
    name = gold_name(corpus.columns, gold)
    return Voted(votes, None if name is None else gold_of(corpus, name, votes.space), corpus, None)


def _with_gold(corpus: Corpus, gold: str | None, more: dict[str, Any]) -> dict[str, Any]:
    """Types that only the gold labels have are possible, too."""
    from trellis.labels import detect, segment_types

    name = gold_name(corpus.columns, gold)
    if name is None:
        return more
    known = [label for label in corpus[name].strings if label != "_"]
    types = segment_types(known) if detect(known) else known
    return {**more, "labels": [*(more["labels"] or []), *types]}


def gold_name(columns: Any, gold: str | None) -> str | None:
    """The column with gold labels, if there is one."""
    if gold is not None and gold not in columns:
        raise SettingError(f"--gold {gold}: there is no such column; the columns are: {', '.join(columns)}")
    return gold if gold is not None else GOLD if GOLD in columns else None


def _items(files: Sequence[str], gold: str | None, functions: str | None, more: dict[str, Any]) -> Voted:
    from trellis.weak import read_items

    if len(files) > 1:
        raise SettingError("one file of items at a time; put all of them into one")
    found = read_items(files[0], text=None, gold=gold or "label", **more)
    if found.votes is None:
        raise DataError("no item has votes; `trellis weak apply` adds them", files[0])
    votes = found.votes if functions is None else found.votes.only(functions.split(","))
    return Voted(votes, found.gold, None, found)
