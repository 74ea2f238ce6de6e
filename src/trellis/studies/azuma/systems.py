"""The stages of each system: the paper's Table 1 as printed, and with vocabularies that leave the token itself out; the
presets; and three stages over Universal Dependencies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trellis.cascade import Stage

# Table 1 without what it says of vocabularies
SPELLING = (
    "word[0] + suffix(word, 1, 2, 3)[0] + is_first(word)[0] + is_last(word)[0] "
    "+ is_capitalized(word)[-2:2] + all_caps(word)[-2:2] + has_digit(word)[-2:2]"
)
POS_LEFT_OUT = f"{SPELLING} + tags_elsewhere(word)[-2:2]"
CHUNK_LEFT_OUT = f"{SPELLING} + tags_elsewhere(word, pos)[-2:2]"
# parts of speech as chunking's preset reads them, for a stage that is told more of words
_CHUNKING = "chunking"


@dataclass(frozen=True)
class System:
    """`title` for people; `corpus` it is for; `stages(tol)`: lower ones first."""

    title: str
    corpus: str
    stages: Callable[[float], list[Stage]]


def _two(pos: str, chunk: str, pos_l2: float, chunk_l2: float, min_count: int = 1) -> Callable[[float], list[Stage]]:
    def stages(tol: float) -> list[Stage]:
        return [
            Stage("pos", pos, l2=pos_l2, tol=tol, min_count=min_count),
            Stage("chunk", chunk, reads=["pos"], l2=chunk_l2, tol=tol),
        ]

    return stages


def _three(tol: float) -> list[Stage]:
    return [
        Stage("upos", "pos", l2=0.5, tol=tol),
        Stage("xpos", "pos", reads=["upos"], l2=0.5, tol=tol),
        Stage("feats", "morph", reads=["upos", "xpos"], l2=0.5, tol=tol, min_count=2),
    ]


SYSTEMS: dict[str, System] = {
    "table1": System("Table 1 as printed", "conll2000", _two("azuma-pos", "azuma-chunk", 1.0, 1.0)),
    "left-out": System(
        "Table 1, vocabularies without the token itself", "conll2000",
        _two(POS_LEFT_OUT, f"{CHUNK_LEFT_OUT} + pos[0] + transitions(pos[-1] & pos[0])", 1.0, 1.0),
    ),
    "nodes": System(
        "the same without pairs of parts of speech on transitions", "conll2000",
        _two(POS_LEFT_OUT, f"{CHUNK_LEFT_OUT} + pos[0]", 1.0, 1.0),
    ),
    "presets": System("the presets `pos` and `chunking`", "conll2000", _two("pos", _CHUNKING, 1.0, 1.0)),
    "ud": System("Universal Dependencies: upos, xpos, feats", "ud-en-ewt", _three),
}  # fmt: skip
