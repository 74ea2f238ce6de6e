"""What a model consists of: how many features each template made and what they cost, and the strongest weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import SettingError
from trellis.features import FeatureKind, Packed, TemplateFeatures
from trellis.features.arc_columns import ArcColumns
from trellis.features.hashing import HashNumbering
from trellis.features.numbering import Numbering
from trellis.labels.encode import labels_of
from trellis.models import CRF, LatticeCRF, SemiCRF
from trellis.scoring import WeightLayout

_BYTES = 8 + 2  # a weight and its label
_KEY = 8


@dataclass(frozen=True)
class TemplateCost:
    """One template (or several that share their attributes) on labels, or on transitions; those of the kind * are on
    both, one after the other. Features of segments, and of arcs of lattices, likewise. `weights`: pairs of an attribute
    and a label, or a transition; `active`: those that are not zero; `size`: bytes in the model file for keys and
    weights; `largest`: the largest absolute weight. With data, `per_token`: how often the template has a value there
    that the model knows."""

    template: str
    on: str
    attributes: int
    weights: int
    active: int
    size: int
    largest: float
    per_token: float | None = None


@dataclass(frozen=True)
class Strong:
    """A weight: of an attribute with a label, of one with a transition (the label is then `A -> B`), or of a
    transition, from `feature` to `label`."""

    feature: str
    label: str
    weight: float


@dataclass(frozen=True)
class Inspection:
    """`templates` in order; `strongest` weights of attributes and `transitions`, largest first."""

    labels: list[str]
    attributes: int
    weights: int
    templates: list[TemplateCost]
    strongest: list[Strong]
    transitions: list[Strong]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def inspect(tagger: CRF | SemiCRF | LatticeCRF, data: Corpus | None = None, top: int = 10) -> Inspection:
    """Looks into a trained model; with `data`, also how much of that the templates know."""
    packed = None
    if isinstance(tagger, LatticeCRF):
        found = _of_lattices(tagger)
        if data is not None:
            raise SettingError("inspect reads no data for models of lattices; leave it out")
    else:
        found = _of_segments(tagger) if isinstance(tagger, SemiCRF) else _of_chain(tagger)
        packed = None if data is None else tagger.model_.pack(data)
    costs = [_cost(group, packed, 0 if data is None else data.tokens) for group in found.groups]
    strong = [one for group in found.groups for one in _strongest(group, top)]
    moves = np.array([weight for _, _, weight in found.moves])
    return Inspection(
        list(found.labels),
        sum(group.attributes for group in found.groups if group.on == "labels"),
        len(tagger.model_.weights),
        costs,
        sorted(strong, key=lambda one: -abs(one.weight))[:top],
        [Strong(*found.moves[k]) for k in largest(moves, top).tolist()],
    )


@dataclass(frozen=True)
class _Group:
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
class _Found:
    labels: Sequence[str]
    groups: list[_Group]
    moves: list[tuple[str, str, float]]


def _of_chain(crf: CRF) -> _Found:
    model = crf.model_
    layout, features, weights = model.layout, model.features, model.weights
    groups = _on_labels(layout, features, model.labels, weights)
    if isinstance(features, TemplateFeatures) and layout.arc_attributes:
        before, here = layout.arc_sides
        groups += [
            _Group(
                text, "transitions", first, last, layout.arc_start, weights[layout.arcs_at :], features.arc_name,
                lambda k: f"{model.labels[before[k]]} -> {model.labels[here[k]]}",
            )
            for text, first, last in _ranges(features.transitions, layout.arc_attributes)
        ]  # fmt: skip
    return _Found(model.labels, groups, _moves(layout, model.labels, weights))


def _of_segments(semi: SemiCRF) -> _Found:
    model = semi.model_
    layout, types = model.layout, model.layout.types
    names = [model.kinds[(b - 1) // 2] if b > 0 else "O" for b in types.begin.tolist()]
    groups = _on_labels(layout.tokens, model.features, labels_of(model.kinds, "iob2"), model.weights)
    spans = model.features.spans if isinstance(model.features, TemplateFeatures) else None
    first = 0
    for part, own in () if spans is None else zip(spans.parts, spans.names, strict=True):
        every = spans.all_names() if spans is not None else []
        last = min(first + len(own), len(layout.span_start) - 1)  # the last ones may have no weight
        groups.append(
            _Group(
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
    return _Found(model.labels, groups, [(names[i], names[j], weight) for i, j, weight in sides])


def _of_lattices(crf: LatticeCRF) -> _Found:
    model = crf.model_
    pairs, arcs = model.layout.pairs, model.arcs
    groups = _on_labels(pairs, model.features, model.labels, model.weights)
    if arcs is not None:
        start, names = np.arange(arcs.attributes + 1), arcs.names()
        kinds = [("attributes as given", arcs.attributes)]
        if isinstance(arcs, ArcColumns):
            kinds = [(name, len(keys)) for name, keys in zip(arcs.columns, arcs.keys, strict=True)]
        first = 0
        for text, count in kinds:
            weights = model.weights[pairs.arcs_at :]
            last = first + count
            groups.append(_Group(text, "arcs", first, last, start, weights, names.__getitem__, lambda _: ""))
            first = last
    return _Found(model.labels, groups, _moves(pairs, model.labels, model.weights))


def _on_labels(
    layout: WeightLayout, features: FeatureKind, labels: Sequence[str], weights: NDArray[np.float64]
) -> list[_Group]:
    numbering = features.labels if isinstance(features, TemplateFeatures) else features
    name = features.name if isinstance(features, TemplateFeatures) else features.names().__getitem__
    return [
        _Group(
            text, "labels", first, last, layout.pair_start, weights, name, lambda k: labels[layout.pair_label[k]]
        )
        for text, first, last in _ranges(numbering, layout.attributes)
    ]  # fmt: skip


def _moves(layout: WeightLayout, labels: Sequence[str], weights: NDArray[np.float64]) -> list[tuple[str, str, float]]:
    own = weights[layout.pairs : layout.pairs + len(layout.source)].tolist()
    sides = zip(layout.source.tolist(), layout.target.tolist(), own, strict=True)
    return [(labels[i], labels[j], weight) for i, j, weight in sides]


def _strongest(group: _Group, top: int) -> list[Strong]:
    at = int(group.start[group.first]) + largest(group.own, top)
    attribute = np.searchsorted(group.start, at, side="right") - 1
    return [
        Strong(group.name(a), group.label(k), float(group.weights[k]))
        for a, k in zip(attribute.tolist(), at.tolist(), strict=True)
    ]


def _cost(group: _Group, packed: Packed | None, tokens: int) -> TemplateCost:
    own, per_token = group.own, None
    ids = None if packed is None else _occurrences(group.on, packed)
    if ids is not None and tokens:
        per_token = int(np.count_nonzero((ids >= group.first) & (ids < group.last))) / tokens
    return TemplateCost(
        group.template,
        group.on,
        group.attributes,
        len(own),
        int(np.count_nonzero(own)),
        _KEY * group.attributes + _BYTES * len(own),
        float(np.abs(own).max()) if len(own) else 0.0,
        per_token,
    )


def _occurrences(on: str, packed: Packed) -> NDArray[np.int32] | None:
    if on == "labels":
        return packed.ids
    if on == "transitions":
        return None if packed.arcs is None else packed.arcs.ids
    return None if packed.spans is None else packed.spans.ids


def _ranges(numbering: object, attributes: int) -> Iterator[tuple[str, int, int]]:
    """Which attributes a template has."""
    if isinstance(numbering, HashNumbering):
        yield f"{len(numbering.templates)} templates, hashed", 0, attributes
    elif isinstance(numbering, Numbering):
        for group in numbering.groups:
            text = " ".join(numbering.templates[k].text for k in group.members)
            yield text, group.base, group.base + len(group.values)
    else:
        yield "attributes as given", 0, attributes


def names_of(features: Any, attributes: Sequence[int]) -> list[str]:
    if isinstance(features, TemplateFeatures):
        return [features.name(a) for a in attributes]
    names = features.names()
    return [names[a] for a in attributes]


def largest(values: NDArray[np.float64], top: int) -> NDArray[np.int64]:
    """Where the largest absolute values are, largest first."""
    return np.argsort(-np.abs(values), kind="stable")[:top]
