"""Labeling functions -> votes: on a corpus or on items, at once or batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError, shown
from trellis.weak.functions.casts import Cast, LinkVotes
from trellis.weak.functions.contract import LabelingFunction, check_functions
from trellis.weak.functions.running import cast_all
from trellis.weak.functions.spaces import numbered, space_of
from trellis.weak.space import Space
from trellis.weak.votes import Votes

Functions = LabelingFunction | Iterable[LabelingFunction]
Report = Callable[[int, int], None]


def apply(
    functions: Functions,
    data: Corpus | Iterable[Any],
    labels: Sequence[str] | None = None,
    coarse: Mapping[str, Sequence[str]] | None = None,
    workers: int | None = None,
    threads: int | None = None,
    progress: Report | None = None,
    first: int = 0,
) -> Votes:
    """The votes of all functions on a corpus, or of functions on items on a list of these.

    labels: types (where there are no segments: labels) that the truth can be beside those voted for. coarse: names for
    several of them, {"ENT": ["PER", "ORG"]}, which functions may vote for as well.
    workers: processes for functions in Python; one, this, if None. threads: for all others; as many as there are
    processors if None. Votes do not depend on either. progress: called with how many sentences are done, and how many
    there are. first: how many sentences (items) there are before these; messages count them.

    Where a function on spans votes for nothing it abstains; none but those who say O vote for O.
    """
    found = _checked(functions, workers, threads)
    data = _fitting(found, data)
    casts = cast_all(found, data, first, workers or 1, threads, progress)
    return _votes(found, casts, data, space_of(found, casts, labels, coarse))


def apply_stream(
    functions: Functions,
    batches: Iterable[Corpus | Iterable[Any]],
    space: Space,
    workers: int | None = None,
    threads: int | None = None,
) -> Iterator[Votes]:
    """The votes on one batch after the other, in the memory of one. What can be voted for is said beforehand:
    `Space.of_types(["PER", "LOC"])`."""
    found = _checked(functions, workers, threads)
    for one in found:
        if one.whole:
            raise SettingError(
                f"the labeling function '{one.name}' has to see all sentences at once, so it cannot be streamed; leave "
                "it out, or apply it to a whole corpus"
            )
    if not isinstance(space, Space):
        raise SettingError(f"the space is {shown(space)}; expected one such as Space.of_types(['PER', 'LOC'])")
    return _streamed(found, batches, space, workers or 1, threads)


def _streamed(
    functions: list[LabelingFunction], batches: Iterable[Any], space: Space, workers: int, threads: int | None
) -> Iterator[Votes]:
    first = 0
    for batch in batches:
        data = _fitting(functions, batch)
        casts = cast_all(functions, data, first, workers, threads, None)
        yield _votes(functions, casts, data, space)
        first += len(data)


def _votes(functions: Sequence[LabelingFunction], casts: Sequence[Cast], data: Any, space: Space) -> Votes:
    """What was cast as a matrix; functions that link apart from the others."""
    offsets = data.offsets if isinstance(data, Corpus) else np.arange(len(data) + 1, dtype=np.int64)
    tokens = int(offsets[-1])
    pairs = list(zip(functions, casts, strict=True))
    linkers = [(f, cast.together) for f, cast in pairs if isinstance(cast, LinkVotes)]
    voters = [(f, numbered(f, cast, offsets, space)) for f, cast in pairs if not isinstance(cast, LinkVotes)]
    values, links = np.zeros((tokens, len(voters)), np.int32), np.zeros((tokens, len(linkers)), np.int8)
    for j, (_, column) in enumerate(voters):
        values[:, j] = column
    for j, (_, together) in enumerate(linkers):
        links[:, j] = together
    return Votes(values, tuple(f.name for f, _ in voters), space, offsets, links, tuple(f.name for f, _ in linkers))


def _checked(functions: Functions, workers: int | None, threads: int | None) -> list[LabelingFunction]:
    for name, many in (("workers", workers), ("threads", threads)):
        if many is not None and (not isinstance(many, int) or isinstance(many, bool) or many < 1):
            raise SettingError(f"{name} is {shown(many)}; expected a whole number >= 1, or None")
    found = check_functions([functions] if isinstance(functions, LabelingFunction) else functions)
    on_items = [one for one in found if one.votes == "items"]
    others = [one for one in found if one.votes != "items"]
    if on_items and others:
        raise SettingError(
            f"'{on_items[0].name}' votes on items, '{others[0].name}' on {others[0].votes}; apply them one by one, to "
            "items and to a corpus"
        )
    return found


def _fitting(functions: Sequence[LabelingFunction], data: Any) -> Any:
    """The data, items as a list; SettingError for data that these functions do not vote on."""
    one = functions[0]
    if isinstance(data, Corpus):
        if one.votes == "items":
            raise SettingError(
                f"the labeling function '{one.name}' votes on items, but a corpus is given; give a list of items, or "
                "decorate functions of a sentence with @spans, @tokens or @links"
            )
        return data
    if one.votes != "items":
        raise SettingError(
            f"the labeling function '{one.name}' votes on {one.votes} of sentences; expected a Corpus (read_conll, "
            f"Corpus.from_lists), found {type(data).__name__}"
        )
    if not isinstance(data, Iterable) or isinstance(data, str | bytes | Mapping):
        raise DataError(f"items are of the type {type(data).__name__}; expected a list of them")
    return list(data)
