"""Small cascades with arrays for data, for checks against finite differences."""

from __future__ import annotations

import numpy as np

from trellis.cascade.context import context_columns
from trellis.cascade.joint import JointShard
from trellis.cascade.parting import parted
from trellis.cascade.passes import JointStage, Reads
from trellis.cascade.plan import gold_beliefs
from trellis.cascade.wiring import Wiring
from trellis.corpus import Column, Corpus
from trellis.features import templates_for
from trellis.lattice.segments import SegmentTypes
from trellis.losses import Target, find_loss
from trellis.objective import Examples
from trellis.objective.cutting import cut_into_shards
from trellis.scoring import observed_layout, of_order
from trellis.scoring.hybrid import HybridScoring
from trellis.scoring.layout import WeightLayout
from trellis.scoring.segments import observed_segments
from trellis.scoring.wires import ArcWireScoring, WireScoring

NAMES = "abcdefgh"


def make_joint(seed, stages, lengths=(4, 0, 1, 3), least=0.0, scale=1.0):
    """`stages`: dicts with `labels` (a number), `features` (of lower stages, by the names s0, s1, ... and of x), and
    maybe `kind` (order0, order1, order2, segments), `loss`, `weights` (of sentences), `known` (share of tokens),
    `curve` and `pairs` (which pairs of labels have weights: all or some). Returns the shard, the number of weights,
    and weights drawn at random."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    tokens = int(offsets[-1])
    columns = {"x": Column(rng.integers(0, 3, tokens).astype(np.int32), list("uvw"))}
    gold = []
    for s, stage in enumerate(stages):
        gold.append(_gold(rng, stage, offsets))
        columns[f"s{s}"] = Column(gold[-1], list(NAMES[: stage["labels"]]))
    corpus = Corpus(columns, offsets)
    made, base = [], 0
    for s, stage in enumerate(stages):
        one, base = _stage(rng, s, stage, stages, corpus, gold, base)
        made.append(one)
    read = {int(name[1:]) for stage in stages for name in stage.get("reads", ())}
    chained = {
        name
        for one in made
        if one.reads
        for name, c in zip(one.reads.lower, one.reads.wiring.chained, strict=True)
        if c
    }
    made = [
        JointStage(o.shard, o.own, o.labels, o.reads, s in read, s in chained and _is_chain(stages[s]))
        for s, o in enumerate(made)
    ]
    return JointShard(made, least), base, rng.normal(size=base) * scale


def _is_chain(stage):
    return stage.get("kind", "order1") == "order1"


def _gold(rng, stage, offsets):
    tokens = int(offsets[-1])
    if stage.get("kind") != "segments":
        return rng.integers(0, stage["labels"], tokens).astype(np.int32)
    # iob2: O, B, I, B, I; no segment longer than two
    gold, last = np.zeros(tokens, np.int32), 0
    for t in range(tokens):
        choices = [0, *range(1, stage["labels"], 2)]
        if last % 2 == 1 and t not in offsets:
            choices.append(last + 1)
        gold[t] = last = rng.choice(choices)
    return gold


def _stage(rng, s, stage, stages, corpus, gold, base):
    labels, offsets, tokens = stage["labels"], corpus.offsets, corpus.tokens
    indptr = np.arange(tokens + 1, dtype=np.int64) * 2
    ids = rng.integers(0, 5, 2 * tokens).astype(np.int32)
    kind = stage.get("kind", "order1")
    wiring = None
    if "features" in stage:
        names = [f"s{k}" for k in range(s)]
        templates = templates_for(stage["features"], ["x", *names], "")
        _, wired = parted(templates, names)
        lower = {f"s{k}": NAMES[: stages[k]["labels"]] for k in range(s) if any(f"s{k}" in t.text for t in wired)}
        stage["reads"] = tuple(lower)
        seen = [gold_beliefs(gold[int(name[1:])], len(names_), offsets) for name, names_ in lower.items()]
        wiring = Wiring.learn(wired, corpus, "upper", lower, seen, {"f": lambda a, b: {"edge": 1.5, f"{a}{b}": 1.0}})
    layout = observed_layout(indptr, ids, gold[s], offsets, 5, labels, True, True)
    if kind.startswith("order"):
        layout = of_order(layout, int(kind[-1]), gold[s], offsets)
    else:
        types = SegmentTypes.of([2] * (labels // 2) + [1], [*range(1, labels, 2), 0], [*range(2, labels + 1, 2), -1],
                                labels)  # fmt: skip
        layout = observed_segments(layout.lower(0), types, gold[s], offsets, None, 0, False, False)
    weights = stage.get("weights")
    known = None
    loss = find_loss(stage.get("loss", "log"), "part" if "known" in stage else "gold")
    if "known" in stage:
        known = np.ones((tokens, labels), bool)
        certain = rng.random(tokens) < stage["known"]
        known[certain] = False
        known[certain, gold[s][certain]] = True
    more = Target(gold[s], None if weights is None else np.array(weights, float), None, known)
    examples = Examples(indptr, ids, None, gold[s], offsets, more=more, blocks=[(0, 2), (2, len(offsets) - 1)])
    (shard,) = cut_into_shards(layout, examples, loss, plain=True)
    own = np.arange(base, base + layout.size)
    base += layout.size
    reads = None
    if wiring is not None:
        has_weight = np.ones((wiring.arc_attributes, labels**2), bool)
        if stage.get("pairs") == "some":
            has_weight = rng.random(has_weight.shape) < 0.6
        all_labels = WeightLayout(
            labels, np.arange(wiring.attributes + 1, dtype=np.int64) * labels,
            np.tile(np.arange(labels, dtype=np.int32), wiring.attributes), np.zeros(0, np.int32), np.zeros(0, np.int32),
            np.concatenate([[0], np.cumsum(has_weight.sum(axis=1))]).astype(np.int64),
            np.nonzero(has_weight)[1].astype(np.int32),
        )  # fmt: skip
        arcs = ArcWireScoring(all_labels) if wiring.arc_attributes else None
        at = slice(base, base + all_labels.pairs)
        arcs_at = slice(at.stop, at.stop + (len(all_labels.arc_pair) if arcs else 0))
        base = arcs_at.stop
        columns = None if wiring.context is None else context_columns(wiring.context, corpus)
        reads = Reads(
            tuple(int(name[1:]) for name in wiring.lower), wiring, WireScoring(HybridScoring(all_labels)), arcs, at,
            arcs_at, columns, stage.get("curve"),
        )  # fmt: skip
    return JointStage(shard, own, labels, reads, False, False), base


def numerical(f, theta, index, step=1e-5):
    out = []
    for k in index:
        plus, minus = theta.copy(), theta.copy()
        plus[k] += step
        minus[k] -= step
        out.append((f(plus) - f(minus)) / (2 * step))
    return np.array(out)
