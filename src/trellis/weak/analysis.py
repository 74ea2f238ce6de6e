"""What labeling functions do, one by one and together: how often they vote, agree, and are right.

The numbers are those of Snorkel's analysis. Segments are compared by types (IO), so that B-X against I-X is neither a
conflict nor a mistake; how well borders are found is what span precision, recall and F1 are for. There a span is right
when a gold span has the same borders and its type, or for a coarse span one of the types it stands for; recall is of
all gold spans, also of types that the function never votes for.

Unknown gold labels (-1) are left out, and with them the voted spans that touch them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError
from trellis.labels import first_tokens, read_segments, segment_types, split
from trellis.weak.conflicts import Clashes, Conflict, check_gold, gold_in_io, spoken
from trellis.weak.reports import Analysis, FunctionReport, LinkerReport
from trellis.weak.space import Space
from trellis.weak.votes import ABSTAINS, Votes

BOOL = NDArray[np.bool_]
F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

_BLOCK = 1 << 16  # tokens whose probabilities are looked at together; bounds the memory


def analyze(
    votes: Votes,
    gold: I32 | None = None,
    probabilities: F64 | None = None,
    examples: Sequence[Conflict] = (),
    learnt_of: Collection[str] | None = None,
) -> Analysis:
    """What every function does and how well.

    gold: I32[tokens] into votes.labels, -1 where unknown. probabilities: those a label model finds, F64[tokens, labels]
    of votes.labels or of votes.in_io().labels. examples: what `conflict_examples` found, to be shown below. learnt_of:
    the functions that the label model knows; all if None.
    """
    by_type = votes.in_io()
    truth = None if gold is None else check_gold(gold, votes)
    types = None if truth is None else gold_in_io(truth, votes)
    learned = _learned(by_type, None if probabilities is None else _in_io(probabilities, votes))
    known = votes.functions if learnt_of is None else learnt_of
    clashes = Clashes.of_votes(by_type)
    overlapping = clashes.counts @ (clashes.rows != ABSTAINS)
    conflicting = clashes.counts @ clashes.clashing
    said, spans = spoken(by_type.space), _Spans.of(votes, truth)
    whole = max(1, votes.tokens)
    reports = []
    for j, name in enumerate(votes.functions):
        values = by_type.values[:, j]
        used = np.bincount(values + 1, minlength=len(said) + 1)[1:]
        many = int(used.sum())
        reports.append(
            FunctionReport(
                name,
                tuple(said[k] for k in np.flatnonzero(used).tolist()),
                many,
                many / whole,
                int(overlapping[j]) / whole,
                int(conflicting[j]) / whole,
                **_judged(values, types, by_type.space),
                learned_accuracy=learned[j] / many if learned and many and name in known else None,
                **({} if spans is None else spans.scores(votes.values[:, j])),
            )
        )
    return Analysis(
        tuple(reports),
        tuple(_linker(name, votes.links[:, j], votes, truth) for j, name in enumerate(votes.linkers)),
        votes.tokens,
        len(votes),
        int(np.count_nonzero(votes.fired)) / whole,
        len(clashes.tokens) / whole,
        int(clashes.counts[clashes.clashing.any(axis=1)].sum()) / whole,
        clashes.pairs,
        tuple(examples),
        "item" if votes.space.encoding is None and len(votes) == votes.tokens else "token",
    )


def _judged(values: I32, gold: I32 | None, space: Space) -> dict[str, Any]:
    """Correct and incorrect votes among those whose gold label is known; both I32[tokens] by types."""
    if gold is None:
        return {}
    at = np.flatnonzero((values != ABSTAINS) & (gold >= 0))
    correct = int(np.count_nonzero(space.admits[values[at], gold[at]]))
    return _accuracy(correct, len(at))


def _accuracy(correct: int, known: int) -> dict[str, Any]:
    return {"correct": correct, "incorrect": known - correct, "accuracy": _fraction(correct, known)}


def _in_io(probabilities: F64, votes: Votes) -> F64:
    """By types: F64[tokens, labels of votes.in_io()]; what they are of is told by their shape."""
    by_type = votes.in_io()
    found = np.asarray(probabilities)
    if found.shape not in ((votes.tokens, len(votes.labels)), (votes.tokens, len(by_type.labels))):
        raise DataError(
            f"probabilities of the shape {found.shape}; expected {votes.tokens} tokens by {len(votes.labels)} labels "
            f"({', '.join(votes.labels[:3])} ...)"
        )
    if not np.isfinite(found).all():
        raise DataError("some probabilities are no finite numbers; expected numbers from 0 to 1")
    if found.shape[1] == len(by_type.labels):
        return found
    every = np.arange(len(votes.labels), dtype=np.int32)
    kinds = Votes(every[:, None], ("",), votes.space, np.array([0, len(every)])).in_io().values[:, 0]
    return found @ np.eye(len(by_type.labels))[kinds]


def _learned(votes: Votes, probabilities: F64 | None) -> list[float] | None:
    """For each function the sum over its votes of the probability of what they admit."""
    if probabilities is None:
        return None
    sums = np.zeros(len(votes.functions))
    table = votes.space.admits.T.astype(np.float64)
    for start in range(0, votes.tokens, _BLOCK):
        block = slice(start, start + _BLOCK)
        right = probabilities[block] @ table
        right = np.concatenate([right, np.zeros((len(right), 1))], axis=1)  # where -1 finds nothing
        for j in range(len(sums)):
            sums[j] += right[np.arange(len(right)), votes.values[block, j]].sum()
    return [float(total) for total in sums]


@dataclass(frozen=True)
class _Spans:
    """The gold spans, to look spans up in by their starts: `end`, `kind I64[tokens]`, -1 where none starts; `many` of
    them, all in `known BOOL[tokens]`. `members BOOL[types, types]`: what a voted type may be. None: no gold labels."""

    names: tuple[str, ...]
    offsets: I64
    members: BOOL
    gold: tuple[I64, I64, int, BOOL] | None

    @classmethod
    def of(cls, votes: Votes, gold: I32 | None) -> _Spans | None:
        if votes.space.encoding is None:
            return None
        kinds = segment_types(votes.names)
        members = np.eye(len(kinds), dtype=np.bool_)
        for name, some in votes.space.coarse.items():
            own = kinds.index(split(name)[1])
            members[own] = False
            members[own, [kinds.index(split(one)[1]) for one in some]] = True
        if gold is None:
            return cls(votes.names, votes.offsets, members, None)
        start, end, kind = read_segments(np.maximum(gold, 0), votes.names, votes.offsets)
        ends, of = np.full((2, votes.tokens), -1, np.int64)
        ends[start], of[start] = end, kind
        return cls(votes.names, votes.offsets, members, (ends, of, len(start), gold >= 0))

    def scores(self, values: I32) -> dict[str, Any]:
        """Of a function's votes I32[tokens], read as O where it abstains."""
        start, end, kind = read_segments(np.maximum(values, 0), self.names, self.offsets)
        if self.gold is None:
            return {"spans": len(start)}
        ends, of, many, known = self.gold
        unknown = np.append(0, np.cumsum(~known))
        seen = np.flatnonzero(unknown[end] == unknown[start])
        correct = int(np.count_nonzero((ends[start] == end) & self.members[kind, of[start]]))
        precision, recall = _fraction(correct, len(seen)), _fraction(correct, many)
        f1 = None if precision is None or recall is None else 2 * correct / (len(seen) + many)
        return {"spans": len(start), "precision": precision, "recall": recall, "f1": f1}


