"""From one numbering of attributes to another: which attribute of a model is which of an earlier one.

Attributes are the same when their names are: the literals of a template and the values between them, or what a user
called them. Hashed attributes have no names; they are the same when they have the same place among equally many.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from trellis.features.hashing import HashNumbering
from trellis.features.kind import FeatureKind
from trellis.features.numbering import Numbering
from trellis.features.templates import TemplateFeatures, domains

I64 = NDArray[np.int64]


def earlier_numbers(new: FeatureKind, old: FeatureKind) -> tuple[I64, I64]:
    """For each attribute of `new` its number in `old`, -1 if it had none: those of labels, and those of transitions."""
    if isinstance(new, TemplateFeatures) and isinstance(old, TemplateFeatures):
        return _numbers(new, old, new.labels, old.labels), _numbers(new, old, new.transitions, old.transitions)
    return _by_name(new.names(), old.names()), _by_name(new.arc_names(), old.arc_names())


def _by_name(new: Sequence[str], old: Sequence[str]) -> I64:
    index = {name: number for number, name in enumerate(old)}
    return np.fromiter(map(index.get, new, repeat(-1)), np.int64, len(new))


def _numbers(
    new: TemplateFeatures, old: TemplateFeatures, mine: Numbering | HashNumbering, theirs: Numbering | HashNumbering
) -> I64:
    """By way of the values, not of the names: those of one vocabulary are compared once, not once an attribute."""
    numbers = np.full(mine.attributes, -1, np.int64)
    if isinstance(mine, HashNumbering) or isinstance(theirs, HashNumbering):
        hashed = isinstance(mine, HashNumbering) and isinstance(theirs, HashNumbering)
        return np.arange(mine.attributes) if hashed and mine.attributes == theirs.attributes else numbers
    domain, old_domain = domains(new.templates), domains(old.templates)

    @cache
    def values(d: int, e: int) -> I64:
        """The vocabulary d of `new` in the numbers of the vocabulary e of `old`."""
        return _by_name(new.vocabularies[d], old.vocabularies[e])

    groups = {theirs.templates[group.members[0]].literals: group for group in theirs.groups}
    for group in mine.groups:
        template = mine.templates[group.members[0]]
        before = groups.get(template.literals)
        if before is None:
            continue
        parts = zip(template.parts, theirs.templates[before.members[0]].parts, strict=True)
        tables = [values(domain[part.view], old_domain[earlier.view]) for part, earlier in parts]
        digits = [table[digit] for table, digit in zip(tables, group.keys.split(group.values), strict=True)]
        found = before.numbers(before.keys.joined(digits, len(group.values)))
        numbers[group.base : group.base + len(group.values)] = found
    return numbers
