"""Votes as columns of a corpus: one column a function, a label for each token, `_` where the function abstains.

So whatever writes a column file can vote: a labeling function, another tagger, a person. Labels of segments may be of
any encoding, and each column of its own; they are read as conlleval reads them and become IOB2.

An O that a function casts because nothing fired says nothing: with `abstain=("_", "O")` it is an abstention.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column, Corpus
from trellis.errors import DataError, SettingError
from trellis.labels import convert, detect, segment_types
from trellis.labels.encoding import OUTSIDE
from trellis.weak.space import SILENCE, Space
from trellis.weak.votes import ABSTAINS, Votes

FUNCTION = "lf:"  # how names of columns with votes begin
LINKER = "link:"  # and of those that say only whether a token belongs with the one before it
_TOGETHER = {"1": 1, "0": 0}


def votes_of(
    corpus: Corpus,
    functions: Sequence[str] | None = None,
    linkers: Sequence[str] | None = None,
    abstain: Sequence[str] = (SILENCE,),
    coarse: Mapping[str, Sequence[str]] | None = None,
    labels: Sequence[str] | None = None,
) -> Votes:
    """The votes in columns of a corpus: of `functions`, all whose names begin with `lf:` if None; of `linkers`, those
    that begin with `link:`, with 1 (together), 0 (apart) or `_`.

    abstain: what stands for no vote. coarse: names for several types (labels, where they are no segments). labels:
    types (labels) that the truth can be beside those voted for.
    """
    voters, joiners = vote_columns(corpus, functions, FUNCTION), vote_columns(corpus, linkers, LINKER)
    if not voters and not joiners:
        raise SettingError(
            f"no column holds votes: the columns are {', '.join(corpus.columns)}; name those that do, or let their "
            f"names begin with {FUNCTION}"
        )
    used = [_occurring(corpus[name], abstain) for name in voters]
    _warn_of_silent_o([corpus[name] for name in voters], abstain)
    every = sorted({*(label for own in used for label in own)})
    more = list(labels or ())
    if every and detect(every) is None and not all(detect(own) for own in used if own):
        _warn_of_broken_segments([corpus[name] for name in voters], every)
        space = Space.of_labels([*every, *more], coarse)
    else:
        space = Space.of_types([*segment_types(every), *more], coarse)
    return _read(corpus, voters, joiners, abstain, space)


def votes_like(
    corpus: Corpus,
    space: Space,
    functions: Sequence[str],
    linkers: Sequence[str],
    abstain: Sequence[str],
    first: int = 0,
) -> Votes:
    """The same for votes such as a model was fitted to, of which it is known what labels mean, maybe a piece of more,
    with `first` tokens before it. Labels that are not in the space are added to it."""
    voters, joiners = vote_columns(corpus, functions, FUNCTION), vote_columns(corpus, linkers, LINKER)
    plain = [name for name in voters if not name.startswith(FUNCTION)]
    if plain and len(plain) < len(voters):  # then a plain column of the name is not one of votes
        raise SettingError(
            f"{_whose(corpus)}there is no column '{FUNCTION}{plain[0]}', though there are such of other functions; the "
            f"columns are: {', '.join(corpus.columns)}; name them as they are (--columns)"
        )
    every = {label for name in voters for label in _occurring(corpus[name], abstain)}
    foreign = sorted(every - set(space.names))
    if space.encoding is not None:
        for label in foreign:
            if detect([label, OUTSIDE]) is None:
                raise DataError(
                    f"{_place(corpus, voters, label)}: the vote {label!r} is none for segments, such as B-X"
                )
        foreign = [kind for kind in segment_types(foreign) if f"I-{kind}" not in space.index]
    wider = space.with_labels(foreign) if foreign else space
    return replace(_read(corpus, voters, joiners, abstain, wider), first=first)


def _read(corpus: Corpus, voters: Sequence[str], joiners: Sequence[str], abstain: Sequence[str], space: Space) -> Votes:
    """The votes in columns, in a space that has all their labels."""
    if space.encoding is None:
        columns = [_as_labels(corpus, name, abstain, space) for name in voters]
    else:
        columns = [_as_segments(corpus[name], corpus.offsets, abstain, space) for name in voters]
    links = [_links(corpus, name, abstain) for name in joiners]
    return Votes(
        np.stack(columns, 1).astype(np.int32) if columns else np.zeros((corpus.tokens, 0), np.int32),
        tuple(_short(name, FUNCTION) for name in voters),
        space,
        corpus.offsets,
        np.stack(links, 1) if links else np.zeros((corpus.tokens, 0), np.int8),
        tuple(_short(name, LINKER) for name in joiners),
        tuple(abstain),
    )


def gold_of(corpus: Corpus, name: str, space: Space, unknown: str = SILENCE) -> NDArray[np.int32]:
    """The gold labels I32[tokens] of a column as numbers of the labels of votes; -1 where it says `unknown`."""
    column = corpus[name]
    if space.encoding is None:
        ids = _as_labels(corpus, name, (unknown,), space)
    else:
        known = _occurring(column, (unknown,))
        if detect([*known, OUTSIDE]) is None:
            raise DataError(
                f"the gold labels in '{name}', {', '.join(known[:3])} ..., spell no segments, but functions vote for "
                "segments; name another column, or let functions vote for such labels"
            )
        foreign = set(segment_types(known)) - set(segment_types(space.labels))
        coarse = foreign & set(segment_types(space.names))
        if coarse:
            raise DataError(f"the gold labels in '{name}' have the type {min(coarse)!r}, which is a coarse one")
        if foreign:
            raise DataError(
                f"the gold labels in '{name}' have the type {min(foreign)!r}, which no function votes for; say that it "
                "is there: labels (--labels)"
            )
        ids = _as_segments(column, corpus.offsets, (unknown,), space)
    for token in np.flatnonzero(ids >= len(space.labels))[:1].tolist():
        raise DataError(f"{corpus.place(token)}: the gold label {space.names[ids[token]]!r} is coarse")
    return ids


def vote_columns(corpus: Corpus, names: Sequence[str] | None, prefix: str) -> list[str]:
    """The columns with the votes of these functions, all if None; lf:ner before ner, which a function may be named
    after that reads it."""
    if names is None:
        return [name for name in corpus.columns if name.startswith(prefix)]
    for name in names:
        if prefix == FUNCTION and name.startswith(LINKER):
            raise SettingError(f"'{name}' is of a linking function, which votes for no label; leave it out here")
        if name not in corpus.columns and f"{prefix}{name}" not in corpus.columns:
            raise SettingError(
                f"{_whose(corpus)}there is no column '{prefix}{name.removeprefix(prefix)}', nor one '{name}', with "
                f"votes; the columns are: {', '.join(corpus.columns)}; name them as they are (--columns)"
            )
    return [f"{prefix}{name}" if f"{prefix}{name}" in corpus.columns else name for name in names]


def without_votes(
    corpus: Corpus, functions: Sequence[str] | None = None, linkers: Sequence[str] | None = None
) -> list[str]:
    """The other columns: none whose name says that it has votes, nor those of these functions."""
    read = {*vote_columns(corpus, functions, FUNCTION), *vote_columns(corpus, linkers, LINKER)}
    return [name for name in corpus.columns if name not in read and not name.startswith((FUNCTION, LINKER))]


def _whose(corpus: Corpus) -> str:
    return f"{corpus.path}: " if corpus.path is not None else ""


def _short(name: str, prefix: str) -> str:
    return name.removeprefix(prefix) or name


def _occurring(column: Column, abstain: Sequence[str]) -> list[str]:
    """The labels of a column that are there, without those that say nothing."""
    used = np.bincount(column.ids, minlength=len(column.strings)) > 0
    return [s for s, there in zip(column.strings, used.tolist(), strict=True) if there and s not in abstain]


def _place(corpus: Corpus, columns: Sequence[str], label: str) -> str:
    """Where a label is first found in some columns."""
    tokens = [np.flatnonzero(corpus[name].ids == corpus[name].index.get(label, -1))[:1] for name in columns]
    return corpus.place(int(np.concatenate(tokens).min()))


def _as_labels(corpus: Corpus, name: str, abstain: Sequence[str], space: Space) -> NDArray[np.int32]:
    column = corpus[name]
    table = [ABSTAINS if string in abstain else space.index.get(string, ABSTAINS - 1) for string in column.strings]
    values = np.array([*table, ABSTAINS], np.int32)[column.ids]
    for token in np.flatnonzero(values < ABSTAINS)[:1].tolist():
        found = column.strings[column.ids[token]]
        raise DataError(
            f"{corpus.place(token)}: the label {found!r} in '{name}' is none of those voted for: "
            f"{', '.join(space.labels)}; say that it is there: labels (--labels)"
        )
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
    if (
        len(columns) > 1
        and len(columns[0].ids)
        and all(_share(column, abstain) == 0 and _share(column, [OUTSIDE]) > 0.5 for column in columns)
    ):
        warnings.warn(
            "every function says O on most tokens and none ever abstains; if O stands where nothing fired, read it as "
            "no vote: abstain=('_', 'O') (--abstain _,O)",
            stacklevel=3,
        )


def _warn_of_broken_segments(columns: Sequence[Column], labels: Sequence[str]) -> None:
    """One label that is spelt wrongly, b-PER, makes all others mean nothing but themselves."""
    odd = [label for label in labels if detect([label, OUTSIDE]) is None]
    many = sum(_share(column, [label for label in labels if label not in odd]) for column in columns)
    few = sum(_share(column, odd) for column in columns)
    if odd and 0 < few < 0.5 * many and len(labels) > len(odd) + 1:
        warnings.warn(
            f"because of labels such as {odd[0]!r}, which spell no segments, B-X and I-X are taken for labels like any "
            "other; if that is a slip, mend it",
            stacklevel=4,
        )


def _share(column: Column, strings: Sequence[str]) -> float:
    """Of tokens that have one of the strings."""
    return float(np.isin(column.ids, [column.index[s] for s in strings if s in column.index]).mean())


def _links(corpus: Corpus, name: str, abstain: Sequence[str]) -> NDArray[np.int8]:
    column = corpus[name]
    table = [ABSTAINS if s in (*abstain, SILENCE) else _TOGETHER.get(s, ABSTAINS - 1) for s in column.strings]
    values = np.array([*table, ABSTAINS], np.int8)[column.ids]
    for token in np.flatnonzero(values < ABSTAINS)[:1].tolist():
        found = column.strings[column.ids[token]]
        raise DataError(
            f"{corpus.place(token)}: the linking function '{name}' says {found!r}; expected 1 (belongs with the token "
            "before), 0 (does not) or _"
        )
    return values
