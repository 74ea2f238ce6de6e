"""How good label models are on votes whose gold labels are known: ways to break ties, every model, and the chosen one.

    python examples/weak_supervision.py
    python examples/weak_supervision.py weak-ncbi-disease weak-laptopreview youtube-wrench
    python examples/weak_supervision.py weak-wikigold --abstain _,O

A folder has the parts train, valid and test: column files (train.txt ...) whose columns `columns.txt` names, the gold
ones in `gold`, votes in those that begin with lf:; or WRENCH's JSON (train.json ...). Models are fitted to the votes of
train; the gold labels of valid choose one; scores are F1 of exact spans, or accuracy of items. Without folders it is
the corpus that ships and `weak_rules.py`, with 112 sentences of its training part, kept apart, as valid.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import trellis as tr
from trellis import weak
from trellis.labels import detect, segment_types
from trellis.weak.choosing import candidates_for
from trellis.weak.models.contract import Dev, LabelModel

PARTS = ("train", "valid", "test")
SEEDS = 10


def votes_in(folder: Path, abstain: list[str]) -> Iterator[Dev]:
    """Votes and gold labels of each part."""
    if (folder / "train.json").is_file():
        for part in PARTS:
            items = weak.read_wrench(folder / f"{part}.json")
            assert items.votes is not None
            assert items.gold is not None
            yield items.votes, items.gold
        return
    names = (folder / "columns.txt").read_text(encoding="utf-8").split()
    corpora = [tr.read_conll(folder / f"{part}.txt", columns=names) for part in PARTS]
    every = sorted({label for corpus in corpora for label in corpus["gold"].strings})
    types = segment_types(every) if detect(every) else every
    for corpus in corpora:
        votes = weak.votes_of(corpus, abstain=abstain, labels=types)
        yield votes, weak.gold_of(corpus, "gold", votes.space)


def votes_of_rules() -> Iterator[Dev]:
    """The same for the corpus that ships."""
    rules = weak.load_functions(Path(__file__).with_name("weak_rules.py"))
    whole = tr.sample_corpus("train")
    for corpus in (whole.slice(0, 400), whole.slice(400, len(whole)), tr.sample_corpus("test")):
        votes = weak.apply(rules.functions, corpus, coarse=rules.coarse)
        yield votes, weak.gold_of(corpus, "entity", votes.space)


def compare(title: str, train: Dev, valid: Dev, test: Dev) -> None:
    """Prints a table in Markdown."""
    votes, _ = train
    print(f"{title}: {len(votes.functions)} functions, {len(votes):,} to learn from, {len(test[0]):,} to test on\n")
    print("| model | on valid | on test |")
    print("|---|---|---|")
    ways = ["first", "frequent"] if votes.space.outside is None else ["first", "frequent", "outside"]
    for ties in ways:
        model = weak.MajorityVote(ties).learn(votes)
        print(f"| majority, ties {ties} | {score(model, valid):.2f} | {score(model, test):.2f} |")
    drawn = [weak.MajorityVote("random", seed).learn(votes) for seed in range(SEEDS)]
    ranges = (sorted(score(model, part) for model in drawn) for part in (valid, test))
    cells = " | ".join(f"{several[0]:.2f} to {several[-1]:.2f}" for several in ranges)
    print(f"| majority, ties random, {SEEDS} seeds | {cells} |")
    found: list[tuple[str, LabelModel]] = []
    for name, settings in candidates_for(votes):
        what = " ".join([name, *(f"{key}={value:g}" for key, value in settings.items())])
        try:
            found.append((what, weak.label_model(name)(**settings).learn(votes)))
        except tr.TrellisError as error:
            print(f"| {what} | {error} | |")
    for what, model in found[1:]:  # the first is majority vote, ties frequent
        print(f"| {what} | {score(model, valid):.2f} | {score(model, test):.2f} |")
    what, model = max(found, key=lambda one: score(one[1], valid))  # of equals the first, as `weak.choose` does
    print(f"| **chosen on valid: {what}** | {score(model, valid):.2f} | {score(model, test):.2f} |\n", flush=True)


def score(model: LabelModel, part: Dev) -> float:
    """In percent."""
    return 100.0 * model.evaluate(*part).headline


def main() -> None:
    parser = argparse.ArgumentParser(description="Label models on votes whose gold labels are known.")
    parser.add_argument("folders", nargs="*", type=Path, help="with train, valid and test; without, what ships")
    parser.add_argument("--abstain", default="_", help="what stands for no vote, commas between (default: %(default)s)")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # models that are no better than majority vote: the table says so
    try:
        for folder in given.folders:
            compare(folder.name, *votes_in(folder, given.abstain.split(",")))
        if not given.folders:
            compare("the corpus that ships, examples/weak_rules.py", *votes_of_rules())
    except (tr.TrellisError, OSError) as error:
        parser.exit(1, f"{error}\n")


if __name__ == "__main__":
    main()
