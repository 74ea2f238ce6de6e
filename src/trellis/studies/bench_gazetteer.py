"""The other part of `trellis bench weak`: a long list of phrases looked for in a long text, beside reading that text.

Both are made up: words are as frequent as Zipf's law has it, and the phrases are of the same words, so the text is full
of beginnings of phrases that do not go on. That is harder than a list of names, whose first words are mostly rare.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus, parse_conll
from trellis.errors import SettingError
from trellis.jit import announce
from trellis.studies.clock import Times, timed
from trellis.studies.machine import machine
from trellis.studies.task import check_counts
from trellis.weak.functions.lists import PhraseList, gazetteer

I64 = NDArray[np.int64]
Say = Callable[[str], None]

_LENGTH = 25  # tokens of a sentence
_SHARES = (0.15, 0.40, 0.30, 0.15)  # of phrases of one token, two, ...
_MOST_WORDS = 200_000


@dataclass(frozen=True)
class GazetteerBench:
    """`read`: bytes of a column file, words alone, to a corpus. `build`: strings to a list that is ready to look for
    its phrases. `match`: the list on a corpus that it has not seen."""

    entries: int
    tokens: int
    words: int
    spans: int
    covered: int
    machine: dict[str, Any]
    read: Times
    build: Times
    match: Times

    @property
    def ratio(self) -> float:
        """Time of matching over that of reading, by the medians."""
        return self.match.median / self.read.median

    def as_json(self) -> dict[str, Any]:
        """`gazetteer` in the JSON object of `trellis bench weak --json`."""
        return {
            "entries": self.entries,
            "tokens": self.tokens,
            "words": self.words,
            "spans": self.spans,
            "tokens_covered": self.covered,
            "read": self.read.as_json(),
            "build": self.build.as_json(),
            "match": self.match.as_json(),
            "ratio": self.ratio,
        }


def bench_gazetteer(
    entries: int = 1_000_000, tokens: int = 1_000_000, rounds: int = 5, say: Say = lambda text: None
) -> GazetteerBench:
    """So many different phrases in a text of so many tokens; each round reads, builds and matches anew."""
    check_counts(entries=entries, tokens=tokens, rounds=rounds)
    here = machine()
    say("making up a text and phrases")
    rng = np.random.default_rng(0)
    words = _Words(min(_MOST_WORDS, max(entries, tokens)), rng)
    text, phrases = _text(words, tokens), _phrases(words, entries)
    announce(tokens)
    times: dict[str, list[float]] = {"read": [], "build": [], "match": []}
    for k in range(rounds + 1):
        say(f"round {k} of {rounds}" if k else "warming up")
        corpus, read = timed(partial(_read, text))
        lists, build = timed(partial(_built, phrases, corpus))
        found, match = timed(partial(lists.on, corpus))
        for name, seconds in (("read", read), ("build", build), ("match", match)) if k else ():
            times[name].append(seconds)
    covered = int((found.end - found.start).sum())
    made = {name: Times(tuple(seconds)) for name, seconds in times.items()}
    return GazetteerBench(len(phrases), tokens, len(corpus["word"].strings), len(found.start), covered, here, **made)


def _read(text: bytes) -> Corpus:
    return parse_conll(text, columns=["word"])


def _built(phrases: list[str], corpus: Corpus) -> PhraseList:
    """What is made when first needed is made here, by looking at one sentence."""
    lists = gazetteer(phrases, "X", column="word")
    lists.on(corpus.slice(0, 1))
    return lists


class _Words:
    """Strings, the k-th of them drawn with a probability of about 1 / k."""

    def __init__(self, many: int, rng: np.random.Generator):
        self.rng = rng
        self.strings = [f"w{k:x}" for k in range(many)]
        self.below = np.cumsum(1.0 / np.arange(1, many + 1))

    def drawn(self, many: int) -> list[str]:
        ranks = np.searchsorted(self.below, self.rng.random(many) * self.below[-1])
        return [self.strings[k] for k in ranks.tolist()]

    def drawn_evenly(self, many: int) -> list[str]:
        return [self.strings[k] for k in self.rng.integers(0, len(self.strings), many).tolist()]


def _text(words: _Words, tokens: int) -> bytes:
    drawn = words.drawn(tokens)
    sentences = ("\n".join(drawn[a : a + _LENGTH]) for a in range(0, tokens, _LENGTH))
    return ("\n\n".join(sentences) + "\n").encode()


def _phrases(words: _Words, entries: int) -> list[str]:
    """Different ones. Single words are drawn evenly: hardly any list has `the` in it."""
    found: dict[str, None] = {}
    for _ in range(1000):
        lengths = words.rng.choice(np.arange(1, len(_SHARES) + 1), entries, p=_SHARES)
        drawn, at = words.drawn(int(lengths.sum())), np.append(0, np.cumsum(lengths)).tolist()
        single = iter(words.drawn_evenly(int((lengths == 1).sum())))
        for k, length in enumerate(lengths.tolist()):
            found[next(single) if length == 1 else " ".join(drawn[at[k] : at[k + 1]])] = None
        if len(found) >= entries:
            return list(found)[:entries]
    raise SettingError(f"{entries:,} different phrases of {len(words.strings):,} words are not found; ask for fewer")
