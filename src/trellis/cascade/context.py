"""What templates that read lower stages have of the input beside, as in `word[0] & pos[0]`: one number for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import SettingError
from trellis.features import TemplateFeatures
from trellis.features.template import Template

I32 = NDArray[np.int32]


def learn_context(
    templates: Sequence[Template],
    lower: tuple[str, ...],
    corpus: Corpus,
    target: str,
    functions: Mapping[str, Callable[..., Any]],
) -> TemplateFeatures | None:
    mixed = [t for t in templates if any(part.view.column not in lower for part in t.parts)]
    if not mixed:
        return None
    reduced = tuple(_reduced(template, n, lower) for n, template in enumerate(mixed))
    context, _ = TemplateFeatures.learn(corpus, reduced, target, functions)
    whole = context.transform(corpus)
    if len(whole.ids) != len(mixed) * corpus.tokens or whole.values is not None:
        raise SettingError(
            "features that have several values at a token, or numbers, cannot be read together with a lower stage"
        )
    return context


def context_numbers(templates: Sequence[Template], lower: tuple[str, ...]) -> dict[str, int]:
    """Which column of the context a template reads, by its text."""
    mixed = [t for t in templates if any(part.view.column not in lower for part in t.parts)]
    return {template.text: n for n, template in enumerate(mixed)}


def _reduced(template: Template, n: int, lower: tuple[str, ...]) -> Template:
    """What it reads of the input, with a number that tells it from all others that read the same."""
    parts = tuple(part for part in template.parts if part.view.column not in lower)
    return Template((f"U{n}:", *["/"] * (len(parts) - 1), ""), parts)


def context_columns(context: TemplateFeatures, corpus: Any) -> I32:
    """What stands in each context at each token, I32[tokens, contexts], -1 for what was never seen."""
    packed = context.transform(corpus)
    return packed.ids.reshape(len(packed.indptr) - 1, len(context.templates))
