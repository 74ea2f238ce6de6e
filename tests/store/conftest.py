"""What tests of files share."""

from __future__ import annotations

import pytest

import trellis


@pytest.fixture(scope="module")
def loading(tmp_path_factory):
    """Loads bytes as a model file."""
    path = tmp_path_factory.mktemp("damaged") / "m"

    def load(data):
        path.write_bytes(data)
        return trellis.load(path)

    return load
