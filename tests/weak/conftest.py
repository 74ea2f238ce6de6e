"""Votes to look at."""

from __future__ import annotations

import numpy as np
import pytest

from trellis.weak.space import Space
from trellis.weak.votes import Votes


@pytest.fixture(scope="session")
def segment_votes():
    """`segment_votes(seed, sentences=20, functions=3)`: noisy votes on segments of two types, and their gold labels."""
    return _segment_votes


def _segment_votes(seed, sentences=20, functions=3, links=0):
    rng = np.random.default_rng(seed)
    space = Space.of_types(["A", "B"])
    rows, cuts = [], [0]
    for _ in range(sentences):
        here = []
        while len(here) < rng.integers(1, 9):
            kind, length = rng.choice(["", "A", "B"], p=[0.6, 0.2, 0.2]), int(rng.integers(1, 4))
            here += ["O"] * length if not kind else [f"B-{kind}"] + [f"I-{kind}"] * (length - 1)
        rows += here
        cuts.append(len(rows))
    gold = np.array([space.index[label] for label in rows], np.int32)
    tokens = len(gold)
    values = np.full((tokens, functions), -1, np.int32)
    for j in range(functions):
        says = np.where(rng.random(tokens) < 0.75 + 0.05 * j, gold, rng.integers(0, 5, tokens))
        values[:, j] = np.where((says == 0) & (rng.random(tokens) < 0.8), -1, says)
    joined = np.array([label.startswith("I") for label in rows])
    said = np.where(rng.random((tokens, links)) < 0.9, joined[:, None], ~joined[:, None])
    pairs = np.where(rng.random((tokens, links)) < 0.5, said, -1).astype(np.int8)
    names, linkers = tuple(f"f{j}" for j in range(functions)), tuple(f"l{i}" for i in range(links))
    votes = Votes(
        values,
        names,
        space,
        np.array(cuts, np.int64),
        pairs.reshape(tokens, links),
        linkers,
    )
    return votes, gold
