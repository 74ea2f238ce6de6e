"""Climbs the ladder of sequence labelers on one corpus, with the same features, and prints what each rung buys.

    python examples/ladder.py
    python examples/ladder.py train.txt test.txt --columns word,pos,chunk --target chunk --features chunking

Without files it is the corpus that ships with Trellis, and its parts of speech. Each rung is one word changed.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import trellis as tr
from trellis.metrics.compare import same_table
from trellis.metrics.known import by_knowledge, known_words

# what is compared: version, name, model, settings. Rungs that differ in how they search are trained once.
RUNGS: list[tuple[str, str, type[Any], dict[str, Any]]] = [
    ("v0", "local classifier", tr.LocalClassifier, {}),
    ("v1", "sequential classifier, greedy", tr.SequentialClassifier, {"beam": 1}),
    ("v1", "... with a beam of 5", tr.SequentialClassifier, {"beam": 5}),
    ("v1", "... exact (a MEMM)", tr.SequentialClassifier, {}),
    ("v1", "... greedy, trained by exploration", tr.SequentialClassifier, {"beam": 1, "explore": 2}),
    ("v2", "hidden Markov model", tr.HMM, {}),
    ("v2", "... of order 2", tr.HMM, {"order": 2}),
    ("v3", "scored HMM", tr.ScoredHMM, {}),
    ("v4", "conditional random field", tr.CRF, {}),
    ("v4", "structured perceptron", tr.StructuredPerceptron, {}),
    ("v4", "structured SVM", tr.StructuredSVM, {}),
]


def climb(train: tr.Corpus, test: tr.Corpus, target: str, features: str) -> None:
    """Trains every rung and prints a table in Markdown."""
    words = "word" if "word" in test.columns else next(iter(test.columns))
    known = known_words(test[words], train[words].strings)
    trained: dict[str, tuple[Any, float]] = {}
    print(f"| | model of `{target}` | score | on unknown words | training, s | tokens a second |")
    print("|---|---|---|---|---|---|")
    for version, name, kind, settings in RUNGS:
        both = {"target": target, "features": features, **settings}
        model = kind(**{setting: value for setting, value in both.items() if setting not in kind.ignores})
        key = str({**model.get_params(), "beam": None, "kind": kind})
        if key not in trained:
            began = time.perf_counter()
            model.fit(train)
            trained[key] = model, time.perf_counter() - began
        model, seconds = trained[key]
        if "beam" in model.get_params():
            model.set_params(beam=settings.get("beam"))
        report, speed = model.evaluate(test), test.tokens / min(timed(model, test) for _ in range(3))
        (gold, predicted), labels = same_table(test[target], model.predict_column(test))
        unknown = by_knowledge(gold, predicted, known, labels, test.offsets).unknown
        hard = unknown.accuracy if unknown.recall is None else unknown.recall
        shown = f"{100 * hard:.2f}" if unknown.tokens else "-"
        row = [version, name, f"{100 * report.headline:.2f}", shown, f"{seconds:.1f}", f"{speed:,.0f}"]
        print(f"| {' | '.join(row)} |", flush=True)
    what = "accuracy" if report.f1 is None else "F1 of segments; on unknown words, recall of segments with one of them"
    print(f"\nScore: {what}. {train.tokens:,} tokens to train on, {test.tokens:,} to test.")


def timed(model: Any, test: tr.Corpus) -> float:
    """Seconds to tag the test data, features included."""
    began = time.perf_counter()
    model.predict_ids(test)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description="What each rung of the ladder buys.")
    parser.add_argument(
        "files", nargs="*", metavar="TRAIN TEST", help="column files; the corpus that ships if not given"
    )
    parser.add_argument("--columns", default="word,pos,chunk", help="their columns (default: %(default)s)")
    parser.add_argument("--target", default="pos", help="the column to predict (default: %(default)s)")
    parser.add_argument("--features", default="pos", help="a preset or an expression (default: %(default)s)")
    given = parser.parse_args()
    if given.files and len(given.files) != 2:
        parser.error("expected two files, one to train on and one to test")
    try:
        if given.files:
            train, test = (tr.read_conll(path, columns=given.columns.split(",")) for path in given.files)
        else:
            train, test = tr.sample_corpus("train"), tr.sample_corpus("test")
        if not test.tokens:
            parser.error("there is no token to test on")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tr.ConvergenceWarning)  # the SVM ends after its epochs
            climb(train, test, given.target, given.features)
    except tr.TrellisError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
