"""Word lattices from a lexicon: every word of it that a text may contain, and spans that may be unknown words.

This is how text without spaces is cut into words, as in Japanese and Chinese: the lexicon offers, the model chooses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise, repeat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column, Corpus
from trellis.errors import DataError, SettingError, shown
from trellis.features.functions.trie import Trie
from trellis.features.lattices import Lattices, is_whole, joined
from trellis.features.lexicon_file import read_words, write_words

I64 = NDArray[np.int64]
Segments = Sequence[Sequence[tuple[int, int, str]]]

USUAL_UNKNOWN = 8  # characters of an unknown word, where it is not said how many
_SHARE = 0.02  # of the words seen once that a label must have for unknown words to have it
_EDGE = "_"  # in place of a character before the first and behind the last
_SPACE = "\u001f"  # in place of a space, which is between the characters of a word in the trie
WORD = "word"  # the label of words where there is no other


class Lexicon:
    """Words with the labels that they may have.

    words: a dict of words and their labels (a label or a list of these), or words alone.
    unknown: a word that the lexicon does not have may be up to so long, in characters; 1 at least.
    unknown_labels: the labels that such words may have; None for all that the lexicon has.
    """

    def __init__(
        self,
        words: Mapping[str, str | Iterable[str]] | Iterable[str],
        unknown: int = USUAL_UNKNOWN,
        unknown_labels: Sequence[str] | None = None,
    ):
        if isinstance(words, str) or not hasattr(words, "__iter__"):
            raise SettingError(f"words is {shown(words)}; expected a dict of words and labels, or a list of words")
        if not is_whole(unknown) or unknown < 1:
            raise SettingError(f"unknown is {shown(unknown)}; expected a whole number of characters >= 1")
        items = words.items() if isinstance(words, Mapping) else zip(words, repeat(WORD))
        self.words = {_word(word): _labels(word, labels) for word, labels in items}
        if not self.words:
            raise SettingError("a lexicon needs words; none are given")
        self.labels = sorted({label for labels in self.words.values() for label in labels})
        self.unknown = unknown
        given = self.labels if unknown_labels is None else unknown_labels
        if isinstance(given, str) or not hasattr(given, "__iter__") or not list(given):
            raise SettingError(f"unknown_labels is {shown(given)}; expected a list of labels, at least one")
        self.unknown_labels = list(dict.fromkeys(given))
        if not all(isinstance(label, str) for label in self.unknown_labels):
            raise SettingError(f"unknown_labels is {shown(given)}; expected labels, as text")
        self.labels = sorted({*self.labels, *self.unknown_labels})

    @classmethod
    def learn(
        cls,
        corpus: Corpus,
        label: str | None = None,
        word: str = "word",
        min_count: int = 2,
        unknown: int = USUAL_UNKNOWN,
        unknown_labels: Sequence[str] | None = None,
    ) -> Lexicon:
        """The words of a corpus that occur at least `min_count` times, with the labels that they have there in the
        column `label`; unknown words may have `unknown_labels`, by default those that are not rare among words seen
        once.

        With a min_count of 1 a model never meets an unknown word in training, and learns nothing about them.
        """
        _check_corpus(corpus)
        if not is_whole(min_count) or min_count < 1:
            raise SettingError(f"min_count is {shown(min_count)}; expected a whole number >= 1")
        words = corpus[word].values()
        labels = corpus[label].values() if label is not None else [WORD] * len(words)
        counts, pairs = Counter(words), Counter(zip(words, labels, strict=True))
        known: dict[str, list[str]] = {}
        for (one, own), _ in pairs.items():
            if counts[one] >= min_count:
                known.setdefault(one, []).append(own)
        once = Counter(own for (one, own), _ in pairs.items() if counts[one] == 1)
        open_ = [own for own, n in once.items() if n >= _SHARE * once.total()]
        if not known:
            raise DataError(f"no word occurs {min_count} times or more; give a smaller min_count", corpus.path)
        return cls(known, unknown, (sorted(open_) or None) if unknown_labels is None else unknown_labels)

    @classmethod
    def read(cls, path: str | Path, unknown: int | None = None, unknown_labels: Sequence[str] | None = None) -> Lexicon:
        """A file with a word on each line, or a word, a tab and a label; lines that begin with # and a space are
        comments. What unknown words may be is as it was when the lexicon was saved, unless it is given."""
        words, length, labels = read_words(str(path), WORD)
        unknown = (length or USUAL_UNKNOWN) if unknown is None else unknown
        return cls(words, unknown, (labels or None) if unknown_labels is None else unknown_labels)

    def save(self, path: str | Path) -> None:
        """A file that `read` reads."""
        write_words(path, self.words, self.unknown, self.unknown_labels)

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"<Lexicon of {len(self):,} words, {len(self.labels)} labels; unknown words up to {self.unknown}>"

    def lattices(self, texts: Sequence[str], including: Segments | None = None) -> Lattices:
        """The lattices of texts: for each word of the lexicon that occurs, and each span that is none and no longer
        than unknown words are, a node with each of its labels.

        including: segments (start, end, label) of each text that are there in any case, as in training those are that
        are to be learnt. Features see the columns `word`, `known` (yes or no), and `before` and `after`, the
        characters beside the word.
        """
        _check_texts(texts)
        codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.int64)
        offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)
        nodes = self._known(codes, offsets)
        known = len(nodes)
        if including is not None:
            nodes = np.concatenate([nodes, self._included(including, texts, offsets)])
        nodes = np.concatenate([nodes, self._unknown(nodes, offsets)])
        nodes, first = np.unique(nodes, axis=0, return_index=True)  # of equal ones the first: a known word stays one
        start, end, label = nodes.T
        owner = np.searchsorted(offsets, start, side="right") - 1
        cuts = np.searchsorted(owner, np.arange(len(texts) + 1)).astype(np.int64)
        columns = {
            "word": _substrings("".join(texts), codes, start, end),
            "known": Column((first < known).astype(np.int32), ["no", "yes"]),
            "before": _beside(codes, start - 1, start > offsets[owner]),
            "after": _beside(codes, end, end < offsets[owner + 1]),
        }
        own = offsets[owner]
        labels = Column(label.astype(np.int32), self.labels)
        return Lattices(Corpus(columns, cuts), labels, start - own, end - own, joined(start - own, end - own, cuts))

    @cached_property
    def _trie(self) -> Trie:
        number = {label: k for k, label in enumerate(self.labels)}
        pairs = [(k, number[label]) for k, labels in enumerate(self.words.values()) for label in labels]
        word, label = (np.array(side, np.int64) for side in zip(*pairs, strict=True))
        return Trie.build([" ".join(map(_letter, one)) for one in self.words], word, label)

    def _known(self, codes: I64, offsets: I64) -> I64:
        """Start, end and label of all words of the lexicon in texts, I64[nodes, 3]."""
        trie = self._trie
        distinct, which = np.unique(codes, return_inverse=True)
        table = np.array([trie.words.get(_letter(chr(c)), -1) for c in distinct.tolist()], np.int64)
        return np.stack(trie.matches(table[which] if len(codes) else codes, offsets), axis=1)

    def _unknown(self, nodes: I64, offsets: I64) -> I64:
        """All spans up to some length, with all labels of unknown words, but for those that are nodes already."""
        start, end, _ = nodes.T
        place = np.arange(int(offsets[-1]))
        limit = np.repeat(offsets[1:], np.diff(offsets))
        length = np.arange(1, min(self.unknown, int(np.diff(offsets).max(initial=1))) + 1)
        at, k = np.nonzero(place[:, None] + length <= limit[:, None])
        wide = int(np.diff(offsets).max(initial=0)) + 1
        taken = np.isin(at * wide + length[k], start * wide + (end - start))
        at, k = at[~taken], k[~taken]
        number = [self.labels.index(label) for label in self.unknown_labels]
        spans = np.repeat(np.stack([at, at + length[k]], axis=1), len(number), axis=0)
        return np.concatenate([spans, np.tile(np.array(number, np.int64), len(at))[:, None]], axis=1)

    def _included(self, segments: Segments, texts: Sequence[str], offsets: I64) -> I64:
        if not hasattr(segments, "__len__") or len(segments) != len(texts):
            raise DataError(f"{len(texts)} texts, and segments to include that are no list of lists, one for each text")
        number, rows = {label: k for k, label in enumerate(self.labels)}, []
        for s, (own, text, first) in enumerate(zip(segments, texts, offsets.tolist(), strict=False), 1):
            listed: Sequence[Any] = own if isinstance(own, list | tuple) else [own]
            for item in listed:
                try:
                    start, end, label = item
                    good = is_whole(start) and is_whole(end) and isinstance(label, str)
                except (TypeError, ValueError):
                    good = False
                if not good:
                    raise DataError(f"text {s}: {shown(item)} to include; expected segments (start, end, label)")
                if not 0 <= start < end <= len(text):
                    raise DataError(f"text {s}: the span {start} to {end} is not in its {len(text)} characters")
                if label not in number:
                    raise DataError(f"text {s}: the lexicon has no label {label!r}; it has: {', '.join(self.labels)}")
                rows.append((first + start, first + end, number[label]))
        return np.array(rows, np.int64).reshape(-1, 3)


def unspaced(
    corpus: Corpus, label: str | None = None, word: str = "word"
) -> tuple[list[str], list[list[tuple[int, int, str]]]]:
    """The words of each sentence without spaces between them, and where they are: a text, and segments (start, end,
    label), to learn from."""
    _check_corpus(corpus)
    texts, segments = [], []
    labels = corpus.sentences(label) if label is not None else None
    for s, words in enumerate(corpus.sentences(word)):
        ends = np.cumsum([0, *map(len, words)]).tolist()
        own = labels[s] if labels is not None else [WORD] * len(words)
        texts.append("".join(words))
        segments.append([(a, b, one) for (a, b), one in zip(pairwise(ends), own, strict=True)])
    return texts, segments


def _substrings(text: str, codes: I64, start: I64, end: I64) -> Column:
    """Spans of a text as a column: a number for each different one. Those of one length are the different pairs of what
    is there but for the last character, and the last character."""
    number, ids, strings = np.zeros(len(start), np.int64), np.zeros(len(start), np.int32), list[str]()
    alphabet = int(codes.max(initial=0)) + 1
    longer = np.arange(len(start))
    for length in range(1, int((end - start).max(initial=0)) + 1):
        keys = number[longer] * alphabet + codes[start[longer] + length - 1]
        _, example, number[longer] = np.unique(keys, return_index=True, return_inverse=True)
        done = end[longer] - start[longer] == length
        used, ids[longer[done]] = np.unique(number[longer[done]], return_inverse=True)
        ids[longer[done]] += len(strings)
        at = start[longer[example[used]]]
        strings += [text[a : a + length] for a in at.tolist()]
        longer = longer[~done]
    return Column(ids, strings)


def _beside(codes: I64, at: I64, inside: NDArray[np.bool_]) -> Column:
    """The characters at some places, where these are inside the text."""
    code = np.where(inside, codes.take(at, mode="clip") if len(codes) else at, -1)
    distinct, which = np.unique(code, return_inverse=True)
    return Column(which.astype(np.int32), [_EDGE if c < 0 else chr(c) for c in distinct.tolist()])


def _check_texts(texts: Sequence[str]) -> None:
    if isinstance(texts, str | Corpus) or not hasattr(texts, "__len__"):
        raise DataError(f"texts is {shown(texts)}; expected a list of texts (`unspaced` makes them of a corpus)")
    for s, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise DataError(f"text {s} is {shown(text)}; expected text")


def _check_corpus(corpus: object) -> None:
    if not isinstance(corpus, Corpus):
        raise DataError(f"expected a corpus with a column of words (read_conll), not {type(corpus).__name__}")


def _letter(character: str) -> str:
    return _SPACE if character == " " else character


def _word(word: object) -> str:
    if not isinstance(word, str) or not word:
        raise SettingError(f"a word of the lexicon is {shown(word)}; expected text")
    return str.__str__(word)


def _labels(word: str, labels: str | Iterable[str]) -> list[str]:
    listed = [labels] if isinstance(labels, str) else list(labels) if hasattr(labels, "__iter__") else []
    if not listed or not all(isinstance(label, str) for label in listed):
        raise SettingError(f"the labels of the word {shown(word)} are {shown(labels)}; expected text, at least one")
    return list(dict.fromkeys(listed))
