"""A trained chain as description and tensors, and back. Reading checks every index, range and number."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DamagedModelError, TemplateError
from trellis.features import GivenFeatures, TemplateFeatures
from trellis.features.keys import KeyMaker
from trellis.features.template import parse_templates
from trellis.models.linear import MOST_LABELS, LinearChain
from trellis.scoring import WeightLayout
from trellis.store import Tensors, get_strings, put_strings

_TEMPLATE_KEYS = {"kind", "templates", "columns", "ranks"}


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
    features = _put_features(tensors, model.features)
    return {"model": kind, "params": params, "training": training, "features": features}, tensors


def model_from(
    description: dict[str, Any], tensors: Tensors, known: list[str], path: str | Path
) -> tuple[dict[str, Any], dict[str, Any], LinearChain]:
    """Parameters, training record and model; one typed error for whatever does not fit."""
    tensors = dict(tensors)  # what is read is taken out; nothing may be left
    try:
        if set(description) != {"format", "model", "params", "training", "features"}:
            raise ValueError("entries of the description")
        params, training = description["params"], description["training"]
        if type(params) is not dict or type(training) is not dict or not set(params) <= set(known):
            raise ValueError("parameters")
        _check_training(training)
        labels = get_strings(tensors, "labels")
        if not 1 <= len(labels) <= MOST_LABELS:
            raise ValueError("number of labels")
        features = _get_features(tensors, description["features"])
        layout = _get_layout(tensors, len(labels), features.attributes)
        weights = _tensor(tensors, "weights", np.float64)
        if len(weights) != layout.size or not np.isfinite(weights).all():
            raise ValueError("weights")
        if tensors:
            raise ValueError(f"unknown tensors: {', '.join(tensors)}")
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, TemplateError) as error:
        raise DamagedModelError(f"{path}: the model's parts do not fit together ({error})") from None
    return params, training, LinearChain(tuple(labels), features, layout, weights)


def _put_features(tensors: Tensors, features: TemplateFeatures | GivenFeatures) -> dict[str, Any]:
    if isinstance(features, GivenFeatures):
        put_strings(tensors, "attributes", features.strings)
        return {"kind": "given"}
    maker = features.maker
    for name, strings in maker.vocabulary.items():
        put_strings(tensors, f"vocabulary.{name}", strings)
    tensors["keys"] = np.concatenate([np.zeros(0, np.int64), *features.keys])
    tensors["key_counts"] = np.array([len(keys) for keys in features.keys], np.int64)
    for (k, j), seen in maker.ranks.items():
        tensors[f"ranks.{k}.{j}"] = seen
    return {
        "kind": "templates",
        "templates": [template.text for template in maker.templates],
        "columns": list(maker.vocabulary),
        "ranks": [[k, j] for k, j in maker.ranks],
    }


def _get_features(tensors: Tensors, description: dict[str, Any]) -> TemplateFeatures | GivenFeatures:
    if set(description) != ({"kind"} if description["kind"] == "given" else _TEMPLATE_KEYS):
        raise ValueError("entries of the features")
    if description["kind"] == "given":
        return GivenFeatures(get_strings(tensors, "attributes"))
    if description["kind"] != "templates":
        raise ValueError("features of an unknown kind")
    columns = [str(name) for name in description["columns"]]
    templates = parse_templates("\n".join(description["templates"]), columns, target="")
    if [t.text for t in templates] != description["templates"]:
        raise ValueError("templates")
    vocabulary = {name: get_strings(tensors, f"vocabulary.{name}") for name in columns}
    ranks = {(int(k), int(j)): _tensor(tensors, f"ranks.{k}.{j}", np.int64) for k, j in description["ranks"]}
    maker = KeyMaker(templates, vocabulary, ranks)
    if not all(_ascending(seen) for seen in ranks.values()) or not maker.is_consistent():
        raise ValueError("ranks")
    counts = _tensor(tensors, "key_counts", np.int64)
    keys = _tensor(tensors, "keys", np.int64)
    if len(counts) != len(templates) or np.any(counts < 0) or np.any(counts > len(keys)):
        raise ValueError("number of keys")
    if counts.sum() != len(keys):
        raise ValueError("number of keys")
    parts = np.split(keys, np.cumsum(counts)[:-1])
    for k, part in enumerate(parts):
        if not _ascending(part) or (len(part) and part[-1] >= maker.largest(k)):
            raise ValueError("keys out of range")
    return TemplateFeatures(maker, parts)


def _get_layout(tensors: Tensors, labels: int, attributes: int) -> WeightLayout:
    counts = _tensor(tensors, "pair_counts", np.uint16).astype(np.int64)
    label = _tensor(tensors, "pair_labels", np.uint16).astype(np.int32)
    source = _tensor(tensors, "transition_sources", np.uint16).astype(np.int32)
    target = _tensor(tensors, "transition_targets", np.uint16).astype(np.int32)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    if len(counts) != attributes or start[-1] != len(label) or len(source) != len(target):
        raise ValueError("sizes of the layout")
    if any(len(part) and part.max() >= labels for part in (label, source, target)):
        raise ValueError("labels out of range")
    if not _ascending_within(label, start) or not _ascending(source.astype(np.int64) * labels + target):
        raise ValueError("weights not in order")
    layout = WeightLayout(labels, start, label, source, target)
    return _with_arcs(tensors, layout) if "arc_counts" in tensors else layout


def _with_arcs(tensors: Tensors, layout: WeightLayout) -> WeightLayout:
    """The layout with its arc attributes, of which there is at least one."""
    counts = _tensor(tensors, "arc_counts", np.int32).astype(np.int64)
    pair = _tensor(tensors, "arc_pairs", np.int32)
    # each is checked alone first: a sum of sizes that are none could be right
    if not len(counts) or np.any(counts < 0) or np.any(counts > layout.labels**2) or counts.sum() != len(pair):
        raise ValueError("sizes of the arc attributes")
    if len(pair) and not (pair.min() >= 0 and pair.max() < layout.labels**2):
        raise ValueError("label pairs out of range")
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    if not _ascending_within(pair, start):
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


def _tensor(tensors: Tensors, name: str, dtype: Any) -> NDArray[Any]:
    values = tensors.pop(name)
    if values.dtype != dtype or values.ndim != 1:
        raise ValueError(f"tensor {name}")
    return values


def _ascending_within(values: NDArray[np.int32], start: NDArray[np.int64]) -> bool:
    """Whether each of the parts `start[a]:start[a + 1]` ascends; no value is negative."""
    inside = np.ones(len(values), bool)
    inside[start[:-1][np.diff(start) > 0]] = False
    return not np.any(np.diff(values, prepend=0)[inside] <= 0)


def _ascending(values: NDArray[np.int64]) -> bool:
    # compared, not subtracted: a difference could wrap around
    return not len(values) or (int(values[0]) >= 0 and bool(np.all(values[1:] > values[:-1])))
