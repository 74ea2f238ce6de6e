"""Which templates of a stage read lower stages, and which the input; and what neither may."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trellis.cascade.tables import is_of_pairs
from trellis.cascade.wiring import Wiring
from trellis.errors import SettingError, TemplateError
from trellis.features import FeatureKind
from trellis.features.functions import FUNCTIONS
from trellis.features.reading import columns_of, views_of
from trellis.features.template import Part, Template


def parted(templates: Sequence[Template], lower: Sequence[str]) -> tuple[tuple[Template, ...], tuple[Template, ...]]:
    """Those that read the input alone, and those that read a lower stage's target."""
    wired = [any(part.view.column in lower for part in template.parts) for template in templates]
    for template, is_wired in zip(templates, wired, strict=True):
        for part in template.parts if is_wired else ():
            _check(part, template, lower)
    own = tuple(t for t, is_wired in zip(templates, wired, strict=True) if not is_wired)
    return own, tuple(t for t, is_wired in zip(templates, wired, strict=True) if is_wired)


def _check(part: Part, template: Template, lower: Sequence[str]) -> None:
    function = FUNCTIONS[part.view.function]
    if part.view.column not in lower:
        if any(column in lower for column in columns_of([part.view])):
            raise TemplateError(f"'{template.text}': {part.text} reads a lower stage beside the input")
        return
    if part.absolute:
        raise TemplateError(f"'{template.text}': a lower stage is read at places relative to the token, such as [0]")
    if function.learn is not None:
        raise TemplateError(f"'{template.text}': {part.view.function} learns from a column, which a lower stage is not")
    if function.of_sentence is not None and function.pairs is None:
        raise TemplateError(f"'{template.text}': {part.view.function} looks at sentences, which a lower stage has not")


def check_columns(features: FeatureKind, wiring: Wiring | None, targets: Sequence[str]) -> None:
    """SettingError where the column of a stage would be read from the input, that is, as it is annotated."""
    of_input = [features] if wiring is None or wiring.context is None else [features, wiring.context]
    for name in columns_of(views_of([t for one in of_input for t in getattr(one, "templates", ())])):
        if name in targets:
            raise SettingError(f"its features read '{name}', which is a stage itself; name it in reads")


def check_pairs(wired: Sequence[Template], chains: Mapping[str, bool]) -> None:
    """`chains`: of the stages that are read, whether each is a chain."""
    for template in wired:
        for part in template.parts:
            if is_of_pairs(part.view) and not chains.get(part.view.column, True):
                raise SettingError(
                    f"'{template.text}': {part.view.function} asks for pairs of labels, which only a stage of order 1 "
                    f"has; '{part.view.column}' is another"
                )
