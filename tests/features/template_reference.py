"""The slow, obvious way: every attribute of every token as a string."""

from __future__ import annotations

import re

_MACRO = re.compile(r"%x\[(-?\d+),(\w+)\]")


def attributes_of(columns, templates):
    """`columns`: name -> sentences of strings. For each token of the corpus, one string a template."""
    first = next(iter(columns.values()))
    return [
        [_expand(template, columns, s, t) for template in templates]
        for s, sentence in enumerate(first)
        for t in range(len(sentence))
    ]


def _expand(template, columns, s, t):
    def value(macro):
        sentence, at = columns[macro[2]][s], t + int(macro[1])
        if at < 0:
            return f"_B-{-at}"
        if at >= len(sentence):
            return f"_B+{at - len(sentence) + 1}"
        return sentence[at]

    return _MACRO.sub(value, template)
