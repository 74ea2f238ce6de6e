"""A knowledge base: facts (subject, relation, object), other names of its entities, and their types.

    kb.tsv         Ada Lovelace<TAB>born_in<TAB>London     direction matters; a pair may have several relations
    aliases.tsv    Ada Lovelace<TAB>Lady Lovelace          entity, another name of it
    types.tsv      Ada Lovelace<TAB>PER                    entity, type; entities without facts may be here, too
    arguments.tsv  born_in<TAB>PER<TAB>LOC                 relation, type of its subjects, type of its objects

The words of names are apart by spaces, as they are in the text. A name that stands for several entities says nothing
about which one is meant; it is not looked for, and counted in `ambiguous`. Where the text has it marked, the base says
nothing about it, not even that it is unrelated. What is an entity's own name is that one's, though it may be an alias
of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np

from trellis.errors import DataError, SettingError
from trellis.features.functions.gazetteer import Gazetteer
from trellis.weak.distant.names import entity_by_name, inferred_types
from trellis.weak.distant.tables import Failing, Row, rows_given, rows_of
from trellis.weak.functions.contract import what_is_wrong
from trellis.weak.functions.lists import Phrases

NO_RELATION = "none"
UNKNOWN = "_"  # the type of what has none

FACT = ("subject", "relation", "object")
ALIAS = ("name", "alias")
TYPE = ("name", "type")
ARGUMENTS = ("relation", "subject type", "object type")

Fact = tuple[str, str, str]


class KnowledgeBase:
    """As at the top of this file.

    facts: (subject, relation, object) of each. aliases: entity -> other names. types: entity -> type. arguments:
    relation -> (type of subjects, type of objects), or several of these; of a relation for which none are given they
    are those of its facts, and may be any where the entities of a fact have no type. lower: whether case is ignored
    where names are looked for.

    `relations` and `entities` are in order of first appearance, `len` is the number of facts; `duplicates` counts facts
    that were given more than once, `ambiguous` names that stand for several entities.
    """

    def __init__(
        self,
        facts: Iterable[Fact],
        aliases: Mapping[str, Sequence[str]] | None = None,
        types: Mapping[str, str] | None = None,
        arguments: Mapping[str, tuple[str, str] | Sequence[tuple[str, str]]] | None = None,
        lower: bool = False,
    ):
        for name, table in (("aliases", aliases), ("types", types), ("arguments", arguments)):
            if not (table is None or isinstance(table, Mapping)):
                raise SettingError(f"{name} is a {type(table).__name__}; expected a dict")
        self._fill(
            rows_given(facts, FACT, "fact"),
            rows_given(
                [(name, one) for name, many in (aliases or {}).items() for one in _several(many)], ALIAS, "alias"
            ),
            rows_given(list((types or {}).items()), TYPE, "type"),
            rows_given(_argument_rows(arguments or {}), ARGUMENTS, "pair of arguments"),
            lower,
        )

    @classmethod
    def read(
        cls,
        facts: str | Path,
        aliases: str | Path | None = None,
        types: str | Path | None = None,
        arguments: str | Path | None = None,
        lower: bool = False,
    ) -> Self:
        """From files as at the top; lines that begin with # are comments, `-` is standard input."""
        base = cls.__new__(cls)
        others = ((aliases, ALIAS), (types, TYPE), (arguments, ARGUMENTS))
        more = [iter(()) if path is None else rows_of(path, columns) for path, columns in others]
        base._fill(rows_of(facts, FACT), more[0], more[1], more[2], lower)
        if not len(base):
            raise DataError("there is no fact; expected a line subject<TAB>relation<TAB>object for each", facts)
        return base

    def _fill(
        self, facts: Iterator[Row], aliases: Iterator[Row], types: Iterator[Row], arguments: Iterator[Row], lower: bool
    ) -> None:
        self.lower = lower
        self.duplicates = self._many = 0
        self._number: dict[str, int] = {}
        self._facts: dict[tuple[str, str], tuple[str, ...]] = {}
        self._types: dict[str, str] = {}
        self._aliases: list[tuple[str, str]] = []
        self._arguments: dict[str, list[tuple[str, str]]] = {}
        self._fits: dict[tuple[str, str], bool] = {}
        known: dict[str, None] = {}
        for (subject, relation, object_), fail in facts:
            if relation not in known:
                known[_checked(relation, fail)] = None
            self._add(subject, relation, object_)
        self.relations = tuple(known)
        for (name, kind), fail in types:
            if self._types.setdefault(name, kind) != kind:
                raise fail(f"{name!r} is of the type {kind!r}, and of {self._types[name]!r} before; expected one type")
            self._number.setdefault(name, len(self._number))
        for (name, alias), fail in aliases:
            if name not in self._number:
                raise fail(f"no fact is about {name!r}; expected an entity, and behind it another name of it")
            self._aliases.append((name, alias))
        for (relation, *pair), fail in arguments:
            if relation not in known:
                raise fail(f"no fact has the relation {relation!r}; the relations are: {', '.join(known) or 'none'}")
            self._arguments.setdefault(relation, []).append((pair[0], pair[1]))
        self._types |= inferred_types(self._facts, self._arguments, self._types)
        self._entity, self._unclear, self.ambiguous = entity_by_name(self._number, self._aliases, lower)

    def _add(self, subject: str, relation: str, object_: str) -> None:
        for name in (subject, object_):
            self._number.setdefault(name, len(self._number))
        there = self._facts.get((subject, object_), ())
        if relation in there:
            self.duplicates += 1
            return
        self._facts[subject, object_] = (*there, relation)
        self._many += 1

    def __len__(self) -> int:
        return self._many

    def __repr__(self) -> str:
        return (
            f"<KnowledgeBase of {len(self):,} facts, {len(self._number):,} entities, {len(self.relations)} relations>"
        )

    def __contains__(self, fact: object) -> bool:
        if not isinstance(fact, tuple) or len(fact) != 3 or not all(isinstance(part, str) for part in fact):
            return False
        return fact[1] in self._facts.get((fact[0], fact[2]), ())

    def __iter__(self) -> Iterator[Fact]:
        for (subject, object_), relations in self._facts.items():
            for relation in relations:
                yield subject, relation, object_

    @property
    def entities(self) -> list[str]:
        return list(self._number)

    def relations_of(self, subject: str, object: str) -> tuple[str, ...]:
        """The relations of a pair in this direction, in order of the facts; none where there is no fact."""
        return self._facts.get((subject, object), ())

    def entity(self, name: str) -> str | None:
        """The entity that a name of the text stands for; None if the base knows none, or several."""
        return self._entity.get(name.lower() if self.lower else name)

    def is_unclear(self, name: str) -> bool:
        """Whether a name, which is no entity's own, stands for several."""
        return name not in self._number and (name.lower() if self.lower else name) in self._unclear

    def type_of(self, entity: str) -> str | None:
        return self._types.get(entity)

    @cached_property
    def argument_types(self) -> frozenset[tuple[str, str]]:
        """Types of subject and object that some relation has, `_` where any may be, as nothing is known of it."""
        found = {pair for pairs in self._arguments.values() for pair in pairs}
        for (subject, object_), relations in self._facts.items():
            if any(relation not in self._arguments for relation in relations):
                found.add((self._types.get(subject, UNKNOWN), self._types.get(object_, UNKNOWN)))
        return frozenset(found)

    def fits(self, subject_type: str, object_type: str) -> bool:
        """Whether some relation may hold between such types; `_`, an unknown one, may be any."""
        known = self._fits.get((subject_type, object_type))
        if known is None:
            pairs = self.argument_types
            known = not pairs or any(_may_be(subject_type, a) and _may_be(object_type, b) for a, b in pairs)
            self._fits[subject_type, object_type] = known
        return known

    @cached_property
    def phrases(self) -> tuple[Phrases, list[str]]:
        """Names to look for, and the entity of each type of phrase."""
        if not self._entity:
            raise SettingError("the knowledge base has no name to look for; give it facts")
        number = np.arange(len(self._entity), dtype=np.int64)
        return Phrases(Gazetteer(list(self._entity), [], number, number), self.lower), list(self._entity.values())


def _may_be(one: str, other: str) -> bool:
    return one == other or UNKNOWN in (one, other)


def _checked(relation: str, fail: Failing) -> str:
    wrong = what_is_wrong(relation, "tokens")
    if wrong or relation == NO_RELATION:
        wrong = wrong or "that is what pairs without a relation are called; give the relation another name"
        raise fail(f"the relation is {relation!r}; {wrong}")
    return relation


def _several(names: object) -> Iterable[object]:
    """Of one, or of what is no list, a list; what it has is checked later."""
    return [names] if isinstance(names, str) or not isinstance(names, Iterable) else names


def _argument_rows(arguments: Mapping[str, object]) -> Iterator[object]:
    for relation, pairs in arguments.items():
        one = isinstance(pairs, Sequence) and len(pairs) == 2 and all(isinstance(each, str) for each in pairs)
        for pair in [pairs] if one or not isinstance(pairs, Iterable) else pairs:
            yield (relation, *pair) if isinstance(pair, Sequence) and not isinstance(pair, str) else (relation, pair)
