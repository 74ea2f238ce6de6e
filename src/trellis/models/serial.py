"""A trained chain as description and tensors, and back. Reading checks every index, range and number."""

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
from trellis.models.feature_files import Callables, ascending, get_features, put_features, tensor
from trellis.models.linear import MOST_LABELS, LinearChain
from trellis.scoring import WeightLayout
from trellis.store import Tensors, get_strings, put_strings


def description_of(
    kind: str, params: dict[str, Any], training: dict[str, Any], model: LinearChain
) -> tuple[dict[str, Any], Tensors]:
    """Everything needed to rebuild the pipeline."""
    layout = model.layout
    tensors: Tensors = {
        "weights": model.weights,
        "pair_counts": np.diff(layout.pair_start).astype(np.uint16),
        "pair_labels": layout.pair_label.astype(np.uint16),
        "transition_sources": layout.source.astype(np.uint16),
        "transition_targets": layout.target.astype(np.uint16),
    }
    if layout.arc_attributes:
        tensors["arc_counts"] = np.diff(layout.arc_start).astype(np.int32)
        tensors["arc_pairs"] = layout.arc_pair
    put_strings(tensors, "labels", model.labels)
    features = put_features(tensors, model.features)
    return {"model": kind, "params": params, "training": training, "features": features}, tensors


def model_from(
    description: dict[str, Any], tensors: Tensors, known: list[str], path: str | Path, functions: Callables
) -> tuple[dict[str, Any], dict[str, Any], LinearChain]:
    """Parameters, training record and model; one typed error for whatever does not fit."""
    tensors = dict(tensors)  # what is read is taken out; nothing may be left
    with reading(path):
        params, training, labels, features = common_parts(description, tensors, known, functions)
        layout = _get_layout(tensors, len(labels), features.attributes)
        if layout.arc_attributes != features.arc_attributes:
            raise ValueError("number of arc attributes")
        weights = tensor(tensors, "weights", np.float64)
        if len(weights) != layout.size or not np.isfinite(weights).all():
            raise ValueError("weights")
        if tensors:
            raise ValueError(f"unknown tensors: {', '.join(tensors)}")
    return params, training, LinearChain(tuple(labels), features, layout, weights)


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
    _check_training(training)
    labels = get_strings(tensors, "labels")
    if not 1 <= len(labels) <= MOST_LABELS:
        raise ValueError("number of labels")
    features = get_features(tensors, description["features"], description["format"], len(labels), functions)
    return params, training, labels, features


def _get_layout(tensors: Tensors, labels: int, attributes: int) -> WeightLayout:
    counts = tensor(tensors, "pair_counts", np.uint16).astype(np.int64)
    label = tensor(tensors, "pair_labels", np.uint16).astype(np.int32)
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


def _check_training(training: dict[str, Any]) -> None:
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
