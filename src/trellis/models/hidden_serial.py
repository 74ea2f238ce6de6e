"""A hidden Markov model as description and tensors, and back. Reading checks every index and number.

Beside the tensors of labels and features:

    emission_counts U16[words], emission_labels U16, emissions F64   labels of each word, ascending, and how often
    first, last F64[labels]            sentences that begin and end with a label
    follow_at I64, follow F64          labels after one another: where in the table, ascending, and how often
    mean F64[labels + 1], pairs F64    of the prior; pairs only for order 2
    class_counts U16[classes], class_labels U16, class_seen F64      labels of each class of unknown words
    rare, every F64[labels]            how frequent labels are among rare words and among all

the last five only if there are classes, and in the description `hidden`: the order, and the strength of the prior.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.features import TemplateFeatures
from trellis.features.numbering import Numbering
from trellis.features.reading import columns_of
from trellis.markov import MOST_OF_ORDER_2, Events, Prior, UnknownWords, Vocabulary
from trellis.markov.events import shape_of
from trellis.models.feature_files import Callables, ascending, put_features, tensor
from trellis.models.hidden_chain import HiddenChain
from trellis.models.serial import ascending_within, common_parts, reading
from trellis.store import Tensors, put_strings

F64 = NDArray[np.float64]

_ROUNDING = 1e-9  # of sums of up to 4,096 shares


def hidden_description_of(
    kind: str, params: dict[str, Any], training: dict[str, Any], model: HiddenChain
) -> tuple[dict[str, Any], Tensors]:
    """Everything needed to rebuild the pipeline."""
    events, prior, unknown = model.events, model.prior, model.unknown
    flat = events.follow.ravel()
    at = np.flatnonzero(flat).astype(np.int64)
    tensors: Tensors = {
        **_put_vocabulary("emission", model.vocabulary),
        "emissions": events.emit,
        "first": events.first,
        "last": events.last,
        "follow_at": at,
        "follow": flat[at],
        "mean": prior.mean,
    }
    if prior.pairs is not None:
        tensors["pairs"] = prior.pairs.ravel()
    if unknown is not None:
        tensors |= _put_vocabulary("class", unknown.classes)
        tensors |= {"class_seen": unknown.seen, "rare": unknown.rare, "every": unknown.every}
    put_strings(tensors, "labels", model.labels)
    features = put_features(tensors, model.features)
    hidden = {"order": events.order, "strength": float(prior.strength)}
    description = {"model": kind, "params": params, "training": training, "features": features, "hidden": hidden}
    return description, tensors


def hidden_model_from(
    description: dict[str, Any], tensors: Tensors, known: list[str], path: str | Path, functions: Callables
) -> tuple[dict[str, Any], dict[str, Any], HiddenChain]:
    """Parameters, training record and model; one typed error for whatever does not fit."""
    tensors = dict(tensors)  # what is read is taken out; nothing may be left
    with reading(path):
        params, training, labels, features = common_parts(description, tensors, known, functions, {"hidden"})
        words, classes = _sizes_of(features)
        order, strength = _get_hidden(description["hidden"], len(labels))
        vocabulary = _get_vocabulary(tensors, "emission", words, len(labels))
        events = _get_events(tensors, order, len(labels), len(vocabulary.label))
        prior = _get_prior(tensors, order, strength, len(labels))
        unknown = _get_unknown(tensors, classes, len(labels)) if "rare" in tensors else None
        _check_sums(events, prior)
        if tensors:
            raise ValueError(f"unknown tensors: {', '.join(tensors)}")
    assert isinstance(features, TemplateFeatures)
    return params, training, HiddenChain(tuple(labels), features, vocabulary, events, prior, unknown)


def _put_vocabulary(name: str, vocabulary: Vocabulary) -> Tensors:
    return {
        f"{name}_counts": np.diff(vocabulary.start).astype(np.uint16),
        f"{name}_labels": vocabulary.label.astype(np.uint16),
    }


def _sizes_of(features: Any) -> tuple[int, int]:
    """How many words and classes there are; features of words are all templates of one column, without functions of
    the user's own, without transitions."""
    if not isinstance(features, TemplateFeatures) or not isinstance(features.labels, Numbering):
        raise ValueError("features of an HMM")
    groups = features.labels.groups
    if not groups or features.arc_attributes or any(len(group.members) != 1 for group in groups):
        raise ValueError("features of an HMM")
    if features.functions or features.dictionary is not None or not features.templates[0].parts:
        raise ValueError("features of an HMM")
    if len(columns_of(features.views)) != 1:
        raise ValueError("columns of an HMM")
    words = len(groups[0].values)
    return words, features.attributes - words


