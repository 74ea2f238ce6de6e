"""Sentences as matrices [tokens, columns], dense or sparse: column j is attribute j, zeros are left out.

Sparse matrices are known by what they can do (`tocsr`), so that SciPy is never imported here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError
from trellis.features.packed import Packed, unless_ones

I64 = NDArray[np.int64]


class Singles:
    """The rows of one matrix, each a sentence of one token; all are packed at once."""

    def __init__(self, matrix: Any):
        self.matrix = matrix.tocsr() if hasattr(matrix, "tocsr") else matrix

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __getitem__(self, which: Any) -> Any:
        """Some of them; by a number, one as a matrix of a row."""
        return Singles(self.matrix[which]) if isinstance(which, slice) else self.matrix[which : which + 1]

    def __iter__(self) -> Iterator[Any]:
        return (self[row] for row in range(len(self)))


Given = Sequence[Any] | NDArray[Any] | Singles  # sentences, as lists of tokens or as matrices

LISTS, DENSE, SPARSE = "a list of tokens", "an array of numbers", "a sparse matrix"


def kind_of(sentences: Given) -> str:
    """LISTS, DENSE or SPARSE: what all sentences are. Those without tokens are of any kind."""
    if isinstance(sentences, Singles):
        return _kind(sentences.matrix)
    if set(map(type, sentences)) <= {list, tuple}:
        return LISTS
    found, where = None, 0
    for s, sentence in enumerate(sentences, 1):
        if not length_of(sentence, s):
            continue
        kind = _kind(sentence)
        if found is None:
            found, where = kind, s
        elif kind != found:
            raise DataError(f"sentence {s} is {kind}, sentence {where} {found}; expected one kind for all sentences")
    return found or LISTS


def length_of(sentence: Any, number: int) -> int:
    """How many tokens a sentence has; SciPy's matrices have no `len`, or another one."""
    try:
        return int(sentence.shape[0]) if hasattr(sentence, "tocsr") else len(sentence)
    except TypeError:
        raise DataError(
            f"sentence {number} is of the type {type(sentence).__name__}; expected a list of tokens, or a matrix"
        ) from None


def offsets_of(sentences: Given) -> I64:
    """Where each sentence begins: I64[sentences + 1]. Refuses what is no list of sentences of one kind."""
    if isinstance(sentences, Singles):
        return np.arange(len(sentences) + 1)
    if isinstance(sentences, str | bytes | Mapping) or not hasattr(sentences, "__getitem__"):
        raise DataError(f"expected a list of sentences, not {type(sentences).__name__}")
    if hasattr(sentences, "tocsr"):
        raise DataError("expected a list of sentences, not one sparse matrix (for a single sentence: [X])")
    if isinstance(sentences, np.ndarray) and sentences.ndim == 0:
        raise DataError("expected a list of sentences, not a single value")
    kind_of(sentences)
    lengths = [length_of(sentence, s) for s, sentence in enumerate(sentences, 1)]
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def pack_matrices(sentences: Given, width: int | None = None, first: int = 0) -> tuple[Packed, int]:
    """The packed sentences and their number of columns, which must be `width` if given.

    Errors count sentences from `first`. What is done for each sentence is done for all its tokens at once.
    """
    where = "the sentences before it have" if width is None else "the model was trained on"
    parts: list[tuple[I64, I64, NDArray[Any]]] = []
    wholes = [sentences.matrix] if isinstance(sentences, Singles) else sentences
    for s, sentence in enumerate(wholes, first + 1):
        if not length_of(sentence, s):
            continue
        part, columns = _sparse_part(sentence, s) if hasattr(sentence, "tocsr") else _dense_part(sentence, s)
        if width not in (None, columns):
            raise DataError(f"sentence {s} has {columns:,} columns; {where} {width:,}")
        parts.append(part)
        width = columns
    counts = np.concatenate([np.zeros(1, np.int64), *(entries for entries, _, _ in parts)])
    ids = np.concatenate([np.zeros(0, np.int32), *(columns for _, columns, _ in parts)], dtype=np.int32)
    with np.errstate(over="ignore"):  # a wider type than float64 may overflow: to infinity, refused below
        values = np.concatenate([np.zeros(0), *(entries for _, _, entries in parts)], dtype=np.float64)
    packed = Packed(np.cumsum(counts), ids, unless_ones(values))
    _check_finite(packed, sentences, first)
    return packed, width or 0


def _kind(sentence: Any) -> str:
    if hasattr(sentence, "tocsr"):
        return SPARSE
    if not hasattr(sentence, "__array__"):
        return LISTS
    # arrays of text, and of lists or dicts, are read like lists
    return LISTS if np.asarray(sentence).dtype.kind in "USTO" else DENSE


def _dense_part(sentence: Any, number: int) -> tuple[tuple[I64, I64, NDArray[Any]], int]:
    """Entries of each token, their columns and values, and the number of columns."""
    if np.ma.isMaskedArray(sentence):
        raise DataError(f"sentence {number} is a masked array; say what its gaps are worth with .filled(0)")
    array = np.asarray(sentence)
    _check_matrix(array, number)
    tokens, width = array.shape
    if np.count_nonzero(array) == array.size:  # nothing to search for
        columns = np.tile(np.arange(width), tokens)
        return (np.full(tokens, width), columns, array.reshape(-1)), width
    rows, columns = np.nonzero(array)
    return (np.bincount(rows, minlength=tokens), columns, array[rows, columns]), width


def _sparse_part(sentence: Any, number: int) -> tuple[tuple[I64, I64, NDArray[Any]], int]:
    _check_matrix(sentence, number)
    rows = sentence.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()  # the user's own stays as it is
        rows.sum_duplicates()
    stored = rows.data != 0
    before = np.concatenate([[0], np.cumsum(stored)])
    return (np.diff(before[rows.indptr]), rows.indices[stored], rows.data[stored]), sentence.shape[1]


def _check_matrix(matrix: Any, number: int) -> None:
    if len(matrix.shape) != 2:
        raise DataError(f"sentence {number} is an array of the shape {matrix.shape}; expected [tokens, columns]")
    if matrix.dtype.kind not in "biuf":
        raise DataError(f"sentence {number} is an array of the type {matrix.dtype}; expected numbers")


def _check_finite(packed: Packed, sentences: Given, first: int) -> None:
    if packed.values is None or np.isfinite(packed.values).all():
        return
    at = int(np.argmin(np.isfinite(packed.values)))
    token = int(np.searchsorted(packed.indptr, at, side="right")) - 1
    offsets = offsets_of(sentences)
    sentence = int(np.searchsorted(offsets, token, side="right")) - 1
    raise DataError(
        f"sentence {first + sentence + 1}, token {token - int(offsets[sentence]) + 1}, column {int(packed.ids[at])}: "
        f"{packed.values[at]}; expected a finite number"
    )
