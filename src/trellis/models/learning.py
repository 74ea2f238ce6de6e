"""Where every training begins: the labels that are given, and features learnt from the data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError
from trellis.features import FeatureKind, GivenFeatures, Packed, TagDictionary, TemplateFeatures
from trellis.models.batches import Sentences
from trellis.models.gold import Labels
from trellis.models.known import UNKNOWN, Known, Soft, known_of
from trellis.models.linear import MOST_LABELS

if TYPE_CHECKING:
    from trellis.features import Choice
    from trellis.features.template import Template


class OfLabels(Protocol):
    """Settings of an estimator that say what labels are."""

    target: str | None
    tag_dictionary: int | None
    partial: bool


class Settings(OfLabels, Protocol):
    """Those and others that are looked at here."""

    features: Choice
    min_count: int
    hash_size: int | None


def given_labels(
    settings: OfLabels,
    X: Sentences,
    y: Labels | None,
    soft: Soft | None = None,
    names: Sequence[str] | None = None,
) -> Known:
    """The labels, as far as they are known, checked."""
    if isinstance(X, str) or not (hasattr(X, "__len__") and hasattr(X, "__getitem__")):
        raise DataError(f"expected a corpus (read_conll) or a list of sentences, not {type(X).__name__}")
    given = known_of(X, y, settings.target, settings.partial, soft, names)
    if not len(given.gold):
        raise DataError("there is no token to learn from", X.path if isinstance(X, Corpus) else None)
    if len(given.labels) > MOST_LABELS:
        raise DataError(
            f"{len(given.labels):,} different labels; at most {MOST_LABELS:,} (is '{settings.target}' the target?)"
        )
    if given.kind == "gold" and y is None and UNKNOWN in given.labels:
        warnings.warn(
            f"'{UNKNOWN}' is a label like any other in the column '{settings.target}'; `partial` is for labels that "
            "are not known",
            stacklevel=2,
        )
    if given.kind != "gold" and settings.tag_dictionary is not None:
        raise SettingError("a tag_dictionary needs gold labels for every token")
    return given


def learn_features(
    settings: Settings,
    X: Sentences,
    given: Known,
    threads: int,
    sees: Callable[[Template], bool] | None = None,
    may_lack: bool = False,
) -> tuple[FeatureKind, Packed]:
    """Features, and the data packed in them. `sees`: which templates the model has a place for; None for all.
    `may_lack`: there may be no features, written as ''."""
    from trellis.features import callables_of, templates_for

    features: FeatureKind
    if isinstance(X, Corpus):
        corpus = X.compact()
        target = str(settings.target or "")
        templates: tuple[Template, ...] = ()
        if not may_lack or settings.features != "":
            templates = templates_for(settings.features, list(corpus.columns), target, corpus.file_columns)
            templates = tuple(filter(sees, templates))
        learnt, packed = TemplateFeatures.learn(
            corpus, templates, target, callables_of(settings.features), settings.min_count, settings.hash_size, threads
        )
        features = learnt
        if settings.tag_dictionary is not None:
            column = words_of(corpus, target)
            known = TagDictionary.learn(column, corpus[column], given.gold, len(given.labels), settings.tag_dictionary)
            features = replace(learnt, dictionary=known)
            packed = replace(packed, allowed=known.allowed(corpus[column]))
    else:
        if settings.tag_dictionary is not None or settings.hash_size is not None:
            name = "tag_dictionary" if settings.tag_dictionary is not None else "hash_size"
            raise SettingError(f"{name} is for corpora with columns; sentences were given as lists")
        features, packed = GivenFeatures.learn(X, settings.min_count)
    if not features.attributes and not may_lack and (isinstance(X, Corpus) or settings.min_count > 1):
        often = f" {settings.min_count} times or more" if settings.min_count > 1 else ""
        raise DataError(f"the features find nothing in the training data{often}; choose others, or a min_count of 1")
    return features, packed


def words_of(corpus: Corpus, target: str, more: Sequence[str] = ()) -> str:
    """The column a tag dictionary is about, which is none of the targets."""
    others = [name for name in corpus.columns if name not in (target, *more)]
    if "word" in others:
        return "word"
    if len(others) != 1:
        there = ", ".join(others) or "none"
        raise SettingError(f"tag_dictionary needs a column of words; name it 'word' (beside the target: {there})")
    return others[0]
