"""Small training data for update rules, and what they are made of, written plainly: feature counts of whole paths."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from trellis.engine import ThreadedObjective
from trellis.engine.online import Online
from trellis.features import Packed
from trellis.lattice import Allowed
from trellis.losses import find_loss
from trellis.objective import L2, Examples, cut_into_shards
from trellis.scoring import WeightLayout, observed_layout, with_observed_arcs

ATTRIBUTES, ARC_ATTRIBUTES = 9, 3


@dataclass
class Problem:
    layout: WeightLayout
    examples: Examples

    @property
    def size(self):
        return self.layout.size

    @property
    def sentences(self):
        return len(self.examples.offsets) - 1

    def shards(self, loss="log"):
        return cut_into_shards(self.layout, self.examples, find_loss(loss), plain=True)

    def online(self):
        return Online(self.shards(), self.size)

    def objective(self, loss="log", l2=1.0, l1=0.0, threads=1):
        return ThreadedObjective(self.shards(loss), self.size, L2(l2), threads, l1)

    def tokens_of(self, s):
        return range(self.examples.offsets[s], self.examples.offsets[s + 1])

    def gold(self, s):
        return tuple(self.examples.gold[list(self.tokens_of(s))].tolist())

    def paths(self, s):
        """All that are allowed."""
        tokens = self.tokens_of(s)
        mask = np.ones((len(self.examples.gold), self.layout.labels), bool)
        if self.examples.allowed is not None:
            mask = self.examples.allowed.mask()
        return list(itertools.product(*(np.flatnonzero(mask[t]).tolist() for t in tokens)))

    def counts(self, s, path):
        """F of a path of sentence s: F64[size]."""
        layout, data, f = self.layout, self.examples, np.zeros(self.size)
        for n, t in enumerate(self.tokens_of(s)):
            for k in range(data.indptr[t], data.indptr[t + 1]):
                for p in range(layout.pair_start[data.ids[k]], layout.pair_start[data.ids[k] + 1]):
                    if layout.pair_label[p] == path[n]:
                        f[p] += 1.0 if data.values is None else data.values[k]
            if n > 0:
                here = (layout.source == path[n - 1]) & (layout.target == path[n])
                f[layout.pairs + np.flatnonzero(here)] += 1.0
                self._count_arcs(t, path[n - 1] * layout.labels + path[n], f)
        return f

    def _count_arcs(self, t, cell, f):
        layout, arcs = self.layout, self.examples.arcs
        if arcs is None:
            return
        for k in range(arcs.indptr[t], arcs.indptr[t + 1]):
            for p in range(layout.arc_start[arcs.ids[k]], layout.arc_start[arcs.ids[k] + 1]):
                if layout.arc_pair[p] == cell:
                    f[layout.arcs_at + p] += 1.0 if arcs.values is None else arcs.values[k]

    def best(self, s, theta, cost=0.0):
        """The best path, where a wrong label costs something."""
        gold, paths = self.gold(s), self.paths(s)
        totals = np.array([theta @ self.counts(s, p) + cost * sum(map(int.__ne__, p, gold)) for p in paths])
        best = [paths[n] for n in np.flatnonzero(totals >= totals.max() - 1e-9)]
        return min(best, key=lambda path: path[::-1])  # of equal ones that with the lowest labels from the end


def make_problem(
    seed, labels=3, lengths=(3, 0, 1, 4, 2, 2, 3), valued=False, everything=False, arcs=False, allowed=False
):
    """Of the attributes, a third go with any label, the others with one or two."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    gold = rng.integers(0, labels, offsets[-1]).astype(np.int32)
    indptr, ids = _packed(rng, len(gold), 5, ATTRIBUTES)
    here = np.repeat(gold, np.diff(indptr))
    ids = np.where(ids % 3 == 0, ids, np.minimum(3 * (here // 2) + ids % 3, ATTRIBUTES - 1)).astype(np.int32)
    values = rng.normal(size=len(ids)) * 2 if valued else None
    layout = observed_layout(indptr, ids, gold, offsets, ATTRIBUTES, labels, everything, everything)
    examples = Examples(indptr, ids, values, gold, offsets)
    if arcs:
        arc_indptr, arc_ids = _packed(rng, len(gold), 2, ARC_ATTRIBUTES)
        arc_values = rng.normal(size=len(arc_ids)) if valued else None
        examples = replace(examples, arcs=Packed(arc_indptr, arc_ids, arc_values))
        layout = with_observed_arcs(layout, arc_indptr, arc_ids, gold, offsets, ARC_ATTRIBUTES, everything)
    if allowed:
        sets = [range(labels), *(set(rng.integers(0, labels, 2).tolist()) | {own} for own in gold.tolist())]
        flat = np.array([j for each in sets for j in sorted(each)], np.int32)
        own = Allowed(np.arange(1, len(sets), dtype=np.int32), np.cumsum([0, *map(len, sets)]), flat)
        examples = replace(examples, allowed=own)
    return Problem(layout, examples)


def _packed(rng, tokens, most, ids):
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, most + 1, tokens))]).astype(np.int64)
    return indptr, rng.integers(0, ids, indptr[-1]).astype(np.int32)


problems = st.builds(
    make_problem,
    st.integers(0, 2**32 - 1),
    labels=st.integers(1, 5),
    lengths=st.lists(st.integers(0, 4), min_size=1, max_size=6).filter(any),
    valued=st.booleans(),
    everything=st.booleans(),
    arcs=st.booleans(),
    allowed=st.booleans(),
)


class InOrder:
    """Random numbers that leave everything where it is: a pass goes through the sentences as they are."""

    def permutation(self, things):
        return np.arange(things) if np.ndim(things) == 0 else np.asarray(things)
