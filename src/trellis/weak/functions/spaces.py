"""From what functions cast to numbers of one label space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError, SettingError
from trellis.labels import detect, segment_types
from trellis.labels.encode import label_of
from trellis.labels.packed import ranges
from trellis.weak.functions.casts import Cast, LinkVotes, SpanVotes, TokenVotes
from trellis.weak.functions.contract import LabelingFunction
from trellis.weak.functions.segments import as_spans, spells_segments, types_of
from trellis.weak.space import Space
from trellis.weak.votes import ABSTAINS

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

_UNKNOWN = ABSTAINS - 1


def space_of(
    functions: Sequence[LabelingFunction],
    casts: Sequence[Cast],
    labels: Sequence[str] | None,
    coarse: Mapping[str, Sequence[str]] | None,
) -> Space:
    """What can be voted for: segments of types where any function votes for such, else labels as they are."""
    voters = [(f, cast) for f, cast in zip(functions, casts, strict=True) if not isinstance(cast, LinkVotes)]
    if isinstance(labels, str):
        raise SettingError(f"labels are {labels!r}; expected a list of them: [{labels!r}]")
    more = list(labels or ())
    on_spans = [f for f, cast in voters if isinstance(cast, SpanVotes)]
    on_tokens = [(f, cast) for f, cast in voters if isinstance(cast, TokenVotes)]
    if _are_plain([f for f, _ in on_tokens], [cast.labels for _, cast in on_tokens]):
        if on_spans:
            plain = [(f, cast) for f, cast in on_tokens if cast.labels and detect(cast.labels) is None]
            raise _mixed(on_spans[0], *plain[0])
        return Space.of_labels([*more, *(label for _, cast in voters for label in cast.labels)], coarse)
    known = segment_types(more) if more and detect(more) is not None else more
    if on_tokens and not on_spans and known == more and not any(cast.labels for _, cast in voters):
        return Space.of_labels(more, coarse)  # nobody votes, so nobody speaks of segments
    return Space.of_types([*known, *(kind for _, cast in voters for kind in types_of(cast))], coarse)


def _are_plain(functions: Sequence[LabelingFunction], labels: Sequence[Sequence[str]]) -> bool:
    """Whether what is voted for tokens, or for items, spells no segments."""
    if any(f.votes == "items" for f in functions):
        return True
    every = {label for own in labels for label in own}
    return bool(every) and detect(sorted(every)) is None and not all(detect(own) for own in labels if own)


def _mixed(on_spans: LabelingFunction, function: LabelingFunction, cast: TokenVotes) -> SettingError:
    return SettingError(
        f"'{on_spans.name}' votes spans, and '{function.name}' votes labels of tokens such as {cast.labels[0]!r}, "
        'which are not of segments; let it vote spans (words(..., votes="spans")) or labels such as B-X, or apply '
        "these functions by themselves"
    )


def numbered(function: LabelingFunction, cast: SpanVotes | TokenVotes, offsets: I64, space: Space) -> I32:
    """The votes of one function as numbers of `space.names`, I32[tokens]; -1 where it abstains."""
    if space.encoding is None:
        if isinstance(cast, SpanVotes):
            raise SettingError(f"'{function.name}' votes spans, but the labels are those of tokens or items")
        table = np.array([*(space.index.get(label, _UNKNOWN) for label in cast.labels), ABSTAINS], np.int32)
        _check(function, cast.ids, cast.labels, table, space)
        return table[cast.ids]
    if isinstance(cast, TokenVotes) and not spells_segments(cast.labels):
        raise SettingError(
            f"'{function.name}' votes labels such as {cast.labels[0]!r}, but the labels are those of segments; "
            "expected labels such as B-X"
        )
    spans, outside = as_spans(cast, offsets)
    begin, inside = (
        np.array([space.index.get(label_of(prefix, kind), _UNKNOWN) for kind in spans.labels], np.int32)
        for prefix in "BI"
    )
    begin = np.where(begin == _UNKNOWN, inside, begin)  # io has no B
    _check(function, spans.label, spans.labels, begin, space)
    values = np.full(int(offsets[-1]), ABSTAINS, np.int32)
    values[outside] = 0
    lengths = spans.end - spans.start
    values[ranges(spans.start, lengths)] = np.repeat(inside[spans.label], lengths)
    values[spans.start] = begin[spans.label]
    return values


def _check(
    function: LabelingFunction, ids: NDArray[np.integer], labels: Sequence[str], table: I32, space: Space
) -> None:
    """DataError for a label that is voted for and unknown; one that could be voted for does no harm."""
    used = np.bincount(ids[ids >= 0], minlength=len(labels)) > 0
    for j in np.flatnonzero(used & (table[: len(labels)] == _UNKNOWN))[:1].tolist():
        names = ", ".join(segment_types(space.names) if space.encoding else space.names)
        raise DataError(
            f"the labeling function '{function.name}' votes for {labels[j]!r}, which is none of the labels that were "
            f"given: {names}"
        )
