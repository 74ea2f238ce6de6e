"""What is believed of labels, to be learnt from: probabilities of labels, of whole labellings, or what speaks for each.

    rows       for each sentence F64[tokens, labels]: P(label) of every token; or, as evidence, numbers from 0 on that
               say how much speaks for each label: only ratios count, and where all are alike nothing is known
    pairs      for each sentence F64[labels, labels]: how often one label is expected to follow another, where it is
               known how probable whole labellings are; without them tokens are taken to be independent
    weights    for each sentence how much it counts, 1 if there are none; 0 leaves it out

Probabilities say how the labels would be distributed if such a token came again and again, and a model is trained to
say the same. Evidence is what was observed of this token: a model is trained to make what fits it probable, and may
decide otherwise than the evidence where the text speaks for that (Tsuboi et al. 2008, with weights).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError, shown

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

IGNORED = -100  # what losses of PyTorch, and so those of Hugging Face, pass over by default


@dataclass(frozen=True, eq=False)
class SoftLabels:
    """As at the top of this file; `labels` are the names of the columns."""

    rows: Sequence[NDArray[Any]]
    labels: Sequence[str]
    evidence: bool = False
    pairs: Sequence[NDArray[Any]] | NDArray[Any] | None = None
    weights: F64 | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", names_of(self.labels))
        if self.evidence and self.pairs is not None:
            raise SettingError("pairs are of probabilities; evidence has none")

    def __repr__(self) -> str:
        what = "evidence" if self.evidence else "probabilities"
        return f"<SoftLabels: {what} of {len(self.labels)} labels for {len(self.rows):,} sentences (items)>"

    def __len__(self) -> int:
        return len(self.rows)

    def packed(self, lengths: Sequence[int]) -> F64:
        """The rows of all sentences, which are of these lengths, as one array, F64[tokens, labels]."""
        return packed_rows(self.rows, self.labels, lengths)

    def packed_pairs(self) -> F64 | None:
        """F64[sentences, labels, labels]."""
        if self.pairs is None:
            return None
        size = len(self.labels)
        if not _is_listed(self.pairs) or len(self.pairs) != len(self.rows):
            raise DataError(f"pairs are no list with an array [labels, labels] for each of {len(self.rows)} sentences")
        if isinstance(self.pairs, np.ndarray) and self.pairs.dtype == float and self.pairs.shape[1:] == (size, size):
            whole = np.ascontiguousarray(self.pairs)  # as it is, in most cases: it may be large
        else:
            whole = np.empty((len(self.rows), size, size))
            for s, one in enumerate(self.pairs):
                part = numbers(one, f"sentence {s + 1}: pairs", "[labels, labels]")
                if part.shape != (size, size):
                    raise DataError(f"sentence {s + 1}: pairs of the shape {part.shape}; expected {(size, size)}")
                whole[s] = part
        for s in np.flatnonzero(~((whole >= 0.0) & np.isfinite(whole)).all(axis=(1, 2)))[:1].tolist():
            raise DataError(f"sentence {s + 1}: its pairs have a negative number, or none; expected numbers >= 0")
        return whole

    def repeated(self, least: float = 0.001) -> tuple[I64, list[str], F64]:
        """For estimators that know weights of examples but no soft labels, each token (item) once for each label that
        is at least so probable: its number I64[n], the label, and the probability F64[n] as its weight.

            which, y, weight = soft.repeated()
            LogisticRegression().fit(X[which], y, sample_weight=weight)
        """
        if isinstance(least, bool) or not isinstance(least, int | float) or not 0.0 <= least <= 1.0:
            raise SettingError(f"least is {shown(least)}; expected a number from 0 to 1")
        rows, known = self._shares()
        weights = np.repeat(self._weights(), [len(one) for one in self.rows])
        which, label = np.nonzero((rows >= least) & (rows > 0.0) & (known & (weights > 0.0))[:, None])
        return which, [self.labels[j] for j in label.tolist()], rows[which, label] * weights[which]

    def columns(
        self,
        data: Corpus | Sequence[str] | Sequence[Sequence[str]] | Sequence[Mapping[str, Any]],
        column: str | None = None,
    ) -> dict[str, list[Any]]:
        """Columns as `datasets.Dataset.from_dict` (Hugging Face) takes them, and as JSON lines hold them.

        Of sentences `tokens`, `tags` and `soft`: for each token the number of the label that is most probable by itself
        (-100, which losses pass over, where nothing is known), and a list of probabilities. The tags of a sentence need
        not be a labelling that is possible. Of texts `text`, `label` and `soft`, those left out of which nothing is
        known. data: a corpus, of which `column` are the tokens, the first one by default; lists of tokens; texts; or
        items that have theirs in the field `column`, "text" by default. Sentences of weight 0 are left out. The names
        of the numbers are `labels`.
        """
        rows, known = self._shares()
        best = np.where(known, rows.argmax(axis=1), IGNORED).tolist()
        ends = np.cumsum([0, *(len(one) for one in self.rows)]).tolist()
        kept = np.flatnonzero(self._weights()).tolist()
        if isinstance(data, Corpus):
            tokens = data.sentences(column or next(iter(data.columns)))
            self._check_lengths([len(one) for one in tokens])
            spans = [slice(ends[s], ends[s + 1]) for s in kept]
            soft = [rows[span].tolist() for span in spans]
            return {"tokens": [tokens[s] for s in kept], "tags": [best[span] for span in spans], "soft": soft}
        if isinstance(data, str) or not isinstance(data, Iterable):
            raise SettingError(f"data is {shown(data)}; expected a corpus, a list of texts, or one of lists of tokens")
        texts: list[Any] = list(data)
        if texts and all(isinstance(one, list | tuple) for one in texts):
            return self.columns(Corpus.from_lists({"token": texts}))
        self._check_lengths([1] * len(texts))
        texts = [_text_of(one, i, column or "text") for i, one in enumerate(texts, 1)]
        kept = [i for i in kept if known[i]]
        return {
            "text": [texts[i] for i in kept],
            "label": [best[i] for i in kept],
            "soft": [rows[i].tolist() for i in kept],
        }

    def _shares(self) -> tuple[F64, NDArray[np.bool_]]:
        """P(label), F64[tokens, labels], as far as it is known: BOOL[tokens]."""
        rows = self.packed([len(one) if _is_listed(one) else 1 for one in self.rows])
        if not ((rows >= 0.0) & np.isfinite(rows)).all():
            raise DataError("soft labels have a negative number, or none; expected numbers >= 0")
        sums = rows.sum(axis=1, keepdims=True)
        known = sums[:, 0] > 0.0
        if self.evidence and len(self.labels) > 1:
            known &= (rows < rows.max(axis=1, keepdims=True)).any(axis=1)
        return np.divide(rows, sums, out=np.zeros_like(rows), where=sums > 0.0), known

    def _weights(self) -> F64:
        """F64[sentences]."""
        if self.weights is None:
            return np.ones(len(self.rows))
        weights = numbers(self.weights, "weights", "[sentences]")
        if weights.shape != (len(self.rows),) or not ((weights >= 0.0) & np.isfinite(weights)).all():
            raise DataError(f"weights are no numbers >= 0, one for each of {len(self.rows)} sentences")
        return weights

    def _check_lengths(self, lengths: list[int]) -> None:
        if [len(one) for one in self.rows] != lengths:
            raise DataError(
                f"soft labels of {len(self.rows)} sentences do not fit data of {len(lengths)}, or of other lengths"
            )


def _text_of(item: Any, number: int, field: str) -> Any:
    """Of a record its text; whatever else an item may be stays."""
    if not isinstance(item, Mapping):
        return item
    if not isinstance(item.get(field), str):
        raise DataError(f"item {number}: there is no text as its {field!r}; say where the texts are: column")
    return item[field]


def names_of(names: Sequence[str]) -> list[str]:
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


def packed_rows(soft: Sequence[NDArray[Any]], labels: Sequence[str], lengths: Sequence[int]) -> F64:
    """Arrays [tokens, labels] of sentences of these lengths as one, checked: F64[tokens, labels]."""
    if not _is_listed(soft):
        raise DataError(
            f"soft is {type(soft).__name__}; expected a list with an array [tokens, labels] for each sentence"
        )
    if len(soft) != len(lengths):
        raise DataError(f"X and soft do not match: {len(lengths)} sentences and {len(soft)} arrays")
    parts = [np.zeros((0, len(labels)))]
    for s, (array, tokens) in enumerate(zip(soft, lengths, strict=True), 1):
        part = numbers(array, f"sentence {s}: soft labels", "[tokens, labels]")
        if part.shape != (tokens, len(labels)):
            raise DataError(
                f"sentence {s}: soft labels of the shape {part.shape}; expected {tokens} tokens, {len(labels)} labels"
            )
        parts.append(part)
    return np.concatenate(parts)


def numbers(given: object, what: str, shape: str) -> F64:
    """As an array, or DataError."""
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"{what} that are no numbers; expected an array {shape}") from None


def _is_listed(value: object) -> bool:
    listed = hasattr(value, "__len__") and hasattr(value, "__getitem__") and getattr(value, "ndim", 1) > 0
    return listed and not isinstance(value, str | bytes | Mapping)
