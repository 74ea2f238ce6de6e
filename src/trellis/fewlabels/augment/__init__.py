"""Augmentation: more sentences to learn from, made of those that are there.

Adding a method is one file with a `METHOD`, one line in `METHODS`, and one test hook.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus, concatenate
from trellis.errors import DataError, SettingError, shown
from trellis.fewlabels.augment import mentions, paste, shuffle, synonyms, tokens
from trellis.fewlabels.augment.contract import Method, Source, Table
from trellis.fewlabels.augment.table import parse_table

METHODS: dict[str, Method] = {
    "mentions": mentions.METHOD,
    "tokens": tokens.METHOD,
    "synonyms": synonyms.METHOD,
    "shuffle": shuffle.METHOD,
    "paste": paste.METHOD,
}


def augmented(
    corpus: Corpus,
    target: str,
    methods: str | Sequence[str] = "mentions",
    copies: int = 1,
    p: float | None = None,
    seed: int = 0,
    table: Table | None = None,
    encoding: str | None = None,
) -> Corpus:
    """The corpus, and after it so many changed copies of it by each method; the corpus itself is left as it is.

    methods: names in `METHODS`, one or a list; `a+b` changes by a, and then by b.
    p: how much of a sentence is changed, a probability; None for what is usual for a method.
    table: for `mentions` and `synonyms`, what may stand in the place of what (`parse_table` reads one).
    encoding: of segments; that which the labels are of if None.

    Sentences of a copy that came out as they were are left out. The same seed gives the same corpus.
    """
    names = [methods] if isinstance(methods, str) else list(methods)
    _check_table(table)
    chains = [_chain(name, table) for name in names]
    _check(corpus, target, names, copies, p, seed)
    if table is not None and not any(map(takes_table, names)):
        takers = " and ".join(name for name, method in METHODS.items() if method.takes_table)
        raise SettingError(f"a table is for {takers}, not for {', '.join(names)}; leave it out")
    if encoding is not None:
        _ = Source(corpus, target, encoding).spelt  # says if the labels are not of it
    parts = [corpus]
    for k, chain in enumerate(chains):
        for copy in range(int(copies)):
            rng, changed = np.random.default_rng([int(seed), k, copy]), corpus
            for method in chain:
                source = Source(changed, target, encoding)
                used = table if method.takes_table else None
                changed = method.change(source, rng, method.p if p is None else float(p), used)
            parts.append(changed.picked(np.flatnonzero(_differ(corpus, changed))))
    return concatenate(parts)


def takes_table(name: str) -> bool:
    """Whether a method, or one of `a+b`, looks at a table."""
    return any(METHODS[one].takes_table for one in name.split("+") if one in METHODS)


def copy_weights(corpus: Corpus, more: Corpus, weight: float) -> NDArray[np.float64]:
    """How much each sentence of `more`, made of `corpus` by `augmented`, is to count: 1, and copies this weight each,
    F64[sentences]. For `fit(more, sample_weight=...)`."""
    if len(more) < len(corpus) or not np.array_equal(more.offsets[: len(corpus) + 1], corpus.offsets):
        raise DataError(
            f"{len(more)} sentences that do not begin with the {len(corpus)} of the corpus; expected what `augmented` "
            "made of it"
        )
    if not (isinstance(weight, Real) and not isinstance(weight, bool) and 0.0 <= weight < np.inf):
        raise SettingError(f"the weight of copies is {shown(weight)}; expected a number >= 0")
    weights = np.full(len(more), float(weight))
    weights[: len(corpus)] = 1.0
    return weights


def _chain(name: str, table: Table | None) -> list[Method]:
    """The methods that `a+b` names."""
    chain = []
    for one in str(name).split("+"):
        if one not in METHODS:
            near = get_close_matches(one, METHODS, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(METHODS)}"
            raise SettingError(f"unknown method of augmentation '{one}'; {hint}")
        if METHODS[one].needs_table and table is None:
            raise SettingError(f"{one} need a table of words and what may stand in their place; give one")
        chain.append(METHODS[one])
    return chain


def _check(corpus: Corpus, target: str, names: list[str], copies: int, p: float | None, seed: int) -> None:
    for name, value, least in (("copies", copies, 1), ("seed", seed, 0)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise SettingError(f"{name} is {shown(value)}; expected a whole number >= {least}")
    if p is not None and not (isinstance(p, Real) and not isinstance(p, bool) and 0.0 < p <= 1.0):
        raise SettingError(f"p is {shown(p)}; expected a probability above 0, or None")
    if not names:
        raise SettingError(f"no method of augmentation; there are: {', '.join(METHODS)}")
    if target not in corpus.columns:
        raise SettingError(f"unknown target '{target}'; the columns are: {', '.join(corpus.columns)}")
    if not corpus.tokens:
        raise DataError("there is no token to make more of", corpus.path)


def _check_table(table: Table | None) -> None:
    if table is not None and not isinstance(table, Mapping):
        raise SettingError(f"the table is {shown(table)}; expected a dict of words (or types) and lists of texts")
    for name, entries in (table or {}).items():
        wrong = isinstance(entries, str) or not all(isinstance(each, str) and each.split() for each in entries)
        if not isinstance(name, str) or wrong:
            raise SettingError(f"the table has {shown(entries)} for {shown(name)}; expected a list of texts with words")


def _differ(corpus: Corpus, changed: Corpus) -> NDArray[np.bool_]:
    """Which sentences of a changed copy are not as they were, BOOL[sentences]."""
    same = np.diff(corpus.offsets) == np.diff(changed.offsets)
    lengths = np.diff(corpus.offsets)[same]
    one, other = (part.picked(np.flatnonzero(same)) for part in (corpus, changed))
    differs = np.zeros(int(lengths.sum()), bool)
    for name in corpus.columns:
        differs |= one[name].ids != other[name].translated(one[name].index)
    out: NDArray[np.bool_] = ~same
    sums = np.concatenate([[0], np.cumsum(differs)])[one.offsets]
    out[same] = np.diff(sums) > 0
    return out


__all__ = ["METHODS", "Method", "Source", "Table", "augmented", "copy_weights", "parse_table", "takes_table"]
