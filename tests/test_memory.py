"""Memory that is free again goes back to the system."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the C library is another one")

_SCRIPT = """
import numpy as np
from trellis.memory import given_back
from trellis.studies.phases import held_bytes
for size in (30_000_000, 20_000_000):  # once one this large has been freed, the C library keeps the next ones
    np.ones(size // 8)
with given_back():
    kept, before = [], held_bytes()
    for _ in range(8):  # vectors that come and go, between small ones that stay
        large = np.ones(1_500_000)
        kept.append(np.ones(100_000))
        del large
    kept += [np.ones(900_000) for _ in range(4)]
    print((held_bytes() - before) // 1_000_000)
"""


def test_vectors_that_come_and_go_leave_no_holes():
    done = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 45  # of 8 * 0.8 + 4 * 7.2 that are still there


def test_whoever_has_set_the_threshold_is_not_overruled():
    script = (
        "import ctypes, trellis.memory as m; calls = []\n"
        "library = type('', (), {'malloc_trim': lambda n: 0, 'mallopt': lambda *a: calls.append(a)})\n"
        "m._glibc = lambda: library\nwith m.given_back(): print(len(calls))"
    )
    for given, calls in (({}, "2"), ({"MALLOC_MMAP_THRESHOLD_": "33554432"}, "0")):
        done = subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, **given}, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == calls
