"""What a hidden Markov model consists of: labels with their words, transitions, and classes of unknown words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import SettingError
from trellis.markov import UnknownWords, Vocabulary
from trellis.models import HMM
from trellis.models.hidden_chain import HiddenChain, numbers_of

F64 = NDArray[np.float64]

BEGIN, END = "(begin)", "(end)"  # of a sentence


@dataclass(frozen=True)
class Counted:
    """How often, and as what share of its kind."""

    name: str
    count: float
    share: float


@dataclass(frozen=True)
class LabelInspection:
    """A label, how often it occurred, and its commonest words; shares are of all words that it has."""

    label: str
    count: float
    share: float
    words: list[Counted]


@dataclass(frozen=True)
class Move:
    """One label after another, or at an end of a sentence; `share` of all that came after `source`."""

    source: str
    target: str
    count: float
    share: float


@dataclass(frozen=True)
class UnknownClass:
    """Rare words of a shape, or of a shape and an ending: how many there were, and their labels, commonest first."""

    shape: str
    ending: str
    count: float
    labels: list[Counted]


@dataclass(frozen=True)
class HiddenInspection:
    """Counts are expected ones where text had no labels. `moves` and `classes` (of unknown words): the most frequent
    first; `unknown_classes`: how many of these there are, 0 where nothing tells unknown words apart. With data,
    `known`: the share of tokens whose word is known."""

    labels: list[str]
    order: int
    smoothing: float
    words: int
    emissions: int
    unknown_classes: int
    by_label: list[LabelInspection]
    moves: list[Move]
    classes: list[UnknownClass]
    known: float | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def inspect_hidden(hmm: HMM, data: Corpus | None = None, top: int = 10) -> HiddenInspection:
    """Looks into a trained model; with `data`, also how much of that it knows."""
    if not isinstance(hmm, HMM):
        raise SettingError(f"inspect_hidden looks at an HMM, not at a {type(hmm).__name__}; use inspect")
    model = hmm.model_
    known = None
    if data is not None and data.tokens:
        known = float(np.mean(numbers_of(model.pack(data), model.features)[:, 0] >= 0))
    return HiddenInspection(
        list(model.labels),
        model.events.order,
        model.prior.strength,
        model.vocabulary.words,
        len(model.vocabulary.label),
        0 if model.unknown is None else model.unknown.classes.words,
        _by_label(model, top),
        _moves(model, top),
        [] if model.unknown is None else _classes(model, model.unknown, top),
        known,
    )


def _by_label(model: HiddenChain, top: int) -> list[LabelInspection]:
    """The most frequent label first."""
    vocabulary, emit, size = model.vocabulary, model.events.emit, len(model.labels)
    totals = np.bincount(vocabulary.label, emit, size)
    ends = np.cumsum(np.bincount(vocabulary.label, minlength=size))
    by_label = np.split(np.lexsort((-emit, vocabulary.label)), ends[:-1])
    word, found = _rows(vocabulary), []
    for j in np.argsort(-totals, kind="stable").tolist():
        words = [
            Counted(model.features.values_of(int(word[p]))[0], float(emit[p]), _share(emit[p], totals[j]))
            for p in by_label[j][:top]
            if emit[p] > 0.0
        ]
        found.append(LabelInspection(model.labels[j], float(totals[j]), _share(totals[j], totals.sum()), words))
    return found


def _moves(model: HiddenChain, top: int) -> list[Move]:
    events, labels = model.events, len(model.labels)
    follow = events.follow if events.order == 1 else events.follow.sum(axis=0)
    counts = np.zeros((labels + 1, labels + 1))  # from the beginning, last; to the end, last
    counts[:-1, :-1], counts[-1, :-1], counts[:-1, -1] = follow, events.first, events.last
    totals = counts.sum(axis=1)
    sources, targets = [*model.labels, BEGIN], [*model.labels, END]
    most = [divmod(k, labels + 1) for k in np.argsort(-counts, axis=None, kind="stable")[:top].tolist()]
    return [
        Move(sources[i], targets[j], float(counts[i, j]), _share(counts[i, j], totals[i]))
        for i, j in most
        if counts[i, j] > 0.0
    ]


def _classes(model: HiddenChain, unknown: UnknownWords, top: int) -> list[UnknownClass]:
    vocabulary, seen = unknown.classes, unknown.seen
    totals = np.bincount(_rows(vocabulary), seen, vocabulary.words)
    found = []
    for c in np.argsort(-totals, kind="stable")[:top].tolist():
        pairs = np.arange(vocabulary.start[c], vocabulary.start[c + 1])
        pairs = pairs[np.argsort(-seen[pairs], kind="stable")]
        labels = [Counted(model.labels[vocabulary.label[p]], float(seen[p]), _share(seen[p], totals[c])) for p in pairs]
        shape, *ending = model.features.values_of(model.vocabulary.words + c)
        if totals[c] > 0.0:
            found.append(UnknownClass(shape, "".join(ending), float(totals[c]), labels))
    return found


def _rows(vocabulary: Vocabulary) -> NDArray[np.int64]:
    """The word, or class, of each pair."""
    return np.repeat(np.arange(vocabulary.words), np.diff(vocabulary.start))


def _share(part: Any, whole: Any) -> float:
    return float(part / whole) if whole > 0.0 else 0.0
