"""What a pair is an example of: the relations of the base, `none` for some of the unrelated ones, or nothing yet."""

from __future__ import annotations

from hashlib import blake2b

from trellis.errors import SettingError, shown
from trellis.weak.distant.base import NO_RELATION, KnowledgeBase
from trellis.weak.distant.counts import Counts

SEVERAL = ("each", "leave")
_ALL = 1 << 64


class Labelling:
    """negatives: the share of unrelated pairs that are examples of `none`, 0.01 is one in a hundred; seed: which.
    several: a pair with several relations is an example of each ("each"), or of none of them and not labelled
    ("leave"), as nobody knows which a sentence means. A pair of which one name may be several entities is not
    labelled."""

    def __init__(self, kb: KnowledgeBase, negatives: float = 0.01, seed: int = 0, several: str = "each"):
        check_share(negatives, seed)
        if several not in SEVERAL:
            raise SettingError(f"several is {shown(several)}; expected one of {', '.join(SEVERAL)}")
        self.kb, self.negatives, self.seed, self.several = kb, float(negatives), seed, several

    def labels(self, subject: str, object_: str, counts: Counts) -> tuple[str | None, ...]:
        """Relations; `none`; or None for a pair that is not labelled."""
        if self.kb.is_unclear(subject) or self.kb.is_unclear(object_):
            counts.unclear += 1
            return (None,)
        relations = self.kb.relations_of(subject, object_)
        if not relations:
            counts.unrelated += 1
            if not is_drawn(subject, object_, self.negatives, self.seed):
                return (None,)
            counts.negatives += 1
            return (NO_RELATION,)
        counts.seen.update((subject, relation, object_) for relation in relations)
        if len(relations) > 1:
            counts.several += 1
            if self.several == "leave":
                return (None,)
        counts.examples.update(relations)
        return relations


def check_share(negatives: object, seed: object) -> None:
    number = isinstance(negatives, int | float) and not isinstance(negatives, bool)
    if not number or not 0 <= negatives <= 1:  # type: ignore[operator]
        raise SettingError(f"negatives is {shown(negatives)}; expected a share of the unrelated pairs from 0 to 1")
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise SettingError(f"seed is {shown(seed)}; expected a whole number")


def is_drawn(subject: str, object_: str, share: float, seed: int) -> bool:
    """Whether a pair is among those drawn. It depends on nothing but the pair and the seed, so not on how the text is
    cut or in which order it comes; of a larger share, the pairs of a smaller one are a part."""
    text = f"{seed}\t{subject}\t{object_}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big") < share * _ALL
