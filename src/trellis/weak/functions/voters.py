"""What is there already votes: a column of the corpus, a model that was trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column, Corpus
from trellis.errors import SettingError, shown
from trellis.labels import detect
from trellis.labels.encode import encoded, label_of
from trellis.labels.encoding import OUTSIDE, split
from trellis.weak.functions.casts import TokenVotes
from trellis.weak.functions.contract import LabelingFunction, column_of, made_up
from trellis.weak.votes import ABSTAINS

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
LabelMap = Mapping[str, str | None]


class ColumnVoter(LabelingFunction):
    """As `column` says."""

    def __init__(self, column: str, label_map: LabelMap, abstain: Sequence[str], name: str | None):
        super().__init__("tokens", name, made_up(column))
        self.column, self.label_map, self.abstain = column, label_map, tuple(abstain)

    def on(self, data: Corpus, first: int = 0) -> TokenVotes:
        return voted(column_of(data, self.column, self.name).compact(), self.label_map, self.abstain)


class ModelVoter(LabelingFunction):
    """As `model` says."""

    def __init__(
        self,
        tagger: Any,
        target: str | None,
        threshold: float | None,
        label_map: LabelMap,
        abstain: Sequence[str],
        name: str | None,
    ):
        super().__init__("tokens", name, made_up("model", *([target] if target else [])))
        self.tagger, self.target, self.threshold = tagger, target, threshold
        self.label_map, self.abstain = label_map, tuple(abstain)

    def on(self, data: Corpus, first: int = 0) -> TokenVotes:
        if self.threshold is None:
            return voted(self._asked("predict_column", data), self.label_map, self.abstain)
        return voted(self._sure(data, self.threshold), self.label_map, self.abstain)

    def _asked(self, what: str, data: Corpus) -> Any:
        """An answer of the model; of a cascade, that of one of its stages."""
        if self.target is None:
            return getattr(self.tagger, what)(data)
        return getattr(self.tagger, {"predict_column": "predict_columns"}.get(what, what))(data)[self.target]

    def _sure(self, data: Corpus, threshold: float) -> Column:
        """Labels as probable as that; the number -1 for others."""
        classes = list(self.tagger.classes_ if self.target is None else self.tagger.classes_[self.target])
        marginals = np.concatenate([np.zeros((0, len(classes))), *self._asked("predict_marginals", data)])
        if detect(classes) is None:
            ids = self._asked("predict_column", data).ids
            sure = marginals[np.arange(len(ids)), ids] >= threshold
            return Column(np.where(sure, ids, ABSTAINS).astype(np.int32), classes)
        found = self._asked("predict_spans", data)
        begins = np.repeat(data.offsets[:-1], [len(spans) for spans in found])
        every = list(chain.from_iterable(found))
        kinds = sorted({span.type for span in every} | {split(label)[1] for label in classes if label != OUTSIDE})
        number = {kind: k for k, kind in enumerate(kinds)}
        start, end, kind = np.array([(s.start, s.end, number[s.type]) for s in every], np.int64).reshape(-1, 3).T
        ids, labels = encoded(start + begins, end + begins, kind, kinds, data.offsets, "iob2")
        sure_spans = np.array([span.probability >= threshold for span in every], np.bool_)
        sure = np.repeat(sure_spans, end - start)
        inside = ids > 0
        keep = np.zeros(len(ids), np.bool_)
        keep[inside] = sure  # spans are in order of the text and apart
        if OUTSIDE in classes:
            keep[~inside] = marginals[~inside, classes.index(OUTSIDE)] >= threshold
        return Column(np.where(keep, ids, ABSTAINS).astype(np.int32), labels)


def voted(column: Column, label_map: LabelMap, abstain: Sequence[str]) -> TokenVotes:
    """The labels of a column, each distinct one looked at once; the number -1 abstains."""
    number: dict[str, int] = {}
    table = [ABSTAINS] * (len(column.strings) + 1)
    for j, string in enumerate(column.strings):
        label = None if string in abstain else _mapped(string, label_map)
        if label is not None and label not in abstain:
            table[j] = number.setdefault(label, len(number))
    return TokenVotes(np.array(table, np.int32)[column.ids], tuple(number))


def _mapped(label: str, label_map: LabelMap) -> str | None:
    """A label by its own name in the map, else by its type."""
    if label in label_map:
        return label_map[label]
    prefix, kind = split(label)
    if kind not in label_map or detect([label]) is None:
        return label
    other = label_map[kind]
    return None if other is None else OUTSIDE if other == OUTSIDE else label_of(prefix, other)


def column(
    name: str, label_map: LabelMap | None = None, abstain: Sequence[str] = ("_",), as_name: str | None = None
) -> ColumnVoter:
    """A column of the corpus votes: labels of segments in any encoding, or others.

    label_map: labels, or types of segments, in the words of this corpus: {"PERSON": "PER", "DATE": None}; None to
    abstain, what is not in it stays. abstain: what stands for no vote; ("_", "O") where O says only that nothing was
    found. as_name: of the function; that of the column if None.
    """
    if not isinstance(name, str):
        raise SettingError(f"{shown(name)} names no column; expected text")
    return ColumnVoter(name, _checked_map(label_map), _checked_abstain(abstain), as_name)


def model(
    tagger: Any,
    threshold: float | None = None,
    target: str | None = None,
    label_map: LabelMap | None = None,
    abstain: Sequence[str] = (),
    name: str | None = None,
) -> ModelVoter:
    """A trained model, or the file of one, votes the labels that it predicts.

    threshold: only for segments, and for labels of tokens outside them, that are at least so probable. target: which
    stage of a cascade votes. label_map, abstain: as for `column`; ("O",) where O of this model says nothing.
    """
    if threshold is not None and not (isinstance(threshold, Real) and 0.0 <= threshold <= 1.0):
        raise SettingError(f"threshold is {shown(threshold)}; expected a probability from 0 to 1, or None")
    if isinstance(tagger, str | Path):
        from trellis.models import load

        tagger = load(tagger)
    cascade = hasattr(tagger, "predict_columns")
    if not cascade and not hasattr(tagger, "predict_column"):
        raise SettingError(f"{shown(tagger)} cannot vote; expected a trained tagger or the name of its file")
    if cascade:
        targets = list(tagger.targets_)
        if target is None or target not in targets:
            raise SettingError(f"target is {target!r}; expected one of the stages: {', '.join(targets)}")
    of = None if threshold is None else float(threshold)
    if not cascade and target is not None:
        raise SettingError(f"target is {target!r}, but the model is no cascade; leave it out")
    return ModelVoter(tagger, target, of, _checked_map(label_map), _checked_abstain(abstain), name)


def _checked_map(label_map: LabelMap | None) -> LabelMap:
    given = {} if label_map is None else dict(label_map)
    for one, other in given.items():
        if not isinstance(one, str) or not (other is None or (isinstance(other, str) and other)):
            raise SettingError(f"label_map has {one!r}: {other!r}; expected label: label, or label: None to abstain")
    return given


def _checked_abstain(abstain: Sequence[str]) -> Sequence[str]:
    return (abstain,) if isinstance(abstain, str) else abstain
