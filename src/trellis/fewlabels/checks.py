"""What is given to functions of this room, checked before the work begins."""

from __future__ import annotations

from numbers import Integral

from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError, shown


def check_corpus(value: object, what: str) -> None:
    """what: the name of the parameter."""
    if not isinstance(value, Corpus):
        found = "None" if value is None else f"of the type {type(value).__name__}"
        raise DataError(
            f"{what} is {found}; expected a Corpus: read_conll reads one, Corpus.from_lists makes one of lists"
        )


def check_count(name: str, value: object, least: int = 1) -> None:
    """A whole number."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise SettingError(f"{name} is {shown(value)}; expected a whole number >= {least}")


def check_target(corpus: Corpus, target: object) -> None:
    """The name of one of the columns."""
    if not isinstance(target, str) or target not in corpus.columns:
        raise SettingError(f"unknown target '{target}'; the columns are: {', '.join(corpus.columns)}")


def check_model(model: object) -> None:
    """One that can be trained anew for a target: an estimator, no cascade."""
    if isinstance(model, type) or not all(hasattr(model, name) for name in ("fit", "get_params", "target")):
        found = model.__name__ if isinstance(model, type) else type(model).__name__
        raise SettingError(
            f"the model is {'the class' if isinstance(model, type) else 'of the type'} {found}; expected a tagger with "
            "its settings, such as CRF('chunk'); of a cascade take a model of one of its targets"
        )
