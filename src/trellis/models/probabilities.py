"""What models with probabilities answer beyond the best labels: k best paths, segments with their probability, and the
probability of labels that are given."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError, SettingError
from trellis.labels import detect, is_gappy, runs
from trellis.lattice import Chain
from trellis.lattice.confidence import (
    Segments,
    probabilities_in_chain,
    segments_in_chain,
    segments_in_lattice,
)
from trellis.lattice.parts import PartLattice
from trellis.lattice.spelling import Spelling
from trellis.metrics.segments import segment_types, segments, spelling_of

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

_HELD = 1 << 21  # arc probabilities that are there at a time: 16 MB
_LEAST = 1e-9  # what is less probable than that counts as not probable at all, where lattices are written out


class Span(NamedTuple):
    """A segment: tokens `start` up to but not including `end` of its sentence, its type, and P(segment)."""

    start: int
    end: int
    type: str
    probability: float


class Path(NamedTuple):
    """The labels of a sentence, and the logarithm of their probability."""

    labels: list[str]
    log_probability: float


class Near(NamedTuple):
    """The labels of a sentence, and `gap`: no labelling is more than e^gap times as probable. 0: these are the best."""

    labels: list[str]
    gap: float


Lattice = Chain | PartLattice


def best_in(lattice: Lattice) -> I32:
    """The best paths, I32[tokens]; NoLegalPathError where there is none."""
    paths, totals = lattice.best()
    require_paths(lattice, totals)
    return paths


def require_paths(lattice: Lattice, totals: F64) -> None:
    """NoLegalPathError for the first sentence whose best path has a score of -inf."""
    if not isinstance(lattice, Chain):  # which says so itself
        lattice.require_paths(totals)


def kbest_in(lattice: Lattice, k: int) -> list[list[tuple[I32, float]]]:
    """Labels and log-probabilities of the k best paths of each sentence."""
    log_z = lattice.marginals().log_z
    return [
        [(path, score - float(z)) for path, score in found]
        for found, z in zip(lattice.kbest(k), log_z.tolist(), strict=True)
    ]


def log_probabilities_in(lattice: Lattice, paths: I32) -> F64:
    """Of one path a sentence, F64[sentences]; -inf for what is no path."""
    return np.minimum(lattice.path_scores(paths) - lattice.marginals().log_z, 0.0)


def kinds_of(labels: tuple[str, ...]) -> list[str]:
    """The types of segments that labels spell."""
    if is_gappy(labels):
        raise SettingError(
            "spans with gaps have no probabilities here; trellis.corpus.spans.gappy_spans reads them from the labels"
        )
    if detect(labels) is None:
        some = ", ".join(labels[:3])
        raise SettingError(f"the labels ({some}, ...) spell no segments such as B-NP, I-NP, O: there are no spans")
    return segment_types(labels)


def segments_in(lattice: Lattice, labels: tuple[str, ...], threshold: float | None, best: I32) -> Segments:
    """All segments with at least that probability; without a threshold those of the best path."""
    kinds_of(labels)
    spelling = Spelling(*spelling_of(labels))
    if isinstance(lattice, Chain):
        parts = [_in_chain(one, spelling, threshold, labels, best[a:b], a) for one, a, b in _cut(lattice)]
        return Segments.joined(parts)
    if threshold is not None:
        return segments_in_lattice(lattice, spelling, threshold)
    found = segments_in_lattice(lattice, spelling, _LEAST)
    return _looked_up(found, *segments(best, labels, lattice.offsets))


def by_sentence(found: Segments, kinds: list[str], offsets: I64) -> list[list[Span]]:
    """With tokens counted from the first of each sentence."""
    cuts = np.searchsorted(found.start, offsets).tolist()
    rows = list(
        zip(found.start.tolist(), found.end.tolist(), found.kind.tolist(), found.probability.tolist(), strict=True)
    )
    return [
        [Span(start - first, end - first, kinds[kind], p) for start, end, kind, p in rows[a:b]]
        for (a, b), first in zip(pairwise(cuts), offsets.tolist(), strict=False)
    ]


def _cut(chain: Chain) -> Iterator[tuple[Chain, int, int]]:
    """Chains of some sentences each, so that not all tokens' arcs are there at a time."""
    for first, last in runs(chain.offsets, max(1, _HELD // chain.scores.shape[1] ** 2)):
        a, b = int(chain.offsets[first]), int(chain.offsets[last])
        transitions = chain.transitions[a:b] if chain.positional else chain.transitions
        yield Chain(chain.scores[a:b], transitions, chain.offsets[first : last + 1] - a), a, b


def _in_chain(
    chain: Chain, spelling: Spelling, threshold: float | None, labels: tuple[str, ...], best: I32, first: int
) -> Segments:
    answer = chain.marginals(each_arc=True)
    assert answer.arcs is not None
    if threshold is not None:
        found = segments_in_chain(answer.nodes, answer.arcs, chain.offsets, spelling, threshold)
    else:
        own = segments(best, labels, chain.offsets)
        p = probabilities_in_chain(answer.nodes, answer.arcs, chain.offsets, spelling, *own)
        found = Segments(*own, p)
    return Segments(found.start + first, found.end + first, found.kind, found.probability)


def _looked_up(found: Segments, start: I64, end: I64, kind: I64) -> Segments:
    """These segments with the probabilities found for them, 0 for none."""
    index = dict(
        zip(
            zip(found.start.tolist(), found.end.tolist(), found.kind.tolist(), strict=True),
            found.probability.tolist(),
            strict=True,
        )
    )
    keys = zip(start.tolist(), end.tolist(), kind.tolist(), strict=True)
    return Segments(start, end, kind, np.array([index.get(key, 0.0) for key in keys], np.float64))


def numbered(labels: tuple[str, ...], names: list[str], where: str) -> I32:
    """Names of labels -> numbers, I32[tokens]."""
    number = {label: j for j, label in enumerate(labels)}
    unknown = [name for name in names if name not in number]
    if unknown:
        raise DataError(
            f"{where} has the label '{unknown[0]}', which the model does not know; it has: {', '.join(labels)}"
        )
    return np.array([number[name] for name in names], np.int32)
