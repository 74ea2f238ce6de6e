"""Scores of items that are labelled as a whole: accuracy, and how well each label is told from the others."""

from __future__ import annotations

import numpy as np

from trellis.corpus import Column
from trellis.metrics.compare import same_table
from trellis.metrics.report import Report, TypeScore, percentages, scores_of
from trellis.metrics.segments import Counts


class WholesReport(Report):
    """`by_type` has the labels; precision, recall and f1 of all of them are None, as all three would be the accuracy.
    Labels are no segments here, whatever they look like."""

    @property
    def macro(self) -> dict[str, float] | None:
        """Means of precision, recall and f1 over the labels, each counted alike."""
        names, scores = ("precision", "recall", "f1"), self.by_type.values()
        return {name: sum(getattr(one, name) for one in scores) / max(1, len(scores)) for name in names}

    def as_text(self) -> str:
        """Accuracy and a line for each label, in percent with two decimals; no final line break."""
        lines = [f"processed {self.tokens} items.", f"accuracy: {100 * self.accuracy:6.2f}%"]
        for name, one in self.by_type.items():
            lines.append(f"{name:>17}: {percentages(Counts(one.gold, one.predicted, one.correct))}  {one.predicted}")
        return "\n".join(lines)


def compare_wholes(gold: Column, predicted: Column) -> Report:
    """Scores predicted labels against gold ones, one for each item; labels in the order of their names."""
    (right, guess), names = same_table(gold, predicted)
    counts = {
        name: Counts(int((right == k).sum()), int((guess == k).sum()), int(((right == k) & (guess == k)).sum()))
        for k, name in sorted(enumerate(names), key=lambda one: one[1])
    }
    by_label = {name: TypeScore(*scores_of(row), *row) for name, row in counts.items() if row.gold or row.predicted}
    many, correct = len(right), int(np.count_nonzero(right == guess))
    accuracy = correct / many if many else 0.0
    return WholesReport(accuracy, None, None, None, by_label, many, many, correct, "labels")
