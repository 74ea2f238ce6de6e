"""The paper's three tasks: corpora, features, and on what the prior is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trellis.corpus import Corpus
from trellis.errors import SettingError
from trellis.studies.corpora import TENTH, hold_out_tenth, read_part


@dataclass(frozen=True)
class Statistics:
    """A row of the paper's Table 1: sentences, the number of different attributes, labels."""

    train: int
    dev: int | None
    test: int
    attributes: int
    labels: int


@dataclass(frozen=True)
class Task:
    """Methods are timed on `train` and scored on `test`; the prior is chosen by training on `fit` and scoring on
    `dev`."""

    key: str
    title: str
    target: str
    features: str
    train: Corpus
    test: Corpus
    fit: Corpus
    dev: Corpus
    held_out: str


TITLES = {"ner": "named entities", "chunking": "chunking", "quarter": "a quarter of chunking"}
PAPER = {"ner": Statistics(8322, 1914, 1516, 99_135, 9), "chunking": Statistics(8936, None, 2012, 338_539, 23)}


def load_tasks(data: Path | None, quick: bool, keys: Sequence[str] = tuple(TITLES)) -> list[Task]:
    """Quick runs need no data: without a folder they use the corpus that ships."""
    for key in keys:
        if key not in TITLES:
            raise SettingError(f"there is no task '{key}'; the tasks are: {', '.join(TITLES)}")
    return [_load(key, data, quick) for key in TITLES if key in keys]


def _load(key: str, data: Path | None, quick: bool) -> Task:
    ships = quick and data is None
    if key == "ner":
        target = "entity" if ships else "ner"
        train, test, dev = (read_part("conll2002-es", part, data, quick) for part in ("train", "testb", "testa"))
        return Task(key, TITLES[key], target, "altun-s3", train, test, train, dev, "the file testa")
    train, test = (read_part("conll2000", part, data, quick) for part in ("train", "test"))
    if key == "quarter":
        train = train.slice(0, len(train) // 4)
    fit, dev = hold_out_tenth(train)
    return Task(key, TITLES[key], "chunk", "chunking", train, test, fit, dev, TENTH)
