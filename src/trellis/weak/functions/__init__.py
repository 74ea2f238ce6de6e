"""Labeling functions: what votes on spans, tokens, links or whole items. One kind a file.

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.lazy import lazily

if TYPE_CHECKING:
    from trellis.weak.functions.casts import Cast, LinkVotes, SpanVotes, TokenVotes
    from trellis.weak.functions.consistency import consistent
    from trellis.weak.functions.constraints import shape, words
    from trellis.weak.functions.contract import LabelingFunction
    from trellis.weak.functions.language_models import prompted
    from trellis.weak.functions.linking import linked
    from trellis.weak.functions.lists import gazetteer
    from trellis.weak.functions.loading import Loaded, load_functions
    from trellis.weak.functions.own import items, links, spans, tokens
    from trellis.weak.functions.patterns import pattern, text_pattern
    from trellis.weak.functions.voters import column, model

_HOMES = {
    "Cast": "casts",
    "LabelingFunction": "contract",
    "LinkVotes": "casts",
    "Loaded": "loading",
    "SpanVotes": "casts",
    "TokenVotes": "casts",
    "column": "voters",
    "consistent": "consistency",
    "gazetteer": "lists",
    "items": "own",
    "linked": "linking",
    "links": "own",
    "load_functions": "loading",
    "model": "voters",
    "pattern": "patterns",
    "prompted": "language_models",
    "shape": "constraints",
    "spans": "own",
    "text_pattern": "patterns",
    "tokens": "own",
    "words": "constraints",
}

__all__ = [
    "Cast",
    "LabelingFunction",
    "LinkVotes",
    "Loaded",
    "SpanVotes",
    "TokenVotes",
    "column",
    "consistent",
    "gazetteer",
    "items",
    "linked",
    "links",
    "load_functions",
    "model",
    "pattern",
    "prompted",
    "shape",
    "spans",
    "text_pattern",
    "tokens",
    "words",
]

__getattr__, __dir__ = lazily(__name__, _HOMES)
