"""What tests of commands share."""

from __future__ import annotations

import sys

import pytest

import trellis as tr
from trellis.cli.app import main
from trellis.corpus import sample_corpus, write_conll

CASCADE = """
columns = "word,pos,chunk,entity"
wire = "marginal"

[[stage]]
target = "pos"
features = "word[0] + suffix(word, 2)[0]"
tol = 1e-2

[[stage]]
target = "chunk"
features = "word[0] + pos[-1:1]"
reads = ["pos"]
tol = 1e-2
"""


@pytest.fixture
def run(monkeypatch, capsys):
    """Calls `trellis` in this process; returns exit code, standard output and standard error."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["trellis", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """A folder with a cascade's c.toml, and train.txt and test.txt with the columns that it names."""
    folder = tmp_path_factory.mktemp("cascade")
    (folder / "c.toml").write_text(CASCADE)
    (folder / "train.txt").write_bytes(write_conll(sample_corpus("train").slice(0, 100)))
    (folder / "test.txt").write_bytes(write_conll(sample_corpus("test").slice(0, 20)))
    return folder


def cascade_stages(**settings):
    return [
        tr.Stage("pos", "word[0] + suffix(word, 2)[0]", tol=1e-2),
        tr.Stage("chunk", "word[0] + pos[-1:1]", reads=["pos"], tol=1e-2, **settings),
    ]


@pytest.fixture(scope="session")
def train_cascade(files):
    """`train_cascade(name, wire, ...)`: the path of a cascade of those settings."""

    def train(name, wire, **settings):
        corpus = tr.read_conll(files / "train.txt", columns=["word", "pos", "chunk", "entity"])
        tr.Cascade(cascade_stages(**settings), wire=wire).fit(corpus).save(files / name)
        return files / name

    return train


@pytest.fixture(scope="session")
def cascade_model(train_cascade):
    return train_cascade("m", "marginal")
