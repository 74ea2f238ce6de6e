"""Distant supervision of relations: a small knowledge base, a text, and a classifier that learns from what matches.

    python examples/distant_supervision.py

`examples/distant/` has 78 facts, 399 sentences to learn from, and 133 sentences whose relations were marked by hand. No
sentence to learn from is labelled: those that name both entities of a fact are taken to say it, and often do not. Names
are marked in both texts, as a tagger would mark them, so pairs that the base does not know can be found, too.

Matching alone says of each pair what the base says of it. The classifier sees the words between and before the names,
never the names. What share of the unrelated pairs it learns from as `none`, and how strong its prior is, is chosen by
cross-validation on the noisy labels of the training text; the sentences marked by hand are looked at once, at the end.
"""

from __future__ import annotations

from pathlib import Path

import trellis as tr
from trellis import weak

HERE = Path(__file__).parent / "distant"
NEGATIVES = [0.01, 0.1, 0.3, 1.0]
PRIORS = [0.1, 0.3, 1.0]
FOLDS = 5

Records = list[dict]


def read(name: str) -> tr.Corpus:
    return tr.read_conll(HERE / name, columns=["word", "entity"])


def trained(records: Records, l2: float) -> tr.TextClassifier:
    return tr.TextClassifier(target="relation", features="relations", l2=l2).fit(records)


def stated(records: Records) -> list[tuple]:
    """What the base says of the sentences, right or wrong."""
    found = [(one["sentence"], one["subject"], one["relation"], one["object"]) for one in records]
    return [one for one in found if one[2] != "none"]


def cross_validated(kb: weak.KnowledgeBase, text: tr.Corpus, negatives: float, l2: float) -> float:
    """F1 against the noisy labels of parts that the model has not seen, with all their unrelated pairs."""
    learnt = weak.relate(kb, text, entities="entity", negatives=negatives).records
    judged = weak.relate(kb, text, entities="entity", negatives=1.0).records
    pairs, answers = [], []
    for fold in range(FOLDS):
        model = trained([one for one in learnt if one["sentence"] % FOLDS != fold], l2)
        part = [one for one in judged if one["sentence"] % FOLDS == fold]
        pairs += part
        answers += model.predict(part)
    return weak.score_relations(stated(judged), pairs, answers).f1


def chosen(kb: weak.KnowledgeBase, text: tr.Corpus) -> tuple[float, float]:
    """The share of unrelated pairs, and the prior; prints what was tried."""
    print("F1 against noisy labels, cross-validated\n\nnegatives " + "".join(f"  l2={l2:<4}" for l2 in PRIORS))
    tried = {}
    for negatives in NEGATIVES:
        for l2 in PRIORS:
            tried[negatives, l2] = cross_validated(kb, text, negatives, l2)
        print(f"{negatives:<10}" + "".join(f"  {100 * tried[negatives, l2]:<7.2f}" for l2 in PRIORS))
    return max(tried, key=tried.__getitem__)


def compare() -> dict[str, tuple]:
    """Scores on the sentences marked by hand: of relations, and of new facts."""
    kb = weak.KnowledgeBase.read(HERE / "kb.tsv", aliases=HERE / "aliases.tsv", arguments=HERE / "arguments.tsv")
    train, test, gold = read("train.txt"), read("test.txt"), weak.read_relations(HERE / "test.relations.tsv")
    negatives, l2 = chosen(kb, train)
    print(f"\nchosen: negatives {negatives}, l2 {l2}\n")
    examples = weak.relate(kb, train, entities="entity", negatives=negatives)
    print(examples.counts.as_text())
    known = weak.relate(kb, test, entities="entity", negatives=0.0).records
    pairs = weak.relate(kb, test, entities="entity", negatives=0.0, every=True, several="leave").records
    said = {
        "matching alone": (known, [one["relation"] for one in known]),
        "classifier": (pairs, trained(examples.records, l2).predict(pairs)),
    }
    return {
        name: (weak.score_relations(gold, *answer), weak.score_new_facts(kb, gold, *answer))
        for name, answer in said.items()
    }


def main() -> None:
    scores = compare()
    print("\nsentences marked by hand   precision  recall     F1    new facts  right  precision")
    for name, (own, new) in scores.items():
        found, right = (sum(getattr(one, what) for one in new.by_type.values()) for what in ("predicted", "correct"))
        share = f"{100 * new.precision:.2f}" if found else "-"
        row = f"{100 * own.precision:>9.2f}  {100 * own.recall:>6.2f}  {100 * own.f1:>5.2f}"
        print(f"{name:<26} {row}  {found:>11}  {right:>5}  {share:>9}")
    print("\nF1 by relation             " + "  ".join(scores))
    for relation in scores["classifier"][0].by_type:
        f1 = [own.by_type[relation].f1 for own, _ in scores.values()]
        print(f"{relation:<26} {100 * f1[0]:>14.2f}  {100 * f1[1]:>10.2f}")


if __name__ == "__main__":
    main()
