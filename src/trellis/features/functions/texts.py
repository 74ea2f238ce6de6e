"""Whole texts: `words(text, 1, 2)` are the words of a text and its pairs of neighbouring words, each a value.

A word is a run of letters and digits of any script, with apostrophes inside, in lower case; any other sign that is no
space is a word by itself.

    Don't miss it: WWW.x-y.com  ->  don't, miss, it, :, www, ., x, -, y, com
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, islice

import numpy as np

from trellis.features.functions.checks import is_count, listed
from trellis.features.functions.contract import Arguments, Function, Resource, Values
from trellis.features.functions.parts import NOTHING

# Python's \w has the letters and digits of all scripts, and _; not the marks that some scripts write as signs of their
# own: accents, points, the vowels of India and Thailand
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0963\u0966-\u0dff\u0e31-\u0e4e\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
)
_RUN = rf"(?:[^\W_]|[{_MARKS}])+"
_WORD = re.compile(rf"[^\W_](?:{_RUN})?(?:'{_RUN})*|[^\w\s]|_")


def words_of(text: str) -> list[str]:
    """The words of a text, in order."""
    return _WORD.findall(text.lower().replace("\u2019", "'"))


def _check(arguments: Arguments) -> None:
    if arguments and (len(arguments) > 1 or not is_count(arguments[0])):
        raise ValueError(f"needs no argument or one whole number from 1 to 100; found {listed(arguments)}")


def _words(strings: Sequence[str], _: Resource | None, arguments: Arguments) -> Values:
    n = int(arguments[0]) if arguments else 1
    index: dict[str, int] = {}
    start, value = [0], []
    for text in strings:
        words = [] if text == NOTHING else words_of(text)
        grams = words if n == 1 else map(" ".join, zip(*(islice(words, k, None) for k in range(n)), strict=False))
        value.append([index.setdefault(gram, len(index)) for gram in dict.fromkeys(grams)])
        start.append(start[-1] + len(value[-1]))
    flat = np.fromiter(chain.from_iterable(value), np.int64, start[-1])
    return Values(list(index), np.array(start, np.int64), flat, np.ones(len(flat)))


WORDS = Function(
    "words", "every n words of a text in a row, in lower case, each once", _check, values=_words, many=True
)
