"""From votes to labels that a tagger or a classifier learns from: what a label model believes, and how sure it is.

    learn="soft"       the probabilities themselves, of whole labellings where there are sentences: the tagger is to be
                       as sure as the label model
    learn="evidence"   what speaks for each label: the tagger may decide otherwise where the text speaks for that
    learn="hard"       the best labels, as if they were certain

A token that nobody votes on becomes O for a label model, and most often it is; but sometimes it is a name that no list
has. `silent` says what is learnt of such tokens as evidence: a number is what speaks for O, and the rest speaks for all
other labels alike; "model" what the label model says, "unknown" nothing at all.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError, shown
from trellis.labels import by_sentence
from trellis.weak.paths import has_pairs, label_rows, path_labels
from trellis.weak.votes import Votes

if TYPE_CHECKING:
    from trellis.models import SoftLabels
    from trellis.weak.models import LabelModel

BOOL = NDArray[np.bool_]
F64 = NDArray[np.float64]

WAYS = ("soft", "evidence", "hard")
MOST_PAIRS = 1 << 27  # 1 GB: of sentences, times pairs of labels
SILENT = 0.8  # chosen on the valid parts of three sets of votes, where 0.6 to 0.95 are much alike


def soft_labels(
    model: LabelModel,
    votes: Votes,
    learn: str | None = None,
    silent: float | str | None = None,
    min_confidence: float = 0.0,
    keep: float = 1.0,
) -> SoftLabels:
    """What a fitted label model believes of votes, for `fit(data, soft=...)`.

    learn, silent: as at the top of this file. By default evidence where labels are of segments, with silent=0.8, and
    soft where they are not: what was best where it was measured (docs/trained-on-votes.md).
    min_confidence: tokens (items) whose best label is less probable than that are not known (learn="evidence" alone);
    where nobody votes, `silent` decides. keep: this share of the sentences (items) alone is learnt from, those that the
    model is surest of.
    """
    from trellis.models import SoftLabels
    from trellis.weak.models.contract import check_believed

    check_believed(model, votes)
    heard = model.heard(votes)
    learn = learn or usual_way(model)
    _check(learn, silent, min_confidence, keep)
    if silent == "unknown" and model.space_.outside is not None and not np.any(heard.values == heard.space.outside):
        warnings.warn(
            "nothing is known of tokens that nobody votes on (silent='unknown'), and nobody votes O: so nothing speaks "
            "for O anywhere, and all will be taken for names; say what speaks for O: silent=0.8",
            stacklevel=2,
        )
    rows, pairs = _believed(model, votes, learn == "soft")
    sure = rows.max(axis=1, initial=0.0)
    unsure = np.zeros(len(rows), bool)
    if learn == "hard":
        rows = np.eye(len(model.labels_))[model.best(votes)]
    elif learn == "evidence":
        rows = rows.copy()
        outside = model.space_.outside
        told = silent if silent is not None else "model" if outside is None else SILENT
        if told != "model":
            rows[~heard.fired] = _of_silence(told, len(model.labels_), outside)
        unsure = _unsure(sure, heard.fired | (told == "model"), min_confidence)
    weights = None if keep == 1.0 else _surest(sure, votes, keep)
    _warn_of_lost(model.labels_, rows, ~unsure if weights is None else ~unsure & (weights[_sentences(votes)] > 0.0))
    rows[unsure] = 1.0
    parts = by_sentence(rows, votes.offsets)
    return SoftLabels(parts, list(model.labels_), learn == "evidence", pairs, weights)


def _believed(model: LabelModel, votes: Votes, of_paths: bool) -> tuple[F64, F64 | None]:
    """P(label) of each token, and of whole labellings, where they are asked for and known, how often one label follows
    another."""
    if not (of_paths and has_pairs(model) and np.any(np.diff(votes.offsets) > 1)):
        return label_rows(model, votes), None
    needed = len(votes) * len(model.labels_) ** 2
    if needed > MOST_PAIRS:
        warnings.warn(
            f"how probable pairs of labels are would take {needed / (1 << 27):.1f} GB for {len(votes):,} sentences and "
            f"{len(model.labels_):,} labels; tokens are taken to be independent",
            stacklevel=3,
        )
        return label_rows(model, votes), None
    return path_labels(model, votes)


def _unsure(sure: F64, judged: BOOL, min_confidence: float) -> BOOL:
    """Which tokens are not known, as the label model is less sure of them; judged: those for which that counts."""
    unsure = judged & (sure < min_confidence)
    if min_confidence and judged.any() and (unsure == judged).all():
        most = f"where there are votes the label model is nowhere surer than {sure[judged].max(initial=0.0):.4g}"
        raise SettingError(f"min_confidence is {min_confidence:g}, but {most}; there is nothing to learn from")
    return unsure


def _warn_of_lost(labels: tuple[str, ...], rows: F64, left: BOOL) -> None:
    """Of labels for which something speaks (most, of some token), but nothing of what is left."""
    known = rows.min(axis=1, initial=np.inf) < rows.max(axis=1, initial=0.0)
    best = rows.argmax(axis=1)
    lost = set(best[known].tolist()) - set(best[known & left].tolist())
    if lost:
        names = ", ".join(labels[j] for j in sorted(lost))
        warnings.warn(
            f"nothing speaks for {names} in what min_confidence and keep leave to learn from, so it will hardly ever "
            "be predicted; lower min_confidence, or keep more",
            stacklevel=3,
        )


def usual_way(model: LabelModel) -> str:
    """How labels are learnt where nothing else is said."""
    return "soft" if model.space_.outside is None else "evidence"


def _check(learn: str, silent: float | str | None, min_confidence: float, keep: float) -> None:
    if learn not in WAYS:
        raise SettingError(f"learn is {learn!r}; expected {', '.join(WAYS[:-1])} or {WAYS[-1]}")
    for name, value in (("min_confidence", min_confidence), ("keep", keep)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
            raise SettingError(f"{name} is {shown(value)}; expected a number from 0 to 1")
    if keep == 0.0:
        raise SettingError("keep is 0, which leaves nothing to learn from; expected a share above that")
    is_share = isinstance(silent, int | float) and not isinstance(silent, bool) and 0.0 < silent < 1.0
    is_word = isinstance(silent, str) and silent in ("model", "unknown")
    if not (silent is None or is_word or is_share):
        raise SettingError(f"silent is {shown(silent)}; expected model, unknown, or a number between 0 and 1")
    if learn != "evidence" and (silent is not None or min_confidence > 0.0):
        name = "silent" if silent is not None else "min_confidence"
        raise SettingError(f"{name} is for learn='evidence', where it can be that nothing is known; not for {learn!r}")


def _of_silence(told: float | str, labels: int, outside: int | None) -> F64:
    """What speaks for each label of a token that nobody votes on, F64[labels]."""
    if told == "unknown" or labels == 1:
        return np.ones(labels)
    if outside is None:
        raise SettingError(f"silent is {shown(told)}, what speaks for O; these labels have no O: model or unknown")
    row = np.full(labels, (1.0 - float(told)) / (labels - 1))
    row[outside] = float(told)
    return row


def _surest(sure: F64, votes: Votes, keep: float) -> F64:
    """1 for that share of the sentences whose tokens are surest on average, 0 for the others, F64[sentences]."""
    lengths = np.diff(votes.offsets)
    mean = np.bincount(_sentences(votes), sure, len(lengths)) / np.maximum(lengths, 1)
    weights = np.zeros(len(lengths))
    many = max(1, round(keep * len(lengths)))
    weights[np.argsort(-mean, kind="stable")[:many]] = 1.0
    return weights


def _sentences(votes: Votes) -> NDArray[np.int64]:
    """Which sentence each token is of."""
    lengths = np.diff(votes.offsets)
    return np.repeat(np.arange(len(lengths)), lengths)
