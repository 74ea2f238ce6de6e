"""`fetch` against a server on this machine: what it downloads, refuses, keeps and says."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from trellis.corpus import fetch_http, fetch_store, sources
from trellis.corpus.fetch import fetch
from trellis.corpus.sources import Place, Source, Split
from trellis.errors import DownloadError, FileAccessError, SettingError

TRAIN = "El DA O\nNiño NC B-PER\n\nSí RG O\n\n".encode()
TEST = b"Ya RG O\n\n"
HOST = "https://corpora.invalid"

Add = Callable[..., Source]
Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Site:
    """What the server answers by path, and which paths were asked for."""

    pages: dict[str, bytes] = field(default_factory=dict)
    special: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Site]:
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append(self.path)
            if self.path in site.special:
                site.special[self.path](self)
            elif self.path in site.pages:
                self.send_response(200)
                self.send_header("Content-Length", str(len(site.pages[self.path])))
                self.end_headers()
                self.wfile.write(site.pages[self.path])
            else:
                self.send_error(404)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        site.url = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("no_proxy", "*")
        monkeypatch.setenv("TRELLIS_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("TRELLIS_MIRROR", site.url)
        yield site
        server.shutdown()
        thread.join()


def split(name: str, text: bytes, *places: Place) -> Split:
    sentences = text.count(b"\n\n")
    tokens = text.count(b"\n") - sentences
    return Split(name, sentences, tokens, hashlib.sha256(text).hexdigest(), places)


@pytest.fixture
def add(monkeypatch: pytest.MonkeyPatch) -> Add:
    """Put a made-up set named `tiny` into the registry."""

    def add(*splits: Split, **options: int) -> Source:
        source = Source("tiny", "made up", ("word", "pos", "ner"), "none", HOST, splits)
        source = replace(source, **options)  # type: ignore[arg-type]
        monkeypatch.setitem(sources.SOURCES, "tiny", source)
        return source

    return add


def zipped(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(f"tiny/{name}", data)
    return buffer.getvalue()


def everything_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_gzip_and_plain_are_fetched_into_the_cache(site: Site, add: Add, tmp_path: Path) -> None:
    site.pages = {"/a/train.gz": gzip.compress(TRAIN), "/a/test": TEST}
    add(split("train", TRAIN, Place(f"{HOST}/a/train.gz")), split("test", TEST, Place(f"{HOST}/a/test")))
    folder = fetch("tiny")
    assert folder == tmp_path / "cache" / "corpora" / "tiny"
    assert (folder / "train.txt").read_bytes() == TRAIN
    assert everything_in(folder) == ["test.txt", "train.txt"]


def test_a_zip_with_several_splits_is_downloaded_once(site: Site, add: Add) -> None:
    site.pages = {"/tiny.zip": zipped(train=TRAIN, test=TEST)}
    place = Place(f"{HOST}/tiny.zip")
    add(
        split("train", TRAIN, replace(place, member="tiny/train")),
        split("test", TEST, replace(place, member="tiny/test")),
    )
    assert (fetch("tiny") / "test.txt").read_bytes() == TEST
    assert site.asked == ["/tiny.zip"]


def test_other_encodings_line_ends_and_blank_lines_lead_to_the_same_text(site: Site, add: Add) -> None:
    messy = "\n" + TRAIN.decode().replace(" ", "\t").replace("\n", " \r\n").rstrip()
    site.pages = {"/train": messy.encode("latin-1")}
    add(split("train", TRAIN, Place(f"{HOST}/train", encodings=("utf-8", "latin-1"))))
    assert (fetch("tiny") / "train.txt").read_bytes() == TRAIN


def test_a_fetched_set_is_not_asked_for_again(site: Site, add: Add) -> None:
    site.pages = {"/train": TRAIN}
    add(split("train", TRAIN, Place(f"{HOST}/train")))
    assert fetch("tiny") == fetch("tiny")
    assert site.asked == ["/train"]


def test_only_the_damaged_file_of_a_set_is_fetched_again(site: Site, add: Add) -> None:
    site.pages = {"/train": TRAIN, "/test": TEST}
    add(split("train", TRAIN, Place(f"{HOST}/train")), split("test", TEST, Place(f"{HOST}/test")))
    folder = fetch("tiny")
    (folder / "train.txt").write_bytes(TRAIN[:7])
    (folder / ".train.txt.0123.part").write_bytes(TRAIN)
    fetch("tiny")
    assert (folder / "train.txt").read_bytes() == TRAIN
    assert site.asked == ["/train", "/test", "/train"]


def test_the_next_place_is_tried_after_404_and_after_wrong_text(site: Site, add: Add) -> None:
    site.pages = {"/wrong": TEST, "/right": TRAIN}
    add(split("train", TRAIN, *(Place(f"{HOST}/{page}") for page in ("gone", "wrong", "right", "unasked"))))
    assert (fetch("tiny") / "train.txt").read_bytes() == TRAIN
    assert site.asked == ["/gone", "/wrong", "/right"]


def test_wrong_text_is_refused_with_both_digests_and_leaves_nothing(site: Site, add: Add, tmp_path: Path) -> None:
    site.pages = {"/train": TRAIN, "/test": TRAIN}
    add(split("train", TRAIN, Place(f"{HOST}/train")), split("test", TEST, Place(f"{HOST}/test")))
    with pytest.raises(DownloadError) as caught:
        fetch("tiny")
    message = str(caught.value)
    assert f"expected sha256 {hashlib.sha256(TEST).hexdigest()} (1 sentences, 1 tokens)" in message
    assert f"found sha256 {hashlib.sha256(TRAIN).hexdigest()} (2 sentences, 3 tokens)" in message
    assert "\n" not in message
    assert not (tmp_path / "cache").exists()


def _cut_off(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(TRAIN)))
    handler.end_headers()
    handler.wfile.write(TRAIN[:10])


def _cut_off_chunks(handler: BaseHTTPRequestHandler) -> None:
    handler.protocol_version = "HTTP/1.1"
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b"ff\r\nEl DA O\n")


def _endless(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(TRAIN * 1000)
    except OSError:
        handler.close_connection = True


def _to_a_file(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(302)
    handler.send_header("Location", "file:///etc/hostname")
    handler.end_headers()


def _not_http(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"SSH-2.0-nobody\r\n")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (_cut_off, f"closed after 10 of {len(TRAIN)} bytes"),
        (_cut_off_chunks, "the connection broke"),
        (_endless, "more than the 4096 bytes allowed"),
        (_to_a_file, "the server answered 302"),
        (_not_http, "no connection: SSH-2.0-nobody"),
    ],
)
def test_bad_answers_are_one_clear_line(
    site: Site,
    add: Add,
    tmp_path: Path,
    answer: Answer,
    reason: str,
) -> None:
    site.special = {"/train": answer}
    add(split("train", TRAIN, Place(f"{HOST}/train")), download_limit=4096)
    with pytest.raises(DownloadError) as caught:
        fetch("tiny")
    message = str(caught.value)
    assert reason in message
    assert f"{site.url}/train" in message
    assert f"by hand into {tmp_path / 'cache' / 'corpora' / 'tiny'}" in message
    assert "\n" not in message
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("page", "member", "reason"),
    [
        (b"x" * 5000, None, "5000 bytes, more than the 4096 allowed"),
        (gzip.compress(TRAIN)[:-9], None, "damaged gzip file"),
        (gzip.compress(b"a b c\n" * 100_000), None, "unpacks to more than 8192 bytes"),
        (zipped(train=b"a b c\n" * 100_000), "tiny/train", "unpacks to more than 8192 bytes"),
        (zipped(train=TRAIN), "tiny/test", "the zip archive has no tiny/test"),
        (zipped(train=TRAIN)[:-30], "tiny/train", "damaged zip archive"),
        (TRAIN, "tiny/train", "damaged zip archive"),
        (b"<html>log in</html>", None, "line 1 has 2 columns, 3 were expected"),
        (b"\xff\xfe", None, "the text is not utf-8"),
    ],
)
def test_bad_downloads_are_refused(site: Site, add: Add, page: bytes, member: str | None, reason: str) -> None:
    site.pages = {"/train": page}
    add(split("train", TRAIN, Place(f"{HOST}/train", member)), download_limit=4096, unpacked_limit=8192)
    with pytest.raises(DownloadError, match=reason):
        fetch("tiny")


def test_a_silent_server_is_given_up(site: Site, add: Add, monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()

    def silent(handler: BaseHTTPRequestHandler) -> None:
        done.wait(10)

    site.special = {"/train": silent}
    monkeypatch.setattr(fetch_http, "TIMEOUT", 0.1)
    add(split("train", TRAIN, Place(f"{HOST}/train")))
    with pytest.raises(DownloadError, match="no connection: timed out"):
        fetch("tiny")
    done.set()


def test_a_dripping_server_is_given_up(site: Site, add: Add, monkeypatch: pytest.MonkeyPatch) -> None:
    site.special = {"/train": _endless}
    monkeypatch.setattr(fetch_http, "DEADLINE", 0.0)
    add(split("train", TRAIN, Place(f"{HOST}/train")))
    with pytest.raises(DownloadError, match="not finished after 0 seconds"):
        fetch("tiny")


def test_a_server_that_keeps_the_connection_open_is_not_waited_for(
    site: Site, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = threading.Event()

    def keep_open(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(TRAIN)))
        handler.end_headers()
        handler.wfile.write(TRAIN)
        done.wait(10)

    site.special = {"/train": keep_open}
    monkeypatch.setattr(fetch_http, "TIMEOUT", 1.0)
    add(split("train", TRAIN, Place(f"{HOST}/train")))
    assert (fetch("tiny") / "train.txt").read_bytes() == TRAIN
    done.set()


def test_no_server_at_all(site: Site, add: Add) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    add(split("train", TRAIN, Place(f"{HOST}/train")))
    with pytest.raises(DownloadError, match=r"no connection: .*check the connection, or put train\.txt by hand"):
        fetch("tiny", mirror=f"http://127.0.0.1:{port}")


def test_progress_is_reported(site: Site, add: Add) -> None:
    site.pages = {"/a/train.txt": TRAIN}
    add(split("train", TRAIN, Place(f"{HOST}/a/train.txt")))
    calls: list[tuple[int, int | None, str]] = []
    fetch("tiny", progress=lambda done, total, label: calls.append((done, total, label)))
    assert calls[0] == (0, len(TRAIN), "tiny train.txt")
    assert calls[-1] == (len(TRAIN), len(TRAIN), "tiny train.txt")


def test_files_put_by_hand_are_taken_without_a_request(site: Site, add: Add, tmp_path: Path) -> None:
    add(split("train", TRAIN, Place(f"{HOST}/train")))
    folder = fetch_store.corpus_folder("tiny")
    folder.mkdir(parents=True)
    (folder / "train.txt").write_bytes(gzip.compress(TRAIN.replace(b"\n", b"\r\n")))
    assert (fetch("tiny") / "train.txt").read_bytes() == TRAIN
    assert site.asked == []


def test_a_wrong_file_put_by_hand_is_named_when_the_download_fails_too(site: Site, add: Add) -> None:
    add(split("train", TRAIN, Place(f"{HOST}/train")))
    path = fetch_store.corpus_folder("tiny") / "train.txt"
    path.parent.mkdir(parents=True)
    path.write_bytes(TEST)
    with pytest.raises(DownloadError, match=r"train\.txt \(not the expected text"):
        fetch("tiny")
    assert path.read_bytes() == TEST


def test_a_file_of_the_users_own_is_never_replaced(site: Site, add: Add, tmp_path: Path) -> None:
    site.pages = {"/train": TRAIN}
    add(split("train", TRAIN, Place(f"{HOST}/train")))
    (tmp_path / "train.txt").write_bytes(TEST)
    with pytest.raises(SettingError, match="move it away or choose another folder"):
        fetch("tiny", folder=tmp_path)
    assert (tmp_path / "train.txt").read_bytes() == TEST
    assert site.asked == []


def test_a_folder_can_be_chosen(site: Site, add: Add, tmp_path: Path) -> None:
    site.pages = {"/train": TRAIN}
    add(split("train", TRAIN, Place(f"{HOST}/train")))
    assert fetch("tiny", folder=str(tmp_path / "here")) == tmp_path / "here"
    assert everything_in(tmp_path) == ["here/train.txt"]


def test_a_full_disk_leaves_no_temporary_files(
    site: Site, add: Add, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    site.pages = {"/train": TRAIN, "/test": TEST}
    add(split("train", TRAIN, Place(f"{HOST}/train")), split("test", TEST, Place(f"{HOST}/test")))
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileAccessError, match="No space left"):
        fetch("tiny")
    assert everything_in(tmp_path) == []


@pytest.mark.parametrize("mirror", ["file:///tmp", "ftp://host", "corpora.example", "http://me:secret@host"])
def test_a_mirror_must_be_a_plain_http_address(site: Site, add: Add, mirror: str) -> None:
    add(split("train", TRAIN, Place(f"{HOST}/train")))
    with pytest.raises(SettingError) as caught:
        fetch("tiny", mirror=mirror)
    assert "secret" not in str(caught.value)


def test_two_processes_at_once_leave_a_whole_result(site: Site, tmp_path: Path) -> None:
    text = TRAIN * 20_000
    together = threading.Barrier(2)

    def both_first(handler: BaseHTTPRequestHandler) -> None:
        together.wait(30)
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(text)

    site.special = {"/train": both_first}
    wanted = split("train", text, Place(f"{HOST}/train"))
    program = (
        "from trellis.corpus import sources\n"
        "from trellis.corpus.sources import Place, Source, Split\n"
        "from trellis.corpus.fetch import fetch\n"
        f"sources.SOURCES['tiny'] = Source('tiny', '', ('w', 'p', 'n'), '', '', ({wanted!r},))\n"
        "print(fetch('tiny'))\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    folders = {process.communicate(timeout=60)[0].strip() for process in running}
    assert [process.returncode for process in running] == [0, 0]
    assert folders == {str(tmp_path / "cache" / "corpora" / "tiny")}
    assert everything_in(tmp_path) == ["cache/corpora/tiny/train.txt"]
    assert (Path(folders.pop()) / "train.txt").read_bytes() == text
