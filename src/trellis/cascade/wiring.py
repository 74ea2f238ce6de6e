"""What a stage reads of lower stages: its templates that name their targets, and the attributes seen with these.

A template over a lower stage's target, `pos[-1] & pos[0]`, is an attribute for each pair of labels; its value is how
probable the pair is. Functions of labels, `prefix(pos, 1)[0]`, group them: output features, as Azuma & Matsumoto 2011
call them. What a template has of the input, as in `word[0] & pos[0]`, is the context in which it looks at the lower
stage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.context import context_columns, context_numbers, learn_context
from trellis.cascade.monomials import Curve, Monomials, nothing
from trellis.cascade.naming import names_of
from trellis.cascade.plan import Beliefs, Lower, Plan, lower_of
from trellis.cascade.tables import Tables, is_of_pairs
from trellis.corpus import Corpus
from trellis.errors import TemplateError
from trellis.features import TemplateFeatures
from trellis.features.numbering import grouped
from trellis.features.template import Template
from trellis.features.templates import on_labels, on_transitions
from trellis.jit import worthwhile

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

_LIMIT = 1 << 62  # codes are below this
_A_TEMPLATE = 4  # choices at a token that room is made for at first


@dataclass(frozen=True)
class Wiring:
    """`lower`: the targets that are read; the templates that do, and plans of those on labels and on transitions;
    `context`: what they read of the input, if anything."""

    lower: tuple[str, ...]
    tables: Tables
    templates: tuple[Template, ...]
    on_labels: Plan
    on_transitions: Plan
    context: TemplateFeatures | None

    @classmethod
    def learn(
        cls,
        templates: tuple[Template, ...],
        corpus: Corpus,
        target: str,
        lower: Mapping[str, Sequence[str]],
        gold: Sequence[Beliefs],
        functions: Mapping[str, Callable[..., Any]],
        min_count: int = 1,
    ) -> Wiring:
        """Attributes for what the annotation of the lower stages, `gold`, shows (at least so often). `target`: of the
        stage that reads."""
        tables = Tables.of(templates, lower, functions)
        context = learn_context(templates, tuple(lower), corpus, target, functions)
        columns = None if context is None else context_columns(context, corpus)
        plans = []
        for inner, some in ((False, on_labels(templates)), (True, on_transitions(templates))):
            plan = plan_of(some, tables, tuple(lower), context_numbers(templates, tuple(lower)), context)
            plans.append(_with_codes(plan, gold, columns, corpus.offsets, inner, min_count))
        return cls(tuple(lower), tables, templates, plans[0], plans[1], context)

    @cached_property
    def labels(self) -> tuple[Template, ...]:
        return on_labels(self.templates)

    @cached_property
    def transitions(self) -> tuple[Template, ...]:
        return on_transitions(self.templates)

    @property
    def attributes(self) -> int:
        return len(self.on_labels.codes)

    @property
    def arc_attributes(self) -> int:
        return len(self.on_transitions.codes)

    @cached_property
    def chained(self) -> tuple[bool, ...]:
        """Of each lower stage, whether labels of neighbouring tokens are read together."""
        pairs = {
            part.view.column
            for template in self.templates
            for part in template.parts
            for other in template.parts
            if part.view.column == other.view.column and (part.row == other.row + 1 or is_of_pairs(part.view))
        }
        return tuple(name in pairs for name in self.lower)

    def expand(
        self,
        beliefs: Sequence[Beliefs],
        columns: I32 | None,
        offsets: I64,
        least: float,
        curve: Curve | None = None,
    ) -> tuple[Monomials, Monomials | None]:
        """The attributes of each token, on its labels and on the transition into it. `beliefs`: of each lower stage;
        `columns`: of the context, see `context_columns`."""
        lower = lower_of(beliefs)
        return (
            expand(lower, self.on_labels, columns, offsets, least, False, curve),
            expand(lower, self.on_transitions, columns, offsets, least, True, curve) if self.transitions else None,
        )

    def names(self) -> list[str]:
        """The name of every attribute on labels, by number."""
        return names_of(self.labels, self.on_labels, self.tables, self.lower, self.context)

    def arc_names(self) -> list[str]:
        """The name of every attribute on transitions, by number."""
        return names_of(self.transitions, self.on_transitions, self.tables, self.lower, self.context)


def expand(
    lower: Lower, plan: Plan, columns: I32 | None, offsets: I64, least: float, inner: bool, curve: Curve | None
) -> Monomials:
    """The occurrences of a plan's attributes; `inner`: first tokens have none."""
    z, tokens = np.concatenate([lower.node_p, lower.arc_p]), int(offsets[-1])
    context = np.zeros((tokens, 0), np.int32) if columns is None else columns
    if not len(plan.first) > 1:
        return Monomials(**nothing(tokens), z=z, least=least, curve=curve)
    if not worthwhile(tokens):
        from trellis.cascade.plain import expand_plainly

        return Monomials(**expand_plainly(lower, plan, context, offsets, least, inner), z=z, least=least, curve=curve)
    from trellis.cascade.expand_kernels import expand as run

    parts, room = int(np.diff(plan.first).max()), _A_TEMPLATE * tokens * (len(plan.first) - 1)
    start = np.zeros(tokens + 1, np.int64)
    while True:
        ids, (weight, p) = np.empty(room, np.int32), np.empty((2, room))
        times, over = np.empty((2, room, parts), np.int32)
        size = run(lower, plan, context, offsets, least, inner, start, ids, weight, p, times, over)
        if size <= room:
            break
        room = size
    return Monomials(start, ids[:size], weight[:size], p[:size], times[:size], over[:size], z, least, curve)


