"""Saving is atomic: whatever happens, the old or the new model is there, whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import trellis
from trellis.errors import FileAccessError

# A parent that has read two models starts children that save them in turn for ever, kills each at a random moment,
# and looks at what is there.
_KILLING = """
import json, os, random, signal, sys, time
from pathlib import Path
import trellis

folder, kills = Path(sys.argv[1]), int(sys.argv[2])
models = [trellis.load(folder / name) for name in ("one", "two")]
whole = [(folder / name).read_bytes() for name in ("one", "two")]
target = folder / "sub" / "model"
random.seed(0)
found = []
for _ in range(kills):
    child = os.fork()
    if child == 0:
        while True:
            for model in models:
                model.save(target)
    time.sleep(random.uniform(0.0, 0.03))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if target.exists():
        trellis.load(target)
        found.append(whole.index(target.read_bytes()))
print(json.dumps(found))
"""

_TOO_LARGE = """
import resource, sys
import trellis
from trellis.errors import FileAccessError

model = trellis.load(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    model.save(sys.argv[2])
except FileAccessError as error:
    print(error)
"""


def run(script, *arguments):
    # without compiled files of its own: the limits below hold for them too
    done = subprocess.run(
        [sys.executable, "-B", "-c", script, *map(str, arguments)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def two_models(small_model, tmp_path):
    other = trellis.CRF(l2=3.0).fit([[["x"], ["y"]]], [["P", "Q"]])
    small_model.save(tmp_path / "one")
    other.save(tmp_path / "two")
    (tmp_path / "sub").mkdir()
    return tmp_path


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_any_moment_a_whole_model_is_there(two_models):
    found = json.loads(run(_KILLING, two_models, 60))
    assert len(found) > 40
    assert set(found) == {0, 1}


@pytest.mark.skipif(sys.platform == "win32", reason="needs resource limits")
def test_a_write_that_fails_halfway_leaves_the_old_model_and_no_traces(two_models):
    target = two_models / "sub" / "model"
    target.write_bytes((two_models / "two").read_bytes())
    message = run(_TOO_LARGE, two_models / "one", target)
    assert f"{target}: cannot be written: File too large" in message
    assert os.listdir(two_models / "sub") == ["model"]
    assert target.read_bytes() == (two_models / "two").read_bytes()


def test_a_folder_that_is_not_there(small_model, tmp_path):
    with pytest.raises(FileAccessError, match="does not exist"):
        small_model.save(tmp_path / "none" / "m")


def test_a_directory_in_the_way(small_model, tmp_path):
    with pytest.raises(FileAccessError, match="is a directory"):
        small_model.save(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission(small_model, tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    with pytest.raises(FileAccessError, match="Permission denied"):
        small_model.save(folder / "m")
    assert os.listdir(folder) == []


def test_a_link_stays_and_what_it_points_to_is_replaced(small_model, tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    small_model.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    trellis.load(tmp_path / "real")
