"""What a stage reads as description and tensors, and back. Reading checks every index, range and number.

vocabulary             strings: the values that functions of lower labels have
table_counts I64       how many values each label of each view has, with the places beyond the ends of sentences
table_digits I64, table_weights F64
label_codes I64, label_code_counts I64          attributes, and how many each group of templates has
transition_codes I64, transition_code_counts I64
context....            features that are read together with lower stages
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trellis.cascade.context import context_numbers
from trellis.cascade.plan import Plan
from trellis.cascade.tables import Tables, rows_of
from trellis.cascade.wiring import Wiring, code_limits, plan_of
from trellis.features import TemplateFeatures
from trellis.features.numbering import grouped
from trellis.features.reading import reach_of, views_of
from trellis.features.template import Template
from trellis.features.templates import on_labels, on_transitions
from trellis.models.feature_files import Callables, ascending, get_features, put_features, tensor
from trellis.models.version_1 import read_templates
from trellis.store import Tensors, get_strings, put_strings


def put_wiring(tensors: Tensors, wiring: Wiring) -> dict[str, Any]:
    """Adds the tensors and gives the description."""
    tables = wiring.tables
    put_strings(tensors, "vocabulary", tables.vocabulary)
    tensors["table_counts"] = np.diff(tables.start)
    tensors["table_digits"], tensors["table_weights"] = tables.digit, tables.weight
    for kind, plan in (("label", wiring.on_labels), ("transition", wiring.on_transitions)):
        tensors[f"{kind}_codes"], tensors[f"{kind}_code_counts"] = plan.codes, np.diff(plan.group_start)
    context = None
    if wiring.context is not None:
        own: Tensors = {}
        context = put_features(own, wiring.context)
        tensors |= {f"context.{name}": values for name, values in own.items()}
    return {
        "lower": list(wiring.lower),
        "templates": [template.text for template in wiring.templates],
        "columns": sorted({part.view.column for template in wiring.templates for part in template.parts}),
        "context": context,
    }


def get_wiring(
    tensors: Tensors, found: Any, lower: Mapping[str, Sequence[str]], version: int, functions: Callables
) -> Wiring:
    """`lower`: the labels of all lower stages, by target."""
    if type(found) is not dict or set(found) != {"lower", "templates", "columns", "context"}:
        raise ValueError("entries of what is read")
    names = found["lower"]
    if type(names) is not list or not names or len(set(names)) < len(names) or not set(names) <= set(lower):
        raise ValueError("stages that are read")
    templates = read_templates(found["templates"], [str(name) for name in found["columns"]])
    lower = {name: lower[name] for name in names}
    tables = _get_tables(tensors, templates, lower)
    context: TemplateFeatures | None = None
    if found["context"] is not None:
        own = {name.removeprefix("context."): tensors.pop(name) for name in list(tensors) if name[:8] == "context."}
        features = get_features(own, found["context"], version, 1, functions)
        if own or not isinstance(features, TemplateFeatures) or features.arc_attributes:
            raise ValueError("features that are read together with lower stages")
        context = features
    columns = context_numbers(templates, tuple(names))
    if len(columns) != (0 if context is None else len(context.templates)):
        raise ValueError("features that are read together with lower stages")
    plans = [
        _get_codes(tensors, kind, some, plan_of(some, tables, tuple(names), columns, context), context, tables, names)
        for kind, some in (("label", on_labels(templates)), ("transition", on_transitions(templates)))
    ]
    return Wiring(tuple(names), tables, templates, plans[0], plans[1], context)


def _get_tables(tensors: Tensors, templates: tuple[Template, ...], lower: Mapping[str, Sequence[str]]) -> Tables:
    vocabulary = get_strings(tensors, "vocabulary")
    counts = tensor(tensors, "table_counts", np.int64)
    digit, weight = tensor(tensors, "table_digits", np.int64), tensor(tensors, "table_weights", np.float64)
    views = tuple(view for view in views_of(templates) if view.column in lower)
    reach = reach_of(templates)
    sizes = [rows_of(view, len(lower[view.column]), reach) for view in views]
    if len(counts) != sum(sizes) or np.any(counts < 0) or np.any(counts > len(digit)) or counts.sum() != len(digit):
        raise ValueError("tables of labels")
    if len(digit) != len(weight) or not np.isfinite(weight).all():
        raise ValueError("tables of labels")
    if len(digit) and not (digit.min() >= 0 and digit.max() < len(vocabulary)):
        raise ValueError("values of labels out of range")
    base = tuple(np.cumsum([0, *sizes])[:-1].tolist())
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Tables(reach, vocabulary, views, base, start, digit, weight)


def _get_codes(
    tensors: Tensors,
    kind: str,
    templates: tuple[Template, ...],
    plan: Plan,
    context: TemplateFeatures | None,
    tables: Tables,
    lower: Sequence[str],
) -> Plan:
    codes, counts = tensor(tensors, f"{kind}_codes", np.int64), tensor(tensors, f"{kind}_code_counts", np.int64)
    groups = grouped(templates)
    if len(counts) != len(groups) or np.any(counts < 0) or np.any(counts > len(codes)) or counts.sum() != len(codes):
        raise ValueError("number of attributes that are read")
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    for g, members in enumerate(groups):
        own, limit = codes[start[g] : start[g + 1]], code_limits(templates[members[0]], tables, lower, context)
        if not ascending(own) or (len(own) and int(own[-1]) >= limit):
            raise ValueError("attributes that are read out of range")
    return plan._replace(group_start=start, codes=codes)
