"""The stages of each system: the paper's Table 1 as printed, and with vocabularies that leave the token itself out; the
presets; and three stages over Universal Dependencies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from trellis.cascade import Stage

# Table 1 without what it says of vocabularies
SPELLING = (
    "word[0] + suffix(word, 1, 2, 3)[0] + is_first(word)[0] + is_last(word)[0] "
    "+ is_capitalized(word)[-2:2] + all_caps(word)[-2:2] + has_digit(word)[-2:2]"
)
POS_LEFT_OUT = f"{SPELLING} + tags_elsewhere(word)[-2:2]"
CHUNK_LEFT_OUT = f"{SPELLING} + tags_elsewhere(word, pos)[-2:2]"
_READ = "pos[0] + transitions(pos[-1] & pos[0])"
_MARGIN: dict[str, Any] = {"loss": "softmax-margin", "costs": 2.0, "l2": 0.2, "hyperbolic": 0.3}
LIGHT = 0.2  # what the upper stage's loss counts where it has less to say to the lower one


@dataclass(frozen=True)
class System:
    """`title` for people; `corpus` it is for; `stages(tol)`: lower ones first; `optimizer` of joint training, and
    how many `iterations` of it at the most, where that was chosen; `encoding` of the last stage's labels in training,
    if not the corpus's own."""

    title: str
    corpus: str
    stages: Callable[[float], list[Stage]]
    optimizer: str = "auto"
    iterations: int | None = None
    encoding: str | None = None


def _two(
    pos: str, chunk: str, weight: float = 1.0, all_pairs: bool = False, **upper: Any
) -> Callable[[float], list[Stage]]:
    """The upper stage's loss counts `weight` times what the lower one's does; by itself it is the same for any.
    `upper`: its other settings."""

    def stages(tol: float) -> list[Stage]:
        settings: dict[str, Any] = {"tol": tol, "all_pairs": all_pairs}
        return [
            Stage("pos", pos, l2=1.0, **settings),
            Stage("chunk", chunk, reads=["pos"], weight=weight, **{**settings, "l2": weight, **upper}),
        ]

    return stages


def _three(tol: float) -> list[Stage]:
    return [
        Stage("upos", "pos", l2=0.5, tol=tol),
        Stage("xpos", "pos", reads=["upos"], l2=0.5, tol=tol),
        Stage("feats", "morph", reads=["upos", "xpos"], l2=0.5, tol=tol, min_count=2),
    ]


SYSTEMS: dict[str, System] = {
    "table1": System("Table 1 as printed", "conll2000", _two("azuma-pos", "azuma-chunk")),
    "left-out": System(
        "Table 1, vocabularies without the token itself", "conll2000",
        _two(POS_LEFT_OUT, f"{CHUNK_LEFT_OUT} + {_READ}"),
    ),
    "table1-all": System(
        "Table 1 as printed, all pairs", "conll2000", _two("azuma-pos", "azuma-chunk", all_pairs=True)
    ),
    "left-out-all": System(
        "Table 1, vocabularies without the token itself, all pairs", "conll2000",
        _two(POS_LEFT_OUT, f"{CHUNK_LEFT_OUT} + {_READ}", all_pairs=True),
    ),
    "margin": System(
        "Table 1, vocabularies without the token itself, all pairs, softmax-margin", "conll2000",
        _two(POS_LEFT_OUT, f"{CHUNK_LEFT_OUT} + {_READ}", all_pairs=True, **_MARGIN),
        optimizer="lbfgs", iterations=25,
    ),
    "table1-bioes": System(
        "Table 1 as printed, all pairs, BIOES", "conll2000",
        _two("azuma-pos", "azuma-chunk", all_pairs=True), encoding="bioes",
    ),
    "left-out-bioes": System(
        "Table 1, vocabularies without the token itself, all pairs, BIOES", "conll2000",
        _two(POS_LEFT_OUT, f"{CHUNK_LEFT_OUT} + {_READ}", all_pairs=True), encoding="bioes",
    ),
    "margin-bioes": System(
        "Table 1, vocabularies without the token itself, all pairs, softmax-margin, BIOES", "conll2000",
        _two(POS_LEFT_OUT, f"{CHUNK_LEFT_OUT} + {_READ}", all_pairs=True, **{**_MARGIN, "l2": 0.4}),
        optimizer="lbfgs", iterations=25, encoding="bioes",
    ),
    "nodes": System(
        "vocabularies without the token itself, no pairs of parts of speech on transitions", "conll2000",
        _two(POS_LEFT_OUT, f"{CHUNK_LEFT_OUT} + pos[0]"),
    ),
    "light": System(
        "vocabularies without the token itself, the upper stage's loss counted less", "conll2000",
        _two(POS_LEFT_OUT, f"{CHUNK_LEFT_OUT} + {_READ}", LIGHT),
    ),
    "presets": System("the presets `pos` and `chunking`", "conll2000", _two("pos", "chunking", LIGHT)),
    "presets-all": System(
        "the presets, all pairs", "conll2000", _two("pos", "chunking", LIGHT, all_pairs=True)
    ),
    "ud": System("Universal Dependencies: upos, xpos, feats", "ud-en-ewt", _three),
}  # fmt: skip
