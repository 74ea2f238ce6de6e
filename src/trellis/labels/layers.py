"""Spans that nest, in layers: several columns of labels over the same tokens, each in an encoding of its own.

    the   president  of    the   Republic          of the type PER all of it, in it an ORG
    B-PER I-PER      I-PER I-PER I-PER             first layer
    O     O          O     B-ORG I-ORG             second layer

Written are as many layers as are needed and no more. From left to right, and of those that begin together the longest
first, each span goes to the first layer that has room for it. So a span is on a layer before those inside it, unless
spans cross; crossing ones are on different layers, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trellis.errors import DataError
from trellis.labels.encode import encoded
from trellis.labels.encoding import known
from trellis.labels.gaps import is_gappy, read_gappy
from trellis.labels.packed import check_packed
from trellis.labels.reading import read_segments, segment_types
from trellis.labels.spans import SpanSet

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


def read_layers(
    layers: Sequence[tuple[ArrayLike, Sequence[str]]],
    offsets: ArrayLike,
    reading: str = "conlleval",
    encoding: str | None = None,
) -> SpanSet:
    """The spans of all layers; a span that is on two of them is one.

    A layer is (ids: int [tokens], the labels that they are into); offsets: int64 [sentences + 1]. `reading` and
    `encoding` are as for `read_segments`. A layer may also be gappy.
    """
    found = [_one_layer(ids, labels, offsets, reading, encoding) for ids, labels in layers]
    types = sorted({name for one in found for name in one.types})
    kinds = [np.array([types.index(name) for name in one.types], np.int64)[one.kind] for one in found]
    empty = np.zeros(0, np.int64)
    counts = np.concatenate([empty, *(one.fragments for one in found)])
    start, end = (np.concatenate([empty, *(getattr(one, name) for one in found)]) for name in ("start", "end"))
    return SpanSet.of(np.concatenate([empty, *kinds]), np.append(0, np.cumsum(counts)), start, end, types)


def write_layers(
    spans: SpanSet, offsets: ArrayLike, encoding: str = "iob2", layers: int | None = None
) -> list[tuple[I32, list[str]]]:
    """(ids I32[tokens], labels) of each layer, the labels are the same for all; at least one layer, or exactly so many.

    offsets: int64 [sentences + 1]. DataError for spans with gaps, and when more layers are needed than wanted.
    """
    known(encoding)
    bounds = np.asarray(offsets, np.int64)
    spans.check_within(bounds)
    for s in np.flatnonzero(spans.fragments > 1)[:1].tolist():
        raise DataError(f"{spans.place(s, bounds)} has a gap, which a layer cannot hold; see write_gappy")
    layer = layers_of(spans)
    needed = int(layer.max(initial=0)) + 1
    if layers is not None and needed > layers:
        s = int(np.flatnonzero(layer == layers)[0])
        raise DataError(f"{spans.place(s, bounds)} needs layer {layers + 1}, but there are {layers}; {needed} hold all")
    rows = [np.flatnonzero(layer == k) for k in range(layers or needed)]
    return [encoded(spans.start[s], spans.end[s], spans.kind[s], spans.types, bounds, encoding) for s in rows]


def layers_of(spans: SpanSet) -> I64:
    """int64 [spans]: the layer that each goes to, from 0."""
    layer, left, k = np.zeros(len(spans), np.int64), np.arange(len(spans)), 0
    while len(left):
        here = _one_after_the_other(spans.begin[left], spans.behind[left])
        layer[left[here]] = k
        left, k = left[~here], k + 1
    return layer


def _one_after_the_other(start: I64, end: I64) -> NDArray[np.bool_]:
    """BOOL[spans]: the first one, the next that begins when it has ended, and so on; starts are in order.

    Where each goes on to is known at once; who is on the way from the first one is found by steps of 1, 2, 4, ...
    """
    many = len(start)
    after = np.append(np.searchsorted(start, end), many)
    chosen = np.zeros(many + 1, np.bool_)
    chosen[0] = True
    while not chosen[many]:
        chosen[after[chosen]] = True
        after = after[after]
    return chosen[:many]


def _one_layer(ids: ArrayLike, labels: Sequence[str], offsets: ArrayLike, reading: str, encoding: Any) -> SpanSet:
    if is_gappy(labels):
        return read_gappy(ids, labels, offsets, reading)
    tokens, bounds = check_packed(ids, offsets, len(labels))
    start, end, kind = read_segments(tokens, labels, bounds, reading, encoding)
    return SpanSet.of(kind, np.arange(len(start) + 1), start, end, segment_types(labels))
