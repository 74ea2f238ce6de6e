"""`trellis train` on what is believed of labels: probabilities in the file itself (--soft), or votes and a label model
that reads them (--label-model)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from trellis.cli import options
from trellis.cli.column_names import CHANCE, LABEL, names_for
from trellis.cli.weak_votes import GOLD
from trellis.errors import DataError, SettingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from trellis.cli.lessons import Asked
    from trellis.corpus import Corpus
    from trellis.models import SoftLabels
    from trellis.weak import LabelModel

_CHANCE = re.compile(r"(.+):([01](?:\.\d+)?(?:e-?\d+)?)")
_ROUNDED, _OFF = 1e-3, 0.05  # how far probabilities may be off for each label, as they were rounded, and their sum
_TEACH = ("learn", "silent", "min_confidence", "keep", "rounds")

_OPTIONS = (
    click.option("--soft", is_flag=True, help="Learn from probabilities, as `trellis weak label --marginals` writes."),
    click.option("--label-model", metavar="FILE", help="TRAIN has votes; learn what this label model makes of them."),
    options.pairs("--teach", "NAME=X,...", "How to learn that: learn=evidence|soft|hard, silent, keep, rounds ..."),
    click.option("--votes", is_flag=True, help="Features of the votes, in columns lf:NAME, beside --features."),
)


def soft_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


Fit = Callable[..., Any]  # the tagger, the data, and what else its own `fit` is told


def check_soft(tagger: Any, model_type: str, staged: bool, asked: Asked) -> None:
    """Whether such a model can learn from what is believed."""
    from trellis.models.improbable import learns_soft

    if staged:
        raise SettingError("--soft and --label-model are for one tagger; the stages of a cascade need labels")
    if getattr(tagger, "partial", False):
        raise SettingError("--partial is for labels in the target column, which --soft and --label-model do not read")
    hard = asked.label_model is not None and teaching(asked.teach).get("learn") == "hard"
    if not hard and not learns_soft(tagger):
        hint = "; give --teach learn=hard" if asked.label_model is not None else "; give --model-type crf"
        raise SettingError(f"a {model_type} learns from certain labels only{hint}")


def teaching(text: object) -> dict[str, Any]:
    """What --teach says."""
    settings = options.table_of(text, "--teach") or {}
    for name in settings:
        if name not in _TEACH:
            raise SettingError(f"--teach has no '{name}'; it has: {', '.join(_TEACH)}")
    return settings


def check_believed(asked: Asked) -> None:
    """Whether what is said of soft labels goes together."""
    if asked.soft and asked.label_model is not None:
        raise SettingError("--soft and --label-model are two ways to learn from what is believed; give one of them")
    if asked.teach is not None and not asked.believed:
        raise SettingError("--teach says how to learn from --soft or --label-model; give one of these")


def is_evidence(settings: dict[str, Any]) -> bool:
    """How probabilities in a file are learnt from."""
    others = [name for name in settings if name != "learn"]
    if others or settings.get("learn", "soft") not in ("soft", "evidence"):
        what = others[0] if others else f"learn={settings['learn']}"
        raise SettingError(f"--teach {what} needs votes (--label-model); with --soft: learn=soft or learn=evidence")
    return settings.get("learn") == "evidence"


def read_columns(files: Sequence[str], columns: str | None, comments: bool) -> Corpus:
    """Files of columns whose names may stand beside them."""
    from trellis.corpus import read_conll
    from trellis.corpus.corpus import concatenate

    return concatenate([read_conll(path, columns=names_for(path, columns), comments=comments) for path in files])


def believed(corpus: Corpus, asked: Asked) -> tuple[Corpus, str, Fit]:
    """The corpus without columns that only say what to learn, the target, and how a tagger learns that."""
    from trellis.weak import load

    settings = teaching(asked.teach)
    if asked.label_model is None:
        model = None
        found, target, fit = _from_file(corpus, settings)
    else:
        model = load(asked.label_model)
        found, target, fit = _from_votes(corpus, model, settings)
    if not asked.votes:  # text to tag need not have them then
        found = _leaving_out(found, set(found.columns) - set(readable(found, model)))
    return found, asked.target or target, fit


def with_vote_features(tagger: Any, corpus: Corpus, target: str) -> None:
    """Tells a tagger to read the votes, too."""
    from trellis.features import Features, templates_for
    from trellis.weak import vote_features

    own = templates_for(tagger.features, list(corpus.columns), target, corpus.file_columns)
    tagger.set_params(features=Features.of(own) + vote_features(corpus))


def _from_votes(corpus: Corpus, model: LabelModel, settings: dict[str, Any]) -> tuple[Corpus, str, Fit]:
    from trellis.weak import teach
    from trellis.weak.columns import votes_like

    votes = votes_like(corpus, model.space_, model.functions_, model.linkers_, model.abstain_)

    def fit(tagger: Any, data: Corpus, **more: Any) -> None:
        teach(tagger, data, model, votes, **settings, **more)

    return corpus, _target(corpus), fit


def _from_file(corpus: Corpus, settings: dict[str, Any]) -> tuple[Corpus, str, Fit]:
    evidence = is_evidence(settings)
    columns = {name: label for name in corpus.columns if (label := _label_of(corpus, name))}
    if len(columns) < 2:
        raise DataError(
            "there are no columns of probabilities, LABEL:PROBABILITY for each label; `trellis weak label --marginals` "
            "writes them",
            corpus.path,
        )
    if len(columns) == len(corpus.columns):
        raise DataError("there are columns of probabilities alone; expected the words, too", corpus.path)
    soft = _rows(corpus, columns, evidence)
    given = _leaving_out(corpus, columns)
    return given, _target(given), lambda tagger, data, **more: tagger.fit(data, soft=soft, **more)


def _target(corpus: Corpus) -> str:
    """What is learnt, where nobody says: what gold labels stand beside, or what the label model says; it need not be
    there."""
    return GOLD if GOLD in corpus.columns else LABEL


def _label_of(corpus: Corpus, name: str) -> str | None:
    """The label whose probabilities a column has, if it has such: by its name, or by most of what is there."""
    import numpy as np

    column = corpus[name].compact()
    matches = [_CHANCE.fullmatch(string) for string in column.strings]
    labels = Counter(match[1] for match in matches if match)
    label, many = next(iter(labels.most_common(1)), ("", 0))
    if name.startswith(CHANCE):
        label = name.removeprefix(CHANCE)
    elif 2 * many <= len(matches):
        return None
    wrong = np.array([not match or match[1] != label for match in matches])
    if wrong.all() and labels:
        what = f"the column '{name}' has probabilities of '{next(iter(labels))}'"
        raise DataError(f"{what}; are the names in the order of the columns?", corpus.path)
    for token in np.flatnonzero(wrong[column.ids])[:1].tolist():
        found = f"'{column.strings[column.ids[token]]}' in the column '{name}'"
        raise DataError(f"{corpus.place(token)}: {found}; expected {label}:PROBABILITY, a number from 0 to 1")
    return label


def _rows(corpus: Corpus, columns: dict[str, str], evidence: bool) -> SoftLabels:
    import numpy as np

    parts = []
    for name, label in columns.items():
        own = corpus[name]
        numbers = np.array([float(string.removeprefix(f"{label}:")) for string in own.strings])
        parts.append(numbers[own.ids])
    return soft_of(np.stack(parts, axis=1), list(columns.values()), evidence, corpus.offsets, corpus.place)


def soft_of(
    rows: NDArray[np.float64],
    labels: list[str],
    evidence: bool,
    offsets: NDArray[np.int64],
    place: Callable[[int], str],
) -> SoftLabels:
    """Probabilities that were written, F64[tokens, labels], checked; `place`: where those of a token stand."""
    import numpy as np

    from trellis.labels import by_sentence
    from trellis.models import SoftLabels

    sums = rows.sum(axis=1)
    most = min(_ROUNDED * max(1, len(labels)), _OFF)
    for token in np.flatnonzero(~(np.abs(sums - 1.0) < most))[:1].tolist():
        raise DataError(f"{place(token)}: its probabilities add up to {sums[token]:.6g}; expected 1")
    return SoftLabels(by_sentence(rows / sums[:, None], offsets), labels, evidence=evidence)


def check_no_chances(name: str) -> None:
    """That what is learnt are no probabilities, taken for labels as they come last."""
    if name.startswith(CHANCE):
        raise SettingError(f"the last column, '{name}', has probabilities; give --soft to learn from them, or --target")


def readable(corpus: Corpus, model: LabelModel | None = None) -> list[str]:
    """The columns without votes, a label model's maybe; all, if there are no others."""
    from trellis.weak.columns import without_votes

    names = without_votes(corpus) if model is None else without_votes(corpus, model.functions_, model.linkers_)
    return names or list(corpus.columns)


def _leaving_out(corpus: Corpus, names: Container[str]) -> Corpus:
    """Without these columns: text to tag has others, or none, in their place."""
    columns = {name: own for name, own in corpus.columns.items() if name not in names}
    placed = [name if name in columns else "_" for name in corpus.file_columns or ()]
    while placed and placed[-1] == "_":
        placed.pop()
    return replace(corpus, columns=columns, file_columns=tuple(placed) or None)
