"""A chain made ready for training: labels, features, weights for them, and the data in arrays."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError
from trellis.models.batches import Sentences
from trellis.models.coarse import Pruned, learn_pruners
from trellis.models.constraints import Constraints
from trellis.models.gold import Labels, token_offsets
from trellis.models.imposing import best_within, check_kept, check_paths, imposed_by, narrowed, remaining
from trellis.models.known import Known, Soft, costs_of, weights_of, without_pairs
from trellis.models.learning import given_labels, learn_features
from trellis.models.linear import LinearChain
from trellis.models.path_rules import check_gold, check_usable, encoding_of, rules_of, rules_with
from trellis.models.recipe import loss_of
from trellis.scoring import WeightLayout, observed_layout, of_order, with_observed_arcs

if TYPE_CHECKING:
    from trellis.features import Choice, FeatureKind, Packed
    from trellis.features.inputs import Inputs
    from trellis.features.template import Template
    from trellis.losses import Loss
    from trellis.models.development import Best
    from trellis.objective import Examples

I64 = NDArray[np.int64]

Learnt = tuple["FeatureKind", "Packed"]


class Settings(Protocol):
    """Those of an estimator that are looked at here; what they mean is said at `CRF`."""

    target: str | None
    features: Choice
    loss: str | None
    optimizer: str
    options: Mapping[str, Any] | None
    tol: float
    l1: float
    l2: float
    hyperbolic: float
    costs: float | Mapping[str, float] | None
    min_count: int
    hash_size: int | None
    tag_dictionary: int | None
    order: int
    prune: float | None
    encoding: str | None
    only_seen: bool
    all_pairs: bool
    all_transitions: bool
    partial: bool
    seed: int


@dataclass(frozen=True)
class ReadyChain:
    """`model` has weights of zero. `best`: how the labels of development data are found, if not as usual; `pruning`:
    what each order of pruning left and lost; `inputs`: what an encoder sees, if there is one."""

    model: LinearChain
    examples: Examples
    loss: Loss
    best: Best | None
    pruning: list[Pruned]
    inputs: Inputs | None


def ready_chain(
    settings: Settings,
    X: Sentences,
    y: Labels | None,
    sample_weight: Any,
    soft: Soft | None,
    labels: Sequence[str] | None,
    constraints: Constraints | None,
    threads: int,
    sees: Callable[[Template], bool] | None = None,
    learn: Callable[[Known], Learnt] | None = None,
) -> ReadyChain:
    """`X` to `constraints`: as for `CRF.fit`. `sees`: which templates the model has a place for, if not for all;
    `learn`: how features are learnt, if not as usual."""
    from trellis.objective import Examples

    given = given_labels(settings, X, y, soft, labels)
    if given.kind == "paths" and (settings.order == 0 or not _has_one_matrix(settings, constraints)):
        given = without_pairs(given, settings.order > 0)
    costs = costs_of(settings.costs, given.labels)
    loss = loss_of(settings, given.kind, costs is not None)
    offsets, gold = token_offsets(X), given.gold
    encoding = encoding_of(settings.encoding, settings.order, given, offsets)
    if encoding is not None and given.kind == "gold":
        check_gold(X, given, offsets, encoding)
    elif encoding is not None:
        check_usable(given.labels, encoding)
    imposed = imposed_by(constraints, given.labels, offsets)
    if imposed is not None and given.kind == "gold":
        check_kept(X, gold, given.labels, offsets, imposed)
    features, packed = learn_features(settings, X, given, threads, sees) if learn is None else learn(given)
    if given.kind == "paths" and packed.arcs is not None:
        given = without_pairs(given, True)
        loss = loss_of(settings, given.kind, costs is not None)
    if len(given.labels) == 1:
        warnings.warn(f"'{given.labels[0]}' is the only label; the model can answer nothing else", stacklevel=3)
    layout, packed = chain_layout(settings, given, packed, offsets, features), narrowed(packed, imposed)
    rules = rules_of(encoding, settings.only_seen, given.labels, layout)
    weights, pruner = weights_of(sample_weight, len(offsets) - 1, given.weights), None
    pruning: list[Pruned] = []
    if settings.prune is not None and settings.order > 0:
        pruner, packed, pruning = learn_pruners(
            settings.order, settings.prune, given, features, packed, offsets, layout, weights, settings.l2, threads,
            rules, imposed,
        )  # fmt: skip
    if settings.order != 1:
        layout = of_order(layout, settings.order, gold, offsets, given.seen, settings.all_transitions)
    model = LinearChain(
        tuple(given.labels), features, layout, np.zeros(layout.size), pruner, rules, encoding, settings.only_seen
    )
    if given.possible is not None and not (imposed is None and rules is None):
        pruned = replace(model, pruner=None)  # the data have been
        check_paths(X, pruned.lattice_of_packed, packed, offsets, given.possible, imposed)
    examples = Examples(
        packed.indptr, packed.ids, packed.values, gold, offsets, packed.arcs, packed.allowed,
        given.target(weights, costs), rules=rules_with(rules, imposed),
        imposed=remaining(imposed),
    )  # fmt: skip
    return ReadyChain(model, examples, loss, best_within(imposed), pruning, packed.inputs)


def _has_one_matrix(settings: Settings, constraints: Constraints | None) -> bool:
    """Whether transitions are the same at all tokens, and all are possible: then pairs of labels can be learnt from."""
    usual = settings.order == 1 and settings.prune is None and settings.encoding is None
    return usual and not settings.only_seen and constraints is None


def chain_layout(settings: Settings, given: Known, packed: Packed, offsets: I64, features: FeatureKind) -> WeightLayout:
    """Weights for what the training data shows, of first order."""
    layout = observed_layout(
        packed.indptr, packed.ids, given.gold, offsets, features.attributes, len(given.labels),
        settings.all_pairs, settings.all_transitions, packed.allowed, given.seen,
    )  # fmt: skip
    if packed.arcs is None:
        return layout
    if settings.order != 1 or settings.prune is not None:
        raise SettingError("attributes on transitions go together with order 1 and no pruning; leave one out")
    return with_observed_arcs(
        layout, packed.arcs.indptr, packed.arcs.ids, given.gold, offsets, features.arc_attributes, settings.all_pairs
    )
