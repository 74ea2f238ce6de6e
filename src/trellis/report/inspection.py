"""What a model consists of: how many features each template made and what they cost, and the strongest weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.features import Packed, TemplateFeatures
from trellis.features.hashing import HashNumbering
from trellis.features.numbering import Numbering
from trellis.models import CRF

_BYTES = 8 + 2  # a weight and its label
_KEY = 8


@dataclass(frozen=True)
class TemplateCost:
    """One template (or several that share their attributes) on labels, or on transitions; those of the kind * are on
    both, one after the other. `weights`: pairs of an attribute and a label, or a transition; `active`: those that are
    not zero; `size`: bytes in the model file for keys and weights; `largest`: the largest absolute weight. With data,
    `per_token`: how often the template has a value there that the model knows."""

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


def inspect(crf: CRF, data: Corpus | None = None, top: int = 10) -> Inspection:
    """Looks into a trained model; with `data`, also how much of that the templates know."""
    model = crf.model_
    layout, weights, labels = model.layout, model.weights, list(model.labels)
    moves = weights[layout.pairs : layout.pairs + len(layout.source)]
    return Inspection(
        labels,
        layout.attributes,
        layout.size,
        list(_costs(crf, data)),
        sorted([*_on_labels(crf, top), *_on_transitions(crf, top)], key=lambda one: -abs(one.weight))[:top],
        [Strong(labels[layout.source[k]], labels[layout.target[k]], float(moves[k])) for k in largest(moves, top)],
    )


def _on_labels(crf: CRF, top: int) -> list[Strong]:
    """The strongest weights of attributes with a label."""
    model, layout = crf.model_, crf.model_.layout
    strongest = largest(model.weights[: layout.pairs], top)
    attribute = np.searchsorted(layout.pair_start, strongest, side="right") - 1
    return [
        Strong(name, model.labels[layout.pair_label[p]], float(model.weights[p]))
        for name, p in zip(names_of(model.features, attribute.tolist()), strongest.tolist(), strict=True)
    ]


def _on_transitions(crf: CRF, top: int) -> list[Strong]:
    """The strongest weights of attributes with a transition."""
    model, layout = crf.model_, crf.model_.layout
    if not isinstance(model.features, TemplateFeatures) or not layout.arc_attributes:
        return []
    weights = model.weights[layout.arcs_at :]
    strongest = largest(weights, top)
    attribute = np.searchsorted(layout.arc_start, strongest, side="right") - 1
    before, here = layout.arc_sides
    return [
        Strong(model.features.arc_name(a), f"{model.labels[before[p]]} -> {model.labels[here[p]]}", float(weights[p]))
        for a, p in zip(attribute.tolist(), strongest.tolist(), strict=True)
    ]


def _costs(crf: CRF, data: Corpus | None) -> Iterator[TemplateCost]:
    model = crf.model_
    layout, features = model.layout, model.features
    packed = None if data is None else model.pack(data)
    kinds: list[tuple[str, object, NDArray[np.int64], int, Packed | None]]
    kinds = [("labels", features, layout.pair_start, 0, packed)]
    if isinstance(features, TemplateFeatures):
        arcs = None if packed is None else packed.arcs
        kinds = [("labels", features.labels, layout.pair_start, 0, packed)]
        if layout.arc_attributes:
            kinds.append(("transitions", features.transitions, layout.arc_start, layout.arcs_at, arcs))
    for on, numbering, start, at, found in kinds:
        for text, first, last in _ranges(numbering, len(start) - 1):
            a, b = at + int(start[first]), at + int(start[last])
            here = model.weights[a:b]
            per_token = None
            if found is not None and data is not None and data.tokens:
                known = int(np.count_nonzero((found.ids >= first) & (found.ids < last)))
                per_token = known / data.tokens
            yield TemplateCost(
                text,
                on,
                last - first,
                b - a,
                int(np.count_nonzero(here)),
                _KEY * (last - first) + _BYTES * (b - a),
                float(np.abs(here).max()) if b > a else 0.0,
                per_token,
            )


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
