"""Answers on disk: they outlast the process, serve several, and a damaged file is told."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys

import pytest

from trellis.errors import DataError, FileAccessError, TrellisError
from trellis.weak.prompting.cache import Cache, key_of

WRITER = """
import sys
from trellis.weak.prompting.cache import Cache, key_of
with Cache(sys.argv[1]) as cache:
    for n in range(int(sys.argv[3])):
        cache.put({key_of([sys.argv[2], n]): [["phrase", str(n)]]})
        print(n, flush=True)
"""


def writer(path, name, many):
    command = [sys.executable, "-c", WRITER, str(path), name, str(many)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_answers_are_found_again(tmp_path):
    answers = {key_of(n): value for n, value in enumerate([None, "A", [["x", "Y"]], []])}
    with Cache(tmp_path / "c") as cache:
        assert cache.get(answers) == {}
        cache.put(answers)
    with Cache(tmp_path / "c") as cache:
        assert cache.get([*answers, key_of("other")]) == answers


def test_what_was_answered_outlasts_kill_9(tmp_path):
    process = writer(tmp_path / "c", "a", 100_000)
    told = [process.stdout.readline() for _ in range(20)]
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with Cache(tmp_path / "c") as cache:
        assert len(cache.get(key_of(["a", int(n)]) for n in told)) == 20


def test_several_processes_share_one_file(tmp_path):
    for process in [writer(tmp_path / "c", name, 15) for name in "abc"]:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    with Cache(tmp_path / "c") as cache:
        assert len(cache.get(key_of([name, n]) for name in "abc" for n in range(15))) == 45


def test_a_changed_byte_never_changes_an_answer(tmp_path):
    path, answers = tmp_path / "c", {key_of(n): "SPAM" for n in range(5)}
    with Cache(path) as cache:
        cache.put(answers)
    data = path.read_bytes()
    for at in [*range(0, 100, 3), *(i for i, byte in enumerate(data) if byte and i >= 100)][::5]:
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        try:
            with Cache(path) as cache:
                found = cache.get(answers)
        except TrellisError as error:
            assert str(path) in str(error)  # noqa: PT017
        else:
            assert found.items() <= answers.items()


@pytest.mark.parametrize("what", [b"no database at all, but some text", b"SQLite format 3\0" + b"\1" * 5000])
def test_what_is_no_database_is_named_and_left_alone(tmp_path, what):
    (tmp_path / "c").write_bytes(what)
    told = r"c: no cache of answers, or one whose beginning is damaged .*another name, or remove it if it was a cache"
    with pytest.raises(DataError, match=told), Cache(tmp_path / "c"):
        pass
    assert (tmp_path / "c").read_bytes() == what


def test_a_damaged_answer_is_named(tmp_path):
    with Cache(tmp_path / "c") as cache:
        cache.put({"k": "SPAM"})
    (tmp_path / "c").write_bytes((tmp_path / "c").read_bytes().replace(b"SPAM", b"SPAN"))
    told = r"c: the cache is damaged \(an answer is not as it was written\); remove it, and all is asked anew"
    with Cache(tmp_path / "c") as cache, pytest.raises(DataError, match=told):
        cache.get(["k"])


def test_a_database_of_somebody_else_is_left_alone(tmp_path):
    other = sqlite3.connect(tmp_path / "c")
    other.execute("CREATE TABLE mine (x)")
    other.commit()
    other.close()
    before = (tmp_path / "c").read_bytes()
    with pytest.raises(DataError, match="no cache of answers"), Cache(tmp_path / "c"):
        pass
    assert (tmp_path / "c").read_bytes() == before


@pytest.mark.parametrize("name", [".", "no/folder"])
def test_what_cannot_be_a_file_is_told(tmp_path, name):
    with pytest.raises(FileAccessError, match="cannot be the cache"), Cache(tmp_path / name):
        pass
