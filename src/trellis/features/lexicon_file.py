"""Lexicons as text files: a word on each line, or a word, a tab and a label.

Lines that begin with # and a space are comments; two of these mean something, as `Lexicon.save` writes them:

    # unknown<TAB>8            how long unknown words may be
    # unknown label<TAB>NN     a label that they may have, one line for each
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from trellis.errors import DataError, shown
from trellis.features.functions.reading import decoded, numbered_lines
from trellis.files import write_atomically

_UNKNOWN, _LABEL = "# unknown\t", "# unknown label\t"


def read_words(path: str, label: str) -> tuple[dict[str, list[str]], int | None, list[str]]:
    """Words with their labels (`label` for those without), and what a lexicon said of unknown words when it was
    saved."""
    words: dict[str, list[str]] = {}
    unknown: int | None = None
    labels: list[str] = []
    for number, raw in numbered_lines(path):
        line = decoded(raw, path, number).rstrip("\r\n")
        if line.startswith(_UNKNOWN):
            unknown = _length(line.removeprefix(_UNKNOWN), path, number)
        elif line.startswith(_LABEL):
            labels.append(line.removeprefix(_LABEL))
        elif line and not line.startswith("# "):
            word, tab, own = line.partition("\t")
            if not word or (tab and not own) or "\t" in own:
                raise DataError("expected a word, or a word, a tab and a label", path, number)
            words.setdefault(word, []).append(own or label)
    if not words:
        raise DataError("no word here; expected one on each line", path)
    return words, unknown, labels


def write_words(path: str | Path, words: Mapping[str, Sequence[str]], unknown: int, labels: Sequence[str]) -> None:
    """A file that `read_words` gives back as it was."""
    for what, texts in (("word", words), ("label", [*labels, *(one for own in words.values() for one in own)])):
        for text in texts:
            if not text or text.startswith("# ") or any(c in text for c in "\t\r\n") or not _is_text(text):
                raise DataError(
                    f"a file cannot hold the {what} {shown(text)}: it is empty, has a tab or a line end, begins as a "
                    "comment does, or is no text"
                )
    lines = [f"{_UNKNOWN}{unknown}\n", *(f"{_LABEL}{label}\n" for label in labels)]
    lines += [f"{word}\t{label}\n" for word, own in words.items() for label in own]
    write_atomically(path, "".join(lines).encode())


def _length(text: str, path: str, number: int) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 9 and int(text) >= 1):
        raise DataError(f"unknown words of '{text}' characters; expected a whole number >= 1", path, number)
    return int(text)


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
