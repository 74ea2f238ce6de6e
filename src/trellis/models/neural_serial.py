"""A chain with an encoder as description and tensors, and back. Reading checks every size and number.

Beside what a linear chain has (see `serial`):

    encoder.NAME F32            the encoder's arrays, flat (see `neural.shape`)
    encoder.fixed F32           only with vectors: those of words that were not in the training data
    inputs.K                    strings: the values of column K that have a number
    letters                     strings: the letters that have one

and in the description `encoder`: the columns and the sizes.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from trellis.corpus.corpus import check_names
from trellis.errors import SettingError
from trellis.features import TemplateFeatures
from trellis.features.inputs import MOST_LETTERS, InputTables
from trellis.models.feature_files import Callables, tensor
from trellis.models.neural_chain import NeuralChain
from trellis.models.serial import description_of, model_from, reading
from trellis.models.settings import MOST_LAYERS, MOST_SIZE
from trellis.neural.encoder import F32, Encoder
from trellis.neural.shape import EncoderShape
from trellis.store import Tensors, get_strings, put_strings

_SIZES = ("embedding", "further", "letters", "filters", "hidden", "layers")


def neural_description_of(
    kind: str, params: dict[str, Any], training: dict[str, Any], model: NeuralChain
) -> tuple[dict[str, Any], Tensors]:
    """Everything needed to rebuild the pipeline."""
    description, tensors = description_of(kind, params, training, model.linear)
    encoder = put_encoder(tensors, model)
    return {**description, "encoder": encoder}, tensors


def put_encoder(tensors: Tensors, model: NeuralChain) -> dict[str, Any]:
    """Adds the tensors and gives the description."""
    tables = model.tables
    for k, strings in enumerate(tables.tables):
        put_strings(tensors, f"inputs.{k}", strings)
    put_strings(tensors, "letters", tables.letters)
    for name, array in model.encoder.arrays.items():
        tensors[f"encoder.{name}"] = array.reshape(-1)
    if model.encoder.fixed is not None:
        tensors["encoder.fixed"] = model.encoder.fixed.reshape(-1)
    return {"columns": list(tables.columns), **{name: getattr(model.encoder.shape, name) for name in _SIZES}}


def neural_model_from(
    description: dict[str, Any],
    tensors: Tensors,
    known: list[str],
    path: str | Path,
    functions: Callables,
    more_attributes: tuple[int, int] = (0, 0),
) -> tuple[dict[str, Any], dict[str, Any], NeuralChain]:
    """Parameters, training record and model; one typed error for whatever does not fit. `more_attributes`: as for
    `model_from`."""
    tensors, description = dict(tensors), dict(description)
    with reading(path):
        tables, fixed, sizes, arrays = get_encoder(tensors, description.pop("encoder"))
    params, training, linear = model_from(description, tensors, known, path, functions, more_attributes)
    with reading(path):
        features = linear.features
        if params.get("target") in tables.columns:
            raise ValueError("columns of the encoder")
        if not isinstance(features, TemplateFeatures) or linear.pruner is not None:
            raise ValueError("features of a model with an encoder")
        trained = (tables.sizes[0] - (0 if fixed is None else len(fixed)), *tables.sizes[1:])
        shape = EncoderShape(trained, tables.alphabet, len(linear.labels), *sizes)
        encoder = Encoder(shape, _shaped(arrays, shape), fixed)
    return params, training, NeuralChain.of(replace(linear, features=replace(features, inputs=tables)), encoder)


def get_encoder(tensors: Tensors, found: Any) -> tuple[InputTables, F32 | None, list[int], dict[str, F32]]:
    """Tables, fixed vectors, sizes and flat arrays; takes the tensors out."""
    if type(found) is not dict or set(found) != {"columns", *_SIZES}:
        raise ValueError("entries of the encoder")
    columns, sizes = found["columns"], [found[name] for name in _SIZES]
    if type(columns) is not list or not columns or not all(type(name) is str for name in columns):
        raise ValueError("columns of the encoder")
    if not all(type(size) is int and 1 <= size <= MOST_SIZE for size in sizes) or sizes[-1] > MOST_LAYERS:
        raise ValueError("sizes of the encoder")
    try:
        is_named = check_names(columns) == columns and "_" not in columns
    except SettingError:
        is_named = False
    if not is_named:
        raise ValueError("columns of the encoder")
    strings = tuple(get_strings(tensors, f"inputs.{k}") for k in range(len(columns)))
    letters = get_strings(tensors, "letters")
    if len(letters) > MOST_LETTERS or not all(len(letter) == 1 for letter in letters):
        raise ValueError("letters")
    fixed = None
    if "encoder.fixed" in tensors:
        flat = _finite(tensors, "encoder.fixed")
        if len(flat) % sizes[0] or len(flat) // sizes[0] > len(strings[0]):
            raise ValueError("vectors of the encoder")
        fixed = flat.reshape(-1, sizes[0])
    arrays = {name: _finite(tensors, name) for name in list(tensors) if name.startswith("encoder.")}
    return InputTables(tuple(columns), strings, letters), fixed, sizes, arrays


def _finite(tensors: Tensors, name: str) -> F32:
    values: F32 = tensor(tensors, name, np.float32)
    if not np.isfinite(values).all():
        raise ValueError(name)
    return values


def _shaped(arrays: dict[str, F32], shape: EncoderShape) -> dict[str, F32]:
    if set(arrays) != {f"encoder.{name}" for name in shape.parameters}:
        raise ValueError("arrays of the encoder")
    out = {}
    for name, size in shape.parameters.items():
        flat = arrays[f"encoder.{name}"]
        if len(flat) != int(np.prod(size)):
            raise ValueError(f"encoder.{name}")
        out[name] = flat.reshape(size)
    return out
