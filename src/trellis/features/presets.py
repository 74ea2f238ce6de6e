"""Feature sets that have a name, each with its source."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Preset:
    """`text`: features as an expression or template lines; `more`: features that are added for each further column
    that the corpus has; `source`: where they come from."""

    source: str
    text: str
    more: tuple[tuple[str, str], ...] = ()


_CHUNKING = """
U00:%x[-2,word]
U01:%x[-1,word]
U02:%x[0,word]
U03:%x[1,word]
U04:%x[2,word]
U05:%x[-1,word]/%x[0,word]
U06:%x[0,word]/%x[1,word]

U10:%x[-2,pos]
U11:%x[-1,pos]
U12:%x[0,pos]
U13:%x[1,pos]
U14:%x[2,pos]
U15:%x[-2,pos]/%x[-1,pos]
U16:%x[-1,pos]/%x[0,pos]
U17:%x[0,pos]/%x[1,pos]
U18:%x[1,pos]/%x[2,pos]

U20:%x[-2,pos]/%x[-1,pos]/%x[0,pos]
U21:%x[-1,pos]/%x[0,pos]/%x[1,pos]
U22:%x[0,pos]/%x[1,pos]/%x[2,pos]

B
"""

PRESETS: dict[str, Preset] = {
    "chunking": Preset(
        "the unigram patterns of CRF++'s chunking example: words and parts of speech in a window of five", _CHUNKING
    ),
}
