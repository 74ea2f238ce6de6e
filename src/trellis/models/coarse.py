"""Learning the chains of lower order that prune the labels of a chain of higher order."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.features import FeatureKind, Packed
from trellis.lattice.rules import Rules
from trellis.models.constraints import Prepared
from trellis.models.known import Known
from trellis.models.linear import LinearChain
from trellis.models.pruning import Pruner
from trellis.scoring import WeightLayout, of_order

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

_LOG = logging.getLogger(__name__)

# On the Greek New Testament (595 labels, preset morph, l2 = 0.3, threshold 1e-3) order 1 is right in 92.8% with a prior
# of 4 for the pruner and in 92.6% with 1 (the same without any pruning: 92.7%). A pruner that is sure of itself on what
# it has seen leaves lattices to learn from that are not like those to come; one that is sure of little leaves too many
# labels (a prior of 15: 28 a token, not 16).
_PRIOR = 4.0
_TOL = 0.05  # probabilities need not be exact to a share of what is asked for
_MOST = 200  # iterations


@dataclass(frozen=True)
class Pruned:
    """What a pruner did: its order; how many labels it leaves a token, on average; the share of tokens whose own label
    was not among these, on the training data and, if there are any, on the development data."""

    order: int
    labels: float
    lost: float
    dev_lost: float | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def learn_pruners(
    order: int,
    threshold: float,
    given: Known,
    features: FeatureKind,
    packed: Packed,
    offsets: I64,
    layout: WeightLayout,
    weights: F64 | None,
    l2: float,
    threads: int,
    rules: Rules | None,
    imposed: Prepared | None,
) -> tuple[Pruner, Packed, list[Pruned]]:
    """Chains of all orders below `order`, each trained on what the one before leaves; the data with the labels that the
    last one leaves. `layout` is of first order; `weights: F64[sentences]`, 1 each if None; `rules` and what is
    `imposed` are those of the chain of that order: what is known of the labels keeps a path there."""
    from trellis.engine import ThreadedObjective
    from trellis.losses import find_loss
    from trellis.objective import L2, Examples, cut_into_shards
    from trellis.optim import LBFGS
    from trellis.training import train

    needed, possible = _needed(given), given.possible
    if packed.allowed is not None:
        allowed = packed.allowed.mask()
        needed, possible = needed & allowed, None if possible is None else possible & allowed
    loss = find_loss("log", given.kind)
    target = given.target(weights)
    pruner: Pruner | None = None
    record = []
    for stage in range(order):
        own = of_order(layout, stage, given.gold, offsets, given.seen)
        examples = Examples(packed.indptr, packed.ids, packed.values, given.gold, offsets, None, packed.allowed, target)
        shards = cut_into_shards(own, examples, loss)
        with ThreadedObjective(shards, own.size, L2(_PRIOR * max(l2, 1.0)), threads) as objective:
            outcome = train(objective, LBFGS(tol=_TOL, diagonal=True), np.zeros(own.size), _MOST)
        chain = LinearChain(tuple(given.labels), features, own, outcome.theta, pruner)
        pruner = Pruner(chain, threshold, most_labels(stage + 1))
        left, lost = pruner.leaving(packed, offsets, needed)
        if possible is not None:  # else the path of the labels themselves stays
            left = pruner.with_paths(left, packed, offsets, rules, possible, imposed)
        packed = replace(packed, allowed=left)
        record.append(Pruned(stage, float(left.counts.mean()), lost))
        _LOG.info(
            "a chain of order %d, trained in %.1f s, leaves %.1f of %d labels a token; %.2f%% of tokens would lose "
            "their own", stage, outcome.seconds, record[-1].labels, len(given.labels), 100 * lost,
        )  # fmt: skip
    assert pruner is not None
    return pruner, packed, record


def most_labels(order: int) -> int:
    """How many labels a token may keep for a chain of this order: so many that a token has 4,096 tuples or less."""
    return next(n for n in range(4096, 0, -1) if n ** (order + 1) <= 4096)


def lost_labels(pruner: Pruner, packed: Packed, offsets: I64, gold: Sequence[str]) -> list[float]:
    """The share of tokens of which each pruner, the one of lowest order first, does not leave the own label; labels
    that no chain knows are no loss of the pruner's."""
    own = pruner.chain
    below = [] if own.pruner is None else lost_labels(own.pruner, packed, offsets, gold)
    number = {label: j for j, label in enumerate(own.labels)}
    labels = np.array([number.get(label, -1) for label in gold], np.int64)
    stays = pruner.allowed(packed, offsets).mask()
    known = labels >= 0
    return [*below, float(1.0 - stays[known, labels[known]].mean()) if known.any() else 0.0]


def _needed(given: Known) -> NDArray[np.bool_]:
    """Labels of which each token must keep one, or all if it has none of them: BOOL[tokens, labels]."""
    if given.evidence is not None and given.known is not None:  # what most speaks for
        return np.asarray(given.known & (given.evidence == 0.0))
    if given.known is not None:
        return given.known
    if given.seen is not None:
        return given.seen
    needed = np.zeros((len(given.gold), len(given.labels)), bool)
    needed[np.arange(len(needed)), given.gold] = True
    return needed
