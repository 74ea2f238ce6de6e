"""What follows from the tables of a knowledge base: types of entities, and which entity a name stands for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from trellis.errors import DataError


def inferred_types(
    facts: Mapping[tuple[str, str], Sequence[str]],
    arguments: Mapping[str, Sequence[tuple[str, str]]],
    types: Mapping[str, str],
) -> dict[str, str]:
    """What a relation says of its arguments holds for entities that have no type yet. facts: (subject, object) ->
    relations."""
    sides = {relation: [set(side) for side in zip(*pairs, strict=True)] for relation, pairs in arguments.items()}
    inferred: dict[str, str] = {}
    for pair, relations in facts.items():
        for relation in relations:
            for name, kinds in zip(pair, sides.get(relation, ()), strict=False):
                if name in types or len(kinds) > 1:
                    continue
                (kind,) = kinds
                if inferred.setdefault(name, kind) != kind:
                    raise DataError(
                        f"{name!r} is of the type {kind!r} by {relation!r}, and of {inferred[name]!r} by another "
                        "relation; give it a type of its own: types"
                    )
    return inferred


def entity_by_name(
    entities: Iterable[str], aliases: Iterable[tuple[str, str]], lower: bool
) -> tuple[dict[str, str], set[str], int]:
    """Names that text may have -> the entity they stand for, those of which that is not clear, and how many names stand
    for several. aliases: (entity, another name of it); an entity's own name is that one's, though it may be an alias of
    another."""
    found: dict[str, str] = {}
    unclear: set[str] = set()
    ambiguous = 0
    for pairs in ([(name, name) for name in entities], aliases):
        meant: dict[str, set[str]] = {}
        for entity, name in pairs:
            meant.setdefault(name.lower() if lower else name, set()).add(entity)
        for name, several in meant.items():
            own = found.get(name)
            if name in unclear:
                continue
            if len(several | {own} - {None}) > 1:
                ambiguous += 1
            if own is None and len(several) == 1:
                (found[name],) = several
            elif own is None:
                unclear.add(name)
    return found, unclear, ambiguous
