"""What is known of the labels: one for each token, a choice of some, or probabilities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError, shown
from trellis.models.batches import Sentences
from trellis.models.gold import Labels, gold_of, token_offsets

F64 = NDArray[np.float64]
BOOL = NDArray[np.bool_]

UNKNOWN, OR = "?", "|"  # in a column with labels known in part: nothing is known; one of several
WORTH_A_WEIGHT = 0.01  # probability from which on a soft label counts as seen with a token's attributes


@dataclass(frozen=True)
class Known:
    """`labels`: their names; `gold: I32[tokens]`, a label that agrees with what is known; `kind`: gold, part or soft;
    `known: BOOL[tokens, labels]` for part; `soft: F64[tokens, labels]` for soft; `seen: BOOL[tokens, labels]`, which
    labels count as seen at a token, if that is not just the gold one."""

    labels: list[str]
    gold: NDArray[np.int32]
    kind: str = "gold"
    known: BOOL | None = None
    soft: F64 | None = None
    seen: BOOL | None = None

    @property
    def possible(self) -> BOOL | None:
        """Labels that tokens may have, BOOL[tokens, labels], where one of them is not known for certain."""
        return self.known if self.soft is None else self.soft > 0.0


def known_of(
    X: Sentences,
    y: Labels | None,
    target: str | None,
    partial: bool,
    soft: Sequence[NDArray[Any]] | None,
    names: Sequence[str] | None,
) -> Known:
    """From a column of the corpus or from lists `y`; with `soft`, arrays [tokens, labels] with the labels' `names`."""
    if soft is not None:
        if y is not None:
            raise SettingError("labels y and soft labels are both given; give one of them")
        return _of_soft(X, soft, names)
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


def weights_of(weights: Any, sentences: int) -> F64 | None:
    """F64[sentences], checked."""
    if weights is None:
        return None
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError("sample_weight must be numbers, one for each sentence") from None
    if array.shape != (sentences,):
        raise DataError(
            f"sample_weight has the shape {array.shape}; expected one number for each of {sentences} sentences"
        )
    bad = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
    if len(bad):
        raise DataError(f"the weight of sentence {bad[0] + 1} is {array[bad[0]]}; expected a number >= 0")
    if not array.any():
        raise DataError("sample_weight is 0 for all sentences, so that there is nothing to learn from")
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


def _of_soft(X: Sentences, soft: Sequence[NDArray[Any]], names: Sequence[str] | None) -> Known:
    if names is None:
        raise SettingError("soft labels need the names of the labels: labels=[...]")
    labels, lengths = _names(names), np.diff(token_offsets(X)).tolist()
    if not _is_listed(soft):
        raise DataError(
            f"soft is {type(soft).__name__}; expected a list with an array [tokens, labels] for each sentence"
        )
    if len(soft) != len(lengths):
        raise DataError(f"X and soft do not match: {len(lengths)} sentences and {len(soft)} arrays")
    parts = [np.zeros((0, len(labels)))]
    for s, (array, tokens) in enumerate(zip(soft, lengths, strict=True), 1):
        try:
            part = np.asarray(array, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise DataError(
                f"sentence {s}: soft labels that are no numbers; expected an array [tokens, labels]"
            ) from None
        if part.shape != (tokens, len(labels)):
            raise DataError(
                f"sentence {s}: soft labels of the shape {part.shape}; expected {tokens} tokens, {len(labels)} labels"
            )
        parts.append(part)
    rows = np.concatenate(parts)
    gold = rows.argmax(axis=1).astype(np.int32)
    return Known(labels, gold, "soft", soft=rows, seen=rows >= WORTH_A_WEIGHT)


def _names(names: Sequence[str]) -> list[str]:
    """Of labels, as a model file can hold them."""
    if not _is_listed(names):
        raise SettingError(f"labels is {names!r}; expected a list with the names of the labels")
    if not len(names):
        raise SettingError("labels is []; expected the names of the labels, at least one")
    for name in names:
        if not isinstance(name, str):
            raise SettingError(f"labels has {shown(name)}; expected names, as text")
    for name, count in Counter(names).items():
        if count > 1:
            raise SettingError(f"labels has '{name}' {count} times; expected every name once")
    return [str.__str__(name) for name in names]  # NumPy's strings as plain ones


def _is_listed(value: object) -> bool:
    listed = hasattr(value, "__len__") and hasattr(value, "__getitem__") and getattr(value, "ndim", 1) > 0
    return listed and not isinstance(value, str | bytes | Mapping)
