"""The functions of the feature language as Python functions, each with its help."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

from trellis.features.expression import Columnar, call
from trellis.features.functions import FUNCTIONS, Argument

# what stands behind the column; in [] what may be left out
ARGUMENTS = {
    "prefix": "n",
    "suffix": "n",
    "ngrams": "n",
    "regex": '"pattern"',
    "find": '"pattern"',
    "t": '"pattern"',
    "m": '"pattern"',
    "each": '["separator"]',
    "word_ngrams": "n",
    "tags": '["column"], [n]',
    "tags_elsewhere": '["column"], [n]',
    "cluster": '"file", [n]',
    "vectors": '"file"',
    "gazetteer": '"file", ["lower"]',
    "apply": "f",
    "apply_sentence": "f, [more columns]",
    "apply_pair": "f",
}


@cache
def function(name: str) -> Any:
    """`suffix`: suffix(word, 1, 2, 3) is call("suffix", word, 1, 2, 3)."""

    def made(*given: Any, **keywords: Any) -> Columnar:
        return call(name, *given, **keywords)

    usage = ", ".join(filter(None, ["word", ARGUMENTS.get(name)]))
    lines = [f"{name}({usage}): {FUNCTIONS[name].summary}.", ""]
    if FUNCTIONS[name].many:
        lines.append("n may be several numbers, each a feature of its own.")
    lines.append(f"`word` is a column, word = column('word'). With a place it is a feature: {name}({usage})[0].")
    made.__name__ = made.__qualname__ = name
    made.__module__ = "trellis.features"  # where pickle finds it again
    made.__doc__ = "\n".join(lines)
    shown: Any = made
    shown.__signature__ = inspect.signature(_signature)
    return made


def _signature(column: Columnar, /, *arguments: Argument) -> Columnar:
    """How all of them are called."""
    raise NotImplementedError
