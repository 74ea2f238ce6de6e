"""What tests of commands share."""

from __future__ import annotations

import sys

import pytest

from trellis.cli.app import main


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
