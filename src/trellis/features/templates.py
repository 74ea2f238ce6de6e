"""Features from templates over a corpus' columns: columns of ids -> keys -> attribute numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column, Corpus
from trellis.errors import DataError
from trellis.features.keys import KeyMaker
from trellis.features.packed import Packed
from trellis.features.template import Template
from trellis.jit import worthwhile


class TemplateFeatures:
    """Learnt attributes: the keys of template k are `keys[k]`, sorted; numbering runs through the templates."""

    def __init__(self, maker: KeyMaker, keys: Sequence[NDArray[np.int64]]):
        self.maker = maker
        self.keys = list(keys)
        self.base = np.cumsum([0] + [len(k) for k in self.keys])

    @property
    def attributes(self) -> int:
        return int(self.base[-1])

    @property
    def columns(self) -> list[str]:
        """The columns an input must have."""
        return list(self.maker.vocabulary)

    @classmethod
    def learn(cls, corpus: Corpus, templates: tuple[Template, ...]) -> tuple[TemplateFeatures, Packed]:
        """Numbers every attribute seen in the corpus, and the corpus in these numbers."""
        names = list(dict.fromkeys(part.column for t in templates for part in t.parts))
        maker = KeyMaker(templates, {name: list(corpus[name].strings) for name in names})
        values = maker.parts({name: corpus[name].ids for name in names}, corpus.offsets)
        ids = np.empty((corpus.tokens, len(templates)), np.int32)
        keys: list[NDArray[np.int64]] = []
        base = 0
        for k in range(len(templates)):
            here = maker.keys(k, values, learn=True) if values else np.zeros(corpus.tokens, np.int64)
            keys.append(_number(here, base, ids, k))
            base += len(keys[-1])
        return cls(maker, keys), _packed(ids)

    def translated(self, corpus: Corpus) -> Corpus:
        """The corpus with the columns that templates read in the vocabulary's numbers, -1 for unknown strings.

        Once for a whole corpus, so that its parts need not look up the whole table of strings again.
        """
        for name in self.columns:
            if name not in corpus.columns:
                raise DataError(
                    f"column '{name}' is missing, which the model's features read; "
                    f"the input has: {', '.join(corpus.columns)}",
                    corpus.path,
                )
        if all(corpus[name].strings is self.maker.vocabulary[name] for name in self.columns):
            return corpus
        columns = {
            name: Column(corpus[name].translated(self.maker.index[name]), self.maker.vocabulary[name])
            for name in self.columns
        }
        return replace(corpus, columns=columns)

    def transform(self, corpus: Corpus) -> Packed:
        """A corpus in the learnt numbers; what was never seen is -1."""
        corpus = self.translated(corpus)
        maker = self.maker
        values = maker.parts({name: corpus[name].ids for name in self.columns}, corpus.offsets)
        ids = np.empty((corpus.tokens, len(maker.templates)), np.int32)
        compiled = worthwhile(corpus.tokens)
        for k in range(len(maker.templates)):
            wanted = maker.keys(k, values) if values else np.zeros(corpus.tokens, np.int64)
            if compiled:
                from trellis.features.kernels import find_keys

                find_keys(self.keys[k], *self._tables[k], wanted, int(self.base[k]), ids, k)
            elif not len(self.keys[k]):
                ids[:, k] = -1
            else:
                at = np.searchsorted(self.keys[k], wanted)
                found = self.keys[k].take(at, mode="clip") == wanted
                ids[:, k] = np.where(found, at + self.base[k], -1)
        return _packed(ids)

    def names(self) -> list[str]:
        """The name of every attribute, by number."""
        return [self.maker.name(k, key) for k, keys in enumerate(self.keys) for key in keys.tolist()]

    @cached_property
    def _tables(self) -> list[tuple[NDArray[np.int32], int]]:
        from trellis.features.kernels import build_table

        bits = [max(4, int(2 * len(keys)).bit_length()) for keys in self.keys]
        return [(build_table(keys, b), b) for keys, b in zip(self.keys, bits, strict=True)]


def _number(keys: NDArray[np.int64], base: int, out: NDArray[np.int32], k: int) -> NDArray[np.int64]:
    """Writes base + rank of each key into out[:, k]; returns the distinct keys, sorted."""
    from trellis.features.kernels import number_keys, rank_ids

    ids, distinct = number_keys(keys)
    order = np.argsort(distinct)
    rank = np.empty(len(distinct), np.int32)
    rank[order] = np.arange(len(distinct), dtype=np.int32)
    rank_ids(ids, rank, base, out, k)
    return distinct[order]  # type: ignore[no-any-return]


def _packed(ids: NDArray[np.int32]) -> Packed:
    tokens, width = ids.shape
    return Packed(np.arange(0, (tokens + 1) * width, width, dtype=np.int64)[: tokens + 1], ids.ravel())
