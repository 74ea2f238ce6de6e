"""Votes as columns of a corpus: one column a function, a label for each token, `_` where the function abstains.

So whatever writes a column file can vote: a labeling function, another tagger, a person. Labels of segments may be of
any encoding, and each column of its own; they are read as conlleval reads them and become IOB2.

An O that a function casts because nothing fired says nothing: with `abstain=("_", "O")` it is an abstention.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column, Corpus
from trellis.errors import DataError, SettingError
from trellis.labels import convert, detect, segment_types
from trellis.labels.encoding import OUTSIDE
from trellis.weak.votes import ABSTAINS, Space, Votes

FUNCTION = "lf:"  # how names of columns with votes begin
LINKER = "link:"  # and of those that say only whether a token belongs with the one before it
_TOGETHER = {"1": 1, "0": 0}


def votes_of(
    corpus: Corpus,
    functions: Sequence[str] | None = None,
    linkers: Sequence[str] | None = None,
    abstain: Sequence[str] = ("_",),
    coarse: Mapping[str, Sequence[str]] | None = None,
    labels: Sequence[str] | None = None,
) -> Votes:
    """The votes in columns of a corpus: of `functions`, all whose names begin with `lf:` if None; of `linkers`, those
    that begin with `link:`, with 1 (together), 0 (apart) or `_`.

    abstain: what stands for no vote. coarse: names for several types (labels, where they are no segments). labels:
    types (labels) that the truth can be beside those voted for.
    """
    voters = _chosen(corpus, functions, FUNCTION)
    joiners = _chosen(corpus, linkers, LINKER)
    if not voters and not joiners:
        raise SettingError(
            f"no column holds votes: the columns are {', '.join(corpus.columns)}; name those that do, or let their "
            f"names begin with {FUNCTION}"
        )
    used = [_occurring(corpus[name], abstain) for name in voters]
    _warn_of_silent_o([corpus[name] for name in voters], abstain)
    every = sorted({*(label for own in used for label in own)})
    types = None if labels is None else list(labels)
    links = np.stack([_links(corpus, name, abstain) for name in joiners], 1) if joiners else None
    if every and detect(every) is None and not all(detect(own) for own in used if own):
        space = Space.of_labels([*every, *(types or [])], coarse)
        columns = [_as_labels(corpus[name], abstain, space) for name in voters]
    else:
        space = Space.of_types([*segment_types(every), *(types or [])], coarse)
        columns = [_as_segments(corpus[name], corpus.offsets, abstain, space) for name in voters]
    values = np.stack(columns, 1) if columns else np.zeros((corpus.tokens, 0), np.int32)
    return Votes(
        values.astype(np.int32),
        tuple(_short(name, FUNCTION) for name in voters),
        space,
        corpus.offsets,
        np.zeros((corpus.tokens, 0), np.int8) if links is None else links,
        tuple(_short(name, LINKER) for name in joiners),
        tuple(abstain),
    )


def gold_of(corpus: Corpus, name: str, space: Space, unknown: str = "_") -> NDArray[np.int32]:
    """The gold labels I32[tokens] of a column as numbers of the labels of votes; -1 where it says `unknown`."""
    column = corpus[name]
    if space.encoding is None:
        ids = _as_labels(column, (unknown,), space)
    else:
        foreign = set(segment_types(_occurring(column, (unknown,)))) - set(segment_types(space.labels))
        if foreign:
            raise DataError(
                f"the gold labels in '{name}' have the type {min(foreign)!r}, which no function votes for; say that it "
                "is there: labels (--labels)"
            )
        ids = _as_segments(column, corpus.offsets, (unknown,), space)
    for token in np.flatnonzero(ids >= len(space.labels))[:1].tolist():
        raise DataError(f"{corpus.place(token)}: the gold label {space.names[ids[token]]!r} is coarse")
    return ids


def _chosen(corpus: Corpus, names: Sequence[str] | None, prefix: str) -> list[str]:
    if names is None:
        return [name for name in corpus.columns if name.startswith(prefix)]
    for name in names:
        if name not in corpus.columns and f"{prefix}{name}" not in corpus.columns:
            raise SettingError(f"there is no column '{name}'; the columns are: {', '.join(corpus.columns)}")
    return [name if name in corpus.columns else f"{prefix}{name}" for name in names]


def _short(name: str, prefix: str) -> str:
    return name.removeprefix(prefix) or name


def _occurring(column: Column, abstain: Sequence[str]) -> list[str]:
    """The labels of a column that are there, without those that say nothing."""
    used = np.bincount(column.ids, minlength=len(column.strings)) > 0
    return [s for s, there in zip(column.strings, used.tolist(), strict=True) if there and s not in abstain]


def _as_labels(column: Column, abstain: Sequence[str], space: Space) -> NDArray[np.int32]:
    table = [ABSTAINS if string in abstain else space.index.get(string, ABSTAINS - 1) for string in column.strings]
    values = np.array([*table, ABSTAINS], np.int32)[column.ids]
    for token in np.flatnonzero(values < ABSTAINS)[:1].tolist():
        found = column.strings[column.ids[token]]
        raise DataError(f"the label {found!r} is none of those voted for: {', '.join(space.labels)}")
    return values


def _as_segments(column: Column, offsets: NDArray[np.int64], abstain: Sequence[str], space: Space) -> NDArray[np.int32]:
    silent = np.array([*(string in abstain for string in column.strings), True])[column.ids]
    strings = [OUTSIDE, *(string for string in column.strings if string not in abstain and string != OUTSIDE)]
    number = {string: i for i, string in enumerate(strings)}
    own = np.array([*(number.get(string, 0) for string in column.strings), 0])[column.ids]
    ids, names = convert(own, strings, offsets, "iob2")
    values = np.array([space.index[name] for name in names], np.int32)[ids]
    values[silent] = ABSTAINS
    return values


def _warn_of_silent_o(columns: Sequence[Column], abstain: Sequence[str]) -> None:
    """Where functions never abstain and nearly always say O, this O hardly is a vote."""
    if len(columns) > 1 and all(_share(column, abstain) == 0 and _share(column, [OUTSIDE]) > 0.5 for column in columns):
        warnings.warn(
            "every function says O on most tokens and none ever abstains; if O stands where nothing fired, read it as "
            "no vote: abstain=('_', 'O') (--abstain _,O)",
            stacklevel=3,
        )


def _share(column: Column, strings: Sequence[str]) -> float:
    """Of tokens that have one of the strings."""
    return float(np.isin(column.ids, [column.index[s] for s in strings if s in column.index]).mean())


def _links(corpus: Corpus, name: str, abstain: Sequence[str]) -> NDArray[np.int8]:
    column = corpus[name]
    table = [ABSTAINS if s in abstain else _TOGETHER.get(s, ABSTAINS - 1) for s in column.strings]
    values = np.array([*table, ABSTAINS], np.int8)[column.ids]
    for token in np.flatnonzero(values < ABSTAINS)[:1].tolist():
        found = column.strings[column.ids[token]]
        raise DataError(
            f"{corpus.place(token)}: the linking function '{name}' says {found!r}; expected 1 (belongs with the token "
            "before), 0 (does not) or _"
        )
    return values
