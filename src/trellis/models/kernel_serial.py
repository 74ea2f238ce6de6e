"""A trained chain with support tokens as description and tensors, and back. Reading checks every index and number.

Beside the tensors of labels and features:

    support_counts I32[supports]       how many attributes each support has
    support_ids I32, support_values F64   these attributes, and their values if not all are 1
    coefficient_counts U16[supports]   how many labels each support has a coefficient for
    coefficient_labels U16, coefficients F64   these labels, ascending, and their coefficients
    transitions F64[labels * labels]   by the label before, then the label

and in the description `kernel`: its degree, offset, scale and whether it is a cosine.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.dual import Polynomial, Supports
from trellis.features import Packed
from trellis.models.feature_files import Callables, put_features, tensor
from trellis.models.kernel_chain import KernelChain
from trellis.models.serial import ascending_within, common_parts, reading
from trellis.models.settings import SETTINGS
from trellis.store import Tensors, put_strings


def kernel_description_of(
    kind: str, params: dict[str, Any], training: dict[str, Any], model: KernelChain
) -> tuple[dict[str, Any], Tensors]:
    """Everything needed to rebuild the pipeline."""
    supports = model.supports
    tensors: Tensors = {
        "support_counts": np.diff(supports.packed.indptr).astype(np.int32),
        "support_ids": supports.packed.ids,
        "coefficient_counts": np.diff(supports.start).astype(np.uint16),
        "coefficient_labels": supports.label.astype(np.uint16),
        "coefficients": supports.coefficients,
        "transitions": model.transitions.ravel(),
    }
    if supports.packed.values is not None:
        tensors["support_values"] = supports.packed.values
    put_strings(tensors, "labels", model.labels)
    kernel = {name: SETTING_TYPES[name](value) for name, value in asdict(supports.kernel).items()}
    features = put_features(tensors, model.features)
    description = {"model": kind, "params": params, "training": training, "features": features, "kernel": kernel}
    return description, tensors


SETTING_TYPES: dict[str, type] = {"degree": int, "offset": float, "scale": float, "cosine": bool}


def kernel_model_from(
    description: dict[str, Any], tensors: Tensors, known: list[str], path: str | Path, functions: Callables
) -> tuple[dict[str, Any], dict[str, Any], KernelChain]:
    """Parameters, training record and model; one typed error for whatever does not fit."""
    tensors = dict(tensors)  # what is read is taken out; nothing may be left
    with reading(path):
        params, training, labels, features = common_parts(description, tensors, known, functions, {"kernel"})
        if features.arc_attributes:
            raise ValueError("attributes on transitions")
        kernel = _get_kernel(description["kernel"])
        packed = _get_supports(tensors, features.attributes)
        start, label = _get_labels(tensors, len(packed.indptr) - 1, len(labels))
        coefficients = _finite(tensors, "coefficients", len(label))
        transitions = _finite(tensors, "transitions", len(labels) ** 2).reshape(len(labels), len(labels))
        if tensors:
            raise ValueError(f"unknown tensors: {', '.join(tensors)}")
    supports = Supports(packed, start, label, coefficients, kernel, features.attributes, len(labels))
    return params, training, KernelChain(tuple(labels), features, supports, transitions)


def _get_kernel(written: dict[str, Any]) -> Polynomial:
    if set(written) != set(SETTING_TYPES):
        raise ValueError("entries of the kernel")
    for name, kind in SETTING_TYPES.items():
        if type(written[name]) is not kind or not SETTINGS[name][0](written[name]):
            raise ValueError(f"{name} of the kernel")
    return Polynomial(**written)


def _get_supports(tensors: Tensors, attributes: int) -> Packed:
    counts = tensor(tensors, "support_counts", np.int32).astype(np.int64)
    ids = tensor(tensors, "support_ids", np.int32)
    values = _finite(tensors, "support_values", len(ids)) if "support_values" in tensors else None
    # each is checked alone first: a sum of sizes that are none could be right
    if np.any(counts < 0) or np.any(counts > len(ids)) or counts.sum() != len(ids):
        raise ValueError("sizes of the supports")
    if len(ids) and not (ids.min() >= 0 and ids.max() < attributes):
        raise ValueError("attributes out of range")
    return Packed(_starts(counts), ids, values)


def _get_labels(tensors: Tensors, supports: int, labels: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    counts = tensor(tensors, "coefficient_counts", np.uint16).astype(np.int64)
    label = tensor(tensors, "coefficient_labels", np.uint16).astype(np.int32)
    start = _starts(counts)
    if len(counts) != supports or start[-1] != len(label):
        raise ValueError("number of coefficients")
    if (len(label) and label.max() >= labels) or not ascending_within(label, start):
        raise ValueError("labels of coefficients")
    return start, label


def _finite(tensors: Tensors, name: str, size: int) -> NDArray[np.float64]:
    values = tensor(tensors, name, np.float64)
    if len(values) != size or not np.isfinite(values).all():
        raise ValueError(name)
    return values


def _starts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
