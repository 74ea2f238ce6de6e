"""What a model consists of: how many features each template made and what they cost, and the strongest weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import SettingError
from trellis.features import Packed, TemplateFeatures
from trellis.models import LatticeCRF, NeuralCRF, SemiCRF, SequentialClassifier, TextClassifier
from trellis.models.chain_tagger import ChainTagger
from trellis.models.neural_chain import NeuralChain
from trellis.report.groups import Found, Group, of_chain, of_lattices, of_segments

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
    """`templates` in order; `strongest` weights of attributes and `transitions`, largest first. `weights` are the
    sparse ones; `encoder`: sizes of what is beside them, if there is one."""

    labels: list[str]
    attributes: int
    weights: int
    templates: list[TemplateCost]
    strongest: list[Strong]
    transitions: list[Strong]
    encoder: dict[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        found = asdict(self)
        if self.encoder is None:
            del found["encoder"]
        return found


Weighted = ChainTagger | NeuralCRF | SequentialClassifier | SemiCRF | LatticeCRF | TextClassifier


def inspect(tagger: Weighted, data: Corpus | None = None, top: int = 10) -> Inspection:
    """Looks into a trained model; with `data`, also how much of that the templates know. Of a cascade see
    `inspect_stages`."""
    if not isinstance(tagger, Weighted):
        raise SettingError(
            f"inspect looks at one model with weights, not at a {type(tagger).__name__}; of a cascade use "
            "inspect_stages, of a kernel perceptron inspect_supports, of an HMM inspect_hidden"
        )
    if isinstance(tagger, LatticeCRF):
        if data is not None:
            raise SettingError("inspect reads no data for models of lattices; leave it out")
        return inspection_of(of_lattices(tagger.model_), len(tagger.model_.weights), (), 0, top)
    if isinstance(tagger, SemiCRF):
        found = of_segments(tagger.model_)
    else:
        found = of_chain(tagger.model_ if isinstance(tagger, ChainTagger | TextClassifier) else tagger.model_.linear)
    packed, tokens = ((), 0) if data is None else ((tagger.model_.pack(data),), data.tokens)
    if isinstance(tagger, NeuralCRF):
        model = tagger.model_
        return replace(inspection_of(found, model.layout.size, packed, tokens, top), encoder=encoder_of(model))
    return inspection_of(found, len(tagger.model_.weights), packed, tokens, top)


def encoder_of(model: NeuralChain) -> dict[str, Any]:
    """How many numbers an encoder has, and of what: the columns that it sees, how many words and letters it knows, how
    many words by a vector alone, and the sizes of its vectors."""
    tables, encoder = model.tables, model.encoder
    sizes = {name: getattr(encoder.shape, name) for name in ("embedding", "letters", "filters", "hidden", "layers")}
    fixed = 0 if encoder.fixed is None else len(encoder.fixed)
    known = {"columns": list(tables.columns), "words": encoder.shape.tables[0] - 1, "vectors_only": fixed}
    return {"numbers": encoder.shape.size, **known, "alphabet": len(tables.letters), **sizes}


def inspection_of(found: Found, weights: int, packed: Sequence[Packed], tokens: int, top: int) -> Inspection:
    """Of the groups of a model's weights; `packed`: so many tokens, in parts, in the numbers of its attributes."""
    costs = [_cost(group, packed, tokens) for group in found.groups]
    strong = [one for group in found.groups for one in _strongest(group, top)]
    moves = np.array([weight for _, _, weight in found.moves])
    return Inspection(
        list(found.labels),
        sum(group.attributes for group in found.groups if group.on == "labels"),
        weights,
        costs,
        sorted(strong, key=lambda one: -abs(one.weight))[:top],
        [Strong(*found.moves[k]) for k in largest(moves, top).tolist()],
    )


def _strongest(group: Group, top: int) -> list[Strong]:
    at = int(group.start[group.first]) + largest(group.own, top)
    attribute = np.searchsorted(group.start, at, side="right") - 1
    return [
        Strong(group.name(a), group.label(k), float(group.weights[k]))
        for a, k in zip(attribute.tolist(), at.tolist(), strict=True)
    ]


def _cost(group: Group, packed: Sequence[Packed], tokens: int) -> TemplateCost:
    own, per_token = group.own, None
    parts = [ids for ids in (_occurrences(group.on, one) for one in packed) if ids is not None]
    if parts and tokens:
        known = sum(int(np.count_nonzero((ids >= group.first) & (ids < group.last))) for ids in parts)
        per_token = known / tokens
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


def names_of(features: Any, attributes: Sequence[int]) -> list[str]:
    if isinstance(features, TemplateFeatures):
        return [features.name(a) for a in attributes]
    names = features.names()
    return [names[a] for a in attributes]


def largest(values: NDArray[np.float64], top: int) -> NDArray[np.int64]:
    """Where the largest absolute values are, largest first."""
    return np.argsort(-np.abs(values), kind="stable")[:top]
