"""Distant supervision: facts of a knowledge base label the sentences that name both of their entities.

    kb = weak.KnowledgeBase.read("kb.tsv")             subject, relation, object
    found = weak.relate(kb, corpus)                    pairs of names as records, with `relation` where it is known
    weak.known_fact(kb)                                the same as a labeling function on such records
    weak.score_relations(gold, records, predicted)     how good relations are, sentence by sentence
    weak.score_new_facts(kb, gold, records, predicted) and how good the facts that the base does not have

The assumption is that a sentence with both entities of a fact says that fact. It is often wrong, so labels are noisy; a
classifier that sees the words, and never the names, learns what the right ones have in common.

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.lazy import lazily

if TYPE_CHECKING:
    from trellis.weak.distant.base import NO_RELATION, KnowledgeBase
    from trellis.weak.distant.candidates import Limits
    from trellis.weak.distant.counts import Counts
    from trellis.weak.distant.relating import Related, Relating, relate, relate_stream
    from trellis.weak.distant.scoring import read_relations, score_new_facts, score_relations
    from trellis.weak.distant.voting import known_fact

_HOMES = {
    "NO_RELATION": "base",
    "Counts": "counts",
    "KnowledgeBase": "base",
    "Limits": "candidates",
    "Related": "relating",
    "Relating": "relating",
    "known_fact": "voting",
    "read_relations": "scoring",
    "relate": "relating",
    "relate_stream": "relating",
    "score_new_facts": "scoring",
    "score_relations": "scoring",
}

__all__ = [
    "NO_RELATION",
    "Counts",
    "KnowledgeBase",
    "Limits",
    "Related",
    "Relating",
    "known_fact",
    "read_relations",
    "relate",
    "relate_stream",
    "score_new_facts",
    "score_relations",
]

__getattr__, __dir__ = lazily(__name__, _HOMES)
