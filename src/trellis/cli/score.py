"""`trellis score`: gold and predicted labels in one file, or those of two systems in two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from trellis.cli import options
from trellis.cli.console import print_json, say
from trellis.cli.scoring import Scoring, ScoringCommand, scoring_options
from trellis.errors import DataError, SettingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from trellis.corpus import Column, Corpus

_METRICS = ("f1", "precision", "recall", "accuracy")


@click.command(cls=ScoringCommand)
@click.argument("file", default="-")
@click.argument("other", required=False)
@scoring_options
@click.option(
    "--metric", type=click.Choice(_METRICS), help="Of two files: what the last line is about; f1 if there is."
)
@click.option(
    "--layers",
    type=click.IntRange(min=1),
    metavar="K",
    help="Spans that nest: the last K columns for the K before them.",
)
@options.comments
@options.as_json
def score(
    file: str, other: str | None, metric: str | None, layers: int | None, comments: bool, json: bool, **asked: Any
) -> None:
    """Score a file whose last two columns are gold and predicted labels, as conlleval counts.

    With a second such file of the same text, from another system: whether their difference may be chance. With
    --layers K, the last 2K columns are K of gold labels and K of predicted ones.

    \b
    Example:
      trellis tag chunk.trellis test.txt | trellis score
      trellis score tagged.txt --scheme strict --modes --known train.txt --confusion 5
      trellis score tagged.txt other.txt
      trellis score nested.txt --layers 2
    """
    scoring = Scoring.of(asked, comments, file, other)
    if metric is not None and other is None:
        raise SettingError("--metric is for two files; leave it out, or give OTHER")
    first = _read(file, comments, layers or 1)
    if layers is not None:
        if other is not None or scoring.more:
            raise SettingError(
                "--layers has scores alone; leave out OTHER, and all options but --scheme and --encoding"
            )
        found = _score_layers(first, scoring, layers)
    elif other is None:
        found = _score(first, scoring)
    else:
        second = _read(other, comments)
        _check_same_text(first, second)
        found = _compare(first, second, scoring, metric)
    if json:
        print_json(found)


def _read(file: str, comments: bool, layers: int = 1) -> Corpus:
    from trellis.corpus import read_conll

    corpus = read_conll(file, comments=comments)
    if not corpus.tokens:
        raise DataError("there is no token to score", file)
    if len(corpus.columns) < 2:
        raise DataError("one column; the last two must be gold and predicted labels", file)
    if len(corpus.columns) < 2 * layers:
        wanted = f"{layers} of gold labels, then {layers} of predicted ones"
        raise DataError(f"{len(corpus.columns)} columns; --layers {layers} needs {2 * layers}: {wanted}", file)
    gold, predicted = _labels(corpus)
    if layers == 1 and not set(gold.strings) & set(predicted.strings):
        say("trellis: warning: the last two columns have no label in common; are they gold and predicted?")
    return corpus


def _labels(corpus: Corpus) -> tuple[Column, Column]:
    gold, predicted = list(corpus.columns.values())[-2:]
    return gold, predicted


def _score(corpus: Corpus, scoring: Scoring) -> dict[str, Any]:
    """Prints the scores of one labelling and what else was asked for; as JSON."""
    (gold, predicted), (known,) = _labels(corpus), _known([corpus], scoring)
    report = scoring.report(gold, predicted, corpus.offsets)
    print(report.as_text())
    texts, found = scoring.beside(gold, predicted, corpus.offsets, report, known)
    print("".join(f"{text}\n" for text in texts), end="")
    return {**report.as_json(), **found}


def _score_layers(corpus: Corpus, scoring: Scoring, layers: int) -> dict[str, Any]:
    """Prints the scores of spans in layers; as JSON."""
    from trellis.metrics.span_scores import score_layers

    columns = list(corpus.columns.values())[-2 * layers :]
    report = score_layers(columns[:layers], columns[layers:], corpus.offsets, scoring.scheme, scoring.encoding)
    print(report.as_text())
    return report.as_json()


def _compare(first: Corpus, second: Corpus, scoring: Scoring, metric: str | None) -> dict[str, Any]:
    """Prints the scores of two labellings, and how they differ; as JSON, with those of the first at the top."""
    from trellis.metrics import compare_two

    (gold, one), (_, other) = _labels(first), _labels(second)
    encoding = scoring.encoding_of(gold, one, other)
    both = compare_two(gold, one, other, first.offsets, scoring.scheme, encoding, scoring.draws, scoring.seed)
    text = both.as_text(metric)  # says what is wrong with the metric before anything is printed
    known, found = _known([first, second], scoring), []
    for place, corpus, report, mine in zip(
        ("first", "second"), (first, second), (both.first, both.second), known, strict=True
    ):
        texts, more = scoring.beside(*_labels(corpus), corpus.offsets, report, mine)
        print("\n".join([f"{place}: {corpus.path}", report.as_text(), *texts]))
        found.append({**report.as_json(), **more})
    print(text)
    return {**found[0], "other": found[1], **both.as_json()}


def _known(corpora: list[Corpus], scoring: Scoring) -> list[NDArray[np.bool_] | None]:
    """Of each, BOOL[tokens]: the words that the training files have; None where none was named."""
    if not scoring.known:
        return [None] * len(corpora)
    from trellis.metrics import known_words

    at = [scoring.column_of(list(corpus.columns)[:-2], str(corpus.path)) for corpus in corpora]
    words = scoring.training_words(at[0])
    return [known_words(list(c.columns.values())[k], words) for c, k in zip(corpora, at, strict=True)]


def _check_same_text(first: Corpus, second: Corpus) -> None:
    """DataError with file:line where sentences, gold labels or, if there are further columns, words of two files
    differ."""
    import numpy as np

    sentences = min(len(first), len(second))
    lengths = np.diff(first.offsets)[:sentences], np.diff(second.offsets)[:sentences]
    other = np.flatnonzero(lengths[0] != lengths[1])
    if other.size:
        s = int(other[0])
        a, b = (corpus.place(int(corpus.offsets[s])) for corpus in (first, second))
        raise DataError(
            f"{b}: sentence {s + 1} has {lengths[1][s]} tokens, but {lengths[0][s]} at {a}; both files must be of the "
            "same text"
        )
    if len(first) != len(second):
        raise DataError(
            f"{len(second)} sentences, but {len(first)} in {first.path}; both files must be of the same text",
            second.path,
        )
    _check_alike(first, second, -2, "the gold label")
    if min(len(first.columns), len(second.columns)) > 2:
        _check_alike(first, second, 0, "the first column")


def _check_alike(first: Corpus, second: Corpus, column: int, what: str) -> None:
    """DataError where a column of two corpora, counted from the left or the right, differs first."""
    import numpy as np

    from trellis.metrics.compare import same_table

    pair = [list(corpus.columns.values())[column] for corpus in (first, second)]
    (one, other), names = same_table(*pair)
    differs = np.flatnonzero(one != other)
    if differs.size:
        t = int(differs[0])
        raise DataError(
            f"{second.place(t)}: {what} is '{names[other[t]]}', but '{names[one[t]]}' at {first.place(t)}; both files "
            "must be of the same text"
        )
