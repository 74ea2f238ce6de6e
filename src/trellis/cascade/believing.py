"""What upper stages see of a trained stage, by the kinds of wires.

gold      the annotated label
onebest   the label of the best path
kbest     the k best paths, weighted by their probabilities among themselves
sample    the share of paths drawn at random
marginal  P(label); joint, too, once it is trained
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.packing import StageModel
from trellis.cascade.plan import Beliefs, gold_beliefs
from trellis.features import Packed
from trellis.jit import worthwhile
from trellis.labels import first_tokens, runs
from trellis.lattice import Chain
from trellis.lattice.entries import ArcEntries, NodeEntries
from trellis.models.probabilities import Lattice, require_paths
from trellis.rows import padded

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

WIRES = ("gold", "onebest", "kbest", "sample", "marginal", "joint")

_HELD = 1 << 22  # arc probabilities that are there at a time


def beliefs_of(
    wire: str,
    model: StageModel,
    packed: Packed,
    offsets: I64,
    labels: int,
    chained: bool,
    least: float,
    paths: int,
    seed: int,
) -> Beliefs:
    """Of some sentences. `labels`: how many the lattices have; `chained`: transitions are asked for too; `paths`: how
    many, for kbest and sample; `seed`: of what is drawn."""
    lattice = model.lattice_of_packed(packed, offsets)
    if wire == "onebest":
        best, totals = lattice.best()
        require_paths(lattice, totals)
        return gold_beliefs(best, labels, offsets)
    if wire == "kbest":
        return _of_best(lattice, paths, labels, chained)
    if wire == "sample":
        return _of_sample(lattice, paths, seed, labels, chained)
    return marginals_of(lattice, labels, chained, least)


def marginals_of(lattice: Lattice, labels: int, chained: bool, least: float) -> Beliefs:
    """P(label) above `least`, and P(label before, label) of chains where these are asked for."""
    if not isinstance(lattice, Chain):
        answer = lattice.marginals()
        lattice.require_paths(answer.log_z)
        return Beliefs(labels, _listed(lattice.on_labels(answer.nodes), least))
    if not chained:
        return Beliefs(labels, _listed(lattice.marginals().nodes, least))
    if worthwhile(len(lattice.scores)) and not lattice.positional:
        return _quickly(lattice, least)
    parts = []
    for first, last in runs(lattice.offsets, max(1, _HELD // labels**2)):
        a, b = int(lattice.offsets[first]), int(lattice.offsets[last])
        transitions = lattice.transitions[a:b] if lattice.positional else lattice.transitions
        part = Chain(lattice.scores[a:b], transitions, lattice.offsets[first : last + 1] - a)
        answer = part.marginals(each_arc=True)
        assert answer.arcs is not None
        there = answer.nodes > least
        among = (answer.arcs > least) & there[:, None, :]  # between labels that are listed
        among[1:] &= there[:-1, :, None]
        token, before, here = np.nonzero(among)
        count = np.bincount(token, minlength=b - a)
        arcs = ArcEntries(
            np.concatenate([[0], np.cumsum(count)]).astype(np.int64), before.astype(np.int32), here.astype(np.int32),
            answer.arcs[token, before, here],
        )  # fmt: skip
        parts.append(Beliefs(labels, _listed(answer.nodes, least), arcs))
    from trellis.cascade.plan import joined

    return joined(parts) if parts else gold_beliefs(np.zeros(0, np.int32), labels, lattice.offsets)


def _quickly(chain: Chain, least: float) -> Beliefs:
    from trellis.lattice import WorkChain
    from trellis.lattice.solved import SolvedChain

    labels = chain.scores.shape[1]
    scores = np.full((len(chain.scores), padded(labels)), -np.inf)
    scores[:, :labels] = chain.scores
    solved = WorkChain(scores, chain.transitions, chain.offsets, scores.copy).solve()
    assert isinstance(solved, SolvedChain)
    if not np.isfinite(solved.log_z).all():
        chain.marginals()  # which says where paths end
    nodes = _listed(solved.node_marginals()[:, :labels], least)
    return Beliefs(labels, nodes, solved.list_arcs(nodes, least))


def _listed(rows: F64, least: float) -> NodeEntries:
    if worthwhile(len(rows)):
        from trellis.lattice.kernels.entries import list_nodes

        return NodeEntries(*list_nodes(rows, rows.shape[1], least))
    token, label = np.nonzero(rows > least)
    count = np.bincount(token, minlength=len(rows))
    start = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
    return NodeEntries(start, label.astype(np.int32), rows[token, label])


def _of_best(lattice: Lattice, k: int, labels: int, chained: bool) -> Beliefs:
    found: Sequence[Any] = lattice.kbest(k)
    token, label, before, weight = [], [], [], []
    for (a, b), paths in zip(pairwise(lattice.offsets.tolist()), found, strict=True):
        scores = np.array([score for _, score in paths])
        shares = np.exp(scores - scores.max())
        for (path, _), share in zip(paths, (shares / shares.sum()).tolist(), strict=True):
            token.append(np.arange(a, b))
            label.append(path)
            before.append(np.concatenate([[-1], path[:-1]]) if b > a else path)
            weight.append(np.full(b - a, share))
    return _of_paths(token, label, before, weight, labels, int(lattice.offsets[-1]), chained)


def _of_sample(lattice: Lattice, count: int, seed: int, labels: int, chained: bool) -> Beliefs:
    """With the same random numbers for every sentence, so that its sample does not depend on the others beside it."""
    lengths = np.diff(lattice.offsets)
    if isinstance(lattice, Chain):
        uniform = np.random.default_rng(seed).random((int(lengths.max(initial=0)), count)).T  # token after token
        place = np.arange(int(lattice.offsets[-1])) - np.repeat(lattice.offsets[:-1], lengths)
        paths = lattice.sample_with(uniform[:, place])
    else:
        drawn = [lattice.sentence(s).sample(count, np.random.default_rng(seed)) for s in range(len(lengths))]
        paths = np.concatenate([np.zeros((count, 0), np.int32), *drawn], axis=1)
    first, tokens = first_tokens(lattice.offsets), paths.shape[1]
    token, label, before, weight = [], [], [], []
    for path in paths:
        token.append(np.arange(tokens))
        label.append(path)
        before.append(np.where(first, -1, np.concatenate([[-1], path[:-1]]) if tokens else path))
        weight.append(np.full(tokens, 1.0 / len(paths)))
    return _of_paths(token, label, before, weight, labels, tokens, chained)


def _of_paths(
    token: list[Any], label: list[Any], before: list[Any], weight: list[Any], labels: int, tokens: int, chained: bool
) -> Beliefs:
    """Weights of labels at tokens, and of the labels before them (-1 for none), added up."""
    none = [np.zeros(0, np.int64)]
    where, what = np.concatenate(none + token), np.concatenate(none + label).astype(np.int64)
    earlier, share = np.concatenate(none + before).astype(np.int64), np.concatenate([np.zeros(0), *weight])
    keys, place = np.unique(where * labels + what, return_inverse=True)
    start = np.searchsorted(keys, np.arange(tokens + 1) * labels).astype(np.int64)
    nodes = NodeEntries(start, (keys % labels).astype(np.int32), np.bincount(place, share, len(keys)))
    if not chained:
        return Beliefs(labels, nodes)
    inner = earlier >= 0
    pairs = (where * labels + earlier)[inner] * labels + what[inner]
    keys, place = np.unique(pairs, return_inverse=True)
    start = np.searchsorted(keys, np.arange(tokens + 1) * labels**2).astype(np.int64)
    sides = (keys // labels % labels).astype(np.int32), (keys % labels).astype(np.int32)
    return Beliefs(labels, nodes, ArcEntries(start, *sides, np.bincount(place, share[inner], len(keys))))
