"""What is known of the labels: one for each token, a choice of some, or probabilities."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError
from trellis.labels import place_in
from trellis.models.batches import Sentences
from trellis.models.gold import Labels, gold_of, token_offsets
from trellis.models.soft_labels import SoftLabels

if TYPE_CHECKING:
    from trellis.losses import Target

F64 = NDArray[np.float64]
BOOL = NDArray[np.bool_]
Soft = SoftLabels | Sequence[NDArray[Any]]

UNKNOWN, OR = "?", "|"  # in a column with labels known in part: nothing is known; one of several
WORTH_A_WEIGHT = 0.01  # probability from which on a soft label counts as seen with a token's attributes


@dataclass(frozen=True)
class Known:
    """`labels`: their names; `gold: I32[tokens]`, a label that agrees with what is known; `kind`: gold, part, evidence,
    soft or paths; `known: BOOL[tokens, labels]` for part and for `evidence`; `soft: F64[tokens, labels]` for soft and
    paths; `pairs` for paths (as in `Target`); `seen: BOOL[tokens, labels]`, which labels count as seen at a token, if
    that is not just the gold one."""

    labels: list[str]
    gold: NDArray[np.int32]
    kind: str = "gold"
    known: BOOL | None = None
    soft: F64 | None = None
    seen: BOOL | None = None
    evidence: F64 | None = None
    pairs: F64 | None = None
    weights: F64 | None = None  # of sentences, where what is known has such

    def target(self, weights: F64 | None = None, costs: F64 | None = None) -> Target:
        """All of it, as a loss is given it."""
        from trellis.losses import Target

        return Target(self.gold, weights, costs, self.known, self.soft, self.evidence, self.pairs)

    @property
    def possible(self) -> BOOL | None:
        """Labels that tokens may have, BOOL[tokens, labels], where one of them is not known for certain."""
        return self.known if self.soft is None else self.soft > 0.0


def known_of(
    X: Sentences,
    y: Labels | None,
    target: str | None,
    partial: bool,
    soft: Soft | None,
    names: Sequence[str] | None,
) -> Known:
    """From a column of the corpus or from lists `y`; with `soft`, `SoftLabels`, or arrays [tokens, labels] with the
    labels' `names`."""
    if soft is not None:
        if y is not None:
            raise SettingError("labels y and soft labels are both given; give one of them")
        return _of_soft(X, soft_labels(soft, names))
    if names is not None:
        raise SettingError("labels are named for soft labels only; they are found in y or the corpus")
    if y is not None and not isinstance(y, np.ndarray) and _has_choices(y):
        offsets = token_offsets(X)
        if list(map(len, y)) != np.diff(offsets).tolist():
            gold_of(X, y, target)  # which says what does not match
        return _of_choices([_choice(label, s, t) for s, row in enumerate(y, 1) for t, label in enumerate(row, 1)])
    gold = gold_of(X, y, target).compact()
    if not partial:
        return Known(list(gold.strings), gold.ids)
    choices = [None if name == UNKNOWN else tuple(name.split(OR)) for name in gold.strings]
    for i, choice in enumerate(choices):
        if choice is not None and not all(part and part != UNKNOWN for part in choice):
            path, line = place_of(X, int(np.argmax(gold.ids == i)))
            wrong = f"'{UNKNOWN}' as" if all(choice) else "an empty"
            what = f"the label '{gold.strings[i]}' has {wrong} part; expected labels with '{OR}' between them"
            raise DataError(what, path, line)
    return _of_choices([choices[i] for i in gold.ids.tolist()])


def soft_labels(soft: Soft, names: Sequence[str] | None = None) -> SoftLabels:
    """Soft labels as they may be given: with their names, or arrays with the names beside them."""
    if isinstance(soft, SoftLabels):
        if names is not None and list(names) != list(soft.labels):
            raise SettingError("labels are named twice: the soft labels have names of their own; leave labels out")
        return soft
    if names is None:
        raise SettingError("soft labels need the names of the labels: labels=[...]")
    return SoftLabels(soft, names)


def without_pairs(given: Known, matters: bool) -> Known:
    """Probabilities of labels alone. `matters`: whether labels depend on each other."""
    if matters:
        warnings.warn(
            "how probable pairs of labels are is not used; tokens are taken to be independent: pairs are for chains of "
            "order 1 without encoding, only_seen, pruning, constraints and attributes on transitions",
            stacklevel=4,
        )
    return replace(given, kind="soft", pairs=None)


def place_of(X: Sentences, token: int) -> tuple[str | Path | None, int | None]:
    """File and line of a token, where they are known."""
    if not isinstance(X, Corpus):
        return None, None
    return X.path, None if X.lines is None else int(X.lines[token])


def costs_of(costs: float | Mapping[str, float] | None, labels: Sequence[str]) -> F64 | None:
    """F64[labels]: the same for all, or by name, and 1 for those that are not named."""
    if costs is None:
        return None
    if not isinstance(costs, Mapping):
        return np.full(len(labels), float(costs))
    unknown = [name for name in costs if name not in labels]
    if unknown:
        raise SettingError(f"costs names the label '{unknown[0]}'; the labels are: {', '.join(labels)}")
    return np.array([float(costs.get(label, 1.0)) for label in labels])


