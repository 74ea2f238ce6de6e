"""A trained chain as description and tensors, and back. Reading checks every index, range and number.

Beside the tensors of labels and features:

    weights F64                            theta (see `scoring.layout`)
    pair_counts U16, pair_labels U16       how many labels each attribute has weights for, and these, ascending
    transition_sources U16, transition_targets U16
    arc_counts I32, arc_pairs I32          only with attributes on transitions
    tuples.N U16                           for orders above 1: the tuples of N labels, N = 3, 4, ...
    pruner.K F64                           the weights of the chain of order K that prunes labels, K = 0, 1, ...

and in the description `lattice` (from format 3 on): its order, and of pruning, if there is any, the threshold and the
most labels that each order leaves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DamagedModelError, SettingError, TemplateError
from trellis.features import FeatureKind
from trellis.labels import PATH_ENCODINGS
from trellis.models.feature_files import Callables, ascending, get_features, put_features, tensor
from trellis.models.linear import MOST_LABELS, LinearChain
from trellis.models.path_rules import rules_of
from trellis.models.pruning import Pruner
from trellis.models.settings import MOST_ORDER
from trellis.scoring import WeightLayout
from trellis.scoring.layout import keys_of_tuples
from trellis.store import Tensors, get_strings, put_strings


def description_of(
    kind: str, params: dict[str, Any], training: dict[str, Any], model: LinearChain
) -> tuple[dict[str, Any], Tensors]:
    """Everything needed to rebuild the pipeline."""
    layout = model.layout
    tensors: Tensors = {"weights": model.weights, **put_layout(layout)}
    if layout.arc_attributes:
        tensors["arc_counts"] = np.diff(layout.arc_start).astype(np.int32)
        tensors["arc_pairs"] = layout.arc_pair
    for rows in layout.tuples:
        tensors[f"tuples.{rows.shape[1]}"] = rows.ravel().astype(np.uint16)
    put_strings(tensors, "labels", model.labels)
    features = put_features(tensors, model.features)
    constraints = None
    if model.encoding is not None or model.only_seen:
        constraints = {"encoding": model.encoding, "only_seen": model.only_seen}
    pruning = _put_pruner(tensors, model.pruner)
    lattice = {"order": layout.order, "pruning": pruning, "constraints": constraints}
    description = {"model": kind, "params": params, "training": training, "features": features, "lattice": lattice}
    return description, tensors


def put_layout(layout: WeightLayout) -> Tensors:
    """The pairs and transitions that have weights."""
    return {
        "pair_counts": np.diff(layout.pair_start).astype(np.uint16),
        "pair_labels": layout.pair_label,
        "transition_sources": layout.source.astype(np.uint16),
        "transition_targets": layout.target.astype(np.uint16),
    }


def _put_pruner(tensors: Tensors, pruner: Pruner | None) -> dict[str, Any] | None:
    if pruner is None:
        return None
    below = _put_pruner(tensors, pruner.chain.pruner)
    tensors[f"pruner.{pruner.chain.layout.order}"] = pruner.chain.weights
    return {"threshold": float(pruner.threshold), "most": [*(below["most"] if below else []), pruner.most]}


def model_from(
    description: dict[str, Any],
    tensors: Tensors,
    known: list[str],
    path: str | Path,
    functions: Callables,
    more_attributes: tuple[int, int] = (0, 0),
) -> tuple[dict[str, Any], dict[str, Any], LinearChain]:
    """Parameters, training record and model; one typed error for whatever does not fit. `more_attributes`: how many
    there are beside those of the features, of labels and of transitions."""
    tensors = dict(tensors)  # what is read is taken out; nothing may be left
    with reading(path):
        more = {"lattice"} if description["format"] > 2 else frozenset()
        params, training, labels, features = common_parts(description, tensors, known, functions, more)
        lattice = description.get("lattice", _PLAIN)
        if type(lattice) is not dict or set(lattice) != set(_PLAIN):
            raise ValueError("entries of the lattice")
        attributes, arc_attributes = (
            features.attributes + more_attributes[0],
            features.arc_attributes + more_attributes[1],
        )
        layout = _of_order(tensors, get_layout(tensors, len(labels), attributes), lattice["order"])
        if layout.arc_attributes != arc_attributes or (
            layout.arc_attributes and (layout.order, lattice["pruning"]) != (1, None)
        ):
            raise ValueError("number of arc attributes")
        weights = get_weights(tensors, "weights", layout.size)
        encoding, only_seen = _get_constraints(lattice["constraints"])
        rules = rules_of(encoding, only_seen, labels, layout)
        chain = LinearChain(tuple(labels), features, layout, weights, None, rules, encoding, only_seen)
        chain = replace(chain, pruner=_get_pruner(tensors, chain, lattice["pruning"]))
        if tensors:
            raise ValueError(f"unknown tensors: {', '.join(tensors)}")
    return params, training, chain


_PLAIN = {"order": 1, "pruning": None, "constraints": None}


def _get_constraints(found: object) -> tuple[str | None, bool]:
    """The encoding, and whether only what was seen is possible."""
    if found is None:
        return None, False
    if type(found) is not dict or set(found) != {"encoding", "only_seen"} or type(found["only_seen"]) is not bool:
        raise ValueError("constraints")
    if found["encoding"] is not None and found["encoding"] not in PATH_ENCODINGS:
        raise ValueError("encoding")
    return found["encoding"], found["only_seen"]


def get_weights(tensors: Tensors, name: str, size: int) -> NDArray[np.float64]:
    """So many weights, all of them numbers."""
    weights = tensor(tensors, name, np.float64)
    if len(weights) != size or not np.isfinite(weights).all():
        raise ValueError(name)
    return weights


def _of_order(tensors: Tensors, layout: WeightLayout, order: object) -> WeightLayout:
    """The layout with the tuples of its order."""
    if type(order) is not int or not 0 <= order <= MOST_ORDER or (order == 0 and len(layout.source)):
        raise ValueError("order")
    tuples = []
    for length in range(3, order + 2):
        flat = tensor(tensors, f"tuples.{length}", np.uint16).astype(np.int32)
        if len(flat) % length or (len(flat) and flat.max() >= layout.labels):
            raise ValueError(f"tuples of {length} labels")
        rows = flat.reshape(-1, length)
        if not ascending(keys_of_tuples(rows, layout.labels)):
            raise ValueError(f"tuples of {length} labels not in order")
        tuples.append(rows)
    return replace(layout, order=order, tuples=tuple(tuples))


def _get_pruner(tensors: Tensors, chain: LinearChain, found: object) -> Pruner | None:
    """For a chain that is whole but for its pruner."""
    if found is None:
        return None
    if type(found) is not dict or set(found) != {"threshold", "most"}:
        raise ValueError("entries of the pruning")
    threshold, most = found["threshold"], found["most"]
    if not _finite(threshold) or not 0.0 < threshold < 1.0 or type(most) is not list:
        raise ValueError("threshold of the pruning")
    if len(most) != chain.layout.order or not most or not all(type(n) is int and n >= 1 for n in most):
        raise ValueError("most labels of the pruning")
    pruner: Pruner | None = None
    for order, n in enumerate(most):
        layout = chain.layout.lower(order)
        weights = get_weights(tensors, f"pruner.{order}", layout.size)
        pruner = Pruner(LinearChain(chain.labels, chain.features, layout, weights, pruner), threshold, n)
    return pruner


@contextmanager
def reading(path: str | Path) -> Iterator[None]:
    """One typed error for all that goes wrong while a model is put together."""
    try:
        yield
    except SettingError as error:  # a function of the user's own was not given
        raise SettingError(f"{path}: {error}") from None
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, TemplateError) as error:
        raise DamagedModelError(f"{path}: the model's parts do not fit together ({error})") from None


def common_parts(
    description: dict[str, Any],
    tensors: Tensors,
    known: list[str],
    functions: Callables,
    more: AbstractSet[str] = frozenset(),
) -> tuple[dict[str, Any], dict[str, Any], list[str], FeatureKind]:
    """What every kind of model has: parameters, training record, labels and features. `more`: entries of the
    description that this kind has beside."""
    if set(description) != {"format", "model", "params", "training", "features"} | more:
        raise ValueError("entries of the description")
    params, training = description["params"], description["training"]
    if type(params) is not dict or type(training) is not dict or not set(params) <= set(known):
        raise ValueError("parameters")
    check_training(training)
    labels = get_strings(tensors, "labels")
    if not 1 <= len(labels) <= MOST_LABELS:
        raise ValueError("number of labels")
    features = get_features(tensors, description["features"], description["format"], len(labels), functions)
    return params, training, labels, features


def get_layout(tensors: Tensors, labels: int, attributes: int) -> WeightLayout:
    """What `put_layout` has put, checked, and attributes on transitions."""
    counts = tensor(tensors, "pair_counts", np.uint16).astype(np.int64)
    label = tensor(tensors, "pair_labels", np.uint16)
    source = tensor(tensors, "transition_sources", np.uint16).astype(np.int32)
    target = tensor(tensors, "transition_targets", np.uint16).astype(np.int32)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    if len(counts) != attributes or start[-1] != len(label) or len(source) != len(target):
        raise ValueError("sizes of the layout")
    if any(len(part) and part.max() >= labels for part in (label, source, target)):
        raise ValueError("labels out of range")
    if not ascending_within(label, start) or not ascending(source.astype(np.int64) * labels + target):
        raise ValueError("weights not in order")
    layout = WeightLayout(labels, start, label, source, target)
    return _with_arcs(tensors, layout) if "arc_counts" in tensors else layout


def _with_arcs(tensors: Tensors, layout: WeightLayout) -> WeightLayout:
    """The layout with its arc attributes, of which there is at least one."""
    counts = tensor(tensors, "arc_counts", np.int32).astype(np.int64)
    pair = tensor(tensors, "arc_pairs", np.int32)
    # each is checked alone first: a sum of sizes that are none could be right
    if not len(counts) or np.any(counts < 0) or np.any(counts > layout.labels**2) or counts.sum() != len(pair):
        raise ValueError("sizes of the arc attributes")
    if len(pair) and not (pair.min() >= 0 and pair.max() < layout.labels**2):
        raise ValueError("label pairs out of range")
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    if not ascending_within(pair, start):
        raise ValueError("weights of arc attributes not in order")
    return replace(layout, arc_start=start, arc_pair=pair)


def check_training(training: dict[str, Any]) -> None:
    objective = training["objective"]
    counts = (training["iterations"], training["evaluations"])
    if not _finite(objective) or type(training["converged"]) is not bool:
        raise ValueError("training record")
    if not all(type(n) is int and n >= 0 for n in counts) or len(training) != 7:
        raise ValueError("training record")
    score = training["dev_score"]
    if type(training["stopped_early"]) is not bool or not (score is None or _finite(score)):
        raise ValueError("training record")
    if type(training["columns"]) is not list or not all(type(name) is str for name in training["columns"]):
        raise ValueError("names of columns")


def _finite(value: object) -> bool:
    return type(value) is float and math.isfinite(value)


def ascending_within(values: NDArray[np.int32], start: NDArray[np.int64]) -> bool:
    """Whether each of the parts `start[a]:start[a + 1]` ascends; no value is negative."""
    inside = np.ones(len(values), bool)
    inside[start[:-1][np.diff(start) > 0]] = False
    return not np.any(np.diff(values, prepend=0)[inside] <= 0)
