"""Words that the training data has, and words that it has not: how good a labelling is on either."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trellis.corpus import Column
from trellis.errors import DataError
from trellis.labels import check_packed
from trellis.metrics.reading import are_segments, both_read
from trellis.metrics.tally import segment_matches

BOOL = NDArray[np.bool_]


@dataclass(frozen=True)
class WordScore:
    """`tokens` and the share of them that is right; `segments` and the share of these that is found, None where the
    labels are no segment encoding. A share of nothing is 0.0."""

    tokens: int
    accuracy: float
    segments: int | None = None
    recall: float | None = None


@dataclass(frozen=True)
class ByKnowledge:
    """`known`: tokens that are known words, and gold segments of such alone; `unknown`: the other tokens, and gold
    segments with one of them."""

    known: WordScore
    unknown: WordScore

    def as_json(self) -> dict[str, Any]:
        return {"known": asdict(self.known), "unknown": asdict(self.unknown)}

    def as_text(self) -> str:
        """A line for each in percent; no final line break."""
        tokens = self.known.tokens + self.unknown.tokens
        width = len(str(tokens))
        lines = []
        for name, one, which in (
            ("known", self.known, "of known words alone"),
            ("unknown", self.unknown, "with an unknown word"),
        ):
            share = 100 * one.tokens / tokens if tokens else 0.0
            line = f"{name:>7} words: {one.tokens:{width}} tokens, {share:6.2f}%; accuracy: {100 * one.accuracy:6.2f}%"
            if one.recall is not None:
                line += f"; recall: {100 * one.recall:6.2f}% of {one.segments} phrases {which}"
            lines.append(line)
        return "\n".join(lines)


def known_words(words: Column, training: Iterable[str]) -> BOOL:
    """BOOL[tokens]: which words are among those of the training data (a column's `strings`, say)."""
    there = training if isinstance(training, set | frozenset | dict) else set(training)
    return np.array([word in there for word in words.strings], np.bool_)[words.ids]


def by_knowledge(
    gold: ArrayLike,
    predicted: ArrayLike,
    known: ArrayLike,
    labels: Sequence[str],
    offsets: ArrayLike,
    scheme: str = "conlleval",
    encoding: str | None = None,
) -> ByKnowledge:
    """Scores on known words and on unknown ones.

    gold, predicted: int [tokens], both into the one list `labels`; known: BOOL[tokens]; offsets: int64 [sentences +
    1]. `scheme` and `encoding` are as for `evaluate`.
    """
    right, bounds = check_packed(gold, offsets, len(labels), name="gold")
    guess, _ = check_packed(predicted, bounds, len(labels), name="predicted")
    marks = np.asarray(known)
    if marks.shape != right.shape or (marks.dtype.kind != "b" and marks.size):
        raise DataError(
            f"known has shape {marks.shape} and type {marks.dtype}: expected a boolean for each of {right.size} tokens"
        )
    marks = marks.astype(np.bool_, copy=False)
    same = right == guess
    parts = [(int(np.count_nonzero(each)), int(np.count_nonzero(same & each))) for each in (marks, ~marks)]
    found: list[tuple[int, int] | None] = [None, None]
    if are_segments(labels, encoding):
        first, second = both_read(right, guess, labels, bounds, scheme, encoding)
        correct = segment_matches(first, second)
        strange = np.concatenate([[0], np.cumsum(~marks)])
        alone = strange[first.end] == strange[first.start]
        found = [(int(np.count_nonzero(each)), int(np.count_nonzero(correct & each))) for each in (alone, ~alone)]
    return ByKnowledge(*(_score(*pair) for pair in zip(parts, found, strict=True)))


def _score(tokens: tuple[int, int], segments: tuple[int, int] | None) -> WordScore:
    """From (all, right) of tokens and of segments."""
    if segments is None:
        return WordScore(tokens[0], tokens[1] / max(1, tokens[0]))
    return WordScore(tokens[0], tokens[1] / max(1, tokens[0]), segments[0], segments[1] / max(1, segments[0]))
