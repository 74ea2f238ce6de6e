"""A sequential classifier as description and tensors, and back: those of the linear chain whose weights it has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trellis.models.feature_files import Callables
from trellis.models.sequential_chain import SequentialChain
from trellis.models.serial import description_of, model_from, reading
from trellis.store import Tensors


def sequential_description_of(
    kind: str, params: dict[str, Any], training: dict[str, Any], model: SequentialChain
) -> tuple[dict[str, Any], Tensors]:
    """Everything needed to rebuild the pipeline; the beam is among the parameters."""
    return description_of(kind, params, training, model.linear)


def sequential_model_from(
    description: dict[str, Any], tensors: Tensors, known: list[str], path: str | Path, functions: Callables
) -> tuple[dict[str, Any], dict[str, Any], SequentialChain]:
    """Parameters, training record and model; one typed error for whatever does not fit."""
    params, training, linear = model_from(description, tensors, known, path, functions)
    with reading(path):
        if linear.layout.order == 0 or linear.pruner is not None:
            raise ValueError("order of a sequential classifier")
    return params, training, SequentialChain.of(linear, params.get("beam"))
