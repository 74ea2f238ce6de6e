"""Votes beside the words: columns `lf:NAME` and `link:NAME` of a corpus, and features that read them.

A tagger that may see the votes knows what the lists know, and learns from the words when to believe them. It needs the
votes wherever it tags.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from trellis.corpus import Column, Corpus
from trellis.errors import DataError, SettingError, shown
from trellis.features import Features, column
from trellis.weak.columns import FUNCTION, LINKER
from trellis.weak.space import SILENCE
from trellis.weak.votes import Votes

_LINKS = ("0", "1", SILENCE)


def columns_of_votes(votes: Votes) -> dict[str, Column]:
    """A column for each function, `_` where it abstains, by the names that `votes_of` knows them by."""
    labels = [*votes.names, SILENCE]
    found = {f"{FUNCTION}{name}": _column(votes.values[:, j], labels) for j, name in enumerate(votes.functions)}
    return found | {f"{LINKER}{name}": _column(votes.links[:, j], _LINKS) for j, name in enumerate(votes.linkers)}


def with_votes(corpus: Corpus, votes: Votes) -> Corpus:
    """The corpus with a column for each function."""
    if not isinstance(corpus, Corpus) or not isinstance(votes, Votes):
        found = f"{type(corpus).__name__} and {type(votes).__name__}"
        raise SettingError(f"expected a Corpus and the Votes on it (weak.apply makes them); found {found}")
    if votes.tokens != corpus.tokens:
        raise DataError(f"votes on {votes.tokens:,} tokens do not fit a corpus of {corpus.tokens:,}")
    for name, own in columns_of_votes(votes).items():
        if name in corpus.columns:
            raise SettingError(f"there is a column '{name}' already; give the function another name")
        corpus = corpus.with_column(name, own)
    return corpus


def vote_features(data: Corpus | Sequence[str], window: int = 1) -> Features:
    """Features of the votes on a token and on so many tokens to either side, to be added to others:

        tr.CRF("label", trellis.features.preset("ner") + weak.vote_features(corpus))

    data: a corpus, or the names of its columns, of which those that begin with lf: or link: are read.
    """
    if isinstance(window, bool) or not isinstance(window, int) or not 0 <= window <= 10:
        raise SettingError(f"window is {shown(window)}; expected a whole number from 0 to 10")
    listed = data.columns if isinstance(data, Corpus) else data
    if isinstance(listed, str) or not isinstance(listed, Iterable):
        raise SettingError(f"data is {shown(data)}; expected a corpus (see with_votes), or the names of its columns")
    names = list(listed)
    found = [column(name)[-window:window] for name in names if name.startswith((FUNCTION, LINKER))]
    if not found:
        raise SettingError(
            f"no column has votes: the columns are {', '.join(names)}; names of those with votes begin with {FUNCTION} "
            f"or {LINKER}"
        )
    total = found[0]
    for one in found[1:]:
        total += one
    return total


def _column(values: np.ndarray[tuple[int, ...], np.dtype[np.signedinteger]], names: Sequence[str]) -> Column:
    """-1 is the last of the names."""
    return Column(np.where(values < 0, len(names) - 1, values).astype(np.int32), list(names)).compact()
