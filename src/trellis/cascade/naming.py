"""Names of the attributes that come of lower stages: `pos[-1]|pos[0]=DT|NN`."""

from __future__ import annotations

from trellis.cascade.plan import Plan
from trellis.cascade.tables import Tables
from trellis.features import TemplateFeatures
from trellis.features.numbering import grouped
from trellis.features.template import Template


def names_of(
    templates: tuple[Template, ...],
    plan: Plan,
    tables: Tables,
    lower: tuple[str, ...],
    context: TemplateFeatures | None,
) -> list[str]:
    radix, out = max(1, len(tables.vocabulary)), []
    first_of_group = {g: templates[members[0]] for g, members in enumerate(grouped(templates))}
    for g, template in first_of_group.items():
        for code in plan.codes[plan.group_start[g] : plan.group_start[g + 1]].tolist():
            values = []
            for part in template.parts:
                if part.view.column in lower:
                    code, digit = divmod(code, radix)
                    values.append(tables.vocabulary[digit])
                else:
                    values.append("")
            out.append(template.name(_with_context(template, values, code, lower, context)))
    return out


def _with_context(
    template: Template, values: list[str], seen: int, lower: tuple[str, ...], context: TemplateFeatures | None
) -> list[str]:
    """The values of parts that read the input put in, from the number of the context's attribute."""
    mixed = [k for k, part in enumerate(template.parts) if part.view.column not in lower]
    if context is None or not mixed:
        return values
    words = context.values_of(seen)
    for k, word in zip(mixed, words, strict=True):
        values[k] = word
    return values
