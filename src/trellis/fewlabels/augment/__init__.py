"""Augmentation: more sentences to learn from, made of those that are there.

Adding a method is one file with a `METHOD`, one line in `METHODS`, and one test hook.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from hashlib import blake2b
from itertools import pairwise
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus, concatenate
from trellis.errors import DataError, SettingError, shown
from trellis.fewlabels.augment import mentions, paste, shuffle, synonyms, tokens
from trellis.fewlabels.augment.contract import Method, Source, Table
from trellis.fewlabels.augment.fitting import check_table, check_use, encoding_of, names_of
from trellis.fewlabels.augment.table import parse_table
from trellis.fewlabels.checks import check_corpus, check_count, check_target

BOOL = NDArray[np.bool_]

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

    Sentences of a copy that came out as they were are left out, and those that are like another one of the corpus or of
    an earlier copy. The same seed gives the same corpus.
    """
    check_corpus(corpus, "the corpus")
    names = names_of(methods, METHODS)
    check_table(table)
    chains = {name: _chain(name, table) for name in names}
    _check(corpus, target, copies, p, seed)
    spelt = encoding_of(corpus, target, encoding)
    if table is not None:
        used = {name: METHODS[name] for chain in chains for name in chain.split("+")}
        check_use(Source(corpus, target, spelt), table, used)
    more = with_copies(corpus, target, names, copies, p, seed, table, spelt)
    if len(more) == len(corpus):
        warnings.warn(
            f"no sentence could be changed by {', '.join(names)}, so there are no copies; try another method, more "
            "sentences, a larger p or a table",
            stacklevel=2,
        )
    return more


def with_copies(
    corpus: Corpus,
    target: str,
    methods: Sequence[str],
    copies: int,
    p: float | None,
    seed: int,
    table: Table | None,
    encoding: str | None,
) -> Corpus:
    """As `augmented`, of what needs no checks: such as a part of a corpus that was checked as a whole, whose labels are
    of this encoding (None: they spell no segments). It need not have what a table is for."""
    parts = [corpus]
    for k, name in enumerate(methods):
        for copy in range(int(copies)):
            rng, changed = np.random.default_rng([int(seed), k, copy]), corpus
            for method in _chain(name, table):
                used = table if method.check is not None else None
                source = Source(changed, target, encoding)
                changed = method.change(source, rng, method.p if p is None else float(p), used)
            parts.append(changed.picked(np.flatnonzero(_differ(corpus, changed, target))))
    more = concatenate(parts)
    return more.picked(_unlike_others(more, len(corpus)))


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
    for one in name.split("+"):
        if one not in METHODS:
            near = get_close_matches(one, METHODS, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(METHODS)}"
            raise SettingError(f"unknown method of augmentation '{one}'; {hint}")
        if METHODS[one].needs_table and table is None:
            raise SettingError(
                f"{one} need a table of words and what may stand in their place; give one (--table FILE)"
            )
        chain.append(METHODS[one])
    return chain


def _check(corpus: Corpus, target: str, copies: int, p: float | None, seed: int) -> None:
    check_count("copies", copies)
    check_count("seed", seed, least=0)
    if p is not None and not (isinstance(p, Real) and not isinstance(p, bool) and 0.0 < p <= 1.0):
        raise SettingError(f"p is {shown(p)}; expected a probability above 0 and up to 1, or None")
    check_target(corpus, target)
    if not corpus.tokens:
        raise DataError("there is no token to make more of", corpus.path)


def _differ(corpus: Corpus, changed: Corpus, target: str) -> BOOL:
    """Which sentences of a changed copy are not as they were, BOOL[sentences]. Labels alone do not count: ill-formed
    ones are written anew."""
    same = np.diff(corpus.offsets) == np.diff(changed.offsets)
    lengths = np.diff(corpus.offsets)[same]
    one, other = (part.picked(np.flatnonzero(same)) for part in (corpus, changed))
    differs = np.zeros(int(lengths.sum()), bool)
    for name in corpus.columns:
        if name != target:
            differs |= one[name].ids != other[name].translated(one[name].index)
    out: BOOL = ~same
    sums = np.concatenate([[0], np.cumsum(differs)])[one.offsets]
    out[same] = np.diff(sums) > 0
    return out


def _unlike_others(corpus: Corpus, originals: int) -> NDArray[np.int64]:
    """The numbers of the first sentences, so many, and of those after them that are not like one before, in all
    columns."""
    rows = np.stack([column.ids for column in corpus.columns.values()], axis=1).astype(np.int32)
    text, width = rows.tobytes(), 4 * rows.shape[1]
    seen: set[bytes] = set()
    kept = []
    for s, (a, b) in enumerate(pairwise((width * corpus.offsets).tolist())):
        mark = blake2b(text[a:b], digest_size=16).digest()
        if s < originals or mark not in seen:
            kept.append(s)
        seen.add(mark)
    return np.array(kept, np.int64)


__all__ = ["METHODS", "Method", "Source", "Table", "augmented", "copy_weights", "parse_table", "with_copies"]
