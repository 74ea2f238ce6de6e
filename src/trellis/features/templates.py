"""Features from templates over a corpus' columns: columns of ids -> values -> keys -> attribute numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from trellis.corpus import Corpus
from trellis.errors import DataError
from trellis.features.functions.contract import UserFunction
from trellis.features.hashing import HashNumbering, HashNumbers
from trellis.features.inputs import InputTables
from trellis.features.keys import Keys
from trellis.features.kind import Batch
from trellis.features.numbering import Group, Numbering, grouped
from trellis.features.packed import Packed
from trellis.features.reading import (
    Evaluated,
    Reading,
    Resources,
    columns_of,
    reach_of,
    table_of,
    types_of,
    views_of,
)
from trellis.features.resources import prepare, warn_of_useless_files
from trellis.features.spans import SpanFeatures
from trellis.features.tag_dictionary import TagDictionary
from trellis.features.template import Template, View


@dataclass(frozen=True)
class TemplateFeatures:
    """Learnt attributes. `vocabularies[d]`: the values of the views in domain d, numbered; `labels` and
    `transitions`: the attributes of each kind."""

    templates: tuple[Template, ...]
    resources: Resources
    vocabularies: tuple[Sequence[str], ...]
    labels: Numbering | HashNumbering
    transitions: Numbering | HashNumbering
    dictionary: TagDictionary | None = None
    spans: SpanFeatures | None = None
    inputs: InputTables | None = None

    @property
    def attributes(self) -> int:
        return self.labels.attributes

    @property
    def arc_attributes(self) -> int:
        return self.transitions.attributes

    @cached_property
    def views(self) -> list[View]:
        return views_of(self.templates)

    @cached_property
    def columns(self) -> list[str]:
        """The columns an input must have."""
        more = [own.column for own in (self.dictionary, self.spans) if own is not None]
        more += () if self.inputs is None else self.inputs.columns
        return list(dict.fromkeys([*columns_of(self.views), *more]))

    @classmethod
    def learn(
        cls,
        corpus: Corpus,
        templates: tuple[Template, ...],
        target: str | None = None,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        min_count: int = 1,
        hash_size: int | None = None,
        threads: int = 1,
    ) -> tuple[TemplateFeatures, Packed]:
        """Numbers every attribute that the corpus shows often enough, and the corpus in these numbers."""
        resources = prepare(views_of(templates), corpus, target, functions or {})
        types, known, evaluated = types_of(corpus, views_of(templates), reach_of(templates), resources, target)
        warn_of_useless_files(resources, evaluated)
        domain = domains(templates)
        vocabularies = () if hash_size else _vocabularies(evaluated, domain)
        reading = _reading(corpus, types, known, evaluated, domain, _indexes(vocabularies, domain), templates)

        def number(some: tuple[Template, ...]) -> tuple[Numbering | HashNumbering, Packed]:
            if hash_size:
                return HashNumbering.learn(some, reading, hash_size, threads)
            return Numbering.learn(some, slots(some, domain, vocabularies), reading, min_count, threads)

        labels, packed = number(on_labels(templates))
        transitions, arcs = number(on_transitions(templates))
        features = cls(templates, resources, vocabularies, labels, transitions)
        return features, replace(packed, arcs=arcs if transitions.templates else None)

    @property
    def functions(self) -> dict[str, Callable[..., Any]]:
        """The functions of the user's own that the features use, by name."""
        return {own.name: own.function for own in self.resources.values() if isinstance(own, UserFunction)}

    def translated(self, corpus: Batch) -> Reading:
        """The corpus in the numbers of the vocabularies.

        Once for a whole corpus, so that its parts need not look up the whole table of strings again.
        """
        if isinstance(corpus, Reading):
            return corpus
        if not isinstance(corpus, Corpus):
            raise DataError(
                "this model reads the columns of a corpus; it was given lists (tr.Corpus.from_lists makes one of them: "
                f"columns {', '.join(self.columns)})"
            )
        for name in self.columns:
            if name not in corpus.columns:
                raise DataError(
                    f"column '{name}' is missing, which the model's features read; "
                    f"the input has: {', '.join(corpus.columns)}",
                    corpus.path,
                )
        reach = reach_of(self.templates)
        types, known, evaluated = types_of(corpus, self.views, reach, self.resources)
        reading = _reading(corpus, types, known, evaluated, self._domains, self._indexes, self.templates)
        return replace(
            reading,
            labels=self.labels.prepared(reading),
            transitions=self.transitions.prepared(reading),
            allowed=None if self.dictionary is None else self.dictionary.allowed(corpus[self.dictionary.column]),
            spans=None if self.spans is None else self.spans.transform(corpus[self.spans.column], corpus.offsets),
            inputs=None if self.inputs is None else self.inputs.transform(corpus),
        )

    def transform(self, corpus: Corpus | Reading, first: int = 0) -> Packed:
        """A corpus in the learnt numbers; what was never seen is -1."""
        reading = self.translated(corpus)
        assert reading.labels is not None
        assert reading.transitions is not None
        packed = self.labels.find(reading, reading.labels)
        packed = replace(packed, allowed=reading.allowed, spans=reading.spans, inputs=reading.inputs)
        if not self.transitions.templates:
            return packed
        return replace(packed, arcs=self.transitions.find(reading, reading.transitions))

    def names(self) -> list[str]:
        """The name of every attribute, by number."""
        return self._names(self.labels)

    def arc_names(self) -> list[str]:
        """The name of every attribute of transitions, by number."""
        return self._names(self.transitions)

    def name(self, attribute: int) -> str:
        """The name of one attribute."""
        return self._one_name(self.labels, attribute)

    def arc_name(self, attribute: int) -> str:
        """The name of one attribute of transitions."""
        return self._one_name(self.transitions, attribute)

    def values_of(self, attribute: int) -> list[str]:
        """The values of an attribute's parts, where attributes have names."""
        assert isinstance(self.labels, Numbering)
        group = next(g for g in self.labels.groups if attribute < g.base + len(g.values))
        return self._values(self.labels, group, int(group.values[attribute - group.base]))

    def _one_name(self, numbering: Numbering | HashNumbering, attribute: int) -> str:
        if isinstance(numbering, HashNumbering):
            return f"hash {attribute}"
        group = next(g for g in numbering.groups if attribute < g.base + len(g.values))
        return self._name(numbering, group, int(group.values[attribute - group.base]))

    def _names(self, numbering: Numbering | HashNumbering) -> list[str]:
        if isinstance(numbering, HashNumbering):
            return [f"hash {n}" for n in range(numbering.attributes)]
        return [self._name(numbering, group, key) for group in numbering.groups for key in group.values.tolist()]

    def _name(self, numbering: Numbering, group: Group, key: int) -> str:
        return numbering.templates[group.members[0]].name(self._values(numbering, group, key))

    def _values(self, numbering: Numbering, group: Group, key: int) -> list[str]:
        words = (self.vocabularies[self._domains[part.view]] for part in numbering.templates[group.members[0]].parts)
        return [strings[n] for strings, n in zip(words, group.keys.digits(key), strict=True)]

    @cached_property
    def _domains(self) -> dict[View, int]:
        return domains(self.templates)

    @cached_property
    def _indexes(self) -> list[dict[str, int]]:
        return _indexes(self.vocabularies, self._domains)


