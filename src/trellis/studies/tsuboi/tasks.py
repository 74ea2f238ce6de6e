"""The paper's three tasks: corpora, features, and on what the prior is chosen."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column, Corpus, read_conll
from trellis.corpus.fetch_store import corpus_folder
from trellis.corpus.sample import sample_corpus
from trellis.errors import FileAccessError, SettingError

QUICK = 150  # sentences of each part in a quick run
_EVERY = 10  # one sentence in so many is held out where there is no development file


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
_TENTH = "every tenth sentence of the training data"


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
        train, test = (_read("conll2002-es", part, data, quick) for part in ("train", "testb"))
        dev = _read("conll2002-es", "testa", data, quick)
        return Task(key, TITLES[key], target, "altun-s3", train, test, train, dev, "the file testa")
    train, test = (_read("conll2000", part, data, quick) for part in ("train", "test"))
    if key == "quarter":
        train = train.slice(0, len(train) // 4)
    last = np.arange(len(train)) % _EVERY == _EVERY - 1
    fit, dev = (_picked(train, np.flatnonzero(which)) for which in (~last, last))
    return Task(key, TITLES[key], "chunk", "chunking", train, test, fit, dev, _TENTH)


def _read(name: str, part: str, data: Path | None, quick: bool) -> Corpus:
    if quick and data is None:
        return _first(sample_corpus("train" if part == "train" else "test"))
    columns = ("word", "pos", "ner" if name == "conll2002-es" else "chunk")
    corpus = read_conll(_file(name, f"{part}.txt", data), columns=columns)
    return _first(corpus) if quick else corpus


def _file(name: str, file: str, data: Path | None) -> Path:
    home = os.environ.get("TRELLIS_DATA")
    homes = [data / name] if data is not None else [*([Path(home) / name] if home else []), corpus_folder(name)]
    for folder in homes:
        if (folder / file).is_file():
            return folder / file
    raise FileAccessError(
        f"{homes[0] / file}: no such file; get it with `trellis data get {name}`, which is found without --data, "
        f"or give the folder that holds {name}/ with --data"
    )


def _first(corpus: Corpus) -> Corpus:
    return corpus.slice(0, min(QUICK, len(corpus)))


def _picked(corpus: Corpus, sentences: NDArray[np.int64]) -> Corpus:
    """Some of the sentences."""
    lengths = np.diff(corpus.offsets)
    of_token = np.zeros(len(corpus), bool)
    of_token[sentences] = True
    tokens = np.flatnonzero(np.repeat(of_token, lengths))
    columns = {name: Column(column.ids[tokens], column.strings) for name, column in corpus.columns.items()}
    offsets = np.concatenate([[0], np.cumsum(lengths[sentences])]).astype(np.int64)
    return Corpus(columns, offsets, file_columns=corpus.file_columns)
