"""The knowledge base as a labeling function on pairs, to be believed or not beside others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trellis.errors import SettingError, shown
from trellis.weak.distant.base import NO_RELATION, KnowledgeBase
from trellis.weak.distant.labelling import check_share, is_drawn
from trellis.weak.functions.casts import TokenVotes
from trellis.weak.functions.contract import LabelingFunction
from trellis.weak.votes import ABSTAINS


class KnownFact(LabelingFunction):
    """As `known_fact` says."""

    python = True

    def __init__(self, kb: KnowledgeBase, negatives: float, seed: int, name: str | None):
        super().__init__("items", name, "known_fact")
        if not isinstance(kb, KnowledgeBase):
            raise SettingError(f"the labeling function '{self.name}' has {shown(kb)}; expected a KnowledgeBase")
        check_share(negatives, seed)
        self.kb, self.negatives, self.seed = kb, float(negatives), seed
        self.labels = (*kb.relations, NO_RELATION) if negatives else kb.relations

    def on(self, data: Sequence[Any], first: int = 0) -> TokenVotes:
        number = {label: k for k, label in enumerate(self.labels)}
        ids = np.full(len(data), ABSTAINS, np.int32)
        for i, item in enumerate(data):
            pair = [item.get(name) if isinstance(item, Mapping) else None for name in ("subject", "object")]
            if not all(isinstance(name, str) for name in pair):
                what = f"found no pair in {shown(item)}; expected an item with the texts 'subject' and 'object'"
                raise self.failed(what, data, first, i)
            names = [str(name) for name in pair]
            if any(map(self.kb.is_unclear, names)):
                continue
            subject, object_ = (self.kb.entity(name) or name for name in names)
            relations = self.kb.relations_of(subject, object_)
            if len(relations) == 1:
                ids[i] = number[relations[0]]
            elif not relations and is_drawn(subject, object_, self.negatives, self.seed):
                ids[i] = number[NO_RELATION]
        return TokenVotes(ids, self.labels)


def known_fact(kb: KnowledgeBase, negatives: float = 0.0, seed: int = 0, name: str | None = None) -> KnownFact:
    """Votes for the relation that the base has between `subject` and `object` of an item, such as the records of
    `relate`. It abstains where the base has none, where it has several, as a vote is for one label, and where a name
    may be several entities. negatives: the share of pairs without a fact that it votes `none` for; which ones depends
    on the pair and the seed alone."""
    return KnownFact(kb, negatives, seed, name)
