"""Where functions contradict each other: who, how often, over which labels, and examples to look at.

Two votes contradict each other where no label is admitted by both: PER against ORG, but not ENT against PER where ENT
is coarse and may be PER. Segments are compared by types only (IO): B-X against I-X is a question of borders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError, shown
from trellis.labels import place_in, split
from trellis.weak.patterns import unique_rows
from trellis.weak.space import Space
from trellis.weak.votes import ABSTAINS, Votes

BOOL = NDArray[np.bool_]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

Words = Corpus | Sequence[str] | Sequence[Sequence[str]]

_BLOCK = 1 << 16  # patterns looked at together; bounds the memory, whatever the number of tokens
_LONGEST = 160  # characters shown of a word; that of an item is its whole text


@dataclass(frozen=True)
class Clashes:
    """Of the tokens with two votes or more:

    tokens    I64[overlapping]           their numbers
    rows      I32[patterns, functions]   the different votes that they have, by types
    of        I64[overlapping]           which of these
    counts    I64[patterns]              how many tokens have them
    clashing  BOOL[patterns, functions]  whether another function contradicts this one
    pairs     I64[functions, functions]  on how many tokens two contradict each other
    """

    tokens: I64
    rows: I32
    of: I64
    counts: I64
    clashing: BOOL
    pairs: I64

    @classmethod
    def of_votes(cls, votes: Votes) -> Clashes:
        """Of votes `in_io`."""
        tokens = np.flatnonzero(np.count_nonzero(votes.voted, axis=1) > 1)
        rows, of = unique_rows(votes.values[tokens])
        counts = np.bincount(of, minlength=len(rows)).astype(np.int64)
        clashing, pairs = _compared(rows, counts, contradicting(votes.space))
        return cls(tokens, rows, of, counts, clashing, pairs)

    def having(self, i: int, j: int, a: int, b: int) -> I64:
        """The tokens of which function i says a and function j says b."""
        those = (self.rows[:, i] == a) & (self.rows[:, j] == b)
        found: I64 = self.tokens[those[self.of]]
        return found


def contradicting(space: Space) -> BOOL:
    """BOOL[names + 1, names + 1]: whether two votes admit no common label. The last is that of abstaining, which
    contradicts nothing; -1 finds it."""
    admits = space.admits.astype(np.float32)  # for the speed of the product; numbers of labels are exact
    table = np.zeros((len(space.names) + 1,) * 2, np.bool_)
    table[:-1, :-1] = admits @ admits.T == 0
    return table


def _compared(rows: I32, counts: I64, table: BOOL) -> tuple[BOOL, I64]:
    """`clashing` and `pairs` as in `Clashes`."""
    functions = rows.shape[1]
    clashing = np.zeros(rows.shape, np.bool_)
    pairs = np.zeros((functions, functions), np.int64)
    for start in range(0, len(rows), _BLOCK):
        block, many = rows[start : start + _BLOCK], counts[start : start + _BLOCK]
        hit = clashing[start : start + _BLOCK]
        for i in range(functions - 1):
            at = np.flatnonzero(block[:, i] != ABSTAINS)  # most functions abstain mostly
            against = table[block[at, i, None], block[at, i + 1 :]]
            pairs[i, i + 1 :] += many[at] @ against
            hit[at, i] |= against.any(axis=1)
            hit[at, i + 1 :] |= against
    return clashing, pairs + pairs.T


@dataclass(frozen=True)
class Example:
    """One place where two functions contradict each other, perhaps for several `words`; what every function that votes
    on the first of them says, and the gold label there where it is known."""

    place: str
    before: tuple[str, ...]
    words: tuple[str, ...]
    after: tuple[str, ...]
    votes: dict[str, str]
    gold: str | None

    def as_text(self) -> str:
        """Two lines."""
        around = " ".join([*self.before, "[", *self.words, "]", *self.after])
        said = "; ".join(f"{name}: {label}" for name, label in self.votes.items())
        gold = "" if self.gold is None else f"; gold: {self.gold}"
        return f"{self.place}: {_printable(around)}\n    {_printable(said + gold)}"


@dataclass(frozen=True)
class Conflict:
    """Two functions, what the first and the second say, on how many tokens, how often each is right there (None without
    gold labels), and examples."""

    functions: tuple[str, str]
    said: tuple[str, str]
    count: int
    right: tuple[int, int] | None
    examples: tuple[Example, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "functions": list(self.functions),
            "said": list(self.said),
            "count": self.count,
            "right": None if self.right is None else list(self.right),
            "examples": [
                {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(one).items()}
                for one in self.examples
            ],
        }

    def as_text(self) -> str:
        """A line, and those of the examples."""
        right = ("", "") if self.right is None else tuple(f" (right {n:,} times)" for n in self.right)
        sides = [f"{f} says {s}{r}" for f, s, r in zip(self.functions, self.said, right, strict=True)]
        lines = [_printable(f"{self.count:,} times: {', '.join(sides)}"), *(one.as_text() for one in self.examples)]
        return "\n".join(lines).replace("\n", "\n  ")


def conflict_examples(
    votes: Votes,
    words: Words,
    gold: I32 | None = None,
    many: int = 5,
    width: int = 6,
    each: int = 3,
    column: str | None = None,
) -> list[Conflict]:
    """The most frequent kinds of conflict, `many` at most, with up to `each` examples, spread over the text.

    words: a corpus (`column` names that of the words, the first one if None), or a string for each token, or lists of
    them for each sentence; of items their texts. gold: I32[tokens] into votes.labels, -1 where unknown. width: how many
    words are shown before and after.
    """
    for name, value in (("many", many), ("width", width), ("each", each)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise SettingError(f"{name} is {shown(value)}; expected a whole number >= 0")
    text = _Text(votes, words, column)
    truth = None if gold is None else check_gold(gold, votes)
    types = None if truth is None else gold_in_io(truth, votes)
    by_type = votes.in_io()
    clashes, said = Clashes.of_votes(by_type), spoken(by_type.space)
    found = []
    for count, i, j, a, b in _kinds(clashes, by_type.space)[:many]:
        tokens = clashes.having(i, j, a, b)
        right = None
        if types is not None:
            right = (_right(by_type.space, a, types[tokens]), _right(by_type.space, b, types[tokens]))
        examples = tuple(_example(votes, text, truth, *run, width) for run in _spread(tokens, votes.offsets, each))
        functions = (votes.functions[i], votes.functions[j])
        found.append(Conflict(functions, (said[a], said[b]), count, right, examples))
    return found


def check_gold(gold: I32, votes: Votes) -> I32:
    """The same, or DataError where it is no I32[tokens] of -1 and numbers of votes.labels."""
    found = np.asarray(gold)
    if found.shape != (votes.tokens,) or found.dtype.kind not in "iu":
        raise DataError(
            f"gold labels of the shape {found.shape} and the type {found.dtype}; expected a whole number for each of "
            f"{votes.tokens} tokens"
        )
    if found.size and (found.min() < ABSTAINS or found.max() >= len(votes.labels)):
        raise DataError(
            f"gold labels go from {found.min()} to {found.max()}; expected numbers of labels from 0 to "
            f"{len(votes.labels) - 1}, or -1 where they are unknown"
        )
    return found.astype(np.int32, copy=False)


def gold_in_io(gold: I32, votes: Votes) -> I32:
    """Gold labels as numbers of the labels of `votes.in_io()`."""
    as_votes = Votes(gold[:, None], ("gold",), votes.space, votes.offsets)
    return as_votes.in_io().values[:, 0]


def spoken(space: Space) -> list[str]:
    """What people call the names of a space: labels of segments by their types (O, and types without a name, by the
    letter)."""
    if space.encoding is None:
        return list(space.names)
    return [kind or prefix for prefix, kind in map(split, space.names)]


def _right(space: Space, name: int, gold: I32) -> int:
    """How many of the gold labels a vote for the name admits; the unknown ones (-1) it does not."""
    return int(np.append(space.admits[name], False)[gold].sum())


def _kinds(clashes: Clashes, space: Space) -> list[tuple[int, int, int, int, int]]:
    """(how often, function, function, what the one says, what the other), the most frequent first."""
    table, base = contradicting(space), len(space.names)
    found = []
    for i, j in np.argwhere(np.triu(clashes.pairs) > 0).tolist():
        a, b = clashes.rows[:, i].astype(np.int64), clashes.rows[:, j].astype(np.int64)
        at = np.flatnonzero(table[a, b])
        codes, which = np.unique(a[at] * base + b[at], return_inverse=True)
        often = np.zeros(len(codes), np.int64)
        np.add.at(often, which, clashes.counts[at])
        found += [(n, i, j, *divmod(code, base)) for n, code in zip(often.tolist(), codes.tolist(), strict=True)]
    return sorted(found, key=lambda kind: (-kind[0], *kind[1:]))


def _spread(tokens: I64, offsets: I64, many: int) -> list[tuple[int, int]]:
    """Runs [start, end) of neighbouring tokens within a sentence, at most so many, from the whole text."""
    sentence = np.searchsorted(offsets, tokens, side="right")
    begins = np.append(True, (np.diff(tokens) > 1) | (np.diff(sentence) > 0))
    starts, ends = tokens[begins], tokens[np.append(begins[1:], True)] + 1
    chosen = np.arange(min(many, len(starts))) * len(starts) // max(1, min(many, len(starts)))
    return list(zip(starts[chosen].tolist(), ends[chosen].tolist(), strict=True))


def _example(votes: Votes, text: _Text, gold: I32 | None, start: int, end: int, width: int) -> Example:
    sentence = int(np.searchsorted(votes.offsets, start, side="right")) - 1
    first, last = votes.offsets[sentence : sentence + 2].tolist()
    row = votes.values[start]
    said = {votes.functions[j]: votes.names[row[j]] for j in np.flatnonzero(row != ABSTAINS).tolist()}
    return Example(
        text.place(start),
        text.words(max(first, start - width), start),
        text.words(start, end),
        text.words(end, min(last, end + width)),
        said,
        None if gold is None or gold[start] < 0 else votes.labels[gold[start]],
    )


class _Text:
    """Words by the numbers of their tokens, wherever they are kept."""

    def __init__(self, votes: Votes, words: Words, column: str | None) -> None:
        self.offsets = votes.offsets
        self.items = votes.space.encoding is None and len(votes) == votes.tokens
        self.corpus = words if isinstance(words, Corpus) else None
        self.flat: Sequence[Any] = ()
        if isinstance(words, Corpus):
            self.column = words[next(iter(words.columns)) if column is None else column]
            fits = np.array_equal(words.offsets, votes.offsets)
        else:
            nested = len(words) > 0 and not isinstance(words[0], str)
            self.flat = [word for sentence in words for word in sentence] if nested else words
            lengths = [len(sentence) for sentence in words] if nested else None
            fits = len(self.flat) == votes.tokens and lengths in (None, np.diff(votes.offsets).tolist())
        if not fits:
            raise DataError(
                f"the words are not those that were voted on: expected {len(votes)} sentences with {votes.tokens} "
                "tokens together, each as long as its votes"
            )

    def words(self, start: int, end: int) -> tuple[str, ...]:
        if self.corpus is None:
            return tuple(_beginning(word) for word in self.flat[start:end])
        return tuple(_beginning(self.column.strings[k]) for k in self.column.ids[start:end].tolist())

    def place(self, token: int) -> str:
        if self.corpus is not None:
            return self.corpus.place(token)
        return f"item {token + 1}" if self.items else place_in(self.offsets, token)


def _beginning(word: str) -> str:
    return word if len(word) <= _LONGEST else f"{word[:_LONGEST].rstrip()}..."


def _printable(text: str) -> str:
    """Without line breaks, and without what would make a terminal do something."""
    return "".join(c if c.isprintable() else " " for c in text)
