"""`trellis eval`: a model against a file with gold labels."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from trellis.cli import options
from trellis.cli.choosing import is_cascade, is_of_texts, refuse_items, tagger_from
from trellis.cli.column_names import names_for_model
from trellis.cli.console import print_json, say
from trellis.cli.scoring import Scoring, ScoringCommand, scoring_options
from trellis.cli.texts import evaluate_texts
from trellis.errors import DataError, SettingError

if TYPE_CHECKING:
    from trellis.corpus import Column, Corpus


@click.command("eval", cls=ScoringCommand)
@click.argument("model")
@click.argument("file", metavar="DATA")
@click.option("--columns", metavar="NAMES", help="Names of the file's columns, if other than the training file's.")
@options.once
@options.penalties
@scoring_options
@options.comments
@options.threads
@options.as_json
def evaluate(
    model: str,
    file: str,
    columns: str | None,
    at_most_once: str | None,
    penalties: str | None,
    comments: bool,
    threads: int | None,
    json: bool,
    **asked: Any,
) -> None:
    """Evaluate a model on a file with gold labels; of a cascade all stages whose labels are there.

    \b
    Example:
      trellis eval chunk.trellis test.txt
      trellis eval spam.trellis comments.jsonl
      trellis eval chunk.trellis test.txt --scheme strict --known train.txt --intervals
    """
    from trellis.corpus import read_conll
    from trellis.metrics import known_words

    scoring = Scoring.of(asked, comments, file)
    crf = tagger_from(model, texts=True).set_params(threads=threads)
    if is_of_texts(crf):
        if columns or at_most_once or penalties or scoring.known:
            raise SettingError(
                "--columns, --at-most-once, --penalties and --known are for column files; leave them out"
            )
        evaluate_texts(crf, file, scoring, json)
        return
    refuse_items(file, model)
    if not (columns or crf.columns_):
        raise DataError("this model was trained on lists of attributes; it cannot read a column file", model)
    constraints = options.constraints_of(type(crf), at_most_once, penalties)
    names = names_for_model(file, columns, crf.columns_)
    _check_target(crf, names, file)
    word, training = _words(names, scoring, file)
    began = time.perf_counter()
    corpus = read_conll(file, columns=names, comments=comments)
    if not corpus.tokens:
        raise DataError("there is no token to evaluate on", file)
    pairs = _labelled(crf, corpus, constraints)
    reports = {target: scoring.report(*pair, corpus.offsets) for target, pair in pairs.items()}
    speed = corpus.tokens / (time.perf_counter() - began)
    known = None if word is None else known_words(corpus[word], training)
    found: dict[str, dict[str, Any]] = {}
    for target, report in reports.items():
        beside, more = scoring.beside(*pairs[target], corpus.offsets, report, known)
        print("\n".join([*([f"{target}:"] if is_cascade(crf) else []), report.as_text(), *beside]))
        found[target] = {**report.as_json(), **more}
    last = {**list(found.values())[-1], "tokens_per_second": speed}
    if is_cascade(crf):
        left_out = [target for target in crf.targets_ if target not in reports]
        if left_out:
            say(f"{file}: no column for {', '.join(left_out)}; the scores are of {', '.join(reports)} alone")
        last["targets"] = found
    if json:
        print_json(last)


def _check_target(crf: Any, names: Sequence[str], file: str) -> None:
    """That there is a column of gold labels; of a cascade, one at least, is seen to where it is read."""
    if not is_cascade(crf) and crf.target not in names:
        has = f"the columns are: {', '.join(names)}"
        raise DataError(f"there is no column '{crf.target}' to compare with; {has}; name them: --columns", file)


def _labelled(crf: Any, corpus: Corpus, constraints: dict[str, Any]) -> dict[str, tuple[Column, Column]]:
    """Gold and predicted labels by target, lower stages first, of those whose column is there."""
    from trellis.models.gold import gold_of

    if not is_cascade(crf):
        return {crf.target: (gold_of(corpus, None, crf.target), crf.predict_column(corpus, **constraints))}
    if not set(crf.targets_) & set(corpus.columns):
        wanted = " or ".join(f"'{target}'" for target in crf.targets_)
        raise DataError(
            f"there is no column {wanted} to compare with; the columns are: {', '.join(corpus.columns)}", corpus.path
        )
    predicted = crf.predict_columns(corpus)
    return {target: (corpus[target], column) for target, column in predicted.items() if target in corpus.columns}


def _words(names: Sequence[str], scoring: Scoring, file: str) -> tuple[str | None, set[str]]:
    """The name of the column of words, and those of the training files; None where no such file was named."""
    if not scoring.known:
        return None, set()
    column = scoring.column_of(names, file)
    return names[column], scoring.training_words(column)
