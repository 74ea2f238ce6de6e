"""The next batch to annotate: the first sentences of a ranking, up to a number of them or a budget of tokens."""

from __future__ import annotations

from collections import Counter
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trellis.corpus import Corpus
from trellis.corpus.corpus import sentence_numbers
from trellis.errors import DataError, SettingError, shown
from trellis.fewlabels.checks import check_corpus, check_count

I64 = NDArray[np.int64]


def next_batch(
    pool: Corpus,
    scores: ArrayLike,
    count: int | None = None,
    tokens: int | None = None,
    distinct: float | None = None,
    words: str = "word",
) -> I64:
    """The numbers of the sentences with the highest scores, best first, I64[chosen]; of equals the first of the pool.

    scores: F64[sentences]. count: so many sentences, or as many as there are. tokens: as many sentences as fit into so
    many tokens, up to the first that does not; but one at least. distinct: a sentence is passed over that shares this
    part of its different words, or more, with one that was chosen (Jaccard's index of the column `words`).
    """
    check_corpus(pool, "the pool")
    values = _numbers(scores)
    if len(values) != len(pool):
        raise DataError(f"{len(values)} scores for {len(pool)} sentences; expected one for each")
    if np.isnan(values).any():
        raise DataError(f"the score of sentence {int(np.flatnonzero(np.isnan(values))[0]) + 1} is no number")
    if (count is None) == (tokens is None):
        raise SettingError("expected a number of sentences (count) or a budget of tokens; give one of the two")
    for name, value in (("count", count), ("tokens", tokens)):
        if value is not None:
            check_count(name, value)
    if distinct is not None and not (isinstance(distinct, Real) and 0.0 < distinct <= 1.0):
        raise SettingError(f"distinct is {shown(distinct)}; expected a share of words above 0 and up to 1")
    order = np.argsort(-values, kind="stable")
    lengths = np.diff(pool.offsets)
    near = None if distinct is None else _Near(pool, words, float(distinct))
    chosen: list[int] = []
    spent = 0
    for s in order.tolist():
        if count is not None and len(chosen) >= count:
            break
        if near is not None and near.to_one_before(s):
            continue
        spent += int(lengths[s])
        if tokens is not None and spent > tokens and chosen:
            break
        chosen.append(s)
        if near is not None:
            near.add(s)
    return np.array(chosen, np.int64)


def rest_of(pool: Corpus, chosen: ArrayLike) -> I64:
    """The numbers of the other sentences, in the order of the pool."""
    check_corpus(pool, "the pool")
    left = np.ones(len(pool), bool)
    left[sentence_numbers(chosen, len(pool))] = False
    return np.flatnonzero(left)


def _numbers(scores: ArrayLike) -> NDArray[np.float64]:
    try:
        values = np.asarray(scores, np.float64)
    except (TypeError, ValueError):
        raise DataError("the scores are no numbers; expected one for each sentence, as `uncertainty` gives") from None
    if values.ndim != 1:
        raise DataError(f"the scores have the shape {values.shape}; expected one for each sentence")
    return values


class _Near:
    """Which sentences were chosen, by the words that they have."""

    def __init__(self, pool: Corpus, words: str, share: float):
        self._ids, self._cuts, self._share = pool[words].ids, pool.offsets.tolist(), share
        self._having: dict[int, list[int]] = {}  # word -> sentences chosen that have it
        self._sizes: dict[int, int] = {}

    def _words(self, s: int) -> list[int]:
        found: list[int] = np.unique(self._ids[self._cuts[s] : self._cuts[s + 1]]).tolist()
        return found

    def to_one_before(self, s: int) -> bool:
        own = self._words(s)
        shared = Counter(other for word in own for other in self._having.get(word, ()))
        return any(n >= self._share * (len(own) + self._sizes[other] - n) for other, n in shared.items())

    def add(self, s: int) -> None:
        own = self._words(s)
        self._sizes[s] = len(own)
        for word in own:
            self._having.setdefault(word, []).append(s)
