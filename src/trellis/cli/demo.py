"""`trellis demo`: the whole way in about a minute, on the corpus that ships."""

from __future__ import annotations

from typing import Any

import click

from trellis.cli import options
from trellis.cli.console import print_json, say, say_if_first_run, training_progress

_SENTENCE = 5  # of the test part: one with phrases and names
_WIRES = {
    "onebest": "the best labels of lower stages",
    "marginal": "how probable each label is",
    "joint": "the same, and all stages trained as one",
}


@click.command()
@click.option("--model", "-m", metavar="OUT", help="Keep the cascade in this file.")
@options.as_json
def demo(model: str | None, json: bool) -> None:
    """Train a cascade on the corpus that ships: parts of speech -> phrases -> entities; evaluate it, tag a sentence.

    \b
    Example:
      trellis demo
    """
    from trellis.corpus import sample_corpus

    train, test = sample_corpus("train"), sample_corpus("test")
    print(f"The sample corpus: {len(train)} sentences to train on, {len(test)} to test on.")
    print("A cascade: parts of speech, then phrases that read them, then entities that read both.\n")
    say_if_first_run()
    print(f"{'what upper stages see':<48} {'pos':>7} {'chunk':>7} {'entity':>7}   training")
    scores: dict[str, Any] = {}
    cascade: Any = None
    for wire, about in _WIRES.items():
        cascade = _cascade(wire)
        with training_progress(wire) as report:
            cascade.fit(train, progress=report)
        found = cascade.evaluate(test)
        scores[wire] = {target: result.as_json() for target, result in found.items()}
        cells = " ".join(f"{100 * result.headline:7.2f}" for result in found.values())
        print(f"{wire + ': ' + about:<48} {cells}   {cascade.seconds_:.1f} s")
    print("\nAccuracy of parts of speech, F1 of phrases and entities, in percent.")
    _show(cascade, test.slice(_SENTENCE, _SENTENCE + 1))
    if model is not None:
        cascade.save(model)
        say(f"wrote {model}")
    print(
        "\nTry next:\n"
        "  trellis train --model-type cascade --show-config > cascade.toml    # then name your files and columns\n"
        "  trellis train --config cascade.toml TRAIN.txt --model cascade.trellis\n"
        "  trellis tag cascade.trellis INPUT.txt\n"
        "  trellis train TRAIN.txt --columns word,pos,chunk --target chunk --model chunk.trellis\n"
        "  trellis --help"
    )
    if json:
        print_json(scores)


def _cascade(wire: str) -> Any:
    from trellis.cascade import Cascade, Stage

    stages = [
        Stage("pos", "pos", l2=0.1, tol=1e-3),
        Stage("chunk", "chunking", reads=["pos"], l2=0.1, tol=1e-3),
        Stage("entity", "ner", reads=["pos", "chunk"], l2=0.1, tol=1e-3),
    ]
    return Cascade(stages, wire=wire, tol=1e-3)


def _show(cascade: Any, one: Any) -> None:
    """A sentence with what the cascade says of it."""
    rows = {"word": one.sentences("word")[0]} | {name: found[0] for name, found in cascade.predict(one).items()}
    widths = [max(map(len, cells)) for cells in zip(*rows.values(), strict=True)]
    print("\nA sentence it has not seen:\n")
    for name, row in rows.items():
        print(f"  {name:<7}" + " ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
