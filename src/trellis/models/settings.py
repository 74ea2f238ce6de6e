"""The types and ranges of settings, and settings as a model file holds them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from types import SimpleNamespace
from typing import Any

import numpy as np

from trellis.errors import SettingError, shown
from trellis.labels import PATH_ENCODINGS

USUAL_L2 = 1.0  # where none is given
MOST_ORDER = 4  # of a chain: tuples of labels are numbered in 62 bits, up to 4,096 labels
MOST_LENGTH = 1000  # tokens of a segment
MOST_BEAM = 10_000  # histories: a search takes as many steps for each that is kept
MOST_SUFFIX = 20  # letters
MOST_STATES = 4096  # as many as there may be labels
MOST_SIZE = 10_000  # of an encoder's vectors
MOST_LAYERS = 10
MOST_DEGREE = 20  # of a polynomial kernel: numbers grow beyond what floats can tell apart


def check_settings(estimator: object, *names: str) -> None:
    """Refuses what does not fit: of the settings named, or of all that the estimator has."""
    for name in names or [name for name in SETTINGS if hasattr(estimator, name)]:
        value, (good, expected) = getattr(estimator, name), SETTINGS[name]
        if name == "features" and _is_columnar(value):
            raise SettingError(f"features: {value.no_place()}")
        if not good(value):
            raise SettingError(f"{name} is {shown(value)}; expected {expected}")


def check_chain_settings(estimator: Any) -> None:
    """The same for what trains a chain of labels, some of whose settings do not go together."""
    check_settings(estimator)
    if estimator.only_seen and (estimator.all_transitions or estimator.order == 0):
        other = "all_transitions" if estimator.all_transitions else "order 0"
        raise SettingError(f"only_seen has no meaning with {other}; leave one of them out")
    if estimator.hash_size is not None and estimator.min_count > 1:
        raise SettingError("min_count has no meaning with hash_size, where nothing is counted; give one of them")


def is_number(value: object) -> bool:
    """Whether it is a finite number."""
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # a whole number that no float can hold
        return False


def is_count(value: object) -> bool:
    """Whether it is a whole number >= 1."""
    return isinstance(value, Integral) and is_number(value) and int(value) >= 1


def check_probability(name: str, value: Any) -> float:
    """A number from 0 to 1."""
    if not is_number(value) or not 0.0 <= float(value) <= 1.0:
        raise SettingError(f"{name} is {shown(value)}; expected a probability from 0 to 1")
    return float(value)


def check_draws(count: object, seed: object) -> None:
    """How often to draw at random, and from where on."""
    if not is_count(count):
        raise SettingError(f"count is {shown(count)}; expected a whole number >= 1")
    check_settings(SimpleNamespace(seed=seed), "seed")


def _is_length(value: object) -> bool:
    return isinstance(value, Integral) and is_count(value) and int(value) <= MOST_LENGTH


def _is_seed(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and 0 <= int(value) < 1 << 63


def _is_amount(value: Any) -> bool:
    return is_number(value) and value >= 0


def _is_table(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(name, str) for name in value)


def _is_size(value: Any) -> bool:
    return is_count(value) and value <= MOST_SIZE


SETTINGS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "target": (lambda v: v is None or isinstance(v, str), "the name of a column"),
    "features": (
        lambda v: isinstance(v, str | os.PathLike) or _is_features(v),
        "a preset, a file, template lines or features",
    ),
    "loss": (lambda v: v is None or isinstance(v, str), "a name, or None"),
    "optimizer": (lambda v: isinstance(v, str), "a name"),
    "options": (lambda v: v is None or _is_table(v), "a dict of names and values, or None"),
    "l2": (_is_amount, "a number >= 0"),
    "l1": (_is_amount, "a number >= 0"),
    "hyperbolic": (_is_amount, "a number >= 0"),
    "costs": (
        lambda v: v is None or _is_amount(v) or (_is_table(v) and all(map(_is_amount, v.values()))),
        "a number >= 0, a dict of these by label, or None",
    ),
    "max_iter": (is_count, "a whole number >= 1"),
    "tol": (lambda v: is_number(v) and 0 < v < 1, "a number between 0 and 1"),
    "patience": (is_count, "a whole number >= 1"),
    "min_count": (is_count, "a whole number >= 1"),
    "hash_size": (lambda v: v is None or (is_count(v) and v <= 1 << 30), "a whole number from 1 to 2^30, or None"),
    "tag_dictionary": (lambda v: v is None or is_count(v), "a whole number >= 1, or None"),
    "order": (lambda v: v == 0 or (is_count(v) and v <= MOST_ORDER), f"a whole number from 0 to {MOST_ORDER}"),
    "prune": (lambda v: v is None or (is_number(v) and 0 < v < 1), "a probability between 0 and 1, or None"),
    "encoding": (
        lambda v: v is None or (isinstance(v, str) and v in ("auto", *PATH_ENCODINGS)),
        f"auto, {', '.join(PATH_ENCODINGS)}, or None",
    ),
    "only_seen": (lambda v: isinstance(v, bool), "True or False"),
    "all_pairs": (lambda v: isinstance(v, bool), "True or False"),
    "all_transitions": (lambda v: isinstance(v, bool), "True or False"),
    "all_nodes": (lambda v: isinstance(v, bool), "True or False"),
    "arcs": (lambda v: isinstance(v, str), "names of columns with + between them, or nothing"),
    "segments": (lambda v: isinstance(v, str), "names of features of segments with + between them, or nothing"),
    "longest": (
        lambda v: v is None or _is_length(v) or (_is_table(v) and all(map(_is_length, v.values()))),
        f"a whole number from 1 to {MOST_LENGTH}, a dict of these by type, or None",
    ),
    "partial": (lambda v: isinstance(v, bool), "True or False"),
    "warm_start": (lambda v: isinstance(v, bool), "True or False"),
    "degree": (lambda v: is_count(v) and v <= MOST_DEGREE, f"a whole number from 1 to {MOST_DEGREE}"),
    "offset": (_is_amount, "a number >= 0"),
    "scale": (lambda v: is_number(v) and v > 0, "a number > 0"),
    "cosine": (lambda v: isinstance(v, bool), "True or False"),
    "epochs": (is_count, "a whole number >= 1"),
    "averaged": (lambda v: isinstance(v, bool), "True or False"),
    "batch": (lambda v: isinstance(v, bool), "True or False"),
    "beam": (lambda v: v is None or (is_count(v) and v <= MOST_BEAM), f"a whole number from 1 to {MOST_BEAM}, or None"),
    "explore": (lambda v: v == 0 or is_count(v), "a whole number >= 0"),
    "words": (lambda v: v is None or isinstance(v, str), "the name of a column, or None"),
    "smoothing": (_is_amount, "a number >= 0"),
    "suffix": (lambda v: v == 0 or (is_count(v) and v <= MOST_SUFFIX), f"a whole number from 0 to {MOST_SUFFIX}"),
    "rare": (is_count, "a whole number >= 1"),
    "states": (
        lambda v: v is None or (is_count(v) and 2 <= v <= MOST_STATES),
        f"a whole number from 2 to {MOST_STATES}, or None",
    ),
    "inputs": (lambda v: v is None or isinstance(v, str), "names of columns with + between them, '' or None"),
    "embedding": (lambda v: is_count(v) and 4 <= v <= MOST_SIZE, f"a whole number from 4 to {MOST_SIZE}"),
    "letters": (_is_size, f"a whole number from 1 to {MOST_SIZE}"),
    "filters": (_is_size, f"a whole number from 1 to {MOST_SIZE}"),
    "hidden": (_is_size, f"a whole number from 1 to {MOST_SIZE}"),
    "layers": (lambda v: is_count(v) and v <= MOST_LAYERS, f"a whole number from 1 to {MOST_LAYERS}"),
    "dropout": (lambda v: is_number(v) and 0 <= v < 1, "a number from 0 to less than 1"),
    "vectors": (lambda v: v is None or (isinstance(v, str | os.PathLike) and str(v) != ""), "a file, or None"),
    "batch_size": (lambda v: v is None or is_count(v), "a whole number >= 1, or None"),
    "step_size": (lambda v: is_number(v) and v > 0, "a number > 0"),
    "sparse_step": (lambda v: is_number(v) and v > 0, "a number > 0"),
    "decay": (_is_amount, "a number >= 0"),
    "clip": (lambda v: is_number(v) and v > 0, "a number > 0"),
    "average": (_is_amount, "a number >= 0"),
    "sparse_dropout": (lambda v: is_number(v) and 0 <= v < 1, "a number from 0 to less than 1"),
    "sparse_first": (lambda v: isinstance(v, bool), "True or False"),
    "steps": (lambda v: v is None or is_count(v), "a whole number >= 1, or None"),
    "raw_weight": (lambda v: is_number(v) and v > 0, "a number > 0"),
    "seed": (_is_seed, "a whole number from 0 to 2^63 - 1"),
    "threads": (lambda v: v is None or is_count(v), "a whole number >= 1, or None for all"),
}


def _is_features(value: object) -> bool:
    if isinstance(value, str | float | None):
        return False
    from trellis.features import Features

    return isinstance(value, Features)


def _is_columnar(value: object) -> bool:
    """A column, or a function of one, that was not given a place."""
    if isinstance(value, str | os.PathLike):
        return False
    from trellis.features.expression import Columnar

    return isinstance(value, Columnar)


def plain(value: Any) -> Any:
    """A parameter as JSON can hold it."""
    if isinstance(value, os.PathLike) or _is_features(value):
        return str(value)
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in sorted(value.items())}
    return value.item() if isinstance(value, np.generic) else value
