"""Every function with arguments that fit and arguments that do not, and what it takes to evaluate it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from trellis.corpus import Column
from trellis.features.functions import FUNCTIONS, Sentences

FILES = {
    "paths": "0010\tNew\t12\n0011\tYork\t7\n01\tof\t9\n110\té\t1\n",
    "vectors.txt": "New 0.5 -1\nYork 1e-3 2\nof 0 0\n",
    "place.txt": "# names\nNew York\nYork\nthing\tBank of New York\n",
}

# name -> argument lists that fit; a name of FILES stands for the file
FITTING = {
    "prefix": [(1,), (3,)],
    "suffix": [(1,), (3,)],
    "ngrams": [(1,), (2,), (3,)],
    "regex": [("^[A-Z]",), ("o.",)],
    "find": [("[A-Z].",), ("^(.).",)],
    "t": [(r"^\u",), (r"\p$",)],
    "m": [(r"\l*$",), (r".?.?",)],
    "each": [(), (";",)],
    "word_ngrams": [(1,), (2,), (3,)],
    "tags": [(), ("pos",), (2,), ("pos", 2)],
    "tags_elsewhere": [(), ("pos",), (2,), ("pos", 2)],
    "cluster": [("paths",), ("paths", 2)],
    "vectors": [("vectors.txt",)],
    "gazetteer": [("place.txt",), ("place.txt", "lower")],
    "apply": [("initials",)],
    "apply_sentence": [("lengths",)],
    "apply_pair": [("edges",)],
}
OWN = {
    "initials": lambda word: {"first": word[:1], "length": len(word)},
    "edges": lambda before, here: (before or "^")[:1] + here[:1],
    "lengths": lambda words: [min(len(words), 3)] * len(words),
}

# name -> argument lists to refuse
WRONG = {
    "prefix": [(), (0,), (101,), ("a",), (1, 2)],
    "suffix": [(), (0,), (101,), ("a",), (1, 2)],
    "ngrams": [(), (0,), (101,), ("a",), (1, 2)],
    "regex": [(), ("",), (3,), ("a", "b"), ("(",), ("a{99999999999}",), ("(" * 5000 + ")" * 5000,)],
    "find": [(), ("",), (3,), ("a", "b"), ("*",)],
    "t": [(), ("",), (3,), ("a", "b"), ("*",), ("a**",), ("\\",), ("x" * 501,)],
    "m": [(), ("",), (3,), ("a", "b"), ("^?",), ("a?*",), ("a\\",)],
    "each": [("",), (3,), ("|", ";")],
    "word_ngrams": [(), (0,), (11,), ("a",), (1, 2)],
    "tags_elsewhere": [("",), (0,), (2, "pos")],
    "tags": [("",), (0,), (2, "pos"), ("pos", 0), ("pos", 1, 2), ("pos", "word")],
    "cluster": [(), (4,), ("",), ("-",), ("f", 0), ("f", "4"), ("f", 1, 2)],
    "vectors": [(), (4,), ("",), ("-",), ("f", "g")],
    "gazetteer": [(), (4,), ("",), ("-",), ("f", "upper"), ("f", "lower", "lower")],
    "apply": [(), (3,), ("f", "g")],
    "apply_sentence": [(), (3,), ("f", 3)],
    "apply_pair": [(), (3,), ("f", "g")],
}
NONE = [(3,), ("a",)]  # for functions of the column alone


def fitting(name):
    return FITTING.get(name, [()])


def wrong(name):
    return WRONG.get(name, NONE)


ALL_FITTING = [(name, arguments) for name in FUNCTIONS for arguments in fitting(name)]
ALL_WRONG = [(name, arguments) for name in FUNCTIONS for arguments in wrong(name)]
WITH_RESOURCE = [(name, a) for name, a in ALL_FITTING if FUNCTIONS[name].restore is not None]


def placed(arguments, folder):
    """The arguments with the files of FILES in a folder."""
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return tuple(str(folder / a) if a in FILES else a for a in arguments)


def resource_for(name, arguments):
    """What the function looks things up in: from its file, or from a little training data."""
    function = FUNCTIONS[name]
    if function.load is not None:
        return function.load(arguments)
    if function.learn is not None:
        words = Column.of(["New", "York", "of", "New", "of", "York"])
        return function.learn(words, Column.of(["J", "N", "P", "N", "P", "N"]), arguments)
    if function.given is not None:
        return function.given(arguments, OWN)
    return None


def per_token(name, sentences, resource, arguments):
    """The rows of every token of sentences (lists of strings), as the templates' machinery would have them."""
    function = FUNCTIONS[name]
    flat = [word for sentence in sentences for word in sentence]
    column = Column.of(flat)
    if function.of_sentence is not None:
        offsets = np.cumsum([0, *map(len, sentences)], dtype=np.int64)
        found = function.of_sentence(Sentences((column,), offsets), resource, arguments)
        assert found.which.dtype == np.int32
        return [found.rows[i] for i in found.which.tolist()]
    if function.values is not None:
        found = function.values(column.strings, resource, arguments)
        pairs = [(found.names[v], w) for v, w in zip(found.value.tolist(), found.weight.tolist(), strict=True)]
        rows = [tuple(pairs[a:b]) for a, b in pairwise(found.start.tolist())]
    elif function.rows is not None:
        rows = function.rows(column.strings, resource, arguments)
    else:
        values = function.of_type(column.strings, resource, arguments)
        rows = [() if value is None else ((value, 1.0),) for value in values]
    return [rows[i] for i in column.ids.tolist()]