def code_limits(template: Template, tables: Tables, lower: Sequence[str], context: TemplateFeatures | None) -> int:
    """Its codes are below this."""
    own = sum(part.view.column in lower for part in template.parts)
    contexts = 1 if context is None or own == len(template.parts) else max(1, context.attributes)
    return int(max(1, len(tables.vocabulary)) ** own * contexts)


def plan_of(
    templates: tuple[Template, ...],
    tables: Tables,
    lower: tuple[str, ...],
    columns: Mapping[str, int],
    context: TemplateFeatures | None,
) -> Plan:
    """Without codes."""
    radix, at = max(1, len(tables.vocabulary)), dict(zip(tables.views, tables.base, strict=True))
    group = np.zeros(len(templates), np.int64)
    for g, members in enumerate(grouped(templates)):
        group[list(members)] = g
    first, which, above, parts = [0], [], [], []
    for template in templates:
        own = [part for part in template.parts if part.view.column in lower]
        digits = {id(part): radix**k for k, part in enumerate(own)}
        found = columns.get(template.text, -1)
        if code_limits(template, tables, lower, context) >= _LIMIT:
            raise TemplateError(f"'{template.text}': too many labels read together; leave some out")
        own.sort(key=lambda part: (lower.index(part.view.column), part.row, not is_of_pairs(part.view)))
        parts += [(lower.index(p.view.column), p.row, digits[id(p)], at[p.view], is_of_pairs(p.view)) for p in own]
        first.append(len(parts))
        which.append(found)
        above.append(radix ** len(own))
    stage, row, power, table, pair = np.array(parts, np.int64).reshape(-1, 5).T.copy()
    return Plan(
        np.array(first), group, np.array(which, np.int64), np.array(above, np.int64), stage, row, power, table,
        pair.astype(bool), tables.start, tables.digit, tables.weight, np.zeros(1, np.int64), np.zeros(0, np.int64),
        tables.reach,
    )  # fmt: skip


def _with_codes(
    plan: Plan, gold: Sequence[Beliefs], columns: I32 | None, offsets: I64, inner: bool, min_count: int
) -> Plan:
    """With the codes that the annotation shows."""
    from trellis.cascade.plain import choices

    lower = lower_of(gold)
    context = np.zeros((int(offsets[-1]), 0), np.int32) if columns is None else columns
    found: list[list[I64]] = [[] for _ in range(int(plan.group.max(initial=-1)) + 1)]
    for n, g in enumerate(plan.group.tolist()):
        found[g].append(choices(lower, plan, n, context, offsets, 0.0, inner).code)
    kept = []
    for codes in found:
        values, counts = np.unique(np.concatenate(codes), return_counts=True)
        kept.append(values[counts >= min_count])
    start = np.cumsum([0, *map(len, kept)])
    return plan._replace(group_start=start, codes=np.concatenate([np.zeros(0, np.int64), *kept]))
