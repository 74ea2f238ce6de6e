"""Spans of unknown type as links: what another function votes for as one span belongs together.

So a list of phrases of any type, or a row of capitalised words, says which neighbours have the same label, without
saying which label that is (linking rules; Safranchik, Luo & Bach 2020).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from trellis.corpus import Corpus
from trellis.errors import SettingError, shown
from trellis.labels import first_tokens
from trellis.labels.packed import ranges
from trellis.weak.functions.casts import Cast, LinkVotes
from trellis.weak.functions.contract import LabelingFunction, made_up
from trellis.weak.functions.segments import spans_asked_for
from trellis.weak.votes import ABSTAINS


class Linked(LabelingFunction):
    """As `linked` says."""

    def __init__(self, function: LabelingFunction, ends: bool, name: str | None):
        super().__init__("links", name, made_up("linked", function.name))
        self.function, self.ends = function, ends
        self.whole, self.asks = function.whole, (function,)

    def on(self, data: Corpus, first: int = 0) -> LinkVotes:
        return self.made_of([self.function.on(data, first)], data)

    def made_of(self, casts: Sequence[Cast], data: Corpus) -> LinkVotes:
        spans = spans_asked_for(casts[0], data.offsets, self.function.name, self.name, "links")
        together = np.full(data.tokens, ABSTAINS, np.int8)
        if self.ends:
            together[spans.start] = 0
            together[spans.end[spans.end < data.tokens]] = 0
            together[first_tokens(data.offsets)] = ABSTAINS
        together[ranges(spans.start + 1, spans.end - spans.start - 1)] = 1
        return LinkVotes(together)


def linked(function: Any, ends: bool = False, name: str | None = None) -> Linked:
    """Tokens inside one span of another function belong together, whatever its type.

    ends: whether it is also said that the first token of a span does not belong with the one before it, nor the one
    behind the span with its last.
    """
    if not isinstance(function, LabelingFunction) or function.votes not in ("spans", "tokens"):
        raise SettingError(f"{shown(function)} cannot be linked; expected a labeling function on spans")
    return Linked(function, ends, name)
