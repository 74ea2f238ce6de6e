"""Weak supervision: labeling functions, the votes they cast, and models that learn whom to believe.

    @weak.spans / @weak.tokens / @weak.links / @weak.items, weak.pattern, weak.gazetteer, weak.words, ...   functions
    weak.apply(functions, corpus) -> Votes                                            what they say
    weak.analyze(votes, gold) -> Analysis                                             how they do, and where they clash
    weak.HMMAggregator().fit(votes) -> labels and their probabilities                 whom to believe
    weak.relate(weak.KnowledgeBase.read("kb.tsv"), corpus) -> pairs of names          facts label relations

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.lazy import lazily

if TYPE_CHECKING:
    from trellis.weak.analysis import analyze
    from trellis.weak.applying import apply, apply_stream
    from trellis.weak.believing import soft_labels
    from trellis.weak.choosing import choose
    from trellis.weak.columns import gold_of, votes_of
    from trellis.weak.conflicts import conflict_examples
    from trellis.weak.distant import (
        NO_RELATION,
        KnowledgeBase,
        Limits,
        Related,
        Relating,
        known_fact,
        read_relations,
        relate,
        relate_stream,
        score_new_facts,
        score_relations,
    )
    from trellis.weak.functions import (
        LabelingFunction,
        column,
        consistent,
        gazetteer,
        items,
        linked,
        links,
        load_functions,
        model,
        pattern,
        prompted,
        shape,
        spans,
        text_pattern,
        tokens,
        words,
    )
    from trellis.weak.item_files import read_items, write_items
    from trellis.weak.itemset import Items
    from trellis.weak.models import (
        DawidSkene,
        Generative,
        HMMAggregator,
        LabelModel,
        LinkedHMM,
        MajorityVote,
        Triplets,
        WeightedVote,
        label_model,
        load,
    )
    from trellis.weak.reports import Analysis
    from trellis.weak.sentence import Sentence
    from trellis.weak.space import Space
    from trellis.weak.teaching import teach
    from trellis.weak.vote_columns import vote_features, with_votes
    from trellis.weak.votes import Votes
    from trellis.weak.wrench import read_wrench

_DISTANT = (
    "NO_RELATION KnowledgeBase Limits Related Relating known_fact read_relations relate relate_stream "
    "score_new_facts score_relations"
).split()
_FUNCTIONS = (
    "LabelingFunction column consistent gazetteer items linked links load_functions model pattern prompted shape "
    "spans text_pattern tokens words"
).split()
_MODELS = (
    "DawidSkene Generative HMMAggregator LabelModel LinkedHMM MajorityVote Triplets WeightedVote label_model load"
).split()
_HOMES = {
    **dict.fromkeys(_DISTANT, "distant"),
    **dict.fromkeys(_FUNCTIONS, "functions"),
    **dict.fromkeys(_MODELS, "models"),
    "Analysis": "reports",
    "Items": "itemset",
    "Sentence": "sentence",
    "Space": "space",
    "Votes": "votes",
    "analyze": "analysis",
    "apply": "applying",
    "apply_stream": "applying",
    "choose": "choosing",
    "soft_labels": "believing",
    "teach": "teaching",
    "vote_features": "vote_columns",
    "with_votes": "vote_columns",
    "conflict_examples": "conflicts",
    "gold_of": "columns",
    "read_items": "item_files",
    "read_wrench": "wrench",
    "votes_of": "columns",
    "write_items": "item_files",
}

__all__ = [
    "NO_RELATION",
    "Analysis",
    "DawidSkene",
    "Generative",
    "HMMAggregator",
    "Items",
    "KnowledgeBase",
    "LabelModel",
    "LabelingFunction",
    "Limits",
    "LinkedHMM",
    "MajorityVote",
    "Related",
    "Relating",
    "Sentence",
    "Space",
    "Triplets",
    "Votes",
    "WeightedVote",
    "analyze",
    "apply",
    "apply_stream",
    "choose",
    "column",
    "conflict_examples",
    "consistent",
    "gazetteer",
    "gold_of",
    "items",
    "known_fact",
    "label_model",
    "linked",
    "links",
    "load",
    "load_functions",
    "model",
    "pattern",
    "prompted",
    "read_items",
    "read_relations",
    "read_wrench",
    "relate",
    "relate_stream",
    "score_new_facts",
    "score_relations",
    "shape",
    "soft_labels",
    "spans",
    "teach",
    "text_pattern",
    "tokens",
    "vote_features",
    "votes_of",
    "with_votes",
    "words",
    "write_items",
]

__getattr__, __dir__ = lazily(__name__, _HOMES)
