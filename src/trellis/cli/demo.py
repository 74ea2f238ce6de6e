"""`trellis demo`: the whole way in a few seconds, on the corpus that ships."""

from __future__ import annotations

import click

from trellis.cli import options
from trellis.cli.console import print_json, say, say_if_first_run, training_progress

_SENTENCE = 5  # of the test part: one with phrases and names


@click.command()
@click.option("--model", "-m", metavar="OUT", help="Keep the chunk model in this file.")
@options.as_json
def demo(model: str | None, json: bool) -> None:
    """Train phrase and entity taggers on the corpus that ships, evaluate them, tag a sentence.

    \b
    Example:
      trellis demo
    """
    from trellis.corpus import sample_corpus
    from trellis.models import CRF

    train, test = sample_corpus("train"), sample_corpus("test")
    print(f"The sample corpus: {len(train)} sentences to train on, {len(test)} to test on.\n")
    taggers = {}
    say_if_first_run()
    print(f"{'target':<8} {'precision':>9} {'recall':>7} {'F1':>7} {'accuracy':>9}   training")
    scores = {}
    for target in ("chunk", "entity"):
        crf = CRF(target=target, l2=0.1)
        with training_progress(target) as report:
            crf.fit(train, progress=report)
        result = crf.evaluate(test)
        scores[target] = result.as_json()
        percent = [100 * (value or 0.0) for value in (result.precision, result.recall, result.f1)]
        print(
            f"{target:<8} {percent[0]:9.2f} {percent[1]:7.2f} {percent[2]:7.2f} {100 * result.accuracy:9.2f}"
            f"   {crf.iterations_} iterations, {crf.seconds_:.1f} s"
        )
        taggers[target] = crf
    one = test.slice(_SENTENCE, _SENTENCE + 1)
    rows = [one.sentences("word")[0], one.sentences("pos")[0]]
    rows += [crf.predict(one)[0] for crf in taggers.values()]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    print("\nA sentence it has not seen:\n")
    for name, row in zip(("word", "pos", *taggers), rows, strict=True):
        print(f"  {name:<7}" + " ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    if model is not None:
        taggers["chunk"].save(model)
        say(f"wrote {model}")
    print(
        "\nTry next:\n"
        "  trellis train TRAIN.txt --columns word,pos,chunk --target chunk --model chunk.trellis\n"
        "  trellis tag chunk.trellis INPUT.txt | trellis score\n"
        "  trellis data list\n"
        "  trellis --help"
    )
    if json:
        print_json(scores)
