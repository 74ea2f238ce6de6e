"""What became of the names, the pairs and the facts: nothing is left out without being counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from trellis.weak.distant.base import Fact, KnowledgeBase


@dataclass
class Counts:
    """Sentences, names in them (`mentions`), pairs (`candidates`, one for each direction), and what these are:
    `examples` of each relation, by facts; `negatives` drawn of `unrelated` ones; `several` of more relations than one;
    `unclear` where a name may be several entities.

    Left out: `too_far` and `types_unfit` pairs; `names_left_out` of `crowded` sentences. `seen` are the facts that some
    sentence matches."""

    facts: int = 0
    sentences: int = 0
    mentions: int = 0
    candidates: int = 0
    unrelated: int = 0
    negatives: int = 0
    several: int = 0
    unclear: int = 0
    too_far: int = 0
    types_unfit: int = 0
    crowded: int = 0
    names_left_out: int = 0
    examples: Counter[str] = field(default_factory=Counter)
    seen: set[Fact] = field(default_factory=set, repr=False)

    @classmethod
    def of(cls, kb: KnowledgeBase) -> Counts:
        return cls(len(kb), examples=Counter(dict.fromkeys(kb.relations, 0)))

    def as_json(self) -> dict[str, Any]:
        """Plain dicts and numbers."""
        return {
            "sentences": self.sentences,
            "mentions": self.mentions,
            "candidates": self.candidates,
            "examples": dict(self.examples),
            "negatives": self.negatives,
            "unrelated": self.unrelated,
            "several_relations": self.several,
            "unclear_names": self.unclear,
            "facts": self.facts,
            "facts_matched": len(self.seen),
            "facts_never_seen": self.facts - len(self.seen),
            "left_out": {
                "too_far": self.too_far,
                "types_unfit": self.types_unfit,
                "crowded_sentences": self.crowded,
                "names_in_crowded_sentences": self.names_left_out,
            },
        }

    def as_text(self) -> str:
        """For people; no final line break."""
        many = ", ".join(f"{name} {number:,}" for name, number in self.examples.items())
        lines = [
            f"{self.sentences:,} sentences, {self.mentions:,} names, {self.candidates:,} pairs",
            f"facts: {len(self.seen):,} of {self.facts:,} matched, {self.facts - len(self.seen):,} never seen",
            f"examples: {many}; none {self.negatives:,}, drawn of {self.unrelated:,} pairs that no fact relates",
        ]
        if self.several:
            lines.append(f"{self.several:,} pairs have several relations")
        if self.unclear:
            lines.append(f"{self.unclear:,} pairs have a name that stands for several entities; they are not labelled")
        out = [(self.too_far, "pairs too far apart"), (self.types_unfit, "pairs of types that no relation has")]
        crowd = f"names of {self.crowded:,} sentences with very many"
        left = [f"{number:,} {what}" for number, what in [*out, (self.names_left_out, crowd)] if number]
        return "\n".join([*lines, *([f"left out: {', '.join(left)}"] if left else [])])