def _get_hidden(found: Any, labels: int) -> tuple[int, float]:
    if type(found) is not dict or set(found) != {"order", "strength"}:
        raise ValueError("entries of the hidden chain")
    order, strength = found["order"], found["strength"]
    if type(order) is not int or order not in (1, 2) or (order == 2 and labels > MOST_OF_ORDER_2):
        raise ValueError("order")
    if type(strength) is not float or not (math.isfinite(strength) and strength >= 0.0):
        raise ValueError("strength of the prior")
    return order, strength


def _get_vocabulary(tensors: Tensors, name: str, words: int, labels: int) -> Vocabulary:
    counts = tensor(tensors, f"{name}_counts", np.uint16).astype(np.int64)
    label = tensor(tensors, f"{name}_labels", np.uint16).astype(np.int32)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    if len(counts) != words or start[-1] != len(label):
        raise ValueError(f"number of {name}s")
    if (len(label) and label.max() >= labels) or not ascending_within(label, start):
        raise ValueError(f"labels of {name}s")
    return Vocabulary(start, label, labels)


def _get_events(tensors: Tensors, order: int, labels: int, pairs: int) -> Events:
    shape = shape_of(order, labels)
    at = tensor(tensors, "follow_at", np.int64)
    if not ascending(at) or (len(at) and not (at[0] >= 0 and at[-1] < math.prod(shape))):
        raise ValueError("labels after one another")
    follow = np.zeros(math.prod(shape))
    follow[at] = _amounts(tensors, "follow", len(at))
    first, last = _amounts(tensors, "first", labels), _amounts(tensors, "last", labels)
    return Events(first, last, follow.reshape(shape), _amounts(tensors, "emissions", pairs))


def _get_prior(tensors: Tensors, order: int, strength: float, labels: int) -> Prior:
    mean = _shares(tensors, "mean", labels + 1)
    if order == 1:
        return Prior(strength, mean)
    pairs = _amounts(tensors, "pairs", labels * labels).reshape(labels, labels)
    sums = pairs.sum(axis=1)
    if not np.all((sums == 0.0) | (np.abs(sums - 1.0) <= _ROUNDING)):
        raise ValueError("pairs")
    return Prior(strength, mean, pairs)


def _get_unknown(tensors: Tensors, classes: int, labels: int) -> UnknownWords:
    vocabulary = _get_vocabulary(tensors, "class", classes, labels)
    seen = _amounts(tensors, "class_seen", len(vocabulary.label))
    rare, every = _shares(tensors, "rare", labels), _shares(tensors, "every", labels)
    # a label of rare words that no word has would be infinitely more probable for unknown ones
    if np.any(every[vocabulary.label[seen > 0.0]] == 0.0) or np.any(every[rare > 0.0] == 0.0):
        raise ValueError("labels of rare words")
    return UnknownWords(vocabulary, seen, rare, every)


def _check_sums(events: Events, prior: Prior) -> None:
    """Probabilities are shares of sums of these."""
    parts = events.first, events.last, events.follow, events.emit
    if not math.isfinite(prior.strength + sum(float(one.sum()) for one in parts)):
        raise ValueError("counts add up to more than a number can hold")


def _amounts(tensors: Tensors, name: str, size: int) -> F64:
    """So many numbers >= 0, with a sum."""
    values = tensor(tensors, name, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        if len(values) != size or not np.isfinite(values.sum()) or (size and values.min() < 0.0):
            raise ValueError(name)
    return values


def _shares(tensors: Tensors, name: str, size: int) -> F64:
    """So many probabilities of which one is true."""
    values = _amounts(tensors, name, size)
    if abs(values.sum() - 1.0) > _ROUNDING:
        raise ValueError(name)
    return values
