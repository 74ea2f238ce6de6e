"""Where in the sentence a token is: `is_first` and `is_last` are `true` at its ends."""

from __future__ import annotations

import numpy as np

from trellis.features.functions.contract import Arguments, Function, Resource, Rows, Sentences, no_arguments

_TRUE = ((), (("true", 1.0),))


def _is_first(sentences: Sentences, _: Resource | None, arguments: Arguments) -> Rows:
    return _at(sentences, 0, 0)


def _is_last(sentences: Sentences, _: Resource | None, arguments: Arguments) -> Rows:
    return _at(sentences, 1, -1)


def _at(sentences: Sentences, edge: int, step: int) -> Rows:
    """True at `step` from the start (edge 0) or the end (edge 1) of every sentence that has tokens."""
    offsets = sentences.offsets
    full = np.flatnonzero(np.diff(offsets))
    which = np.zeros(int(offsets[-1]), np.int32)
    which[offsets[full + edge] + step] = 1
    return Rows(which, _TRUE)


IS_FIRST = Function("is_first", "whether the token is the first of its sentence", no_arguments, of_sentence=_is_first)
IS_LAST = Function("is_last", "whether the token is the last of its sentence", no_arguments, of_sentence=_is_last)