def on_labels(templates: Sequence[Template]) -> tuple[Template, ...]:
    """The templates that make attributes of labels."""
    return tuple(template for template in templates if template.on_labels)


def on_transitions(templates: Sequence[Template]) -> tuple[Template, ...]:
    """The templates that make attributes of transitions; those without parts are the plain transitions, and always
    there."""
    return tuple(template for template in templates if template.on_transitions and template.parts)


def domains(templates: Sequence[Template]) -> dict[View, int]:
    """Numbers for the views' vocabularies. Views that stand in the same place of templates with the same literals
    share one, so that equal names are equal attributes."""
    parent: dict[View, View] = {view: view for view in views_of(templates)}

    def root(view: View) -> View:
        while parent[view] is not view:
            view = parent[view]
        return view

    for members in grouped(templates):
        for j, part in enumerate(templates[members[0]].parts):
            for k in members[1:]:
                parent[root(templates[k].parts[j].view)] = root(part.view)
    number: dict[View, int] = {}
    return {view: number.setdefault(root(view), len(number)) for view in parent}


def slots(
    templates: Sequence[Template], domain: Mapping[View, int], vocabularies: Sequence[Sequence[str]]
) -> list[Keys]:
    """Fresh keys for each group of templates."""
    return [
        Keys(tuple(len(vocabularies[domain[part.view]]) for part in templates[members[0]].parts))
        for members in grouped(templates)
    ]


def _vocabularies(evaluated: Mapping[View, Evaluated], domain: Mapping[View, int]) -> tuple[list[str], ...]:
    found: list[dict[str, None]] = [{} for _ in range(max(domain.values(), default=-1) + 1)]
    for view, what in evaluated.items():
        found[domain[view]].update(what.strings())
    return tuple(list(strings) for strings in found)


def _indexes(vocabularies: Sequence[Sequence[str]], domain: Mapping[View, int]) -> list[dict[str, int]]:
    """string -> number for each domain; a hash where there are no vocabularies."""
    if not vocabularies:
        return [HashNumbers()] * (max(domain.values(), default=-1) + 1)
    return [dict(zip(strings, range(len(strings)), strict=True)) for strings in vocabularies]


def _reading(
    corpus: Corpus,
    types: Mapping[str, Any],
    known: Mapping[str, int],
    evaluated: Mapping[View, Evaluated],
    domain: Mapping[View, int],
    indexes: Sequence[dict[str, int]],
    templates: Sequence[Template],
) -> Reading:
    tables = {view: table_of(what, indexes[domain[view]]) for view, what in evaluated.items()}
    return Reading(corpus.offsets, types, known, reach_of(templates), tables)
