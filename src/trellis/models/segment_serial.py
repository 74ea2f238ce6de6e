"""A trained semi-Markov chain as description and tensors, and back. Reading checks every index and number.

Beside the tensors of labels and features, and `weights`, `pair_counts` and `pair_labels` as in `serial` for the labels
within:

    longest I32[types]                  of the types in the order of `kinds`, then of O
    type_sources U16, type_targets U16  transitions between types, as the lattice numbers them
    span_counts U16, span_types U16     how many types each attribute of spans has weights for, and these, ascending
    span_names.K                        strings: the attributes of part K of the features of spans
    phrases.K, phrase_types.K           strings, and phrase.K, phrase_type.K I64: the list of a gazetteer

and in the description `segments`: the encoding, the names of the types, and of features of spans, if there are any, the
column and the parts.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from trellis.errors import SettingError
from trellis.features import TemplateFeatures
from trellis.features.functions.gazetteer import Gazetteer
from trellis.features.spans import SpanFeatures, parse_spans
from trellis.labels import ENCODINGS
from trellis.labels.encode import labels_of
from trellis.lattice.segments import SegmentTypes
from trellis.models.feature_files import Callables, ascending, put_features, tensor
from trellis.models.segment_model import SegmentModel
from trellis.models.serial import ascending_within, common_parts, get_weights, reading
from trellis.models.settings import MOST_LENGTH
from trellis.scoring import WeightLayout
from trellis.store import Tensors, get_strings, put_strings


def segment_description_of(
    kind: str, params: dict[str, Any], training: dict[str, Any], model: SegmentModel
) -> tuple[dict[str, Any], Tensors]:
    """Everything needed to rebuild the pipeline."""
    layout, types = model.layout, model.layout.types
    longest = np.zeros(len(types), np.int32)
    longest[_places(types)] = types.longest
    tensors: Tensors = {
        "weights": model.weights,
        "pair_counts": np.diff(layout.tokens.pair_start).astype(np.uint16),
        "pair_labels": layout.tokens.pair_label,
        "longest": longest,
        "type_sources": layout.source.astype(np.uint16),
        "type_targets": layout.target.astype(np.uint16),
        "span_counts": np.diff(layout.span_start).astype(np.uint16),
        "span_types": layout.span_type.astype(np.uint16),
    }
    put_strings(tensors, "labels", model.labels)
    spans = model.features.spans if isinstance(model.features, TemplateFeatures) else None
    features = put_features(tensors, model.features)
    segments = {"encoding": model.encoding, "kinds": list(model.kinds), "spans": _put_spans(tensors, spans)}
    description = {"model": kind, "params": params, "training": training, "features": features, "segments": segments}
    return description, tensors


def segment_model_from(
    description: dict[str, Any],
    tensors: Tensors,
    known: list[str],
    path: str | Path,
    functions: Callables,
    more_attributes: int = 0,
) -> tuple[dict[str, Any], dict[str, Any], SegmentModel]:
    """Parameters, training record and model; one typed error for whatever does not fit. `more_attributes`: how many
    there are beside those of the features."""
    from trellis.scoring.segments import SegmentLayout

    tensors = dict(tensors)  # what is read is taken out; nothing may be left
    with reading(path):
        params, training, labels, features = common_parts(description, tensors, known, functions, {"segments"})
        found = description["segments"]
        if type(found) is not dict or set(found) != {"encoding", "kinds", "spans"}:
            raise ValueError("entries of the segments")
        kinds, encoding = found["kinds"], found["encoding"]
        if type(kinds) is not list or not all(type(name) is str for name in kinds) or sorted(set(kinds)) != kinds:
            raise ValueError("types of segments")
        if encoding not in ENCODINGS or labels_of(kinds, encoding) != labels or features.arc_attributes:
            raise ValueError("labels of the encoding")
        types = _get_types(tensors, len(kinds))
        tokens = _get_tokens(tensors, types.labels, features.attributes + more_attributes)
        source, target = (
            tensor(tensors, f"type_{side}", np.uint16).astype(np.int32) for side in ("sources", "targets")
        )
        if len(source) != len(target) or any(len(side) and side.max() >= len(types) for side in (source, target)):
            raise ValueError("transitions")
        if not ascending(source.astype(np.int64) * len(types) + target):
            raise ValueError("transitions not in order")
        counts = tensor(tensors, "span_counts", np.uint16).astype(np.int64)
        span_type = tensor(tensors, "span_types", np.uint16).astype(np.int32)
        start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        if start[-1] != len(span_type) or (len(span_type) and span_type.max() >= len(types)):
            raise ValueError("weights of spans")
        if not ascending_within(span_type, start):
            raise ValueError("weights of spans not in order")
        spans = _get_spans(tensors, found["spans"])
        attributes = 0 if spans is None else spans.attributes
        if len(counts) > attributes:
            raise ValueError("attributes of spans")
        start = np.append(start, np.full(attributes - len(counts), start[-1]))  # the last ones may have no weight
        if spans is not None:
            if not isinstance(features, TemplateFeatures):
                raise ValueError("features of spans")
            features = replace(features, spans=spans)
        layout = SegmentLayout(tokens, types, source, target, start, span_type, encoding == "io")
        weights = get_weights(tensors, "weights", layout.size)
        if tensors:
            raise ValueError(f"unknown tensors: {', '.join(tensors)}")
    return params, training, SegmentModel(tuple(labels), features, layout, weights, tuple(kinds), encoding)


def _places(types: SegmentTypes) -> Any:
    """The number of each of the lattice's types among the kinds, O behind them."""
    return np.where(types.begin > 0, (types.begin - 1) // 2, len(types) - 1)


def _get_types(tensors: Tensors, kinds: int) -> SegmentTypes:
    longest = tensor(tensors, "longest", np.int32).astype(np.int64)
    if len(longest) != kinds + 1 or longest.min() < 1 or longest.max() > MOST_LENGTH or longest[-1] != 1:
        raise ValueError("lengths of segments")
    labels = 1 + 2 * kinds
    return SegmentTypes.of(longest, [*range(1, labels, 2), 0], [*range(2, labels + 1, 2), -1], labels)


def _get_tokens(tensors: Tensors, labels: int, attributes: int) -> WeightLayout:
    counts = tensor(tensors, "pair_counts", np.uint16).astype(np.int64)
    label = tensor(tensors, "pair_labels", np.uint16)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    if len(counts) != attributes or start[-1] != len(label) or (len(label) and label.max() >= labels):
        raise ValueError("weights of tokens")
    if not ascending_within(label, start):
        raise ValueError("weights of tokens not in order")
    none = np.zeros(0, np.int32)
    return WeightLayout(labels, start, label, none, none, order=0)


def _put_spans(tensors: Tensors, spans: SpanFeatures | None) -> dict[str, Any] | None:
    if spans is None:
        return None
    for k, (part, names) in enumerate(zip(spans.parts, spans.names, strict=True)):
        put_strings(tensors, f"span_names.{k}", list(names))
        if part in spans.lists:
            own = spans.lists[part]
            put_strings(tensors, f"phrases.{k}", own.phrases)
            put_strings(tensors, f"phrase_types.{k}", own.types)
            tensors[f"phrase.{k}"], tensors[f"phrase_type.{k}"] = own.phrase, own.type
    return {"column": spans.column, "parts": list(spans.parts), "longest": spans.longest}


def _get_spans(tensors: Tensors, found: object) -> SpanFeatures | None:
    if found is None:
        return None
    if type(found) is not dict or set(found) != {"column", "parts", "longest"}:
        raise ValueError("entries of the features of spans")
    parts, column = found["parts"], found["column"]
    if type(column) is not str or type(parts) is not list or not all(type(part) is str for part in parts):
        raise ValueError("features of spans")
    if type(found["longest"]) is not int or not 1 <= found["longest"] <= MOST_LENGTH:
        raise ValueError("lengths of spans")
    try:
        known = list(parse_spans(" + ".join(parts))) == parts
    except SettingError:
        known = False
    if not known:
        raise ValueError("features of spans")
    names, lists = [], {}
    for k, part in enumerate(parts):
        names.append(get_strings(tensors, f"span_names.{k}"))
        if part == "length" and names[-1] != [str(d) for d in range(1, found["longest"] + 1)]:
            raise ValueError("lengths of spans")
        if f"phrase.{k}" in tensors:
            lists[part] = _get_gazetteer(tensors, k)
            if names[-1] != lists[part].types:
                raise ValueError("types of phrases")
        if part.startswith("gazetteer(") != (part in lists) or len(set(names[-1])) != len(names[-1]):
            raise ValueError("names of spans")
    return SpanFeatures(column, tuple(parts), found["longest"], tuple(names), lists)


def _get_gazetteer(tensors: Tensors, k: int) -> Gazetteer:
    phrases, types = get_strings(tensors, f"phrases.{k}"), get_strings(tensors, f"phrase_types.{k}")
    phrase, kind = (tensor(tensors, f"{name}.{k}", np.int64) for name in ("phrase", "phrase_type"))
    if len(phrase) != len(kind) or not all(all(one.split(" ")) for one in phrases):
        raise ValueError("phrases")
    for values, most in ((phrase, len(phrases)), (kind, len(types))):
        if len(values) and not (values.min() >= 0 and values.max() < most):
            raise ValueError("phrases out of range")
    return Gazetteer(phrases, types, phrase, kind)
