"""Small random training data of every kind, and its losses by enumeration."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import pairwise
from unittest import mock

import numpy as np
from enumerated import loss_of

from trellis.engine import ThreadedObjective
from trellis.features import Packed
from trellis.lattice import Allowed
from trellis.lattice.rules import Rules
from trellis.lattice.segments import SegmentTypes, SpanAttributes
from trellis.losses import EVIDENCE, LOSSES, PARTIAL, PATHS, SOFT, Target, find_loss
from trellis.models import Constraints
from trellis.objective import L2, Examples, Hyperbolic, Priors, cut_into_shards
from trellis.scoring import observed_layout, of_order, with_observed_arcs
from trellis.scoring.segments import SegmentLayout

NAMES = ("O", "B-X", "I-X", "B-Y")
KINDS = [
    (name, kind)
    for kind, losses in (("gold", LOSSES), ("part", PARTIAL), ("evidence", EVIDENCE), ("soft", SOFT))
    for name in losses
]

# labels that tokens may have; attributes on arcs, with values or so that many tokens share their factors; or both
OTHER_CHAINS = ["allowed", "arcs", "arcs ready made", "arcs and allowed"]
# other orders than one, with all labels or some
ORDERS = ["order 0", "order 0 and allowed", "order 2", "order 2 and allowed", "order 3", "order 3 and allowed"]

# paths that are forbidden, whatever the weights
RULED = ["rules", "rules and allowed", "rules and arcs", "order 2 and rules", "order 2 with rules and allowed"]

# penalties, and a type of segments that occurs once at most
IMPOSED = ["imposed", "imposed and allowed", "order 0, imposed", "order 2 and rules, imposed", "segments, imposed"]

ON_OTHERS = [
    (chain, name, kind)
    for chain in [*OTHER_CHAINS, *ORDERS, *RULED, "segments", *IMPOSED]
    for name, kind in KINDS
    if (chain, kind) != ("rules and arcs", "soft")
]
ALL = [("plain", name, kind) for name, kind in [*KINDS, *((name, "paths") for name in PATHS)]] + ON_OTHERS
SMOOTH = [case for case in ALL if find_loss(*case[1:]).curvature_is]
EXACT = [case for case in SMOOTH if find_loss(*case[1:]).curvature_is == "the Hessian"]

PRIORS = {
    "none": Priors([]),
    "l2": L2(0.7),
    "hyperbolic": Hyperbolic(0.5),
    "both": Priors([L2(0.3), Hyperbolic(0.2, 0.5)]),
}


class Problem:
    """Training data for one kind of chain and of labels."""

    def __init__(self, seed, chain="plain", kind="gold", labels=3, lengths=(3, 0, 1, 4, 2), valued=True, weighted=True):
        rng = self.rng = np.random.default_rng(seed)
        self.chain = chain
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        tokens = int(offsets[-1])
        indptr, ids = _packed(rng, tokens, 3, 6)
        gold = rng.integers(0, labels, tokens).astype(np.int32)
        self.segmental = chain.startswith("segments")
        if self.segmental:
            self.types = _types(rng, labels)
            gold = _segmented(rng, self.types, offsets)
        if "imposed" in chain:
            gold = _once(gold, offsets)
        values = rng.normal(size=len(ids)) if valued else None
        self.layout = observed_layout(indptr, ids, gold, offsets, 6, labels, True, True)
        target = _target(rng, gold, len(lengths), labels, kind, weighted)
        if kind == "paths":
            self.walk = rng.dirichlet(np.ones(labels)), rng.dirichlet(np.ones(labels), labels)
            target = replace(target, **_walked(*self.walk, lengths))
        self.examples = Examples(indptr, ids, values, gold, offsets, more=target)
        if "allowed" in chain:
            self.examples = replace(self.examples, allowed=_allowed(rng, gold, labels))
        if "arcs" in chain:
            arc_indptr, arc_ids = _packed(rng, tokens, 2, 3)
            arc_values = None if chain == "arcs ready made" or not valued else rng.normal(size=len(arc_ids))
            self.examples = replace(self.examples, arcs=Packed(arc_indptr, arc_ids, arc_values))
            self.layout = with_observed_arcs(self.layout, arc_indptr, arc_ids, gold, offsets, 3, True)
        if "order" in chain:
            self.layout = of_order(self.layout, int(chain.split()[1].strip(",")), gold, offsets)
        if "rules" in chain:
            self.examples = replace(self.examples, rules=_rules(rng, gold, offsets, labels))
        if "imposed" in chain:
            names = NAMES[:labels]
            given = Constraints(penalties={name: rng.normal() for name in names}, at_most_once=["X"][: labels - 1])
            prepared = given.prepared(names, lengths)
            if self.segmental:  # whose labels are always of whole types
                prepared = replace(prepared, within=NAMES[: max(self.types.inside.max(), self.types.begin.max()) + 1])
            self.examples = replace(self.examples, imposed=prepared)
        if self.segmental:
            self.examples = replace(self.examples, spans=_spans(rng, offsets))
            pairs = np.indices((len(self.types), len(self.types)), np.int32).reshape(2, -1)
            span_type = np.tile(np.arange(len(self.types), dtype=np.int32), 3)
            span_start = np.arange(4) * len(self.types)
            self.layout = SegmentLayout(self.layout.lower(0), self.types, *pairs, span_start, span_type)

    @property
    def size(self):
        return self.layout.size

    @property
    def after_transitions(self):
        """Where the weights of transitions end in theta."""
        return self.layout.spans_at if self.segmental else self.layout.arcs_at

    @property
    def target(self):
        return self.examples.target

    def theta(self, scale=1.0):
        return self.rng.normal(size=self.size) * scale

    def objective(self, name, kind, prior="none", threads=1, examples=None, **more):
        ready = self.chain == "arcs ready made"
        with mock.patch("trellis.scoring.arcs._OFTEN", 1) if ready else nullcontext():
            shards = cut_into_shards(self.layout, examples or self.examples, find_loss(name, kind))
        return ThreadedObjective(shards, self.size, PRIORS[prior], threads, **more)

    def scores(self, theta):
        """Scores F64[tokens, labels] and the transitions into each token, F64[tokens, labels, labels]; no kernel."""
        data, layout = self.examples, self.layout.tokens if self.segmental else self.layout
        scores = np.zeros((len(data.gold), layout.labels))
        here = Packed(data.indptr, data.ids, data.values)
        for t, a, value in _occurrences(here):
            for p in range(layout.pair_start[a], layout.pair_start[a + 1]):
                scores[t, layout.pair_label[p]] += theta[p] * value
        if data.imposed is not None:
            scores += data.imposed.own
        if data.allowed is not None:
            scores[~data.allowed.mask()] = -np.inf
        transitions = np.tile(layout.transition_matrix(theta[layout.pairs : layout.arcs_at]), (len(scores), 1, 1))
        if data.rules is not None:
            scores[data.rules.forbidden(data.offsets)] = -np.inf
            transitions = transitions + data.rules.pairs
        for t, a, value in _occurrences(data.arcs) if data.arcs is not None else ():
            for p in range(layout.arc_start[a], layout.arc_start[a + 1]):
                transitions[t, *divmod(layout.arc_pair[p], layout.labels)] += theta[layout.arcs_at + p] * value
        return scores, transitions

    def tuple_scores(self, theta):
        """What a path of the sentence from token `first` on scores for more than its labels and pairs of these."""
        layout = self.layout
        if self.segmental:
            return lambda path, first: self.segment_score(theta, path, first) + self.imposed_score(path)
        weights = dict(
            zip((tuple(row) for rows in layout.tuples for row in rows.tolist()), theta[layout.tuples_at :], strict=True)
        )

        def score(path, first):
            lengths = range(3, layout.order + 2)
            total = sum(weights.get(path[t - n : t], 0.0) for n in lengths for t in range(n, len(path) + 1))
            return total + self.imposed_score(path)

        return score

    def imposed_score(self, path):
        """-inf for a path with more than one segment of the type that occurs once."""
        imposed = self.examples.imposed
        return -np.inf if imposed is not None and imposed.once and _begun(path) > 1 else 0.0

    def segment_score(self, theta, path, first):
        """Of types that follow each other and of the attributes of spans; -inf for what is no segmentation."""
        layout, types, spans = self.layout, self.types, self.examples.spans
        moves = theta[layout.tokens.pairs : layout.spans_at].reshape(len(types), len(types))
        total, t, before = 0.0, 0, None
        while t < len(path):
            kind = [y for y in range(len(types)) if types.begin[y] == path[t]]
            end = t + 1
            while kind and end < len(path) and path[end] == types.inside[kind[0]]:
                end += 1
            if not kind or end - t > types.longest[kind[0]]:
                return -np.inf
            total += 0.0 if before is None else moves[before, kind[0]]
            at = (first + end - 1) * spans.longest + end - t - 1
            if end - t <= spans.longest:
                for a in spans.ids[spans.start[at] : spans.start[at + 1]]:
                    total += theta[layout.spans_at + a * len(types) + kind[0]]
            t, before = end, kind[0]
        return total

    def enumerated(self, name, theta):
        scores, transitions = self.scores(theta)
        extra = self.tuple_scores(theta)
        target, total = self.target, 0.0
        costs = np.ones(self.layout.labels) if target.costs is None else target.costs
        for s, (a, b) in enumerate(pairwise(self.examples.offsets.tolist())):
            more = partial(extra, first=a)
            known = None if target.known is None else target.known[a:b]
            soft = None if target.soft is None else target.soft[a:b]
            gold, evidence = target.path[a:b].tolist(), None if target.evidence is None else target.evidence[a:b]
            walk = None if target.pairs is None else self.walk
            value = loss_of(
                name, scores[a:b], transitions[a:b], gold, costs, known, soft, more, evidence=evidence, walk=walk
            )
            total += value * (1.0 if target.weights is None else target.weights[s])
        return total

    def marginals(self, theta):
        """P of every gold label, F64[tokens]."""
        scores, transitions = self.scores(theta)
        values, labels, extra = [], self.layout.labels, self.tuple_scores(theta)
        for a, b in pairwise(self.examples.offsets.tolist()):
            gold, more = self.target.path[a:b].tolist(), partial(extra, first=a)
            for t in range(b - a):
                known = np.ones((b - a, labels), bool)
                known[t] = np.arange(labels) == gold[t]
                loss = loss_of("log", scores[a:b], transitions[a:b], gold, np.zeros(labels), known=known, more=more)
                values.append(np.exp(-loss))
        return np.array(values)


def differences(function, theta, direction, step):
    """The central difference of a function along a direction."""
    return (function(theta + step * direction) - function(theta - step * direction)) / (2 * step)


def _packed(rng, tokens, most, attributes):
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, most + 1, tokens))]).astype(np.int64)
    return indptr, rng.integers(0, attributes, indptr[-1]).astype(np.int32)


def _occurrences(packed):
    """Token, attribute and value."""
    for t in range(len(packed.indptr) - 1):
        for k in range(packed.indptr[t], packed.indptr[t + 1]):
            yield t, packed.ids[k], 1.0 if packed.values is None else packed.values[k]


def _target(rng, gold, sentences, labels, kind, weighted):
    tokens = len(gold)
    known = rng.random((tokens, labels)) < 0.6
    known[np.arange(tokens), gold] = True
    soft = rng.dirichlet(np.ones(labels), tokens) * (rng.random((tokens, labels)) < 0.8)
    soft[np.arange(tokens), gold] += 0.1
    return Target(
        gold,
        rng.random(sentences) * 2 if weighted else None,
        rng.random(labels) * 2 if weighted else None,
        known if kind in ("part", "evidence") else None,
        soft / soft.sum(axis=1, keepdims=True) if kind == "soft" else None,
        np.log(rng.random((tokens, labels))) if kind == "evidence" else None,
    )


def _walked(start, follow, lengths):
    """The labels of a Markov chain, and how often one follows another."""
    rows, pairs = [np.zeros((0, len(start)))], []
    for length in lengths:
        nodes, counts = [start], np.zeros_like(follow)
        for _ in range(length - 1):
            counts += nodes[-1][:, None] * follow
            nodes.append(nodes[-1] @ follow)
        rows.append(np.array(nodes[:length]).reshape(-1, len(start)))
        pairs.append(counts)
    return {"soft": np.concatenate(rows), "pairs": np.array(pairs)}


def _rules(rng, gold, offsets, labels):
    """The gold paths are legal, and some others."""
    first, last, pairs = rng.random(labels) < 0.6, rng.random(labels) < 0.6, rng.random((labels, labels)) < 0.6
    for a, b in pairwise(offsets.tolist()):
        if b > a:
            first[gold[a]] = last[gold[b - 1]] = True
            pairs[gold[a : b - 1], gold[a + 1 : b]] = True
    return Rules.of_masks(first, pairs, last)


def _begun(path):
    """How many segments of the type X there are."""
    names = ["O", *(NAMES[j] for j in path)]
    return sum(here == "B-X" or (here == "I-X" and not before.endswith("X")) for before, here in pairwise(names))


def _once(gold, offsets):
    """The same labels up to where a second segment of the type X begins; then O."""
    gold = gold.copy()
    for a, b in pairwise(offsets.tolist()):
        for t in range(a, b):
            if _begun(gold[a : t + 1]) > 1:
                gold[t:b] = 0
                break
    return gold


def _types(rng, labels):
    """Label 0 is outside; then two labels for each type, but one for the last if their number is even."""
    begin = [0, *range(1, labels, 2)]
    inside = [-1, *(j + 1 if j + 1 < labels else -1 for j in range(1, labels, 2))]
    return SegmentTypes.of([1 if j < 0 else rng.integers(2, 4) for j in inside], begin, inside, labels)


def _segmented(rng, types, offsets):
    """Labels of random segments."""
    gold = np.zeros(int(offsets[-1]), np.int32)
    for a, b in pairwise(offsets.tolist()):
        while a < b:
            y = rng.integers(len(types))
            end = min(b, a + rng.integers(1, types.longest[y] + 1))
            gold[a], gold[a + 1 : end] = types.begin[y], types.inside[y]
            a = end
    return gold


def _spans(rng, offsets, longest=2):
    place = np.concatenate([np.zeros(0, int), *(np.arange(n) for n in np.diff(offsets))])
    inside = np.arange(longest) <= place[:, None]
    counts = np.where(inside, rng.integers(0, 3, inside.shape), 0).ravel()
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return SpanAttributes(start, rng.integers(0, 3, start[-1]).astype(np.int32), longest)


def _allowed(rng, gold, labels):
    """Every token may have its own label: alone, with another one, or with all others."""
    pairs = [(i, j) for i in range(labels) for j in range(i + 1, labels)]
    sets = [tuple(range(labels)), *((j,) for j in range(labels)), *pairs]
    which = [rng.choice([k for k, own in enumerate(sets) if j in own]) for j in gold.tolist()]
    flat = np.array([j for own in sets for j in own], np.int32)
    return Allowed(np.array(which, np.int32), np.cumsum([0, *map(len, sets)]), flat)
