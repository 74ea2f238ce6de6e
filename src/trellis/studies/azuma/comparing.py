"""Whether systems differ, by what they predicted: paired bootstrap of F1 and of accuracy, McNemar's test of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import Any

from trellis.corpus import Corpus, read_conll
from trellis.metrics.significance import counts_by_sentence, mcnemar, paired_bootstrap
from trellis.studies.azuma.cases import Case
from trellis.studies.azuma.runs import PREDICTIONS

BETWEEN = " / "
_COLUMNS = ("gold-pos", "pos", "gold-chunk", "chunk")


def compared(cases: Sequence[Case], folder: Path) -> dict[str, Any]:
    """Of each two of the cases, both over parts of speech and chunks."""
    there = {case: _predicted(case, folder) for case in cases}
    found = {}
    for first, second in combinations(cases, 2):
        one, other = there[first], there[second]
        if one is None or other is None or one.tokens != other.tokens:
            continue
        tests = {}
        for target, of_segments in (("pos", False), ("chunk", True)):
            gold = one[f"gold-{target}"]
            before, after = (counts_by_sentence(gold, c[target], one.offsets, of_segments) for c in (one, other))
            tests[target] = {
                **asdict(paired_bootstrap(before, after)),
                "mcnemar": asdict(mcnemar(gold, one[target], other[target])),
            }
        found[between(first, second)] = tests
    return found


def between(first: Case, second: Case) -> str:
    return f"{first.key}{BETWEEN}{second.key}"


def _predicted(case: Case, folder: Path) -> Corpus | None:
    path = folder / PREDICTIONS / f"{case.key}.txt"
    return read_conll(path, columns=list(_COLUMNS)) if path.exists() else None
