"""What the commands of `trellis weak` share: votes out of files, whose columns have names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from trellis.cli import options
from trellis.cli.column_names import names_for
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
    click.option("--items", is_flag=True, help="VOTES are items, JSON lines, as those of .jsonl and .json files are."),
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
    if table is None:
        return None
    return {name: [one.strip() for one in str(members).split("+") if one.strip()] for name, members in table.items()}


def read_votes(
    files: Sequence[str],
    columns: str | None,
    functions: str | None,
    gold: str | None,
    abstain: str,
    coarse: object,
    labels: str | Sequence[str] | None,
    comments: bool,
    items: bool = False,
    gold_needed: bool = True,
) -> Voted:
    """The votes in files, column files or items. gold_needed: whether a column of gold labels that is named has to be
    there."""
    table = coarse_of(coarse)
    named = options.names_of(labels) if isinstance(labels, str) or labels is None else list(labels)
    if items or any(map(is_items, files)):
        if abstain != "_":
            raise SettingError("--abstain is for column files; items abstain by null, or _")
        found = _items(files, gold, functions, table, named, gold_needed)
    else:
        found = _tokens(files, columns, functions, gold, abstain.split(","), table, named, comments, gold_needed)
    _warn_of_names_nobody_votes_for(found.votes, table)
    return found


def _tokens(
    files: Sequence[str],
    columns: str | None,
    functions: str | None,
    gold: str | None,
    abstain: list[str],
    coarse: dict[str, list[str]] | None,
    labels: list[str] | None,
    comments: bool,
    gold_needed: bool,
) -> Voted:
    from trellis.corpus import read_conll
    from trellis.corpus.corpus import concatenate
    from trellis.weak import gold_of, votes_of

    corpus = concatenate([read_conll(path, columns=names_for(path, columns), comments=comments) for path in files])
    if not corpus.tokens:
        raise DataError("there is no token in the file", files[0])
    if not gold_needed and gold not in corpus.columns:
        gold = None
    name = gold_name(corpus, gold)
    more = [*(labels or []), *_types_of_gold(corpus, name)]
    votes = votes_of(corpus, options.names_of(functions), abstain=abstain, coarse=coarse, labels=more)
    truth = None if name is None else gold_of(corpus, name, votes.space)
    if truth is not None and not (truth >= 0).any():
        if gold is not None:
            raise DataError(f"no gold label is known in '{gold}'; there is nothing to judge by", corpus.path)
        truth = None
    return Voted(votes, truth, corpus, None)


def _types_of_gold(corpus: Corpus, name: str | None) -> list[str]:
    """Types (labels) that only the gold labels have are possible, too."""
    from trellis.labels import detect, segment_types

    known = [] if name is None else [label for label in corpus[name].strings if label != "_"]
    return segment_types(known) if known and detect(known) else known


def _warn_of_names_nobody_votes_for(votes: Votes, coarse: dict[str, list[str]] | None) -> None:
    if not coarse:
        return
    import warnings

    import numpy as np

    from trellis.weak.conflicts import spoken

    called = spoken(votes.space)
    said = {called[k] for k in np.unique(votes.values).tolist() if k >= 0}
    for name, members in coarse.items():
        unsaid = [one for one in [name, *members] if one not in said]
        if unsaid:
            what = f"--coarse {name}=...: nobody votes for {', '.join(unsaid)}; are they spelt as in the votes?"
            warnings.warn(what, stacklevel=2)


def gold_name(corpus: Corpus, gold: str | None) -> str | None:
    """The column with gold labels, if there is one."""
    if gold is not None and gold not in corpus.columns:
        raise SettingError(
            f"--gold {gold}: there is no such column in {corpus.path}; its columns are: {', '.join(corpus.columns)}"
        )
    return gold if gold is not None else GOLD if GOLD in corpus.columns else None


def _items(
    files: Sequence[str],
    gold: str | None,
    functions: str | None,
    coarse: dict[str, list[str]] | None,
    labels: list[str] | None,
    gold_needed: bool,
) -> Voted:
    from trellis.weak import read_items

    if len(files) > 1:
        raise SettingError("one file of items at a time; put all of them into one")
    found = read_items(files[0], text=None, gold=gold or "label", coarse=coarse, labels=labels)
    if found.votes is None:
        raise DataError("no item has votes; `trellis weak apply` adds them", files[0])
    if gold is not None and gold_needed and found.gold is None:
        raise SettingError(f"--gold {gold}: no item of {files[0]} has a label in that field")
    votes = found.votes if functions is None else found.votes.only(functions.split(","))
    return Voted(votes, found.gold, None, found)
