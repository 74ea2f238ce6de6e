"""What `trellis train` learns from: the data that its options name, read, and how the model is fitted to them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from trellis.cli import options
from trellis.cli.choosing import default_target
from trellis.cli.weak_votes import is_items
from trellis.errors import DataError, SettingError


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

    if asked.believed:
        soft.check_soft(tagger, model_type, staged, asked)
    elif asked.teach:
        raise SettingError("--teach says how to learn from --soft or --label-model; give one of these")
    for path in filter(is_items, asked.files):
        raise SettingError(f"{path} is a file of items; give --model-type text-classifier, or a column file")
    names, target = options.names_of(asked.columns), asked.target
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
        tagger.set_params(target=target or default_target(tagger, list(corpus.columns)))
    if asked.votes:
        if staged:
            raise SettingError("--votes is for one tagger; a cascade's stages name their features")
        soft.with_vote_features(tagger, corpus, tagger.target)
    more = {}
    if asked.raw is not None:
        # like text to tag: columns of labels may be there or not
        every = list(corpus.columns)
        more["raw"] = parse_conll(read_bytes(asked.raw), every, asked.raw, asked.comments, optional=every[1:])
    held_out = None if asked.dev is None else read_conll(asked.dev, columns=names, comments=asked.comments)
    what = " -> ".join(f"'{stage.target}'" for stage in tagger.check()) if staged else f"'{tagger.target}'"
    says = f"{len(corpus):,} sentences, {corpus.tokens:,} tokens; training {what}"
    return Lesson(corpus, held_out, fit, says, more)


def features_from_input() -> str:
    """What standard input says."""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise DataError(f"{error}; the features have to be UTF-8", "<stdin>") from None
