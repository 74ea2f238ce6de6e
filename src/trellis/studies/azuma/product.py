"""One CRF over product labels: every pair of a part of speech and a phrase label that occurs is a label.

(What the paper wished to compare with: joint learning of both.) There are hundreds of such labels; those that are
improbable by themselves are pruned.
"""

from __future__ import annotations

from typing import Any

from trellis.corpus import Column, Corpus
from trellis.models import CRF
from trellis.studies.azuma.systems import CHUNK_LEFT_OUT

BETWEEN = "\u241f"  # a sign that no label has
BOTH = "pos+chunk"


def with_product(corpus: Corpus) -> Corpus:
    """With a column of both labels."""
    pairs = zip(corpus["pos"].values(), corpus["chunk"].values(), strict=True)
    return corpus.with_column(BOTH, Column.of(BETWEEN.join(pair) for pair in pairs))


def product_model(tol: float, max_iter: int, threads: int | None) -> CRF:
    """Table 1's features for both at once."""
    return CRF(BOTH, CHUNK_LEFT_OUT, l2=1.0, tol=tol, max_iter=max_iter, prune=1e-3, threads=threads)


def parted(column: Column) -> dict[str, Column]:
    """A column of both labels as one of each."""
    sides: list[Any] = [string.split(BETWEEN) for string in column.strings]
    return {target: Column.of(sides[k][n] for k in column.ids.tolist()) for n, target in enumerate(("pos", "chunk"))}
