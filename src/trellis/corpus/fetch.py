"""`trellis data get NAME`: download a public corpus, check it, keep it as columns in the cache.

A file counts only when its SHA-256 is the registry's, so there is no marker to go stale: a cut-off,
changed or foreign file is seen on every call. All files of a set are downloaded and checked before the
first is written, so a set that turns out wrong leaves nothing behind.
"""

from __future__ import annotations

import os
from pathlib import Path

from trellis.corpus.fetch_http import Progress, download, through_mirror
from trellis.corpus.fetch_store import corpus_folder, has_digest, install, read_at_most
from trellis.corpus.fetch_text import CanonicalText, normalise
from trellis.corpus.fetch_unpack import unpack
from trellis.corpus.sources import Place, Source, Split, find_source
from trellis.errors import DownloadError, SettingError


def fetch(
    name: str,
    folder: str | Path | None = None,
    progress: Progress | None = None,
    mirror: str | None = None,
) -> Path:
    """The folder that holds the set's files (`train.txt`, ...), downloaded first unless they are there.

    `folder` is to hold the files themselves; the default is `corpora/NAME` in the cache. `mirror`, or
    $TRELLIS_MIRROR, stands in for the scheme and host of every address. Files put into the folder by
    hand, as published or gzipped, are taken when their normalised text is the right one.
    """
    source = find_source(name)
    target = corpus_folder(name) if folder is None else Path(folder).expanduser()
    missing = [split for split in source.splits if not has_digest(target / split.file, split.sha256)]
    if not missing:
        return target
    texts, refused = _put_by_hand(source, missing, target)
    if refused and folder is not None:  # in the cache they are ours to replace, elsewhere somebody's
        found = "; ".join(refused.values())
        raise SettingError(f"in the way of {name} there is {found}; move it away or choose another folder")
    downloads = _Downloads(source, mirror or os.environ.get("TRELLIS_MIRROR"), progress)
    for split in missing:
        if split.name not in texts:
            texts[split.name] = _from_places(downloads, split, target, refused.get(split.name))
    install(target, {split.file: texts[split.name] for split in missing})
    return target


def _put_by_hand(source: Source, missing: list[Split], target: Path) -> tuple[dict[str, bytes], dict[str, str]]:
    """Files that lie in the folder in another form: canonical texts, and reasons to refuse, by split name."""
    texts: dict[str, bytes] = {}
    refused: dict[str, str] = {}
    for split in missing:
        path = target / split.file
        if not path.exists():
            continue
        data = read_at_most(path, source.download_limit)
        encodings = tuple(dict.fromkeys(e for place in split.places for e in place.encodings))
        try:
            texts[split.name] = _checked(data, source, split, Place("", encodings=encodings)).data
        except DownloadError as error:
            refused[split.name] = f"{path} ({error})"
    return texts, refused


class _Downloads:
    """The downloads of one `fetch`: every URL is asked once, also when it fails or holds several splits."""

    def __init__(self, source: Source, mirror: str | None, progress: Progress | None):
        self.source = source
        self._mirror = mirror
        self._progress = progress
        self._answers: dict[str, bytes | DownloadError] = {}

    def url(self, place: Place) -> str:
        return through_mirror(place.url, self._mirror)

    def get(self, place: Place) -> bytes:
        url = self.url(place)
        if url not in self._answers:
            label = f"{self.source.name} {url.rpartition('/')[2]}"
            try:
                self._answers[url] = download(url, self.source.download_limit, label, self._progress)
            except DownloadError as error:
                self._answers[url] = error
        answer = self._answers[url]
        if isinstance(answer, DownloadError):
            raise answer
        return answer


def _from_places(downloads: _Downloads, split: Split, target: Path, refused: str | None) -> bytes:
    """The canonical text of a split from the first place that has it; `refused` is a file that was not it."""
    source = downloads.source
    tried = [] if refused is None else [refused]
    for place in split.places:
        try:
            return _checked(downloads.get(place), source, split, place).data
        except DownloadError as error:
            tried.append(f"{downloads.url(place)} ({error})")
    files = ", ".join(s.file for s in source.splits)
    raise DownloadError(
        f"{source.name} {split.name} could not be fetched; tried {'; '.join(tried)}; "
        f"check the connection, or put {files} by hand into {target}"
    )


def _checked(data: bytes, source: Source, split: Split, place: Place) -> CanonicalText:
    """Unpack, normalise and compare with the registry."""
    raw = unpack(data, place.member, source.unpacked_limit)
    text = normalise(raw, source.columns, source.form, place.encodings)
    expected = CanonicalText(text.data, split.sentences, split.tokens, split.sha256)
    if text != expected:
        raise DownloadError(f"not the expected text: expected {expected}, found {text}")
    return text
