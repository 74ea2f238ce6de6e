"""What is in a column file, and what looks wrong with it: `trellis data check`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trellis.corpus.corpus import Corpus
from trellis.labels import ENCODINGS, detect, illegal, is_gappy
from trellis.labels.gap_rules import GAPPY

RARE = 5  # a label seen fewer times is hard to learn
_SHOWN = 5  # examples of each kind of finding


@dataclass(frozen=True)
class Overlap:
    """How a second corpus relates to the first; shares from 0 to 1."""

    sentences_seen: int
    sentences: int
    unknown_words: float
    labels_only_here: list[str]
    labels_missing: list[str]


@dataclass(frozen=True)
class Check:
    """What was found in one corpus. `illegal` counts labels that cannot follow the one before."""

    name: str
    sentences: int
    tokens: int
    longest: int
    distinct: dict[str, int]
    target: str
    labels: dict[str, int]
    encoding: str | None
    illegal: int
    illegal_at: list[str]
    rare: list[str]
    repeated: int
    overlap: Overlap | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain dicts and numbers."""
        out = dict(self.__dict__)
        out["overlap"] = None if self.overlap is None else dict(self.overlap.__dict__)
        return out

    def as_text(self) -> str:
        """For people: sections with a mark for good and for worth a look."""
        lines = [
            f"{self.name}: {self.sentences:,} sentences, {self.tokens:,} tokens, longest {self.longest}",
            "  columns: " + ", ".join(f"{name} ({count:,} distinct)" for name, count in self.distinct.items()),
            f"  labels of '{self.target}': {len(self.labels)}"
            + (f", encoding {self.encoding}" if self.encoding else ", no segment encoding"),
            "    "
            + "  ".join(f"{label} {count:,}" for label, count in list(self.labels.items())[:30])
            + ("  ..." if len(self.labels) > 30 else ""),
        ]
        if self.encoding is not None:
            lines.append(_line(not self.illegal, f"{self.illegal} illegal label transitions", self.illegal_at))
            lines += [f"      to repair them: {self._repair()}"] if self.illegal and self.encoding in ENCODINGS else []
        lines.append(_line(not self.rare, f"{len(self.rare)} labels seen fewer than {RARE} times", self.rare))
        lines.append(_line(not self.repeated, f"{self.repeated} sentences that occur more than once", []))
        if self.overlap is not None:
            over = self.overlap
            lines += [
                "  against the first file:",
                _line(
                    not over.sentences_seen,
                    f"{over.sentences_seen} of {over.sentences} sentences are in the first file too",
                    [],
                ),
                f"    {100 * over.unknown_words:.1f}% of the words are unknown there",
                _labels_line("this file", over.labels_only_here),
                _labels_line("the first file", over.labels_missing),
            ]
        return "\n".join(lines)

    def _repair(self) -> str:
        """The command that does it."""
        column = "" if self.target == list(self.distinct)[-1] else f" --column {self.target}"
        return f"trellis data convert {self.name} OUT{column} --to {self.encoding}"


def check_corpus(corpus: Corpus, target: str, first: Corpus | None = None) -> Check:
    """Looks at a corpus, and at what it shares with a first one. Words are the first column."""
    column = corpus[target].compact()
    counts = np.bincount(column.ids, minlength=len(column.strings))
    by_count = np.argsort(-counts, kind="stable").tolist()
    labels = {column.strings[i]: int(counts[i]) for i in by_count}
    encoding = detect(column.strings, column.ids, corpus.offsets) or (GAPPY if is_gappy(column.strings) else None)
    wrong = [] if encoding is None else illegal(column.strings, column.ids, corpus.offsets, encoding).tolist()
    keys = _sentence_keys(corpus)
    return Check(
        name=str(corpus.path or "corpus"),
        sentences=len(corpus),
        tokens=corpus.tokens,
        longest=int(np.diff(corpus.offsets).max(initial=0)),
        distinct={name: len(c.compact().strings) for name, c in corpus.columns.items()},
        target=target,
        labels=labels,
        encoding=encoding,
        illegal=len(wrong),
        illegal_at=[_illegal_at(corpus, target, t) for t in wrong[:100]],
        rare=[f"{label} ({count})" for label, count in labels.items() if count < RARE],
        repeated=len(keys) - len(set(keys)),
        overlap=None if first is None else _overlap(corpus, first, target, keys),
    )


def _overlap(corpus: Corpus, first: Corpus, target: str, keys: list[str]) -> Overlap:
    seen = set(_sentence_keys(first))
    words = _words(corpus)
    unknown = words.translated(_words(first).index) < 0
    here, there = set(corpus[target].compact().strings), set(first[target].compact().strings)
    return Overlap(
        sentences_seen=sum(key in seen for key in keys),
        sentences=len(keys),
        unknown_words=float(unknown.mean()) if len(unknown) else 0.0,
        labels_only_here=sorted(here - there),
        labels_missing=sorted(there - here),
    )


def _words(corpus: Corpus) -> Any:
    return next(iter(corpus.columns.values()))


def _sentence_keys(corpus: Corpus) -> list[str]:
    return [" ".join(words) for words in corpus.sentences(next(iter(corpus.columns)))]


def _illegal_at(corpus: Corpus, target: str, token: int) -> str:
    column = corpus[target]
    label = column.strings[column.ids[token]]
    before = "the sentence start" if token in corpus.offsets else column.strings[column.ids[token - 1]]
    at_end = ", at the sentence end" if token + 1 in corpus.offsets else ""
    return f"{corpus.place(token)}: {label} after {before}{at_end}"


def _line(good: bool, text: str, examples: list[str]) -> str:
    shown = "".join(f"\n      {example}" for example in examples[:_SHOWN])
    if len(examples) > _SHOWN:
        shown += f"\n      ... and {len(examples) - _SHOWN} more"
    return f"  {'ok  ' if good else 'look'} {text}{shown}"


def _labels_line(where: str, labels: list[str]) -> str:
    return _line(not labels, f"{len(labels)} labels only in {where}", labels)
