"""Words of a whole text that stands in one field: `word_ngrams(text, 1, 2)`, and how long it is.

A text is taken apart in a simple way, the same for all languages that have spaces: a run of letters and digits is a
word, with apostrophes inside, in lower case; any other sign that is no space is a word by itself.

    Don't miss it: WWW.x-y.com  ->  don't, miss, it, :, www, ., x, -, y, ., com
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from trellis.features.functions.checks import listed
from trellis.features.functions.contract import Arguments, Function, Resource, Row, no_arguments

MOST_WORDS = 10  # of an n-gram
# letters and digits of all scripts are in \w; not so the marks that some scripts write as signs of their own: accents,
# points, the vowels of India and Thailand
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0963\u0966-\u0dff\u0e31-\u0e4e\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
)
_RUN = rf"(?:[^\W_]|[{_MARKS}])+"
_WORD = re.compile(rf"{_RUN}(?:'{_RUN})*|[^\w\s]|_")
_LEAST = [0, 1, 4, 8, 16, 32, 64, 128, 256]
_LENGTHS = ["0", "1-3", "4-7", "8-15", "16-31", "32-63", "64-127", "128-255", "256+"]


def words_in(text: str) -> list[str]:
    """As at the top of this file."""
    return _WORD.findall(text.lower().replace("\u2019", "'"))


def _check(arguments: Arguments) -> None:
    if len(arguments) != 1 or not isinstance(arguments[0], int) or not 1 <= arguments[0] <= MOST_WORDS:
        raise ValueError(f"needs whole numbers of words from 1 to {MOST_WORDS}; found {listed(arguments)}")


def _word_ngrams(strings: Sequence[str], _: Resource | None, arguments: Arguments) -> list[Row]:
    n, rows = int(arguments[0]), []
    for string in strings:
        words = words_in(string)
        found = words if n == 1 else [" ".join(words[k : k + n]) for k in range(len(words) - n + 1)]
        rows.append(tuple([(one, 1.0) for one in dict.fromkeys(found)]))
    return rows


def _word_count(strings: Sequence[str], _: Resource | None, arguments: Arguments) -> list[str | None]:
    return [_LENGTHS[bisect_right(_LEAST, len(words_in(s))) - 1] for s in strings]


WORD_NGRAMS = Function(
    "word_ngrams", "every n words in a row of a text, in lower case, each once", _check, rows=_word_ngrams, many=True
)
WORD_COUNT = Function(
    "word_count", "how many words a text has: 0, 1-3, 4-7, 8-15, ... 256+", no_arguments, of_type=_word_count
)
