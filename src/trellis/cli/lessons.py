"""What `trellis train` learns from: the data that its options name, read, and how the model is fitted to them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trellis.cli.choosing import default_target
from trellis.cli.column_names import names_for, own_names
from trellis.cli.weak_votes import is_items
from trellis.errors import DataError, SettingError

if TYPE_CHECKING:
    from trellis.corpus import Corpus


@dataclass(frozen=True)
class Asked:
    """The options that say what to learn from."""

    files: tuple[str, ...]
    columns: str | None
    target: str | None
    soft: bool
    label_model: str | None
    teach: object
    votes: bool
    raw: str | None
    dev: str | None
    comments: bool

    @property
    def believed(self) -> bool:
        """Whether labels are what is believed of them."""
        return self.soft or self.label_model is not None


@dataclass(frozen=True)
class Lesson:
    """`fit(model, data, dev=..., **more)` trains the model; `says`: what it is, in words."""

    data: Any
    dev: Any
    fit: Callable[..., Any]
    says: str
    more: dict[str, Any] = field(default_factory=dict)


def lesson_of_columns(tagger: Any, model_type: str, staged: bool, asked: Asked) -> Lesson:
    """Column files, for a tagger, which is told its target, or for a cascade."""
    from trellis.cli import soft
    from trellis.corpus import read_conll
    from trellis.corpus.columns import parse_conll
    from trellis.files import read_bytes

    soft.check_believed(asked)
    if asked.believed:
        soft.check_soft(tagger, model_type, staged, asked)
    for path in filter(is_items, asked.files):
        raise SettingError(f"{path} is a file of items; give --model-type text-classifier, or a column file")
    names, target = own_names(asked.files[0], asked.columns), asked.target
    if asked.believed or asked.votes:
        corpus = soft.read_columns(asked.files, asked.columns, asked.comments)
        names = list(corpus.file_columns or ()) or names
    else:
        corpus = read_conll(*asked.files, columns=names, comments=asked.comments)
    if not corpus.tokens:
        raise DataError("there is no token to learn from", asked.files[0])
    fit: Callable[..., Any] = type(tagger).fit
    if asked.believed:
        corpus, target, fit = soft.believed(corpus, asked)
    if not staged:
        if target is None:
            target = default_target(tagger, soft.readable(corpus))
            soft.check_no_chances(target)
        tagger.set_params(target=target)
    if asked.votes:
        if staged:
            raise SettingError("--votes is for one tagger; a cascade's stages name their features")
        soft.with_vote_features(tagger, corpus, tagger.target)
    more = {}
    if asked.raw is not None:
        # like text to tag: columns of labels may be there or not
        every = list(corpus.columns)
        more["raw"] = parse_conll(read_bytes(asked.raw), every, asked.raw, asked.comments, optional=every[1:])
    held_out = None if asked.dev is None else _dev(asked.dev, names, corpus, asked)
    if held_out is not None and not staged and tagger.target not in held_out.columns:
        what = f"there is no column '{tagger.target}' to compare with; the columns are: {', '.join(held_out.columns)}"
        raise SettingError(f"{asked.dev}: {what}; name the one with gold labels in both files: --target")
    what = " -> ".join(f"'{stage.target}'" for stage in tagger.check()) if staged else f"'{tagger.target}'"
    says = f"{len(corpus):,} sentences, {corpus.tokens:,} tokens; training {what}"
    return Lesson(corpus, held_out, fit, says, more)


def _dev(path: str, names: list[str] | None, read: Corpus, asked: Asked) -> Corpus:
    """Columns as in training; those that said what to learn there, and that nothing else reads, need not be there."""
    from trellis.corpus.columns import parse_conll
    from trellis.files import read_bytes

    own = own_names(path, asked.columns)
    if own is None and (asked.believed or asked.votes):
        own = names_for(path, None)
    unread = [name for name in names or () if name not in read.columns and name != "_"]
    return parse_conll(read_bytes(path), own or names, path, asked.comments, optional=unread)


def features_from_input() -> str:
    """What standard input says."""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise DataError(f"{error}; the features have to be UTF-8", "<stdin>") from None
