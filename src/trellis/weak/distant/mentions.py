"""Names in sentences: those of the knowledge base, and, where a column of labels marks names, those as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column, Corpus
from trellis.errors import SettingError
from trellis.labels import read_segments, segment_types
from trellis.weak.distant.base import UNKNOWN, KnowledgeBase
from trellis.weak.functions.segments import spells_segments

I64 = NDArray[np.int64]


@dataclass(frozen=True)
class Mentions:
    """Tokens `start[k]` up to but not including `end[k]`, positions in the corpus, name an entity of a type (`_`:
    unknown). In order of the text, none over another."""

    start: I64
    end: I64
    entity: list[str]
    type: list[str]

    def __len__(self) -> int:
        return len(self.start)


def mentions_in(kb: KnowledgeBase, corpus: Corpus, word: str | None = None, entities: str | None = None) -> Mentions:
    """From left to right the longest name of the base. entities: a column whose labels mark names with their types;
    these come first, and the base's names are looked for in what is left. A name that the base knows is its entity, of
    the base's type if it has one there; any other name, one that stands for several entities too, is an entity of its
    own. word: the column of words; the first if None."""
    words = next(iter(corpus.columns.values())) if word is None else corpus[word]
    if entities is None:
        return _of_base(kb, words, corpus.offsets)
    marked = _marked(kb, corpus, words, entities)
    # between those that are marked, so that no longer name that touches one hides a shorter one that does not
    found = _of_base(kb, words, np.unique(np.concatenate([corpus.offsets, marked.start, marked.end])))
    free = _outside(found, marked, corpus.tokens)
    kept = np.flatnonzero(free).tolist()
    start, end = (np.concatenate([a, b[free]]) for a, b in ((marked.start, found.start), (marked.end, found.end)))
    entity = [*marked.entity, *(found.entity[k] for k in kept)]
    kinds = [*marked.type, *(found.type[k] for k in kept)]
    order = np.argsort(start, kind="stable")
    at = order.tolist()
    return Mentions(start[order], end[order], [entity[k] for k in at], [kinds[k] for k in at])


def _of_base(kb: KnowledgeBase, words: Column, offsets: I64) -> Mentions:
    phrases, names = kb.phrases
    known = phrases.found(words, offsets)
    entity = [names[k] for k in known.label.tolist()]
    return Mentions(known.start, known.end, entity, [kb.type_of(one) or UNKNOWN for one in entity])


def _marked(kb: KnowledgeBase, corpus: Corpus, words: Column, entities: str) -> Mentions:
    labels = corpus[entities]
    if not spells_segments(labels.strings):
        example = next(iter(labels.strings))
        raise SettingError(
            f"the column '{entities}' has labels such as {example!r}; expected those that mark names: B-PER, I-PER, O"
        )
    start, end, kind = read_segments(labels.ids, labels.strings, corpus.offsets)
    types = segment_types(labels.strings)
    names = [_text(words, a, b) for a, b in zip(start.tolist(), end.tolist(), strict=True)]
    entity = [kb.entity(name) for name in names]
    own = [name if one is None else one for one, name in zip(entity, names, strict=True)]
    said = [types[k] or UNKNOWN for k in kind.tolist()]
    kinds = [kb.type_of(one) or here for one, here in zip(own, said, strict=True)]
    return Mentions(start, end, own, kinds)


def _text(words: Column, start: int, end: int) -> str:
    return " ".join([words.strings[k] for k in words.ids[start:end].tolist()])


def _outside(found: Mentions, marked: Mentions, tokens: int) -> NDArray[np.bool_]:
    """BOOL[found]: which do not touch what is marked."""
    change = np.zeros(tokens + 1, np.int64)
    np.add.at(change, marked.start, 1)
    np.add.at(change, marked.end, -1)
    covered = np.concatenate([[0], np.cumsum(np.cumsum(change)[:-1] > 0)])
    free: NDArray[np.bool_] = covered[found.end] == covered[found.start]
    return free


def by_sentence(mentions: Mentions, offsets: I64) -> Sequence[tuple[int, int, int]]:
    """(sentence, first mention, end of its mentions) of each sentence with two or more."""
    cuts = np.searchsorted(mentions.start, offsets)
    at = np.flatnonzero(np.diff(cuts) >= 2)
    return list(zip(at.tolist(), cuts[at].tolist(), cuts[at + 1].tolist(), strict=True))
