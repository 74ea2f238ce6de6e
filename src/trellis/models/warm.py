"""Warm start: the weights of one model carried over to another by the names of attributes and labels."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from trellis.features.carry import earlier_numbers
from trellis.models.linear import LinearChain
from trellis.scoring import WeightLayout
from trellis.scoring.layout import keys_of_tuples

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

_LOG = logging.getLogger(__name__)


def carried_over(new: LinearChain, old: LinearChain, more: tuple[I64, I64] | None = None) -> F64:
    """The weights of `old` where `new` has them: F64[new.layout.size]; what is new is 0. `more`: of attributes behind
    those of the features, of labels and of transitions, which numbers they have in `old`, -1 for none."""
    index = {label: number for number, label in enumerate(old.labels)}
    labels = np.array([index.get(label, -1) for label in new.labels])
    attributes, arc_attributes = earlier_numbers(new.features, old.features)
    if more is not None:
        attributes, arc_attributes = np.concatenate([attributes, more[0]]), np.concatenate([arc_attributes, more[1]])
    places = _places(new.layout, labels, attributes, arc_attributes, len(old.labels))
    theta, known = np.zeros(new.layout.size), 0
    for mine, theirs in zip(places, _keys(old.layout), strict=False):  # of another order there may be fewer
        at = np.minimum(np.searchsorted(theirs.keys, mine.keys), max(0, len(theirs.keys) - 1))
        found = np.flatnonzero(theirs.keys[at] == mine.keys) if len(theirs.keys) else np.zeros(0, np.int64)
        theta[mine.first + found] = old.weights[theirs.first + at[found]]
        known += len(found)
    _LOG.info("%s of %s weights carried over", f"{known:,}", f"{len(theta):,}")
    if not known:
        warnings.warn("no weight is carried over: the models have no feature in common", stacklevel=3)
    return theta


class _Part:
    """Weights from `first` on in theta, one for each key."""

    def __init__(self, first: int, keys: I64):
        self.first, self.keys = first, keys


def _keys(layout: WeightLayout) -> list[_Part]:
    """Pairs, transitions, arc pairs, and tuples of each length; keys ascend."""
    attribute, arc_attribute = _owners(layout.pair_start), _owners(layout.arc_start)
    return [
        _Part(0, attribute * layout.labels + layout.pair_label),
        _Part(layout.pairs, layout.source.astype(np.int64) * layout.labels + layout.target),
        _Part(layout.arcs_at, arc_attribute * layout.labels**2 + layout.arc_pair),
        *(_Part(first, keys_of_tuples(rows, layout.labels)) for first, rows in _tuples(layout)),
    ]


def _places(layout: WeightLayout, labels: I64, attributes: I64, arc_attributes: I64, count: int) -> list[_Part]:
    """The keys that the weights of a layout have in an earlier one of `count` labels, -1 for none."""
    attribute, arc_attribute = _owners(layout.pair_start), _owners(layout.arc_start)
    before, here = np.divmod(layout.arc_pair, layout.labels)
    return [
        _Part(0, _joined(count, attributes[attribute], labels[layout.pair_label])),
        _Part(layout.pairs, _joined(count, labels[layout.source], labels[layout.target])),
        _Part(layout.arcs_at, _joined(count, arc_attributes[arc_attribute], labels[before], labels[here])),
        *(_Part(first, _joined(count, *labels[rows.T])) for first, rows in _tuples(layout)),
    ]


def _tuples(layout: WeightLayout) -> Iterator[tuple[int, NDArray[np.int32]]]:
    """Where the weights of the tuples of each length begin, and these."""
    first = layout.tuples_at
    for rows in layout.tuples:
        yield first, rows
        first += len(rows)


def _joined(count: int, *parts: I64) -> I64:
    """a, b, c -> (a * count + b) * count + c; -1 where one of them is."""
    keys = np.zeros(len(parts[0]), np.int64)
    for part in parts:
        keys = np.where((keys < 0) | (part < 0), -1, keys * count + part)
    return keys


def _owners(start: I64) -> I64:
    """The attribute of each weight."""
    return np.repeat(np.arange(len(start) - 1), np.diff(start))
