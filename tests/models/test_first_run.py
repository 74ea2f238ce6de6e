"""The run that compiles the kernels and the runs that read them from the cache give the same model."""

from __future__ import annotations

import os
import subprocess
import sys

TRAIN = """
import sys, trellis
corpus = trellis.sample_corpus("train").slice(0, 150)
trellis.CRF(target="chunk", l2=0.5, tol=1e-3).fit(corpus).save(sys.argv[1])
"""


def test_a_cold_cache_gives_the_same_bytes_as_a_warm_one(tmp_path):
    files = []
    for name in ("cold", "warm"):
        environment = {**os.environ, "TRELLIS_CACHE": str(tmp_path / "cache")}
        subprocess.run([sys.executable, "-c", TRAIN, str(tmp_path / name)], env=environment, check=True)
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]
