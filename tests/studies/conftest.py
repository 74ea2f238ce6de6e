"""A small task in files."""

from __future__ import annotations

import pytest

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
