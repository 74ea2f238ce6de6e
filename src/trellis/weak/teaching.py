"""A tagger or classifier trained on what a label model believes, and then, in further rounds, on what it says itself of
what nobody voted on (self-training)."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError, SettingError, shown
from trellis.labels import by_sentence
from trellis.models import SemiCRF, SoftLabels, Tagger, TextClassifier
from trellis.models.improbable import learns_soft
from trellis.weak.believing import soft_labels
from trellis.weak.models.contract import LabelModel, check_believed
from trellis.weak.votes import Votes

F64 = NDArray[np.float64]
Learner = TypeVar("Learner")


def teach(
    tagger: Learner,
    data: Any,
    model: LabelModel,
    votes: Votes,
    learn: str | None = None,
    silent: float | str | None = None,
    min_confidence: float = 0.0,
    keep: float = 1.0,
    rounds: int = 0,
    **more: Any,
) -> Learner:
    """Fits a tagger (classifier) to data on which there are votes, and gives it back.

    learn, silent, min_confidence, keep: as for `soft_labels`. rounds: how often it is fitted again, with its own
    probabilities for the tokens (items) nobody votes on; what is voted on stays as the label model has it. As evidence
    they make it surer of what it says already. more: what else `fit` is told, `dev` for instance.
    """
    if isinstance(rounds, bool) or not isinstance(rounds, int) or not 0 <= rounds <= 100:
        raise SettingError(f"rounds is {shown(rounds)}; expected a whole number from 0 to 100")
    if rounds and more.get("checkpoint") is not None:
        raise SettingError("a training of several rounds keeps no checkpoint; leave out rounds, or the checkpoint")
    learner: Any = tagger
    _check(learner, more)
    check_believed(model, votes)
    many = data.shape[0] if hasattr(data, "shape") else len(data) if hasattr(data, "__len__") else len(votes)
    if many != len(votes):
        raise DataError(f"votes on {len(votes):,} sentences (items), and data of {many:,}; expected the same ones")
    if learn is None and not getattr(tagger, "learns_evidence", True):
        learn = "soft"
    if learn == "hard" and keep == 1.0 and not rounds and silent is None and not min_confidence:
        learner.fit(data, _best(model, votes, learner), **more)  # which every tagger can
        return tagger
    if not learns_soft(learner):
        raise SettingError(f"a {type(tagger).__name__} learns from certain labels only; give learn='hard' alone")
    soft = soft_labels(model, votes, learn, silent, min_confidence, keep)
    if isinstance(tagger, SemiCRF):
        soft = replace(soft, pairs=None)  # it has no use for them
    learner.fit(data, soft=soft, **more)
    for _ in range(rounds):
        learner.fit(data, soft=_its_own(learner, data, soft, ~model.heard(votes).fired, votes), **more)
    return tagger


def _check(learner: Any, more: Mapping[str, Any]) -> None:
    """That it is somebody who can be taught, and that `fit` knows what it is told."""
    if isinstance(learner, type) or not callable(getattr(learner, "fit", None)):
        raise SettingError(f"{shown(learner)} cannot be taught; expected a tagger or a classifier: tr.CRF(...)")
    known = inspect.signature(learner.fit).parameters
    if not isinstance(learner, Tagger | TextClassifier) and "soft" not in known:
        kind = type(learner).__name__
        hint = "soft_labels(...).repeated() has labels and weights for estimators that know these"
        raise SettingError(f"a {kind} cannot be taught; expected one tagger or classifier of this package ({hint})")
    for name in more:
        if name not in known or name in ("X", "y", "soft", "labels"):
            own = ", ".join([*inspect.signature(teach).parameters][4:-1])
            what = f"'{name}' is no setting of teach, which has {own}, and what fit of {type(learner).__name__} is told"
            raise SettingError(f"{what}: dev, for instance")


def _best(model: LabelModel, votes: Votes, learner: Any) -> Sequence[Any]:
    """The label model's labels, as the learner takes them."""
    labels = model.predict(votes)
    return [label for (label,) in labels] if isinstance(learner, TextClassifier) else labels


def _its_own(tagger: Any, data: Any, soft: SoftLabels, silent: NDArray[np.bool_], votes: Votes) -> SoftLabels:
    """With what the tagger says of tokens nobody votes on."""
    number = {label: j for j, label in enumerate(soft.labels)}
    at = [number[label] for label in tagger.classes_]
    said = np.zeros((votes.tokens, len(soft.labels)))
    said[:, at] = np.concatenate([np.zeros((0, len(at))), *map(np.atleast_2d, tagger.predict_marginals(data))])
    rows = np.where(silent[:, None], said, np.concatenate([said[:0], *soft.rows]))
    # tokens are taken to be independent from here on: nobody knows how the tagger's labels go with the label model's
    return replace(soft, rows=by_sentence(rows, votes.offsets), pairs=None)
