"""The corpora that `fetch` knows: what each is, where it is published and what its text must hash to.

Adding a set is one entry in `SOURCES`. The digest is of the *normalised* text (fetch_text.py), so every
place a set is published at may have its own archive, encoding and line ends and still be checked against
the one canonical text. What the digests and addresses rest on is written beside each entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trellis.errors import SettingError

MIB = 1 << 20


@dataclass(frozen=True)
class Place:
    """One address to try; `member` is the file inside a zip archive (gzip is recognised by its bytes).

    Encodings are tried in turn: UTF-8 refuses what is not UTF-8, Latin-1 accepts anything, so it comes last.
    """

    url: str
    member: str | None = None
    encodings: tuple[str, ...] = ("utf-8",)


@dataclass(frozen=True)
class Split:
    """One file of a set: sizes and SHA-256 of its normalised text, and the places to try in order."""

    name: str
    sentences: int
    tokens: int
    sha256: str
    places: tuple[Place, ...]

    @property
    def file(self) -> str:
        return f"{self.name}.txt"


@dataclass(frozen=True)
class Source:
    """A public set. `form` is how it is published; it is always kept as columns. Limits are in bytes."""

    name: str
    about: str
    columns: tuple[str, ...]
    licence: str
    page: str
    splits: tuple[Split, ...]
    form: Literal["columns", "conllu"] = "columns"
    download_limit: int = 32 * MIB
    unpacked_limit: int = 64 * MIB


_NLTK = "https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/corpora"
_TEROPA = "https://raw.githubusercontent.com/teropa/nlp/master/resources/corpora"
_UTF8_OR_LATIN1 = ("utf-8", "latin-1")


def _conll2000(name: str) -> tuple[Place, ...]:
    """The shared task's own page, then two copies of its files."""
    return (
        Place(f"https://www.clips.uantwerpen.be/conll2000/chunking/{name}.txt.gz"),
        Place(f"{_NLTK}/conll2000.zip", member=f"conll2000/{name}.txt"),
        Place(f"{_TEROPA}/conll2000/{name}.txt"),
    )


def _conll2002(name: str) -> tuple[Place, ...]:
    """The Spanish files with part-of-speech tags. The task's own page has them without, so it cannot serve;
    the annotators' page at UPC has them in Latin-1, the copies in UTF-8."""
    return (
        Place(f"{_NLTK}/conll2002.zip", member=f"conll2002/{name}", encodings=_UTF8_OR_LATIN1),
        Place(f"https://www.cs.upc.edu/~nlp/tools/nerc/{name}.gz", encodings=_UTF8_OR_LATIN1),
        Place(f"{_TEROPA}/conll2002/{name}", encodings=_UTF8_OR_LATIN1),
        Place(f"https://bj.bcebos.com/paddlenlp/datasets/conll2002/{name}", encodings=_UTF8_OR_LATIN1),
    )


def _ewt(name: str) -> tuple[Place, ...]:
    """Release 2.16 by its tag, then by the commit the tag names, should the tag ever move."""
    repository = "UniversalDependencies/UD_English-EWT"
    commit = "4c89b5833a70aa5ed3a00bad2f23f57992cc7df8"
    file = f"en_ewt-ud-{name}.conllu"
    return (
        Place(f"https://raw.githubusercontent.com/{repository}/r2.16/{file}"),
        Place(f"https://github.com/{repository}/raw/{commit}/{file}"),
    )


# The task's own .gz unpack to exactly this text: torchtext records the same MD5s of the unpacked files, and
# a Julia loader of the same address the same SHA-256s.
_CONLL2000 = Source(
    name="conll2000",
    about="English chunking, Wall Street Journal sections 15-18 and 20",
    columns=("word", "pos", "chunk"),
    licence="none stated; Wall Street Journal text",
    page="https://www.clips.uantwerpen.be/conll2000/chunking/",
    splits=(
        Split(
            "train", 8936, 211727,
            "82033cd7a72b209923a98007793e8f9de3abc1c8b79d646c50648eb949b87cea", _conll2000("train"),
        ),
        Split(
            "test", 2012, 47377,
            "73b7b1e565fa75a1e22fe52ecdf41b6624d6f59dacb591d44252bf4d692b1628", _conll2000("test"),
        ),
    ),
)  # fmt: skip

# The same bytes as the copies PaddleNLP publishes (their MD5s agree). The Dutch half is not here: its
# normalised text was never at hand to take a digest of.
_CONLL2002_ES = Source(
    name="conll2002-es",
    about="Spanish named entities, EFE news wire of May 2000",
    columns=("word", "pos", "ner"),
    licence="research only",
    page="https://www.clips.uantwerpen.be/conll2002/ner/",
    splits=(
        Split(
            "train", 8323, 264715,
            "a20d95cab7d88a19a86f8c1ad6329325c99fbd9529ed978cbd7e31d4b01b4008", _conll2002("esp.train"),
        ),
        Split(
            "testa", 1915, 52923,
            "85c17793b77881c53d19017d9d0f1e6fb98b7ddcab54a5f24b05ed1793103c87", _conll2002("esp.testa"),
        ),
        Split(
            "testb", 1517, 51533,
            "1f8f7a392c6d4979a5592a5794eed43d7869b46da6851bbcde99714149f1d016", _conll2002("esp.testb"),
        ),
    ),
)  # fmt: skip

# Release 2.16 told by its stats.xml: words of each split, all 17 UPOS and all 63 feature counts agree.
_UD_EN_EWT = Source(
    name="ud-en-ewt",
    about="English Web Treebank, Universal Dependencies 2.16",
    columns=("word", "upos", "xpos", "feats", "upos|feats"),
    licence="CC BY-SA 4.0",
    page="https://github.com/UniversalDependencies/UD_English-EWT",
    form="conllu",
    splits=(
        Split(
            "train", 12544, 204577,
            "14a616a08b0f0ed1bf458e12e1da8d0f340f56ea9413836c588a08e43169c8b2", _ewt("train"),
        ),
        Split(
            "dev", 2001, 25147,
            "209240cece2460acfcf5c9759167f882a7e6aeb092d02ce67ba4dbd688c79d36", _ewt("dev"),
        ),
        Split(
            "test", 2077, 25094,
            "0aec7b7d3b98ba79c836d1014dfffe212bce0ab72950ad67fafea7d2e13105c5", _ewt("test"),
        ),
    ),
)  # fmt: skip

SOURCES: dict[str, Source] = {source.name: source for source in (_CONLL2000, _CONLL2002_ES, _UD_EN_EWT)}


def find_source(name: str) -> Source:
    """The set of that name, or a SettingError that lists the known ones."""
    try:
        return SOURCES[name]
    except KeyError:
        known = ", ".join(sorted(SOURCES))
        raise SettingError(f"no corpus is named {name!r}; known are {known}") from None
