"""The corpora of the studies: read from a folder, or the one that ships where a run is only to be quick."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from trellis.corpus import Corpus, read_conll
from trellis.corpus.fetch_store import corpus_folder
from trellis.corpus.sample import sample_corpus
from trellis.errors import FileAccessError

QUICK = 150  # sentences of each part in a quick run
COLUMNS = {
    "conll2000": ("word", "pos", "chunk"),
    "conll2002-es": ("word", "pos", "ner"),
    "ptb-sample": ("word", "pos"),
    "ud-en-ewt": ("word", "upos", "xpos", "feats", "_"),
}
TENTH = "every tenth sentence of the training data"
_EVERY = 10  # one sentence in so many is held out where there is no development file


def read_part(name: str, part: str, data: Path | None, quick: bool) -> Corpus:
    """Quick runs need no data: without a folder they use the corpus that ships."""
    if quick and data is None:
        return _first(sample_corpus("train" if part == "train" else "test"))
    corpus = read_conll(file_of(name, f"{part}.txt", data), columns=COLUMNS[name])
    return _first(corpus) if quick else corpus


def is_there(name: str, data: Path | None, quick: bool) -> bool:
    """Whether a corpus that cannot be fetched is here."""
    return (quick and data is None) or any((folder / "train.txt").is_file() for folder in _homes(name, data))


def hold_out_tenth(train: Corpus) -> tuple[Corpus, Corpus]:
    """What is left to train on, and what is held out."""
    last = np.arange(len(train)) % _EVERY == _EVERY - 1
    return train.picked(np.flatnonzero(~last)), train.picked(np.flatnonzero(last))


def hold_out_last(train: Corpus, share: float) -> tuple[Corpus, Corpus]:
    """The same, of the last sentences: cut in one place, so that hardly any text is on both sides."""
    cut = round((1.0 - share) * len(train))
    return train.slice(0, cut), train.slice(cut, len(train))


def _homes(name: str, data: Path | None) -> list[Path]:
    home = os.environ.get("TRELLIS_DATA")
    return [data / name] if data is not None else [*([Path(home) / name] if home else []), corpus_folder(name)]


def file_of(name: str, file: str, data: Path | None) -> Path:
    homes = _homes(name, data)
    for folder in homes:
        if (folder / file).is_file():
            return folder / file
    raise FileAccessError(
        f"{homes[0] / file}: no such file; get it with `trellis data get {name}`, which is found without --data, "
        f"or give the folder that holds {name}/ with --data"
    )


def _first(corpus: Corpus) -> Corpus:
    return corpus.slice(0, min(QUICK, len(corpus)))
