"""The tasks: corpora, feature sets, on what a prior is chosen; and the data that one cell is trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trellis.corpus import Column, Corpus
from trellis.errors import SettingError
from trellis.studies.altun.cells import Cell
from trellis.studies.corpora import TENTH, hold_out_tenth, is_there, read_part

OFTEN = 5  # times that a word has to be seen to be in the tag dictionary


@dataclass(frozen=True)
class Task:
    """`train` and `test`; a prior is chosen by training on `fit` and scoring on `dev`, where `fit` is `train` if there
    is a file to score on. `tag_dictionary`: see trellis.CRF."""

    key: str
    target: str
    train: Corpus
    test: Corpus
    fit: Corpus
    dev: Corpus
    held_out: str
    tag_dictionary: int | None = None

    @property
    def has_dev_file(self) -> bool:
        return self.fit is self.train


@dataclass(frozen=True)
class Kind:
    """What is known of a task without its data: `features` are the sets it is run with, `measure` what its score is;
    `steps` of boosting (of 500 rounds each), so many that no more than a quarter of the weights is used."""

    title: str
    corpus: str
    features: tuple[str, ...]
    measure: str
    steps: int


KINDS = {
    "ner": Kind("Spanish named entities", "conll2002-es", ("s1", "s2", "s3"), "F1", 60),
    "pos": Kind("parts of speech, CoNLL-2000", "conll2000", ("s1", "s2"), "accuracy", 36),
    "ptb": Kind("parts of speech, Treebank sample", "ptb-sample", ("s1", "s2", "s3"), "accuracy", 36),
}


def load_tasks(data: Path | None, quick: bool, keys: Sequence[str] = tuple(KINDS)) -> dict[str, Task]:
    """By key. The Treebank sample cannot be fetched: it is left out where it is not."""
    for key in keys:
        if key not in KINDS:
            raise SettingError(f"there is no task '{key}'; the tasks are: {', '.join(KINDS)}")
    there = [key for key in KINDS if key in keys and (key != "ptb" or is_there("ptb-sample", data, quick))]
    return {key: _load(key, data, quick) for key in there}


def _load(key: str, data: Path | None, quick: bool) -> Task:
    corpus = KINDS[key].corpus

    def read(part: str) -> Corpus:
        return read_part(corpus, part, data, quick)

    if key == "ner":
        train, target = read("train"), "entity" if quick and data is None else "ner"
        return Task(key, target, train, read("testb"), train, read("testa"), "the file testa")
    train, test = read("train"), read("test")
    if key == "ptb":
        return Task(key, "pos", train, test, train, read("dev"), "files 150 to 169", OFTEN)
    fit, dev = hold_out_tenth(train)
    return Task(key, "pos", train, test, fit, dev, TENTH, OFTEN)


def training_data(task: Task, cell: Cell, seed: int) -> Corpus:
    """What a cell is trained on. Smaller corpora are parts of larger ones, and wrong labels stay wrong where there is
    more noise: cells differ in nothing but what they are about."""
    corpus = task.fit if cell.held_out else task.train
    if cell.sentences is not None and cell.sentences < len(corpus):
        order = np.random.default_rng(seed).permutation(len(corpus))
        corpus = corpus.picked(np.sort(order[: cell.sentences]))
    if cell.noise:
        corpus = corpus.with_column(task.target, flipped(corpus[task.target].compact(), cell.noise, seed))
    return corpus


def flipped(labels: Column, share: float, seed: int) -> Column:
    """A share of the labels, of tokens drawn at random, replaced by one of the other labels, all as likely."""
    draw = np.random.default_rng(seed)
    tokens, others = draw.permutation(len(labels)), len(labels.strings) - 1
    shifts = draw.integers(1, others + 1, len(labels))  # for all, so that more noise adds to less
    chosen = tokens[: round(share * len(labels))]
    ids = labels.ids.copy()
    ids[chosen] = (ids[chosen] + shifts[chosen]) % (others + 1)
    return Column(ids, labels.strings)
