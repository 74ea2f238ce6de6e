"""What augmentation brings where labels are few: every method on several small samples of a corpus, against none.

    python examples/few_labels.py
    python examples/few_labels.py train.txt dev.txt test.txt --columns word,pos,ner --target ner --features ner \\
        --share 0.05 --samples 10

Without files it is the corpus that ships with Trellis, and its phrases. The prior is chosen on DEV without
augmentation, unless it is given, then for each method how much is changed (p); all other scores are of TEST. Copies
count as much together as the sample does.

Whether a method is better is tested over test sentences (approximate randomisation, in which what the models of all
samples make of a sentence changes places together; and for each sample alone) and over samples (all ways to swap the
two in a sample).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import trellis as tr
from trellis.fewlabels import augmented, copy_weights
from trellis.fewlabels.paired import paired
from trellis.metrics import differences, tallies
from trellis.metrics.compare import same_table

# synonyms would need a table; what is made of two methods has the usual p of each
METHODS = ["mentions+tokens", "mentions", "tokens", "shuffle", "paste"]
PRIORS = [0.02, 0.05, 0.1, 0.2, 0.5, 1.0]
CHANCES = [0.1, 0.3, 0.6]


@dataclass(frozen=True)
class Task:
    """Samples of the training data, and how models learn from them."""

    samples: Sequence[tr.Corpus]
    target: str
    features: str
    copies: int
    threads: int | None

    def models(self, l2: float, method: str | None = None, p: float | None = None) -> list[Any]:
        """One for each sample."""
        return [self._model(sample, k, l2, method, p) for k, sample in enumerate(self.samples)]

    def _model(self, sample: tr.Corpus, k: int, l2: float, method: str | None, p: float | None) -> Any:
        crf = tr.CRF(self.target, self.features, l2=l2, tol=1e-3, threads=self.threads)
        if method is None:
            return crf.fit(sample)
        more = augmented(sample, self.target, method, self.copies, p, seed=k)
        return crf.fit(more, sample_weight=copy_weights(sample, more, 1.0 / self.copies))


def compare(
    task: Task,
    dev: tr.Corpus,
    test: tr.Corpus,
    methods: Sequence[str],
    priors: Sequence[float],
    chances: Sequence[float],
    with_copies: float | None = None,
) -> None:
    """Prints a table in Markdown; `with_copies`: the prior of what has copies, if not that of what has none."""
    l2 = priors[0] if len(priors) == 1 else max(priors, key=lambda each: mean_score(task.models(each), dev))
    more = l2 if with_copies is None else with_copies
    tokens = np.mean([sample.tokens for sample in task.samples])
    size = f"{len(task.samples)} samples of {len(task.samples[0])} sentences, {tokens:,.0f} tokens"
    print(f"{size}; l2 {l2:g}, with copies {more:g}")
    print()
    print(
        "| method | p | on dev | on test | gain | 95% interval | p, sentences | p, samples | better in | p < 0.05 in |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    plain = task.models(l2)
    base, first = [model.score(test) for model in plain], counted(plain, test, task.target)
    print(f"| none | | {100 * mean_score(plain, dev):.2f} | {100 * np.mean(base):.2f} | | | | | | |", flush=True)
    for method in methods:
        usual: list[float | None] = [None]
        tried = [
            (mean_score(models := task.models(more, method, p), dev), p, models)
            for p in (usual if "+" in method else chances)
        ]
        on_dev, p, models = max(tried, key=lambda each: each[0])
        scores = [model.score(test) for model in models]
        second = counted(models, test, task.target)
        metric = "f1" if first[0, :, 2].any() else "accuracy"
        found, over = differences(first.sum(axis=0), second.sum(axis=0), [metric])[metric], paired(base, scores)
        alone = [differences(one, other, [metric])[metric] for one, other in zip(first, second, strict=True)]
        sure = sum(each.p < 0.05 and each.difference > 0 for each in alone)
        row = [
            method,
            "usual" if p is None else f"{p:g}",
            f"{100 * on_dev:.2f}",
            f"{100 * np.mean(scores):.2f}",
            f"{100 * over.difference:+.2f}",
            f"{100 * found.low:+.2f} to {100 * found.high:+.2f}",
            f"{found.p:.4f}",
            f"{over.p:.4f}",
            f"{over.better} of {over.samples}",
            f"{sure} of {over.samples}",
        ]
        print(f"| {' | '.join(row)} |", flush=True)


def mean_score(models: Sequence[Any], corpus: tr.Corpus) -> float:
    return float(np.mean([model.score(corpus) for model in models]))


def counted(models: Sequence[Any], test: tr.Corpus, target: str) -> Any:
    """What each model has right in each sentence, I64[models, sentences, 5]."""
    rows = []
    for model in models:
        (gold, predicted), names = same_table(test[target], model.predict_column(test))
        rows.append(tallies(gold, predicted, names, test.offsets))
    return np.stack(rows)


def count(text: str) -> int:
    """A whole number >= 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}'; expected a whole number >= 1")
    return int(text)