def _linker(name: str, links: NDArray[np.int8], votes: Votes, gold: I32 | None) -> LinkerReport:
    together = np.flatnonzero(links == 1)
    many = int(np.count_nonzero(links != ABSTAINS))
    coverage, share = many / max(1, votes.tokens), _fraction(len(together), many)
    if gold is None:
        return LinkerReport(name, many, coverage, share)
    first = first_tokens(votes.offsets)
    at = together[(gold[together] >= 0) & (first[together] | (gold[together - 1] >= 0))]
    correct = int(np.count_nonzero(_goes_on(gold, votes, first)[at]))
    return LinkerReport(name, many, coverage, share, **_accuracy(correct, len(at)))


def _goes_on(gold: I32, votes: Votes, first: BOOL) -> BOOL:
    """BOOL[tokens]: whether a token belongs to the same gold segment as the one before it."""
    if votes.space.encoding is None:
        same: BOOL = np.append(False, gold[1:] == gold[:-1])[: len(gold)]
        return ~first & same
    start, end, _ = read_segments(np.maximum(gold, 0), votes.labels, votes.offsets)
    depth = np.zeros(votes.tokens + 1, np.int64)
    depth[start] += 1
    depth[end] -= 1
    inside: BOOL = np.cumsum(depth)[:-1] > 0
    inside[start] = False
    return inside


def _fraction(part: int, whole: int) -> float | None:
    return part / whole if whole else None