def weights_of(weights: Any, sentences: int, known: F64 | None = None, what: str = "sentence") -> F64 | None:
    """F64[sentences], checked: as they are given, times those of what is `known` of labels; `what` is weighed."""
    if weights is None:
        return known
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"sample_weight must be numbers, one for each {what}") from None
    if array.shape != (sentences,):
        raise DataError(
            f"sample_weight has the shape {array.shape}; expected one number for each of {sentences} {what}s"
        )
    bad = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
    if len(bad):
        raise DataError(f"the weight of {what} {bad[0] + 1} is {array[bad[0]]}; expected a number >= 0")
    array = array if known is None else array * known
    if not array.any():
        raise DataError(f"the weight of every {what} is 0, so that there is nothing to learn from")
    return array


def _has_choices(y: Labels) -> bool:
    try:
        return any(label is None or isinstance(label, tuple | list | AbstractSet) for row in y for label in row)
    except TypeError:
        return False


def _choice(label: Any, sentence: int, token: int) -> tuple[str, ...] | None:
    if label is None:
        return None
    several = sorted(map(str, label)) if isinstance(label, tuple | list | AbstractSet) else [str(label)]
    if several and not isinstance(label, str) and None in label:
        raise DataError(f"sentence {sentence}, token {token}: None in a choice of labels; expected labels alone")
    if not several:
        raise DataError(
            f"sentence {sentence}, token {token}: an empty choice of labels; None means that all are possible"
        )
    return tuple(several)


def _of_choices(choices: Sequence[tuple[str, ...] | None]) -> Known:
    """A tuple of labels for each token, or None where nothing is known."""
    table = list(dict.fromkeys(choices))
    labels = list(dict.fromkeys(chain.from_iterable(choice for choice in table if choice is not None)))
    if not labels:
        raise DataError("no token has a label; some must be known to learn from")
    number = {label: j for j, label in enumerate(labels)}
    masks = np.ones((len(table), len(labels)), bool)
    for row, choice in zip(masks, table, strict=True):
        if choice is not None:
            row[:] = False
            row[[number[label] for label in choice]] = True
    index = {choice: k for k, choice in enumerate(table)}
    which = np.fromiter(map(index.__getitem__, choices), np.int64, len(choices))
    certain = np.array([choice is not None for choice in table])
    return Known(
        labels,
        masks.argmax(axis=1)[which].astype(np.int32),
        "part",
        known=masks[which],
        seen=(masks & certain[:, None])[which],
    )


def _of_soft(X: Sentences, soft: SoftLabels) -> Known:
    rows = soft.packed(np.diff(token_offsets(X)).tolist())
    gold = rows.argmax(axis=1).astype(np.int32)
    labels = list(soft.labels)
    weights = weights_of(soft.weights, len(soft))
    if soft.evidence:
        counted = None if weights is None else np.repeat(weights > 0.0, np.diff(token_offsets(X)))
        return replace(_of_evidence(X, labels, gold, rows, counted), weights=weights)
    pairs = soft.packed_pairs()
    if pairs is not None:
        _check_pairs(pairs, rows, token_offsets(X))
    kind = "soft" if pairs is None else "paths"
    return Known(labels, gold, kind, soft=rows, seen=rows >= WORTH_A_WEIGHT, pairs=pairs, weights=weights)


def _check_pairs(pairs: F64, rows: F64, offsets: NDArray[np.int64]) -> None:
    """That they are of the same labellings as the rows: summed over the labels behind, all rows but the last of a
    sentence; over those before, all but the first."""
    lengths = np.diff(offsets)
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    first = np.zeros(len(rows), bool)
    first[offsets[:-1][lengths > 0]] = True
    last = np.roll(first, -1)
    for axis, inner in ((2, ~last), (1, ~first)):
        expected = np.zeros(pairs.shape[:2])
        np.add.at(expected, sentence[inner], rows[inner])
        off = np.abs(pairs.sum(axis=axis) - expected).max(axis=1, initial=0.0)
        for s in np.flatnonzero(off > 1e-3 * np.maximum(lengths, 1))[:1].tolist():
            raise DataError(f"sentence {s + 1}: its pairs do not fit its rows; both have to be of the same labellings")


def _of_evidence(X: Sentences, labels: list[str], gold: NDArray[np.int32], rows: F64, counted: BOOL | None) -> Known:
    """`counted`: which tokens are of sentences that count, BOOL[tokens]; None: all."""
    for t in np.flatnonzero(~((rows >= 0.0) & np.isfinite(rows)).all(axis=1) | ~(rows > 0.0).any(axis=1))[:1].tolist():
        where = X.place(t) if isinstance(X, Corpus) else place_in(token_offsets(X), t)
        raise DataError(f"{where}: the evidence is {rows[t].tolist()}; expected numbers >= 0, one of them above 0")
    most = rows.max(axis=1, keepdims=True)
    told = rows / most
    with np.errstate(divide="ignore"):
        logs = np.where(told > 0.0, np.log(told), 0.0)  # what is impossible is not among the known ones
    # where all labels are alike nothing is known, so nothing is seen
    tells = (told < 1.0).any(axis=1) if len(labels) > 1 else np.ones(len(told), bool)
    if len(told) and not (tells if counted is None else tells & counted).any():
        raise DataError("no evidence speaks for one label more than for another; some must, to learn from")
    seen = (told >= WORTH_A_WEIGHT) & tells[:, None]
    return Known(labels, gold, "evidence", known=told > 0.0, seen=seen, evidence=logs)
