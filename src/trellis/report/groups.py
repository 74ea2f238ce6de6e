"""The weights of a model, in groups: those of a template each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.features import FeatureKind, TemplateFeatures
from trellis.features.arc_columns import ArcColumns
from trellis.features.hashing import HashNumbering
from trellis.features.numbering import Numbering
from trellis.labels.encode import labels_of
from trellis.models.lattice_model import LatticeModel
from trellis.models.linear import LinearChain
from trellis.models.segment_model import SegmentModel
from trellis.scoring import WeightLayout


@dataclass(frozen=True)
class Group:
    """Attributes first..last of a kind: attribute a has the weights start[a]:start[a + 1], with the labels named
    `label(k)` for the k-th weight of the kind; `name(a)` is its own."""

    template: str
    on: str
    first: int
    last: int
    start: NDArray[np.int64]
    weights: NDArray[np.float64]
    name: Callable[[int], str]
    label: Callable[[int], str]

    @property
    def attributes(self) -> int:
        return self.last - self.first

    @property
    def own(self) -> NDArray[np.float64]:
        return self.weights[int(self.start[self.first]) : int(self.start[self.last])]


@dataclass(frozen=True)
class Found:
    """`moves`: from one label to another, with the weight of that."""

    labels: Sequence[str]
    groups: list[Group]
    moves: list[tuple[str, str, float]]


def of_chain(model: LinearChain) -> Found:
    layout, features, weights = model.layout, model.features, model.weights
    groups = on_labels(layout, features, model.labels, weights)
    if isinstance(features, TemplateFeatures) and features.arc_attributes:
        before, here = layout.arc_sides
        groups += [
            Group(
                text, "transitions", first, last, layout.arc_start, weights[layout.arcs_at :], features.arc_name,
                lambda k: f"{model.labels[before[k]]} -> {model.labels[here[k]]}",
            )
            for text, first, last in ranges_of(features.transitions, features.arc_attributes)
        ]  # fmt: skip
    return Found(model.labels, groups, moves_of(layout, model.labels, weights))


def of_segments(model: SegmentModel) -> Found:
    layout, types = model.layout, model.layout.types
    names = [model.kinds[(b - 1) // 2] if b > 0 else "O" for b in types.begin.tolist()]
    groups = on_labels(layout.tokens, model.features, labels_of(model.kinds, "iob2"), model.weights)
    spans = model.features.spans if isinstance(model.features, TemplateFeatures) else None
    first = 0
    for part, own in () if spans is None else zip(spans.parts, spans.names, strict=True):
        every = spans.all_names() if spans is not None else []
        last = min(first + len(own), len(layout.span_start) - 1)  # the last ones may have no weight
        groups.append(
            Group(
                part,
                "segments",
                min(first, last),
                last,
                layout.span_start,
                model.weights[layout.spans_at :],
                every.__getitem__,
                lambda k: names[layout.span_type[k]],
            )
        )
        first += len(own)
    moves = model.weights[layout.tokens.pairs : layout.spans_at].tolist()
    sides = zip(layout.source.tolist(), layout.target.tolist(), moves, strict=True)
    return Found(model.labels, groups, [(names[i], names[j], weight) for i, j, weight in sides])


def of_lattices(model: LatticeModel) -> Found:
    pairs, arcs = model.layout.pairs, model.arcs
    groups = on_labels(pairs, model.features, model.labels, model.weights)
    if arcs is not None:
        start, names = np.arange(arcs.attributes + 1), arcs.names()
        kinds = [("attributes as given", arcs.attributes)]
        if isinstance(arcs, ArcColumns):
            kinds = [(name, len(keys)) for name, keys in zip(arcs.columns, arcs.keys, strict=True)]
        first = 0
        for text, count in kinds:
            weights = model.weights[pairs.arcs_at :]
            last = first + count
            groups.append(Group(text, "arcs", first, last, start, weights, names.__getitem__, lambda _: ""))
            first = last
    return Found(model.labels, groups, moves_of(pairs, model.labels, model.weights))


def on_labels(
    layout: WeightLayout, features: FeatureKind, labels: Sequence[str], weights: NDArray[np.float64]
) -> list[Group]:
    numbering = features.labels if isinstance(features, TemplateFeatures) else features
    name = features.name if isinstance(features, TemplateFeatures) else features.names().__getitem__
    return [
        Group(
            text, "labels", first, last, layout.pair_start, weights, name, lambda k: labels[layout.pair_label[k]]
        )
        for text, first, last in ranges_of(numbering, features.attributes)
    ]  # fmt: skip


def moves_of(layout: WeightLayout, labels: Sequence[str], weights: NDArray[np.float64]) -> list[tuple[str, str, float]]:
    own = weights[layout.pairs : layout.pairs + len(layout.source)].tolist()
    sides = zip(layout.source.tolist(), layout.target.tolist(), own, strict=True)
    return [(labels[i], labels[j], weight) for i, j, weight in sides]


def ranges_of(numbering: object, attributes: int) -> Iterator[tuple[str, int, int]]:
    """Which attributes a template has."""
    if isinstance(numbering, HashNumbering):
        yield f"{len(numbering.templates)} templates, hashed", 0, attributes
    elif isinstance(numbering, Numbering):
        for group in numbering.groups:
            text = " ".join(numbering.templates[k].text for k in group.members)
            yield text, group.base, group.base + len(group.values)
    else:
        yield "attributes as given", 0, attributes
