"""Memory and time of a function in a process of its own."""

from __future__ import annotations

import sys

import pytest

from trellis.errors import TrellisError
from trellis.studies.process import run_apart

MB = 1 << 20


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell a process' peak memory")
def test_the_peak_is_the_childs_own_however_large_the_parent():
    ballast = bytearray(300 * MB)
    ballast[::4096] = b"x" * len(ballast[::4096])
    small = run_apart("builtins:len", "text")
    large = run_apart("operator:mul", [1], 30 * MB)  # a list of eight bytes an entry
    assert small.seconds > 0
    assert 0 < small.peak_bytes < 100 * MB
    assert large.peak_bytes > small.peak_bytes + 200 * MB


def test_a_process_that_fails_says_how():
    with pytest.raises(TrellisError, match=r"measures builtins:int ended with status 1: .*invalid literal"):
        run_apart("builtins:int", "no number")
