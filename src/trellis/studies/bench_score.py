"""`trellis bench score`: segments counted, against seqeval, which is asked for the same number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np

from trellis.corpus import Column
from trellis.errors import SettingError
from trellis.metrics import compare
from trellis.studies.clock import Times, timed
from trellis.studies.machine import machine

Say = Callable[[str], None]

_TYPES = ("NP", "VP", "PP", "ADVP")
_LENGTH = 25  # tokens of a sentence
_DAMAGED = 0.05  # share of the tokens that get another label


@dataclass(frozen=True)
class ScoreBench:
    """F1 of random labels by both; `columns`: Trellis from labels as a reader has them, numbers and a table of
    strings; `lists`: from lists of strings, which is what seqeval takes."""

    scheme: str
    tokens: int
    machine: dict[str, Any]
    f1: float
    peers_f1: float
    columns: Times
    lists: Times
    peer: Times

    @property
    def ratios(self) -> dict[str, float]:
        """seqeval's time over Trellis', by the medians."""
        return {name: self.peer.median / getattr(self, name).median for name in ("columns", "lists")}

    def as_json(self) -> dict[str, Any]:
        """The JSON object of `trellis bench score --json`."""
        return {
            "benchmark": "score",
            "scheme": self.scheme,
            "tokens": self.tokens,
            "machine": self.machine,
            "f1": {"trellis": self.f1, "seqeval": self.peers_f1},
            "columns": self.columns.as_json(),
            "lists": self.lists.as_json(),
            "seqeval": self.peer.as_json(),
            "ratio": self.ratios,
        }


def bench_score(tokens: int, scheme: str, repeat: int = 3, say: Say = lambda text: None) -> ScoreBench:
    """Both in turn, `repeat` rounds, on iob2 labels with some mistakes in them."""
    if tokens < 1 or repeat < 1:
        raise SettingError(f"tokens is {tokens} and repeat {repeat}; expected at least 1 of each")
    peers_f1 = _seqeval(scheme)
    here = machine()
    gold, predicted, names, offsets = _labels(tokens)
    rows = [[names[j] for j in ids.tolist()] for ids in (gold, predicted)]
    cuts = offsets.tolist()
    lists = [[row[a:b] for a, b in pairwise(cuts)] for row in rows]

    def by_columns() -> float:
        return _f1(Column(gold, names), Column(predicted, names), offsets, scheme)

    def by_lists() -> float:
        columns = [Column.of(label for sentence in side for label in sentence) for side in lists]
        lengths = np.cumsum([0, *map(len, lists[0])]).astype(np.int64)
        return _f1(columns[0], columns[1], lengths, scheme)

    times: dict[str, list[float]] = {"columns": [], "lists": [], "peer": []}
    found: dict[str, float] = {}
    for k in range(repeat):
        say(f"round {k + 1} of {repeat}")
        for name, work in (("columns", by_columns), ("lists", by_lists), ("peer", lambda: peers_f1(*lists))):
            found[name], seconds = timed(work)
            times[name].append(seconds)
    own, others, theirs = (Times(tuple(times[name])) for name in ("columns", "lists", "peer"))
    return ScoreBench(scheme, tokens, here, found["columns"], found["peer"], own, others, theirs)


def _f1(gold: Column, predicted: Column, offsets: Any, scheme: str) -> float:
    report = compare(gold, predicted, offsets, scheme, "iob2" if scheme == "strict" else None)
    assert report.f1 is not None
    return report.f1


def _labels(tokens: int) -> tuple[Any, Any, list[str], Any]:
    """Gold and predicted labels I32[tokens], their names, and offsets."""
    rng = np.random.default_rng(0)
    names = ["O", *(f"{prefix}-{kind}" for kind in _TYPES for prefix in "BI")]
    kinds = np.repeat(rng.integers(0, len(_TYPES), tokens), 3)[:tokens]
    place = np.resize([0, 1, 2], tokens)  # B I and one token that may be O
    gold = np.where(place == 0, 1 + 2 * kinds, np.where(place == 1, 2 + 2 * kinds, 0)).astype(np.int32)
    offsets = np.append(np.arange(0, tokens, _LENGTH), tokens).astype(np.int64)
    damaged = np.flatnonzero(rng.random(tokens) < _DAMAGED)
    predicted = gold.copy()
    predicted[damaged] = rng.integers(0, len(names), len(damaged))
    return gold, predicted, names, offsets


def _seqeval(scheme: str) -> Callable[[Any, Any], float]:
    """Its F1 in its default mode, or in its strict one."""
    try:
        metrics, schemes = import_module("seqeval.metrics"), import_module("seqeval.scheme")
    except ImportError:
        raise SettingError("the peer seqeval is not installed; pip install 'trellis[bench]'") from None
    more = {"mode": "strict", "scheme": schemes.IOB2} if scheme == "strict" else {}
    return lambda gold, predicted: float(metrics.f1_score(gold, predicted, **more))
