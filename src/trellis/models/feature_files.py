"""Learnt features as description and tensors, and back. Reading checks every index, range and number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.features import FeatureKind, GivenFeatures, TagDictionary, TemplateFeatures
from trellis.features.functions import FUNCTIONS, Resource
from trellis.features.hashing import HashNumbering
from trellis.features.numbering import Group, Numbering, grouped
from trellis.features.reading import columns_of, views_of
from trellis.features.template import Part, Template, View
from trellis.features.templates import domains, on_labels, on_transitions, slots
from trellis.models.version_1 import from_version_1, read_templates
from trellis.store import Tensors, get_strings, put_strings

Callables = Mapping[str, Callable[..., Any]]


def put_features(tensors: Tensors, features: FeatureKind) -> dict[str, Any]:
    """Adds the tensors and gives the description."""
    if isinstance(features, GivenFeatures):
        put_strings(tensors, "attributes", features.strings)
        return {"kind": "given"}
    assert isinstance(features, TemplateFeatures)
    for d, strings in enumerate(features.vocabularies):
        put_strings(tensors, f"vocabulary.{d}", strings)
    for kind, numbering in (("label", features.labels), ("transition", features.transitions)):
        if isinstance(numbering, HashNumbering) or not numbering.templates:
            continue
        tensors[f"{kind}_keys"] = np.concatenate([np.zeros(0, np.int64), *(g.values for g in numbering.groups)])
        tensors[f"{kind}_key_counts"] = np.array([len(group.values) for group in numbering.groups], np.int64)
        for g, group in enumerate(numbering.groups):
            for j, seen in group.keys.ranks.items():
                tensors[f"ranks.{kind}.{g}.{j}"] = seen
    return {
        "kind": "templates",
        "templates": [template.text for template in features.templates],
        "columns": columns_of(features.views),
        "ranks": _ranks_of(features.labels, features.transitions),
        "hash_size": features.labels.attributes if isinstance(features.labels, HashNumbering) else None,
        "resources": _put_resources(tensors, features),
        "dictionary": _put_dictionary(tensors, features.dictionary),
    }


def get_features(
    tensors: Tensors, description: dict[str, Any], version: int, labels: int, functions: Callables
) -> FeatureKind:
    """Features from what a file says, for so many labels; ValueError, KeyError, ... for what does not fit."""
    kind = description["kind"]
    if kind == "given":
        if set(description) != {"kind"}:
            raise ValueError("entries of the features")
        return GivenFeatures(get_strings(tensors, "attributes"))
    if kind != "templates":
        raise ValueError("features of an unknown kind")
    if version == 1:
        description = from_version_1(tensors, description)
    if set(description) != {"kind", "templates", "columns", "ranks", "hash_size", "resources", "dictionary"}:
        raise ValueError("entries of the features")
    columns = [str(name) for name in description["columns"]]
    templates = read_templates(description["templates"], columns)
    if columns_of(views_of(templates)) != description["columns"]:
        raise ValueError("columns")
    resources = _get_resources(tensors, description["resources"], templates, functions)
    dictionary = _get_dictionary(tensors, description["dictionary"], labels)
    size = description["hash_size"]
    if size is not None:
        if type(size) is not int or not 1 <= size < 1 << 31 or description["ranks"]:
            raise ValueError("size of the hashed features")
        kinds = on_labels(templates), on_transitions(templates)
        on_label, on_transition = (HashNumbering(some, size if some else 0) for some in kinds)
        return TemplateFeatures(templates, resources, (), on_label, on_transition, dictionary)
    domain = domains(templates)
    vocabularies = tuple(get_strings(tensors, f"vocabulary.{d}") for d in range(max(domain.values(), default=-1) + 1))
    numberings = []
    for name, some in (("label", on_labels(templates)), ("transition", on_transitions(templates))):
        ranks = {
            (g, j): tensor(tensors, f"ranks.{name}.{g}.{j}", np.int64)
            for kind, g, j in description["ranks"]
            if kind == name
        }
        numberings.append(_numbering(tensors, name, some, domain, vocabularies, ranks))
    if _ranks_of(*numberings) != description["ranks"]:
        raise ValueError("ranks")
    return TemplateFeatures(templates, resources, vocabularies, numberings[0], numberings[1], dictionary)


def _ranks_of(labels: Numbering | HashNumbering, transitions: Numbering | HashNumbering) -> list[list[Any]]:
    """Where keys have ranks: [kind, group, part]."""
    return [
        [kind, g, j]
        for kind, numbering in (("label", labels), ("transition", transitions))
        if isinstance(numbering, Numbering)
        for g, group in enumerate(numbering.groups)
        for j in group.keys.ranks
    ]


def _numbering(
    tensors: Tensors,
    name: str,
    templates: tuple[Template, ...],
    domain: Mapping[View, int],
    vocabularies: Sequence[Sequence[str]],
    ranks: Mapping[tuple[int, int], NDArray[np.int64]],
) -> Numbering:
    if not templates:
        return Numbering((), ())
    members, keys = grouped(templates), slots(templates, domain, vocabularies)
    for (g, j), seen in ranks.items():
        if not ascending(seen):
            raise ValueError("ranks")
        keys[g].ranks[j] = seen
    counts = tensor(tensors, f"{name}_key_counts", np.int64)
    values = tensor(tensors, f"{name}_keys", np.int64)
    if len(counts) != len(members) or np.any(counts < 0) or np.any(counts > len(values)):
        raise ValueError("number of keys")
    if counts.sum() != len(values):
        raise ValueError("number of keys")
    groups, base = [], 0
    for g, part in enumerate(np.split(values, np.cumsum(counts)[:-1])):
        if not keys[g].is_consistent():
            raise ValueError("ranks")
        if not ascending(part) or (len(part) and part[-1] >= keys[g].largest()):
            raise ValueError("keys out of range")
        groups.append(Group(members[g], keys[g], part, base))
        base += len(part)
    return Numbering(templates, tuple(groups))


def _put_resources(tensors: Tensors, features: TemplateFeatures) -> list[list[Any]]:
    """Entries [number of the view, names of its string tables, names of its arrays]; views that share a resource
    name the first of them."""
    entries: list[list[Any]] = []
    first: dict[int, int] = {}
    for n, view in enumerate(features.views):
        resource = features.resources.get(view)
        if resource is None or FUNCTIONS[view.function].restore is None:
            continue
        if id(resource) in first:
            entries.append([n, first[id(resource)], []])
            continue
        first[id(resource)] = n
        strings, arrays = [], []
        for name, table in resource.tables().items():
            if isinstance(table, np.ndarray):
                tensors[f"resource.{n}.{name}"] = table
                arrays.append(name)
            else:
                put_strings(tensors, f"resource.{n}.{name}", table)
                strings.append(name)
        entries.append([n, strings, arrays])
    return entries


def _get_resources(
    tensors: Tensors, entries: Any, templates: tuple[Template, ...], functions: Callables
) -> dict[View, Resource]:
    views = views_of(templates)
    out: dict[View, Resource] = {}
    for n, strings, arrays in entries:
        view = views[n]
        function = FUNCTIONS[view.function]
        if type(n) is not int or n < 0 or view in out or function.restore is None:
            raise ValueError("resources")
        if type(strings) is int:
            if not 0 <= strings < n or arrays != []:
                raise ValueError("resources")
            out[view] = out[views[strings]]
            if views[strings].function != view.function:
                raise ValueError("resources")
            continue
        tables = {str(name): get_strings(tensors, f"resource.{n}.{name}", distinct=False) for name in strings}
        out[view] = function.restore({**tables, **{str(a): tensors.pop(f"resource.{n}.{a}") for a in arrays}})
    for view in views:
        function = FUNCTIONS[view.function]
        if function.given is not None:
            out[view] = function.given(view.arguments, functions)
        elif view not in out and function.restore is not None:
            raise ValueError(f"{Part(view, 0).text} lacks its resource")
    return out


def _put_dictionary(tensors: Tensors, dictionary: TagDictionary | None) -> str | None:
    if dictionary is None:
        return None
    put_strings(tensors, "dictionary", dictionary.strings)
    tensors["dictionary_counts"] = np.diff(dictionary.start).astype(np.uint16)
    tensors["dictionary_labels"] = dictionary.labels.astype(np.uint16)
    return dictionary.column


def _get_dictionary(tensors: Tensors, column: Any, labels: int) -> TagDictionary | None:
    if column is None:
        return None
    if type(column) is not str:
        raise ValueError("column of the tag dictionary")
    counts = tensor(tensors, "dictionary_counts", np.uint16).astype(np.int64)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    allowed = tensor(tensors, "dictionary_labels", np.uint16).astype(np.int32)
    return TagDictionary(column, labels, get_strings(tensors, "dictionary"), start, allowed)


def tensor(tensors: Tensors, name: str, dtype: Any) -> NDArray[Any]:
    """Takes a tensor of one dimension out."""
    values = tensors.pop(name)
    if values.dtype != dtype or values.ndim != 1:
        raise ValueError(f"tensor {name}")
    return values


def ascending(values: NDArray[np.int64]) -> bool:
    """Whether all are >= 0 and each is larger than the one before."""
    # compared, not subtracted: a difference could wrap around
    return not len(values) or (int(values[0]) >= 0 and bool(np.all(values[1:] > values[:-1])))
