"""Knowledge base and text -> labelled pairs: all at once, or piece by piece as the text comes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from trellis.corpus import Corpus
from trellis.errors import SettingError, shown
from trellis.weak.distant.base import KnowledgeBase
from trellis.weak.distant.candidates import Limits, Record, candidates_in
from trellis.weak.distant.counts import Counts
from trellis.weak.distant.labelling import Labelling


class Relating:
    """Labels pairs of one piece of text after the other; `counts` are those of all so far.

    kb: the facts. entities: a column whose labels mark names (B-PER, I-PER, O), so that names the base does not know
    are found as well. negatives, seed: the share of pairs that no fact relates which are examples of `none`, and which.
    every: whether pairs that are not labelled are there, too, with None as their relation: those to be predicted.
    several: "each" or "leave", see `Labelling`. word: the column of words, the first if None. limits: see `Limits`.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        entities: str | None = None,
        negatives: float = 0.01,
        seed: int = 0,
        every: bool = False,
        several: str = "each",
        word: str | None = None,
        limits: Limits | None = None,
    ):
        if not isinstance(kb, KnowledgeBase):
            raise SettingError(f"the knowledge base is {shown(kb)}; expected a KnowledgeBase")
        if limits is not None and not isinstance(limits, Limits):
            raise SettingError(f"limits is {shown(limits)}; expected Limits(...), or None")
        self.kb, self.entities, self.word, self.every = kb, entities, word, every
        self.limits = Limits() if limits is None else limits
        self.labelling = Labelling(kb, negatives, seed, several)
        self.counts = Counts.of(kb)

    def records(self, corpus: Corpus) -> Iterator[Record]:
        """The pairs of the next piece, each with the field `relation`; a pair with several relations comes several
        times, once with each."""
        if not isinstance(corpus, Corpus):
            raise SettingError(f"the text is {shown(corpus)}; expected a Corpus (read_conll, Corpus.from_lists)")
        return self._labelled(corpus)

    def _labelled(self, corpus: Corpus) -> Iterator[Record]:
        first, counts = self.counts.sentences, self.counts
        for record in candidates_in(self.kb, corpus, self.limits, counts, first, self.word, self.entities):
            for relation in self.labelling.labels(record["subject"], record["object"], counts):
                if relation is not None or self.every:
                    yield {**record, "relation": relation}


@dataclass(frozen=True)
class Related:
    """Pairs, each with its `relation`, and what became of everything."""

    records: list[Record]
    counts: Counts

    def __len__(self) -> int:
        return len(self.records)

    @property
    def relations(self) -> list[str | None]:
        return [record["relation"] for record in self.records]


def relate(
    kb: KnowledgeBase,
    corpus: Corpus,
    entities: str | None = None,
    negatives: float = 0.01,
    seed: int = 0,
    every: bool = False,
    several: str = "each",
    word: str | None = None,
    limits: Limits | None = None,
) -> Related:
    """Every pair of names in a sentence that a fact relates, as an example of its relation, and some that none does.
    Settings are those of `Relating`; fields of the records are those of `trellis.weak.distant.candidates`."""
    relating = Relating(kb, entities, negatives, seed, every, several, word, limits)
    return Related(list(relating.records(corpus)), relating.counts)


def relate_stream(relating: Relating, pieces: Iterable[Corpus]) -> Iterator[Record]:
    """The same of one piece after the other, in the memory of one."""
    for piece in pieces:
        yield from relating.records(piece)
