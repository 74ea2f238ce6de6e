"""A CRF, an encoder alone, and both in one model, on the same data: scores, and how they come about epoch by epoch.

    python examples/neural.py
    python examples/neural.py train.txt test.txt --target chunk --features chunking --plot curves.png

Without files it is the corpus that ships with Trellis, and its phrases. What is drawn are scores on the last eighth of
the training data, which a first training of each model leaves out; what is reported are scores on the test data, after
a training on all of it.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import trellis as tr
from trellis.metrics import compare_two


def models(
    target: str, features: str, l2: float, epochs: int, seed: int, threads: int | None
) -> dict[str, tr.NeuralCRF]:
    """The two that have an encoder; the CRF needs no epochs."""
    own = {"l2": l2, "epochs": epochs, "patience": epochs, "seed": seed, "threads": threads}
    return {
        "encoder alone": tr.NeuralCRF(target, "", inputs=inputs_of(features), **own),
        "both in one": tr.NeuralCRF(target, features, **own),
    }


def inputs_of(features: str) -> str:
    """So that both encoders see the same columns: those that the preset reads."""
    return "pos" if features in ("chunking", "ner") else ""


def curves(
    train: tr.Corpus, target: str, features: str, l2: float, epochs: int, seed: int, threads: int | None
) -> dict:
    """Scores on the last eighth of the training data after each epoch of training on the rest."""
    cut = len(train) * 7 // 8
    part, rest = train.slice(0, cut).compact(), train.slice(cut, len(train))
    crf = tr.CRF(target, features, l2=l2, seed=seed, threads=threads).fit(part)
    found = {"CRF": [crf.score(rest)] * epochs}
    for name, model in models(target, features, l2, epochs, seed, threads).items():
        scores: list[float] = []
        model.fit(part, dev=rest, progress=lambda now, scores=scores: scores.append(now.dev_score))
        found[name] = scores
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*", metavar="TRAIN TEST")
    parser.add_argument("--columns", default="word,pos,chunk")
    parser.add_argument("--target", default="chunk")
    parser.add_argument("--features", default="chunking")
    parser.add_argument("--l2", type=float, default=1.0)
    parser.add_argument("--epochs", type=int, default=None, help="15 for files, 2 for the corpus that ships")
    parser.add_argument("--seeds", type=int, default=1, help="trainings of each model with an encoder")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--plot", type=Path, help="draw curves of training, a PNG file")
    given = parser.parse_args()
    if len(given.files) not in (0, 2):
        parser.error("give a file to train on and one to test on, or none")
    if given.files:
        train, test = (tr.read_conll(path, columns=given.columns.split(",")) for path in given.files)
    else:
        train, test = tr.sample_corpus("train"), tr.sample_corpus("test")
    epochs = given.epochs or (15 if given.files else 2)
    chosen = given.target, given.features, given.l2, epochs
    began = time.perf_counter()
    crf = tr.CRF(given.target, given.features, l2=given.l2, threads=given.threads).fit(train)
    print(f"CRF: {100 * crf.score(test):.2f} in {time.perf_counter() - began:.0f} s", flush=True)
    gold, first = test[given.target], crf.predict_column(test)
    for seed in range(given.seeds):
        for name, model in models(*chosen, seed, given.threads).items():
            began = time.perf_counter()
            model.fit(train)
            seconds = time.perf_counter() - began
            both = compare_two(gold, first, model.predict_column(test), test.offsets)
            metric = "accuracy" if both.first.f1 is None else "f1"
            found = both.differences[metric]
            print(
                f"{name}, seed {seed}: {100 * model.score(test):.2f} in {seconds:.0f} s; over the CRF "
                f"{100 * found.difference:+.2f} ({100 * found.low:+.2f} to {100 * found.high:+.2f}, p = {found.p:.4f})",
                flush=True,
            )
    if given.plot is not None:
        draw(curves(train, *chosen, 0, given.threads), epochs, given.plot)


def draw(found: dict[str, list[float]], epochs: int, path: Path) -> None:
    from trellis.report.plots import BLUE, GREY, VERMILLION, Line, Panel, Style
    from trellis.report.plots import draw as panels

    styles = [Style(GREY, "--"), Style(BLUE, marker="o"), Style(VERMILLION, marker="s")]
    lines = [
        Line(name, list(range(1, len(scores) + 1)), [100 * score for score in scores], style)
        for (name, scores), style in zip(found.items(), styles, strict=True)
    ]
    low = min(min(line.y[len(line.y) // 4 :]) for line in lines)
    high = max(max(line.y) for line in lines)
    panel = Panel("epochs", "score on held-out sentences, %", lines, y_range=(low - 0.2, high + 0.2))
    panels([panel], "A CRF, an encoder, and both in one", path)


if __name__ == "__main__":
    main()
