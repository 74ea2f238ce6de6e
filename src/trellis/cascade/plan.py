"""What kernels read: the lower stages' probable labels, and templates in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trellis.labels import first_tokens
from trellis.lattice.entries import ArcEntries, NodeEntries, no_arcs

Array = Any
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class Beliefs:
    """What an upper stage sees of a lower one: which labels tokens have, how probable each is and, where they are asked
    for and the lower stage has such, the same of transitions. `labels`: how many there are in all."""

    labels: int
    nodes: NodeEntries
    arcs: ArcEntries | None = None

    @property
    def tokens(self) -> int:
        return len(self.nodes.start) - 1

    def part(self, first: int, last: int) -> Beliefs:
        """Tokens first..last."""
        return Beliefs(
            self.labels,
            NodeEntries(*_part(self.nodes, first, last)),
            None if self.arcs is None else ArcEntries(*_part(self.arcs, first, last)),
        )

    def renamed(self, number: I64, labels: int) -> Beliefs:
        """With other numbers for labels, I64[labels], of which there are so many; what has none (-1) is left out."""
        label = number[self.nodes.label].astype(np.int32)
        nodes = NodeEntries(*_kept(self.nodes.start, label >= 0, label, self.nodes.value, order=(label,)))
        if self.arcs is None:
            return Beliefs(labels, nodes)
        before, here = number[self.arcs.before].astype(np.int32), number[self.arcs.here].astype(np.int32)
        there = (before >= 0) & (here >= 0)
        return Beliefs(
            labels,
            nodes,
            ArcEntries(*_kept(self.arcs.start, there, before, here, self.arcs.value, order=(here, before))),
        )


def _kept(start: I64, there: NDArray[np.bool_], *columns: Array, order: tuple[Array, ...]) -> list[Array]:
    """Entries that are there, those of a token ordered by `order`, the last of it first of all."""
    token = np.repeat(np.arange(len(start) - 1), np.diff(start))
    rising = np.lexsort((*order, token))
    rising = rising[there[rising]]
    before = np.concatenate([[0], np.cumsum(there)]).astype(np.int64)
    return [before[start], *(column[rising] for column in columns)]


def _part(entries: NodeEntries | ArcEntries, first: int, last: int) -> list[Array]:
    a, b = int(entries.start[first]), int(entries.start[last])
    return [entries.start[first : last + 1] - a, *(column[a:b] for column in entries[1:])]


def joined(parts: Sequence[Beliefs]) -> Beliefs:
    """Runs of tokens one after the other; at least one."""
    nodes = NodeEntries(*_joined([part.nodes for part in parts]))
    arcs = [part.arcs for part in parts if part.arcs is not None]
    return Beliefs(parts[0].labels, nodes, ArcEntries(*_joined(arcs)) if len(arcs) == len(parts) else None)


def _joined(parts: Sequence[Any]) -> list[Array]:
    bases = np.cumsum([0, *(int(part.start[-1]) for part in parts)])
    starts = [part.start[1:] + base for part, base in zip(parts, bases.tolist(), strict=False)]
    columns = zip(*(part[1:] for part in parts), strict=True)
    return [np.concatenate([[0], *starts]).astype(np.int64), *map(np.concatenate, columns)]


class Lower(NamedTuple):
    """The listed nodes and arcs of the stages that are read. Stage s has the nodes of token t at
    node_start[s, t]:node_start[s, t + 1], arcs likewise; `chained[s]`: whether its arcs are listed."""

    node_start: Array  # I64[stages, tokens + 1]
    label: Array  # I32[nodes]
    node_p: Array  # F64[nodes]
    arc_start: Array  # I64[stages, tokens + 1]
    before: Array  # I32[arcs]
    here: Array  # I32[arcs]
    arc_p: Array  # F64[arcs]
    chained: Array  # BOOL[stages]
    labels: Array  # I64[stages]: how many labels there are; places beyond the ends are numbered behind them


class Plan(NamedTuple):
    """Templates in numbers. Template n has the parts first[n]:first[n + 1]. A part's label becomes a digit by its
    table: label j has digit[table_start[table + j]:...], with a weight each; digits times `radix` add up to a code.
    Codes of a group are sorted, codes[group_start[g]:group_start[g + 1]], and their places are attributes."""

    first: Array  # I64[templates + 1]
    group: Array  # I64[templates]
    context: Array  # I64[templates]: which column of the context is read, -1 for none
    context_radix: Array  # I64[templates]
    stage: Array  # I64[parts]
    row: Array  # I64[parts]
    radix: Array  # I64[parts]
    table: Array  # I64[parts]
    pair: Array  # BOOL[parts]: tables of two neighbours, label i * labels + j, and behind these j at first tokens
    table_start: Array  # I64[...]
    digit: Array  # I64[...]
    weight: Array  # F64[...]
    group_start: Array  # I64[groups + 1]
    codes: Array  # I64[attributes]
    reach: int


def lower_of(beliefs: Sequence[Beliefs]) -> Lower:
    """Several stages beside each other."""
    arcs = [one.arcs if one.arcs is not None else no_arcs(one.tokens) for one in beliefs]

    def starts(entries: Sequence[Any]) -> I64:
        bases = np.cumsum([0, *(len(one.value) for one in entries)])
        return np.stack([one.start + base for one, base in zip(entries, bases.tolist(), strict=False)])

    nodes = [one.nodes for one in beliefs]
    return Lower(
        starts(nodes),
        np.concatenate([one.label for one in nodes]),
        np.concatenate([one.value for one in nodes]),
        starts(arcs),
        np.concatenate([one.before for one in arcs]),
        np.concatenate([one.here for one in arcs]),
        np.concatenate([one.value for one in arcs]),
        np.array([one.arcs is not None for one in beliefs]),
        np.array([one.labels for one in beliefs]),
    )


def gold_beliefs(gold: NDArray[np.int32], labels: int, offsets: I64, known: NDArray[np.bool_] | None = None) -> Beliefs:
    """Of one path a sentence, I32[tokens]; `known: BOOL[tokens]`, where it is known, if not everywhere."""
    there = np.ones(len(gold), bool) if known is None else known
    start = np.concatenate([[0], np.cumsum(there)]).astype(np.int64)
    nodes = NodeEntries(start, gold[there].astype(np.int32), np.ones(int(there.sum())))
    follows = there & ~first_tokens(offsets)
    follows[1:] &= there[:-1]
    start = np.concatenate([[0], np.cumsum(follows)]).astype(np.int64)
    at = np.flatnonzero(follows)
    arcs = ArcEntries(start, gold[at - 1].astype(np.int32), gold[at].astype(np.int32), np.ones(len(at)))
    return Beliefs(labels, nodes, arcs)
