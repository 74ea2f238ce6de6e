"""What `trellis train` and `eval` do with whole texts: files of items in place of column files."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from trellis.cli.column_names import LABEL
from trellis.cli.console import print_json
from trellis.cli.lessons import Asked, Lesson
from trellis.cli.scoring import Scoring
from trellis.cli.soft import check_believed, is_evidence, soft_of, teaching
from trellis.cli.tag_texts import PROBABILITIES
from trellis.errors import DataError, SettingError

if TYPE_CHECKING:
    from trellis.corpus import Column
    from trellis.models import SoftLabels, TextClassifier
    from trellis.weak import Items

TYPE = "text-classifier"
_TEXTS = "texts"  # the usual features


def usual_features(ctx: click.Context, settings: dict[str, Any]) -> None:
    """Those of texts, where none are named."""
    if ctx.get_parameter_source("features") == click.core.ParameterSource.DEFAULT:
        settings["features"] = _TEXTS


def read(path: str, target: str, what: str = "learn from") -> Items:
    """The items of a file, whose labels are in the field `target`."""
    from trellis.weak import read_items

    found = read_items(path, text=None, gold=target)
    if not len(found):
        raise DataError(f"there is no item to {what}", path)
    return found


def lesson_of_items(model: Any, asked: Asked) -> Lesson:
    """As the options say; the model is told its target."""
    if len(asked.files) > 1:
        raise SettingError("one file of items at a time; put all of them into one")
    if asked.votes or asked.columns is not None:
        raise SettingError(f"--{'votes' if asked.votes else 'columns'} is for column files; items have fields")
    check_believed(asked)
    settings = teaching(asked.teach)
    path, target = asked.files[0], asked.target or LABEL
    model.set_params(target=target)
    fit: Any = type(model).fit
    if asked.label_model is not None:
        items, fit = _taught(path, asked.label_model, settings)
    else:
        items = read(path, target)
    if asked.soft:
        fit = partial(fit, soft=soft_labels_of(items, path, is_evidence(settings)))
    dev = None if asked.dev is None else read(asked.dev, target, "stop by")
    return Lesson(items, dev, fit, f"{len(items):,} items; training '{target}'")


def soft_labels_of(items: Items, path: str, evidence: bool = False) -> SoftLabels:
    """The probabilities that records have, as `trellis weak label --marginals` writes them."""
    import numpy as np

    names: dict[str, int] = {}
    records = items.records
    for i, record in enumerate(records):
        given = record.get(PROBABILITIES)
        if not isinstance(given, dict) or not all(
            isinstance(p, int | float) and not isinstance(p, bool) and 0 <= p <= 1 for p in given.values()
        ):
            what = f"the field '{PROBABILITIES}' is no object of labels and numbers from 0 to 1"
            raise DataError(f"{what}; `trellis weak label --marginals` writes such", path, items.line(i))
        for name in given:
            names.setdefault(name, len(names))
    rows = np.zeros((len(records), len(names)))
    for row, record in zip(rows, records, strict=True):
        for name, p in record[PROBABILITIES].items():
            row[names[name]] = p
    offsets = np.arange(len(records) + 1)
    return soft_of(rows, list(names), evidence, offsets, lambda item: f"{path}:{items.line(item)}")


def _taught(path: str, label_model: str, settings: dict[str, Any]) -> tuple[Items, Any]:
    """The items of a file, and how a classifier learns from their votes."""
    from trellis.weak import load, teach
    from trellis.weak.item_files import item_batches

    model = load(label_model)
    coarse = {name: list(members) for name, members in model.space_.coarse.items()}
    labels, functions = list(model.labels_), model.functions_
    (items,) = item_batches(path, None, None, coarse=coarse, labels=labels, many=None, functions=functions)
    if not len(items):
        raise DataError("there is no item to learn from", path)
    votes = items.votes
    if votes is None or not items.named & set(model.functions_):
        raise DataError("no item has votes of functions that the model knows; `trellis weak apply` adds them", path)

    def fit(classifier: Any, data: Items, **more: Any) -> None:
        teach(classifier, data, model, votes, **settings, **more)

    return items, fit


def evaluate_texts(model: TextClassifier, file: str, scoring: Scoring, as_json: bool) -> None:
    """What `trellis eval` says of a classifier of texts."""
    from trellis.metrics import compare_wholes

    began = time.perf_counter()
    gold, said, offsets = _labelled(model, file, model.target or LABEL)
    report = compare_wholes(gold, said)
    speed = len(gold) / (time.perf_counter() - began)
    beside, more = scoring.beside(gold, said, offsets, report, None)
    print("\n".join([report.as_text(), *beside]))
    if as_json:
        print_json({**report.as_json(), **more, "tokens_per_second": speed})


def _labelled(model: TextClassifier, file: str, target: str) -> tuple[Column, Column, Any]:
    """Gold and predicted labels of the items whose labels are known, and offsets of sentences of one token."""
    import numpy as np

    from trellis.corpus import Column

    items = read(file, target, "evaluate on")
    if items.gold is None:
        raise DataError(f"no item has a label in the field '{target}'", file)
    known = np.flatnonzero(items.gold >= 0)
    records = [items.records[i] for i in known.tolist()]
    gold = Column(items.gold[known], list(items.labels)).compact()
    return gold, model.predict_column(records), np.arange(len(known) + 1, dtype=np.int64)
