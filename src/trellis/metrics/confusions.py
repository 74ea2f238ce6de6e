"""Which labels are taken for which others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trellis.labels import check_packed

I64 = NDArray[np.int64]

TOP = 10
_WIDE = 12  # labels of a matrix that people can read
_OTHERS = "others"


@dataclass(frozen=True)
class Confused:
    """So many tokens that are `gold` have been predicted as `predicted`."""

    gold: str
    predicted: str
    count: int


@dataclass(frozen=True)
class Confusion:
    """`gold`, `predicted`: I64[pairs that occur], indices into `labels`; `count`: I64[pairs], tokens of each."""

    labels: tuple[str, ...]
    gold: I64
    predicted: I64
    count: I64

    @property
    def tokens(self) -> int:
        return int(self.count.sum())

    @property
    def errors(self) -> int:
        return int(self.count[self.gold != self.predicted].sum())

    @property
    def matrix(self) -> I64:
        """I64[labels, labels]: tokens by gold label (rows) and predicted one (columns)."""
        table = np.zeros((len(self.labels), len(self.labels)), np.int64)
        table[self.gold, self.predicted] = self.count
        return table

    def most(self, top: int | None = TOP) -> list[Confused]:
        """The most frequent confusions, at most `top` of them; of equal ones those of labels that come first."""
        wrong = np.flatnonzero(self.gold != self.predicted)
        wrong = wrong[np.argsort(-self.count[wrong], kind="stable")][:top]
        columns = (self.gold[wrong].tolist(), self.predicted[wrong].tolist(), self.count[wrong].tolist())
        return [Confused(self.labels[g], self.labels[p], n) for g, p, n in zip(*columns, strict=True)]

    def as_json(self, top: int | None = TOP) -> dict[str, Any]:
        return {"errors": self.errors, "most": [asdict(one) for one in self.most(top)]}

    def as_text(self, top: int | None = TOP) -> str:
        """The most frequent confusions, and a matrix of the labels in them; no final line break."""
        most = self.most(top)
        lines = [f"confusions: {self.errors} of {self.tokens} tokens have another label than the gold one"]
        if not most:
            return lines[0]
        width = max(len("gold"), *(len(one.gold) for one in most))
        lines.append(f"{'tokens':>9}  {'of errors':>9}  {'gold':<{width}}  predicted")
        for one in most:
            share = f"{100 * one.count / self.errors:.2f}%"
            lines.append(f"{one.count:9}  {share:>9}  {one.gold:<{width}}  {one.predicted}")
        return "\n".join([*lines, *self._table(most)])

    def _table(self, most: Sequence[Confused]) -> list[str]:
        """The lines of a matrix with those labels, the most frequently confused first, and all others as one."""
        names = list(dict.fromkeys(name for one in most for name in (one.gold, one.predicted)))[:_WIDE]
        number = {name: i for i, name in enumerate(names)}
        place = np.array([number.get(label, len(names)) for label in self.labels], np.int64)
        table = np.zeros((len(names) + 1, len(names) + 1), np.int64)
        np.add.at(table, (place[self.gold], place[self.predicted]), self.count)
        if table[-1].any() or table[:, -1].any():
            names.append(_OTHERS)
        cells = [[str(n) for n in row] for row in table[: len(names), : len(names)].tolist()]
        corner = "gold \\ predicted"
        left = max(map(len, [corner, *names]))
        width = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
        rows = [(corner, names), *zip(names, cells, strict=True)]
        return [
            f"{name:>{left}}  {'  '.join(f'{cell:>{w}}' for cell, w in zip(row, width, strict=True))}"
            for name, row in rows
        ]


def confusion(gold: ArrayLike, predicted: ArrayLike, labels: Sequence[str]) -> Confusion:
    """Counts tokens by gold and predicted label: int [tokens] each, both into the one list `labels`."""
    size = len(labels)
    right, _ = check_packed(gold, [0, np.size(gold)], size, name="gold")
    guess, _ = check_packed(predicted, [0, right.size], size, name="predicted")
    pairs, count = np.unique(right.astype(np.int64) * size + guess, return_counts=True)
    return Confusion(tuple(labels), pairs // max(1, size), pairs % max(1, size), count.astype(np.int64))
