"""A trained model of lattices as description and tensors, and back. Reading checks every index and number.

Beside the tensors of labels and features, and those of the layout as in `serial`:

    arc_names                        strings: attributes of arcs that were given by name
    arc_values.K, arc_keys.K I64     strings: the values of a column of nodes, and the pairs of them that are attributes

and in the description `arcs`: None, "given", or the list of columns.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from trellis.features import GivenFeatures
from trellis.features.arc_columns import ArcColumns
from trellis.models.feature_files import Callables, ascending, put_features, tensor
from trellis.models.lattice_model import ArcFeatures, LatticeModel
from trellis.models.serial import common_parts, get_layout, get_weights, put_layout, reading
from trellis.store import Tensors, get_strings, put_strings


def lattice_description_of(
    kind: str, params: dict[str, Any], training: dict[str, Any], model: LatticeModel
) -> tuple[dict[str, Any], Tensors]:
    """Everything needed to rebuild the pipeline."""
    tensors: Tensors = {"weights": model.weights, **put_layout(model.layout.pairs)}
    put_strings(tensors, "labels", model.labels)
    features = put_features(tensors, model.features)
    arcs = _put_arcs(tensors, model.arcs)
    description = {"model": kind, "params": params, "training": training, "features": features, "arcs": arcs}
    return description, tensors


def lattice_model_from(
    description: dict[str, Any], tensors: Tensors, known: list[str], path: str | Path, functions: Callables
) -> tuple[dict[str, Any], dict[str, Any], LatticeModel]:
    """Parameters, training record and model; one typed error for whatever does not fit."""
    from trellis.scoring.explicit import ExplicitLayout

    tensors = dict(tensors)  # what is read is taken out; nothing may be left
    with reading(path):
        params, training, labels, features = common_parts(description, tensors, known, functions, {"arcs"})
        pairs = get_layout(tensors, len(labels), features.attributes)
        if pairs.arc_attributes or features.arc_attributes:
            raise ValueError("attributes on transitions")
        arcs = _get_arcs(tensors, description["arcs"])
        layout = ExplicitLayout(pairs, 0 if arcs is None else arcs.attributes)
        weights = get_weights(tensors, "weights", layout.size)
        if tensors:
            raise ValueError(f"unknown tensors: {', '.join(tensors)}")
    return params, training, LatticeModel(tuple(labels), features, arcs, layout, weights)


def _put_arcs(tensors: Tensors, arcs: ArcFeatures | None) -> str | list[str] | None:
    if arcs is None:
        return None
    if isinstance(arcs, GivenFeatures):
        put_strings(tensors, "arc_names", arcs.strings)
        return "given"
    for k, (values, keys) in enumerate(zip(arcs.values, arcs.keys, strict=True)):
        put_strings(tensors, f"arc_values.{k}", list(values))
        tensors[f"arc_keys.{k}"] = keys
    return list(arcs.columns)


def _get_arcs(tensors: Tensors, found: object) -> ArcFeatures | None:
    if found is None:
        return None
    if found == "given":
        return GivenFeatures(get_strings(tensors, "arc_names"))
    if type(found) is not list or not all(type(name) is str for name in found) or len(set(found)) != len(found):
        raise ValueError("columns of arcs")
    values, keys = [], []
    for k in range(len(found)):
        values.append(get_strings(tensors, f"arc_values.{k}"))
        keys.append(tensor(tensors, f"arc_keys.{k}", np.int64))
        if not ascending(keys[-1]) or (len(keys[-1]) and int(keys[-1][-1]) >= len(values[-1]) ** 2):
            raise ValueError("pairs of values")
    return ArcColumns(tuple(found), tuple(values), tuple(keys))