def seed(text: str) -> int:
    """A whole number >= 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}'; expected a whole number >= 0")
    return int(text)


def share(text: str) -> float:
    """Above 0 and up to 1."""
    if not 0.0 < float(text) <= 1.0:
        raise argparse.ArgumentTypeError(f"'{text}'; expected a part of the sentences, above 0 and up to 1")
    return float(text)


def main() -> None:
    parser = argparse.ArgumentParser(description="What augmentation brings where labels are few.")
    parser.add_argument("files", nargs="*", metavar="TRAIN DEV TEST", help="column files; without, what ships")
    parser.add_argument("--columns", help="their columns (default: word,pos,chunk)")
    parser.add_argument("--target", default="chunk", help="the column to predict (default: %(default)s)")
    parser.add_argument("--features", default="chunking", help="a preset or an expression (default: %(default)s)")
    parser.add_argument("--share", type=share, help="of TRAIN in a sample (default: 0.05; 0.1 of what ships)")
    parser.add_argument("--samples", type=count, help="how many (default: 10; 2 of what ships)")
    parser.add_argument("--seed", type=seed, default=0, help="of the first sample (default: %(default)s)")
    parser.add_argument("--methods", default=",".join(METHODS), help="with commas between (default: %(default)s)")
    parser.add_argument("--copies", type=count, default=4, help="by each method (default: %(default)s)")
    parser.add_argument("--l2", type=float, help="of what has no copies; chosen on DEV if not given (what ships: 0.1)")
    parser.add_argument("--copies-l2", type=float, help="of what has copies; as without, if not given")
    parser.add_argument("--threads", type=int, help="all if not given")
    given = parser.parse_args()
    if given.files and len(given.files) != 3:
        parser.error("expected three files: to draw samples from, to choose settings on, and to test on")
    if given.columns and not given.files:
        parser.error("--columns is for files; those of what ships are word,pos,chunk,entity")
    try:
        if given.files:
            names = (given.columns or "word,pos,chunk").split(",")
            train, dev, test = (tr.read_conll(path, columns=names) for path in given.files)
            priors, chances, part, many = PRIORS, CHANCES, 0.05, 10
        else:
            whole, test = tr.sample_corpus("train"), tr.sample_corpus("test")
            train, dev = whole.slice(0, 400), whole.slice(400, len(whole))
            priors, chances, part, many = [0.1], [0.3, 0.6], 0.1, 2
        part, many = given.share or part, given.samples or many
        methods = given.methods.split(",")
        size = max(1, round(part * len(train)))
        orders = [np.random.default_rng(k).permutation(len(train)) for k in range(given.seed, given.seed + many)]
        samples = [train.picked(np.sort(order[:size])) for order in orders]
        augmented(train, given.target, methods)  # says what is wrong before anything is trained
        task = Task(samples, given.target, given.features, given.copies, given.threads)
        priors = priors if given.l2 is None else [given.l2]
        compare(task, dev, test, methods, priors, chances, given.copies_l2)
    except tr.TrellisError as error:
        parser.exit(1, f"{error}\n")


if __name__ == "__main__":
    main()
