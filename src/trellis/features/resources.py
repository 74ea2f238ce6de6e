"""What functions look things up in, made ready before training: files read, dictionaries learnt, callables found."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from trellis.corpus import Corpus
from trellis.errors import DataError, FileAccessError, SettingError
from trellis.features.functions import FUNCTIONS, Resource
from trellis.features.reading import Evaluated
from trellis.features.template import View


def prepare(
    views: Sequence[View], corpus: Corpus, target: str | None, functions: Mapping[str, Callable[..., Any]]
) -> dict[View, Resource]:
    """The resource of every view that needs one; views that ask for the same share it."""
    made: dict[tuple[object, ...], Resource] = {}
    out = {}
    for view in views:
        function = FUNCTIONS[view.function]
        if function.load is None and function.learn is None and function.given is None:
            continue
        needs = view.arguments if function.depends is None else function.depends(view.arguments)
        key = (view.function, needs, view.column if function.learn else None)
        if key not in made:
            made[key] = _one(view, corpus, target, functions)
        out[view] = made[key]
    return out


def warn_of_useless_files(resources: Mapping[View, Resource], evaluated: Mapping[View, Evaluated]) -> None:
    """Warns of files of which the corpus has not a single word: of another language, or tokens in another form."""
    seen = set()
    for view, resource in resources.items():
        file = (id(resource), view.column)
        if FUNCTIONS[view.function].load is not None and file not in seen and not evaluated[view].strings():
            seen.add(file)
            warnings.warn(
                f"{view.described()} finds nothing in the training data; is it the right file, with words as in the "
                "corpus?",
                stacklevel=5,  # whoever called `fit`
            )


def _one(view: View, corpus: Corpus, target: str | None, functions: Mapping[str, Callable[..., Any]]) -> Resource:
    function, text = FUNCTIONS[view.function], view.described()
    if function.given is not None:
        try:
            return function.given(view.arguments, functions)
        except SettingError as error:
            raise SettingError(f"{view.place}: {error}" if view.place else str(error)) from None
    try:
        if function.load is not None:
            return function.load(view.arguments)
        assert function.learn is not None
        beside = function.beside(view.arguments) if function.beside else None
        name = beside or target
        if name is None or name not in corpus.columns:
            raise SettingError(f"{text}: there is no column '{name}'; the columns are: {', '.join(corpus.columns)}")
        return function.learn(corpus[view.column], corpus[name], view.arguments)
    except FileAccessError as error:
        raise FileAccessError(f"{text}: {error}") from None
    except DataError as error:
        raise DataError(f"{text}: {error}") from None
