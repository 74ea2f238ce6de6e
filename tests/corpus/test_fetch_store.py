"""The parts of `fetch` that need no server: names, addresses, the cache folder, the cost of importing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from trellis import files
from trellis.corpus import fetch_http, fetch_store
from trellis.corpus.fetch import fetch
from trellis.errors import FileAccessError, SettingError


def test_unknown_names_list_the_known_ones() -> None:
    with pytest.raises(SettingError, match="'conll1999'; known are conll2000, conll2002-es, ud-en-ewt"):
        fetch("conll1999")


def test_a_mirror_may_have_a_path_and_keeps_the_query() -> None:
    through = fetch_http.through_mirror("https://host/a/b.gz?raw=1", "http://127.0.0.1:8080/copy/")
    assert through == "http://127.0.0.1:8080/copy/a/b.gz?raw=1"
    assert fetch_http.through_mirror("https://host/a", None) == "https://host/a"


def test_the_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TRELLIS_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert files.cache_home() == tmp_path / ".cache" / "trellis"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert files.cache_home() == tmp_path / "xdg" / "trellis"
    monkeypatch.setenv("TRELLIS_CACHE", str(tmp_path / "ours"))
    assert files.cache_home() == tmp_path / "ours"


def test_a_folder_in_the_way_of_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "train.txt").mkdir()
    with pytest.raises(FileAccessError, match=r"train\.txt is not a file"):
        fetch("conll2000", folder=tmp_path)


def test_a_file_in_the_way_of_the_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FileAccessError, match="cannot be written"):
        fetch_store.install(tmp_path / "file", {"train.txt": b""})


def test_importing_it_loads_no_network_or_archive_modules() -> None:
    program = (
        "import sys, trellis.corpus\n"
        "before = set(sys.modules)\n"
        "import trellis.corpus.fetch\n"
        "heavy = {'urllib.request', 'http.client', 'ssl', 'zipfile', 'gzip', 'email'}\n"
        "print(sorted(heavy & (set(sys.modules) - before)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
