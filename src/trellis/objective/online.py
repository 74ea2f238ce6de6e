"""A plain shard as update rules see it: tokens and weights where compiled passes find them.

A rule says which vectors, each as long as theta, it changes on its way over the sentences; the shard takes its own part
of them out, laid out for the pass, and puts it back. A rule may also have memory for every token or sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from trellis.labels import first_tokens
from trellis.objective.kernels.places import Tokens, Vector
from trellis.objective.plain import PlainShard
from trellis.objective.shard import BLOCK
from trellis.rows import zero_rows
from trellis.scoring.kernels import put, take
from trellis.scoring.occurrences import Occurrences

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

FOUR = 4  # sentences that go in step
LARGEST = 1e4  # value of an attribute, for rules with probabilities: with larger ones a step may lead anywhere
_LARGEST = 1e50  # for any rule: squares of larger ones are no numbers


@dataclass(frozen=True)
class Ran:
    """What a rule counted on its way, in numbers that are added up over shards. All weights, also those that the shard
    does not have, are to be multiplied by `kept`."""

    tally: tuple[float, ...]
    kept: float = 1.0


class Rule(Protocol):
    """How sentences change weights. `in_fours`: four sentences of about the same length make one update. `stores`: the
    shape of each store by what its axes count: the first "tokens", "sentences" or "fours", others "labels", "width" (of
    a vector of labels), "pairs" (of labels) or "one"."""

    in_fours: ClassVar[bool]
    stores: ClassVar[tuple[tuple[str, ...], ...]]

    def run(self, shard: OnlineShard, order: I64, vectors: Sequence[Vector], stores: Sequence[Any], done: int) -> Ran:
        """Sentences (or fours, by number) in this order; `done`: how many there were before in the epoch. `stores`:
        memory for the shard's tokens or sentences."""
        ...


class OnlineShard:
    """`sentences: I64[...]`, those that have tokens; `fours: I64[fours, 4]`, the same by length, -1 for none."""

    def __init__(self, shard: PlainShard):
        self.shard = shard
        scoring, layout, at = shard.scoring, shard.scoring.layout, shard.occurrences
        lengths = np.diff(shard.offsets)
        self.sentences = np.flatnonzero(lengths > 0)
        by_length = self.sentences[np.argsort(lengths[self.sentences], kind="stable")]
        self.fours = np.concatenate([by_length, np.full(-len(by_length) % FOUR, -1)]).reshape(-1, FOUR)
        self.seen = np.zeros((layout.labels, layout.labels), bool)
        self.seen[layout.source, layout.target] = True
        mask, nothing = scoring.mask(), np.zeros((1, scoring.width))
        nothing[0, layout.labels :] = -np.inf
        none = np.zeros(0, np.int32)
        nowhere = np.zeros(len(shard.gold) + 1, np.int64)
        arcs = (nowhere, none, np.zeros(0)) if shard.arcs is None else shard.arcs.at.arrays
        forbidden = np.zeros((0, layout.labels), bool) if shard.forbidden is None else shard.forbidden
        self.tokens = Tokens(
            shard.offsets, shard.gold, at.dense, at.row, at.row_value,
            at.sparse, at.pair, at.label, at.pair_value,
            mask, np.packbits(mask, axis=1, bitorder="little"), nothing, forbidden, *arcs,
            layout.arc_start, layout.arc_pair,
        )  # fmt: skip

    def taken(self, vectors: Sequence[F64]) -> list[Vector]:
        """The shard's part of each vector."""
        return [self._taken(vector, n) for n, vector in enumerate(vectors)]

    def put(self, parts: Sequence[Vector], vectors: Sequence[F64]) -> None:
        """The parts back into the vectors."""
        scoring, layout = self.shard.scoring, self.shard.scoring.layout
        for part, vector in zip(parts, vectors, strict=True):
            scoring.collect(part.rows, part.singles)
            part.singles[layout.pairs : layout.arcs_at] = part.transitions[layout.source, layout.target]
            put(part.singles, self.shard.index, vector)

    def count(self) -> F64:
        """How often the attribute of each weight occurs, or a transition is seen in the labels, F64[local]."""
        sums, layout = self.sums(without_values(self.shard.at)), self.shard.scoring.layout
        sums[layout.pairs : layout.arcs_at] = self.transitions()
        return sums

    def transitions(self) -> F64:
        """How often each transition is seen in the labels, F64[transitions]."""
        shard, layout = self.shard, self.shard.scoring.layout
        inner = np.flatnonzero(~first_tokens(shard.offsets))
        seen = np.zeros((layout.labels, layout.labels))
        np.add.at(seen, (shard.gold[inner - 1], shard.gold[inner]), 1.0)
        return np.asarray(seen[layout.source, layout.target])

    def squares(self) -> F64:
        """The squared values of the attribute of each weight, added up, F64[local]."""
        return self.sums(self.shard.squared)

    def sums(self, at: Occurrences) -> F64:
        """Values of the attribute of each weight, added up over tokens, F64[local]."""
        scoring, tokens = self.shard.scoring, len(self.shard.gold)
        rows, sums = zero_rows(scoring.rows_with(at), scoring.width), np.zeros(len(self.shard.index))
        ones = np.ones((min(tokens, BLOCK), scoring.width))
        for first in range(0, tokens, BLOCK):
            scoring.add_gradient(ones, at, first, min(first + BLOCK, tokens), rows, sums)
        scoring.collect(rows, sums, at)
        return sums

    def _taken(self, vector: F64, n: int) -> Vector:
        scoring, layout = self.shard.scoring, self.shard.scoring.layout
        space = self.shard.space
        singles = space.numbers(f"vector {n}", len(self.shard.index))
        rows = space.rows(f"vector {n} in rows", scoring.rows, scoring.width)
        take(vector, self.shard.index, singles)
        scoring.rows_of(singles, rows)
        transitions = layout.transition_matrix(singles[layout.pairs : layout.arcs_at])
        return Vector(rows, singles, transitions, singles[layout.arcs_at :], self.seen)


def without_values(at: Occurrences) -> Occurrences:
    """As if all of them were 1."""
    return replace(at, row_value=np.empty(0), pair_value=np.empty(0))


def _has_values_above(shard: Any, most: float) -> bool:
    at, arcs = shard.at, shard.arcs
    there = (at.row_value, at.pair_value, np.zeros(0) if arcs is None else arcs.at.values)
    return any(not float(np.abs(values).max(initial=0.0)) <= most for values in there)


def why_not_online(shards: Sequence[Any], marginals: bool) -> str | None:
    """What keeps update rules, or those that need marginals, from these shards; None for nothing."""
    if any(shard.imposed is not None or shard.ruled for shard in shards):
        return "constraints on paths"
    if not all(isinstance(shard, PlainShard) for shard in shards):
        return "a tag dictionary"
    if any(target.weights is not None for shard in shards for target in shard.targets):
        return "weights of sentences"
    if any(target.known is not None or target.soft is not None for shard in shards for target in shard.targets):
        return "labels that are known in part, or soft"
    if marginals and any(shard.arcs is not None for shard in shards):
        return "attributes on transitions"
    most = LARGEST if marginals else _LARGEST
    if any(_has_values_above(shard, most) for shard in shards):
        return f"feature values above {most:g} (scale them)"
    return None
