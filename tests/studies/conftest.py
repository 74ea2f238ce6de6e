"""A small task in files."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from trellis.cli.reproduce import reproduce
from trellis.corpus import write_conll
from trellis.studies.task import Task


@pytest.fixture(scope="session")
def files(tmp_path_factory, corpus, heldout):
    """Paths of a training and a test file."""
    folder = tmp_path_factory.mktemp("bench")
    for name, data in (("train.txt", corpus), ("test.txt", heldout)):
        (folder / name).write_bytes(write_conll(data))
    return folder / "train.txt", folder / "test.txt"


@pytest.fixture(scope="session")
def task(files):
    return Task(files[0])


@pytest.fixture(scope="session")
def reproduced():
    """`reproduced("altun", ...)`: the JSON object of `trellis reproduce` if it is asked for, or else its result."""

    def run(*arguments):
        result = CliRunner().invoke(reproduce, [*map(str, arguments)], catch_exceptions=False)
        return json.loads(result.stdout.rstrip("\n").split("\n")[-1]) if "--json" in arguments else result

    return run


@pytest.fixture(scope="session")
def quick_study(tmp_path_factory, reproduced):
    """`quick_study("altun")`: the JSON object of a quick run, its folder, and the page for the documentation."""

    def run(name):
        folder = tmp_path_factory.mktemp(name)
        page = folder / "docs" / f"{name}.md"
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("TRELLIS_DATA", raising=False)  # the corpus that ships will do
            found = reproduced(name, "--quick", "--out", folder / "out", "--docs", page, "--json")
        return found, folder / "out", page

    return run


@pytest.fixture(scope="session")
def english_only(tmp_path_factory, files):
    """A folder of corpora in which there are no Spanish ones."""
    folder = tmp_path_factory.mktemp("corpora")
    (folder / "conll2000").mkdir()
    for name, file in zip(("train", "test"), files, strict=True):
        (folder / "conll2000" / f"{name}.txt").write_bytes(file.read_bytes())
    return folder
