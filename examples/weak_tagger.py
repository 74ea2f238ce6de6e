"""From votes to a trained tagger: what a CRF makes of a label model's beliefs, with and without sight of the votes.

    python examples/weak_tagger.py
    python examples/weak_tagger.py weak-ncbi-disease weak-laptopreview
    python examples/weak_tagger.py weak-wikigold --abstain _,O

Folders are those of `weak_supervision.py`: column files train, valid and test, names of columns in `columns.txt`. The
label model and the tagger learn from the votes of train alone; the gold labels of valid choose both; scores are F1 of
exact spans. Without folders it is the corpus that ships and `weak_rules.py`.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import trellis as tr
from trellis import weak
from trellis.features import preset
from trellis.labels import segment_types
from trellis.weak.models.contract import LabelModel

PARTS = ("train", "valid", "test")
WAYS = ("hard", "soft", "evidence")
PRIORS = (0.1, 0.3, 1.0)
ROUNDS = 2


class Part(NamedTuple):
    """Sentences with their votes beside the words, the votes, and gold labels."""

    corpus: tr.Corpus
    votes: weak.Votes
    gold: object


def parts_in(folder: Path, abstain: list[str]) -> Iterator[Part]:
    names = (folder / "columns.txt").read_text(encoding="utf-8").split()
    corpora = [tr.read_conll(folder / f"{part}.txt", columns=["word", *names[1:]]) for part in PARTS]
    types = segment_types(sorted({label for corpus in corpora for label in corpus["gold"].strings}))
    for corpus in corpora:
        votes = weak.votes_of(corpus, abstain=abstain, labels=types)
        yield Part(corpus, votes, weak.gold_of(corpus, "gold", votes.space))


def parts_of_rules() -> Iterator[Part]:
    rules = weak.load_functions(Path(__file__).with_name("weak_rules.py"))
    whole = tr.sample_corpus("train")
    for corpus in (whole.slice(0, 400), whole.slice(400, len(whole)), tr.sample_corpus("test")):
        votes = weak.apply(rules.functions, corpus, coarse=rules.coarse)
        beside = replace(corpus, columns={**corpus.columns, "gold": corpus["entity"]})
        yield Part(weak.with_votes(beside, votes), votes, weak.gold_of(corpus, "entity", votes.space))


def compare(title: str, train: Part, valid: Part, test: Part) -> None:
    """Prints a table in Markdown."""
    model, _ = weak.choose(train.votes, (valid.votes, valid.gold))
    print(f"{title}: {len(train.votes.functions)} functions, {len(train.corpus):,} sentences to learn from\n")
    print("| labels by | on valid | on test |")
    print("|---|---|---|")
    for one in (weak.MajorityVote().learn(train.votes), model):
        scores = (100.0 * one.evaluate(part.votes, part.gold).f1 for part in (valid, test))
        print(f"| {one.name}, the votes alone | {' | '.join(f'{score:.2f}' for score in scores)} |", flush=True)
    for sight in ("words", "words and votes"):
        tried = [taught(model, sight, learn, l2, train, valid, test) for learn in WAYS for l2 in PRIORS]
        for learn in WAYS:
            show("best of", max((one for one in tried if one.learn == learn), key=lambda one: one.valid))
        best = max(tried, key=lambda one: one.valid)  # of equals the first
        show("**chosen**", best)
        again = taught(model, sight, best.learn, best.l2, train, valid, test, ROUNDS)
        show(f"the same, {ROUNDS} rounds more", again)
    tried = [scored(tr.CRF("gold", "ner", l2=l2, tol=1e-4).fit(train.corpus), valid, test) for l2 in PRIORS]
    best = max(range(len(PRIORS)), key=lambda i: tried[i][0])
    print("| CRF on words, gold labels, l2 {} | {:.2f} | {:.2f} |\n".format(PRIORS[best], *tried[best]))


class Tried(NamedTuple):
    sight: str
    learn: str
    l2: float
    valid: float
    test: float


def taught(
    model: LabelModel, sight: str, learn: str, l2: float, train: Part, valid: Part, test: Part, rounds: int = 0
) -> Tried:
    features = preset("ner")
    if sight != "words":
        features += weak.vote_features(train.corpus)
    crf = tr.CRF("gold", features, l2=l2, tol=1e-4)
    weak.teach(crf, train.corpus, model, train.votes, learn=learn, rounds=rounds)
    return Tried(sight, learn, l2, *scored(crf, valid, test))


def scored(crf: tr.CRF, *parts: Part) -> list[float]:
    return [100 * crf.score(part.corpus) for part in parts]


def show(what: str, one: Tried) -> None:
    print(f"| {what} CRF on {one.sight}, {one.learn}, l2 {one.l2} | {one.valid:.2f} | {one.test:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Taggers trained on votes, where gold labels are known.")
    parser.add_argument("folders", nargs="*", type=Path, help="with train, valid and test; without, what ships")
    parser.add_argument("--abstain", default="_", help="what stands for no vote, commas between (default: %(default)s)")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # models that are no better than majority vote: the table says so
    try:
        for folder in given.folders:
            compare(folder.name, *parts_in(folder, given.abstain.split(",")))
        if not given.folders:
            compare("the corpus that ships, examples/weak_rules.py", *parts_of_rules())
    except (tr.TrellisError, OSError) as error:
        parser.exit(1, f"{error}\n")


if __name__ == "__main__":
    main()
