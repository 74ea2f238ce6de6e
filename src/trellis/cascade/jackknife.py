"""What a stage says of training data that it has not learned from: folds, each labelled by a training on the others."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.keeping import Keeping
from trellis.cascade.plan import Beliefs, joined
from trellis.corpus import Corpus
from trellis.errors import DataError
from trellis.features import Packed

if TYPE_CHECKING:
    from trellis.cascade.cascade import Cascade
    from trellis.cascade.learning import Learning

I64 = NDArray[np.int64]

_LOG = logging.getLogger(__name__)


def jackknifed(learning: Learning, s: int) -> Beliefs:
    """Of stage s, with all that it reads trained anew for every fold."""
    from trellis.cascade.learning import Learning

    cascade, corpus, ready = learning.cascade, learning.corpus, learning.ready
    stages = [ready[k].stage for k in _below(s, learning.reads)]
    ends = np.linspace(0, len(corpus), int(cascade.jackknife) + 1).astype(int).tolist()
    parts = []
    for first, last in pairwise(ends):
        if first == last:
            continue
        _LOG.info("stage '%s' without sentences %d to %d", ready[s].stage.target, first + 1, last)
        once = Learning(_plain(cascade), stages, without(corpus, first, last), None, Keeping())
        once.stage_by_stage()
        parts.append(_beliefs(once, corpus.slice(first, last), ready[s].labels, learning.model.chained(s)))
    return joined(parts)


def without(corpus: Corpus, first: int, last: int) -> Corpus:
    """The corpus but for sentences first..last."""
    lengths = np.diff(corpus.offsets)
    keep = np.ones(len(lengths), bool)
    keep[first:last] = False
    if not keep.any():
        raise DataError("jackknife leaves no sentence to learn from; use fewer folds")
    offsets = np.concatenate([[0], np.cumsum(lengths[keep])]).astype(np.int64)
    return corpus.rows(np.repeat(keep, lengths), offsets)


def _beliefs(learning: Learning, corpus: Corpus, labels: Sequence[str], chained: bool) -> Beliefs:
    """What the last stage believes about other data, in the numbers of labels that may be others."""
    from trellis.cascade.believing import beliefs_of

    model = learning.model
    last = model.stages[-1]
    number = {name: j for j, name in enumerate(labels)}
    table = np.array([number.get(name, -1) for name in last.labels])

    def ask(own: Any, packed: Packed, offsets: I64) -> Beliefs | None:
        if own is not last.model:
            return None
        return beliefs_of(model.wire, own, packed, offsets, len(table), chained, model.least, model.paths, model.seed)

    found = [one for one in model.answers(corpus, learning.threads, ask)[-1] if one is not None]
    return joined(found).renamed(table, len(labels))


def _below(s: int, reads: Sequence[tuple[int, ...]]) -> list[int]:
    """Stage s and all that it depends on, in order."""
    needed = {s}
    for k in range(s, -1, -1):
        if k in needed:
            needed |= set(reads[k])
    return sorted(needed)


def _plain(cascade: Cascade) -> Cascade:
    """The same without folds."""
    from trellis.cascade.cascade import Cascade

    return Cascade(**{**cascade.get_params(), "jackknife": 0})
