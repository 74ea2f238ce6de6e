"""Features and weights for what the right paths of lattices show."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column, Corpus
from trellis.errors import DataError, SettingError
from trellis.features import FeatureKind, Given, GivenFeatures, Packed, TemplateFeatures
from trellis.features.arc_columns import ArcColumns, parse_arc_columns
from trellis.features.lattices import Lattices
from trellis.models.lattice_model import ArcFeatures, of_lattices
from trellis.scoring import observed_layout

if TYPE_CHECKING:
    from trellis.features import Choice
    from trellis.scoring.explicit import ExplicitLayout

BOOL = NDArray[np.bool_]


class Settings(Protocol):
    """Those of an estimator that are looked at here."""

    features: Choice
    arcs: str
    min_count: int


def learn_nodes(settings: Settings, data: Lattices, seen: BOOL) -> tuple[FeatureKind, Packed]:
    """Features of nodes, learnt from those that are seen, BOOL[nodes], and these packed in them."""
    from trellis.features import callables_of, templates_for

    features: FeatureKind
    if isinstance(data.nodes, Corpus):
        rows = data.nodes.rows(seen, np.array([0, int(seen.sum())]))
        templates = templates_for(settings.features, list(rows.columns), "")
        for template in templates:
            if (template.on_transitions and template.parts) or any(p.row or p.absolute for p in template.parts):
                raise SettingError(f"features of nodes are at the node itself, [0]; found '{template.text}'")
        features, packed = TemplateFeatures.learn(
            rows, templates, None, callables_of(settings.features), settings.min_count
        )
    else:
        with of_lattices("node"):
            features, packed = _seen_often(data.nodes, seen, settings.min_count)
    if not features.attributes and isinstance(data.nodes, Corpus):
        raise DataError("the features find nothing in the training data; choose others, or a min_count of 1")
    return features, packed


def learn_arcs(settings: Settings, data: Lattices, seen: BOOL) -> ArcFeatures | None:
    """Features of arcs, learnt from those between nodes that are seen."""
    shape = data.shape
    between = seen[shape.source] & seen[shape.heads]
    if isinstance(data.nodes, Corpus):
        columns = parse_arc_columns(settings.arcs, list(data.nodes.columns))
        if not columns:
            return None
        source, target = shape.source[between].astype(np.int64), shape.heads[between]
        return ArcColumns.learn(columns, data.nodes, source, target, settings.min_count)
    if settings.arcs:
        raise SettingError("arcs names columns; nodes with lists of attributes have none: give attributes to the arcs")
    if data.arcs is None:
        return None
    with of_lattices("arc"):
        return _seen_often(data.arcs, between, settings.min_count)[0]


def _seen_often(given: Given, seen: BOOL, min_count: int) -> tuple[GivenFeatures, Packed]:
    """The attributes of what is seen, often enough, in lists of them; and what is seen packed in these."""
    every, packed = GivenFeatures.learn(given)
    packed = packed.of_tokens(seen)
    often = packed.tokens_with(every.attributes) >= min_count
    number = np.where(often, np.cumsum(often) - 1, -1).astype(np.int32)
    names = [name for name, kept in zip(every.strings, often.tolist(), strict=True) if kept]
    return GivenFeatures(names), packed.renumbered(number)


def lattice_layout(
    data: Lattices,
    labels: Column,
    nodes: Packed,
    seen: BOOL,
    features: FeatureKind,
    arcs: ArcFeatures | None,
    all_transitions: bool,
) -> ExplicitLayout:
    """Weights for attributes with the labels that they are seen with, for labels that follow each other, and for
    attributes of arcs. `nodes`: the attributes of the nodes that are seen."""
    from trellis.scoring.explicit import ExplicitLayout

    shape, ids, count = data.shape, labels.ids, len(labels.strings)
    alone = np.arange(int(seen.sum()) + 1, dtype=np.int64)  # each node by itself: transitions come from arcs
    layout = observed_layout(nodes.indptr, nodes.ids, ids[seen], alone, features.attributes, count)
    between = seen[shape.source] & seen[shape.heads]
    pairs = ids[shape.source[between]].astype(np.int64) * count + ids[shape.heads[between]]
    pairs = np.arange(count**2) if all_transitions else np.unique(pairs)
    source, target = (side.astype(np.int32) for side in np.divmod(pairs, count))
    return ExplicitLayout(replace(layout, source=source, target=target), 0 if arcs is None else arcs.attributes)
