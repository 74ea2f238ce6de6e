"""The scores of a labelling against the gold labels, as numbers, as JSON and as conlleval's table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trellis.labels import check_packed
from trellis.metrics.reading import are_segments, encoding_for
from trellis.metrics.segments import Counts, segment_counts


@dataclass(frozen=True)
class TypeScore:
    """The scores of one segment type; fractions and counts of segments."""

    precision: float
    recall: float
    f1: float
    gold: int
    predicted: int
    correct: int


@dataclass(frozen=True)
class Report:
    """Fractions from 0 to 1; precision, recall and f1 are None when the labels are no segment encoding.

    A fraction whose denominator is zero is 0.0, as conlleval has it. `scheme` is how segments were counted, `encoding`
    that of the strict one.
    """

    accuracy: float
    precision: float | None
    recall: float | None
    f1: float | None
    by_type: Mapping[str, TypeScore]
    tokens: int
    sentences: int
    correct_tokens: int
    scheme: str = "conlleval"
    encoding: str | None = None

    @property
    def counted(self) -> str:
        """The scheme for people, with the encoding where there is one."""
        return self.scheme if self.encoding is None else f"{self.scheme}, {self.encoding}"

    @property
    def macro(self) -> dict[str, float] | None:
        """Means of precision, recall and f1 over the types, each counted alike; None where there are no segments."""
        if self.precision is None:
            return None
        names, scores = ("precision", "recall", "f1"), self.by_type.values()
        return {name: sum(getattr(one, name) for one in scores) / max(1, len(scores)) for name in names}

    @property
    def headline(self) -> float:
        """The one number: F1 where the labels encode segments, else accuracy."""
        return self.accuracy if self.f1 is None else self.f1

    def as_json(self) -> dict[str, Any]:
        """Plain dicts, strings and numbers, with the keys that scripts rely on (DESIGN section 4)."""
        return {
            "accuracy": self.accuracy,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "by_type": {name: asdict(score) for name, score in self.by_type.items()},
            "tokens": self.tokens,
            "sentences": self.sentences,
            "scheme": self.scheme,
            "encoding": self.encoding,
            "macro": self.macro,
        }

    def as_text(self) -> str:
        """conlleval's table, in percent with two decimals, and the counting scheme; no final line break."""
        accuracy = f"accuracy: {_fraction(self.correct_tokens, self.tokens, 100):6.2f}%"
        if self.precision is None:
            return (
                f"processed {self.tokens} tokens in {self.sentences} sentences.\n{accuracy}\n"
                "the labels are no segment encoding: no precision, recall and FB1"
            )
        counts = {name: Counts(s.gold, s.predicted, s.correct) for name, s in self.by_type.items()}
        total = _total(counts.values())
        lines = [
            f"processed {self.tokens} tokens with {total.gold} phrases; "
            f"found: {total.predicted} phrases; correct: {total.correct}.",
            f"{accuracy}; {percentages(total)}",
        ]
        lines += [f"{name:>17}: {percentages(row)}  {row.predicted}" for name, row in counts.items()]
        return "\n".join([*lines, f"counting scheme: {self.counted}"])


def evaluate(
    gold: ArrayLike,
    predicted: ArrayLike,
    labels: Sequence[str],
    offsets: ArrayLike,
    scheme: str = "conlleval",
    encoding: str | None = None,
) -> Report:
    """Score predicted labels against gold ones.

    gold, predicted: int [tokens], both into the one list `labels`; offsets: int64 [sentences + 1]. `scheme` is
    "conlleval", which reads every sequence, or "strict": only segments count that are well-formed in `encoding`, that
    of the gold labels if it is not named.
    """
    right, bounds = check_packed(gold, offsets, len(labels), name="gold")
    guess, _ = check_packed(predicted, bounds, len(labels), name="predicted")
    correct = int(np.count_nonzero(right == guess))
    by_type: dict[str, TypeScore] = {}
    precision = recall = f1 = None
    encoding = encoding_for(scheme, encoding, right, labels, bounds)
    if are_segments(labels, encoding):
        counts = segment_counts(right, guess, labels, bounds, scheme, encoding)
        by_type = {name: TypeScore(*scores_of(row), *row) for name, row in counts.items()}
        precision, recall, f1 = scores_of(_total(counts.values()))
    return Report(
        accuracy=_fraction(correct, right.size),
        precision=precision,
        recall=recall,
        f1=f1,
        by_type=by_type,
        tokens=right.size,
        sentences=bounds.size - 1,
        correct_tokens=correct,
        scheme=scheme,
        encoding=encoding,
    )


def of_counts(counts: Mapping[str, Counts], sentences: int) -> Report:
    """From counts of segments by type, where all that there is are segments: these are the tokens, too."""
    total = _total(counts.values())
    precision, recall, f1 = scores_of(total)
    by_type = {name: TypeScore(*scores_of(row), *row) for name, row in counts.items()}
    return Report(recall, precision, recall, f1, by_type, total.gold, sentences, total.correct, "spans")


def _total(counts: Iterable[Counts]) -> Counts:
    rows = list(counts)
    return Counts(*(sum(row[i] for row in rows) for i in range(3)))


def _fraction(part: int, whole: int, scale: int = 1) -> float:
    return scale * part / whole if whole else 0.0


def scores_of(counts: Counts, scale: int = 1) -> tuple[float, float, float]:
    """(precision, recall, f1) times scale, multiplied in conlleval's order so that halves round alike."""
    precision = _fraction(counts.correct, counts.predicted, scale)
    recall = _fraction(counts.correct, counts.gold, scale)
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return precision, recall, f1


def percentages(counts: Counts) -> str:
    """The three as people read them."""
    precision, recall, f1 = scores_of(counts, scale=100)
    return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {f1:6.2f}"
