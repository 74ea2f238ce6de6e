"""How good relations are that were found in sentences, and the facts that come of them.

Gold relations are (sentence, subject, relation, object), sentences from 1 on; in a file apart by tabs:

    12<TAB>Ada Lovelace<TAB>born_in<TAB>London
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from numbers import Integral
from pathlib import Path
from typing import Any

from trellis.errors import DataError, SettingError, shown
from trellis.metrics import Counts, Report
from trellis.metrics.report import of_counts
from trellis.weak.distant.base import NO_RELATION, Fact, KnowledgeBase
from trellis.weak.distant.tables import rows_of

Stated = tuple[int, str, str, str]  # sentence, subject, relation, object
_COLUMNS = ("sentence", "subject", "relation", "object")


def read_relations(path: str | Path) -> list[Stated]:
    """Gold relations out of a file as at the top; each once."""
    found: dict[Stated, None] = {}
    for (sentence, subject, relation, object_), fail in rows_of(path, _COLUMNS):
        if not (sentence.isascii() and sentence.isdigit() and 0 < len(sentence) < 19 and int(sentence)):
            raise fail(f"the sentence is {sentence!r}; expected its number, from 1 on")
        found[int(sentence), subject, relation, object_] = None
    return list(found)


def stated(records: Sequence[dict[str, Any]], relations: Sequence[str | None]) -> set[Stated]:
    """What is predicted of records, `none` and None left out."""
    for name, given in (("records", records), ("predicted relations", relations)):
        if isinstance(given, str | Mapping | KnowledgeBase) or not hasattr(given, "__len__"):
            raise DataError(f"the {name} are {shown(given)}; expected a list")
    if len(records) != len(relations):
        raise DataError(f"{len(relations)} relations for {len(records)} records; expected one for each")
    for i, record in enumerate(records, 1):
        if not isinstance(record, Mapping) or not {"sentence", "subject", "object"} <= record.keys():
            raise DataError(f"record {i} has no sentence, subject and object; expected records as `relate` makes them")
    for i, relation in enumerate(relations, 1):
        if relation is not None and not isinstance(relation, str):
            raise DataError(f"predicted relation {i} is {shown(relation)}; expected its name, a text, or None")
    return {
        (record["sentence"], record["subject"], relation, record["object"])
        for record, relation in zip(records, relations, strict=True)
        if relation is not None and relation != NO_RELATION
    }


def score_relations(
    gold: Iterable[Stated], records: Sequence[dict[str, Any]], predicted: Sequence[str | None]
) -> Report:
    """Precision, recall and F1 of the relations predicted of records, by relation and over all; `none` is no relation.
    A gold relation between names that are no record is missed like any other. Several relations of a pair are several
    records, as `relate` makes them."""
    found = stated(records, predicted)
    truth = _checked(gold)
    sentences = len({one[0] for one in truth} | {record["sentence"] for record in records})
    return _report(truth, found, sentences)


def score_new_facts(
    kb: KnowledgeBase, gold: Iterable[Stated], records: Sequence[dict[str, Any]], predicted: Sequence[str | None]
) -> Report:
    """The same of facts, each once however many sentences say it, that the base does not have."""
    if not isinstance(kb, KnowledgeBase):
        raise SettingError(f"the knowledge base is {shown(kb)}; expected a KnowledgeBase")
    found = new_facts(kb, stated(records, predicted))
    truth = new_facts(kb, _checked(gold))
    return _report(truth, found, len(truth | found))


def _checked(gold: Iterable[Stated]) -> set[Stated]:
    if isinstance(gold, str | Mapping) or not isinstance(gold, Iterable):
        raise DataError(
            f"the gold relations are {shown(gold)}; expected a list of (sentence, subject, relation, object)"
        )
    found = list(gold)
    for i, one in enumerate(found, 1):
        named = isinstance(one, tuple | list) and len(one) == 4 and all(isinstance(part, str) for part in one[1:])
        if not named or not isinstance(one[0], Integral):
            raise DataError(f"gold relation {i} is {shown(one)}; expected (sentence, subject, relation, object)")
    return {(sentence, subject, relation, object_) for sentence, subject, relation, object_ in found}


def new_facts(kb: KnowledgeBase, relations: Iterable[Stated]) -> set[Fact]:
    """Subject, relation and object of what the base does not have."""
    facts = {(subject, relation, object_) for _, subject, relation, object_ in relations}
    return {fact for fact in facts if fact not in kb}


def _report(gold: Set[tuple[Any, ...]], found: Set[tuple[Any, ...]], sentences: int) -> Report:
    """Both (..., relation, object)."""
    many = [Counter([one[-2] for one in every]) for every in (gold, found, gold & found)]
    names = sorted({*many[0], *many[1]})
    return of_counts({name: Counts(*(each[name] for each in many)) for name in names}, sentences)
