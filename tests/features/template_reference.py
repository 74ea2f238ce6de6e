r"""The slow, obvious way: every attribute of every token as a string, straight from the text of a template file.

Shares no code with `src/`. Written from the documentation of CRF++ and from what Wapiti does:

    %x[row,col]          the string there          %t[row,col,"pattern"]   true or false: is the pattern found?
    %m[row,col,"..."]    the text that matches     %X %T %M                the same in lower case
    row                  from here; with @ from the sentence's start (@1 is its first token) or end (@-1 its last)
"""

from __future__ import annotations

import re
import string
import unicodedata
from functools import cache

_MACRO = re.compile(r'%([xXtTmM])\[\s*(@?)\s*([+-]?\d+)\s*,\s*(\w+)\s*(?:,\s*"((?:[^"\\]|\\.)*)"\s*)?\]')

_CLASSES = {
    "d": str.isdigit,
    "a": str.isalpha,
    "w": str.isalnum,
    "l": str.islower,
    "u": str.isupper,
    "p": lambda c: c in string.punctuation or unicodedata.category(c)[0] in "PS",
    "s": str.isspace,
}


def attributes_of(columns, text, wapiti=False):
    """`columns`: name -> sentences of strings. For each token of the corpus, the attributes of its label."""
    lines = [line for line in lines_of(text, list(columns), wapiti) if line[0] in "Uu*"]
    return _expanded(columns, lines, wapiti)


def transition_attributes_of(columns, text, wapiti=False):
    """The same for attributes of the transition into a token. Lines without macros are the transitions themselves."""
    lines = [line for line in lines_of(text, list(columns), wapiti) if line[0] in "Bb*" and _MACRO.search(line)]
    return _expanded(columns, lines, wapiti)


def lines_of(text, names, wapiti):
    """The templates of a file without comments, each once."""
    found = {}
    for line in text.split("\n"):
        if wapiti:
            line = re.sub(r"\s*#.*", "", line.strip())
            line = line[:1].lower() + line[1:]
        else:
            line = "" if line.lstrip().startswith("#") else line.strip()
        if line:
            found.setdefault(tuple(_pieces(line, names)), line)
    return list(found.values())


def _expanded(columns, lines, wapiti):
    templates = [_pieces(line, list(columns)) for line in lines]
    return [
        ["".join(_value(piece, columns, s, t, wapiti) for piece in pieces) for pieces in templates]
        for s, sentence in enumerate(next(iter(columns.values())))
        for t in range(len(sentence))
    ]


def _pieces(line, names):
    """The line as literals (str) and macros (command, absolute, row, column, pattern)."""
    pieces, at = [], 0
    for macro in _MACRO.finditer(line):
        column = macro[4] if macro[4] in names else names[int(macro[4])]
        pattern = macro[5] and re.sub(r"\\(.)", lambda escape: '"' if escape[1] == '"' else escape[0], macro[5])
        pieces += [line[at : macro.start()], (macro[1], bool(macro[2]), int(macro[3]), column, pattern)]
        at = macro.end()
    return [*pieces, line[at:]]


def _value(piece, columns, s, t, wapiti):
    if isinstance(piece, str):
        return piece
    command, absolute, row, column, pattern = piece
    sentence = columns[column][s]
    if not absolute:
        at = t + row
    elif row < 0:
        at = len(sentence) + row
    else:
        at = row - 1
    if at < 0:
        value = _outside("-", -at, wapiti)
    elif at >= len(sentence):
        value = _outside("+", at - len(sentence) + 1, wapiti)
    else:
        value = sentence[at]
    if command in "tT":
        value = "false" if matched(pattern, value) is None else "true"
    elif command in "mM":
        value = matched(pattern, value) or ""
    return value.lower() if command.isupper() else value


def _outside(sign, distance, wapiti):
    if not wapiti:
        return f"_B{sign}{distance}"
    return f"_x{sign}{distance if distance <= 4 else '#'}"


@cache
def matched(pattern, text):
    """The text that Wapiti's pattern matches, None if there is none: the first start from the left that fits."""
    if pattern.startswith("^"):
        return _from_here(pattern[1:], text)
    found = (_from_here(pattern, text[start:]) for start in range(len(text) + 1))
    return next((match for match in found if match is not None), None)


def _from_here(pattern, text):
    """What the pattern matches at the start of the text."""
    if pattern == "":
        return ""
    if pattern == "$":
        return "" if text == "" else None
    width = 2 if pattern[0] == "\\" else 1
    one, rest = pattern[:width], pattern[width:]
    fits = text != "" and _fits(one, text[0])
    if rest.startswith("*"):
        match = _from_here(rest[1:], text)  # none first
        return match if match is not None else _and_then(pattern, text, fits)
    if rest.startswith("?"):
        match = _and_then(rest[1:], text, fits)  # one first
        return match if match is not None else _from_here(rest[1:], text)
    return _and_then(rest, text, fits)


def _and_then(pattern, text, fits):
    """The first character and what the pattern matches behind it."""
    match = _from_here(pattern, text[1:]) if fits else None
    return None if match is None else text[0] + match


def _fits(one, c):
    if one == ".":
        return True
    if one[0] != "\\":
        return one == c
    if one[1] in _CLASSES:
        return _CLASSES[one[1]](c)
    if one[1].lower() in _CLASSES and one[1] in string.ascii_uppercase:
        return not _CLASSES[one[1].lower()](c)
    return one[1] == c
