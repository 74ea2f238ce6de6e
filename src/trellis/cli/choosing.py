"""Models by name: `--model-type` and its options, and model files that read columns."""

from __future__ import annotations

import inspect
from difflib import get_close_matches
from typing import Any

import click
from click.core import ParameterSource

from trellis.cli.weak_votes import is_items
from trellis.errors import SettingError


def estimator_of(ctx: click.Context, model_type: str, settings: dict[str, Any]) -> Any:
    """An estimator of that type with those of the settings that it has. Others are refused, unless they are as they
    are when not given; `options` are the optimizer's where a type has one, and else further settings of its own."""
    from trellis.models import ITEM_TYPES, MODEL_TYPES

    if model_type not in {**MODEL_TYPES, **ITEM_TYPES}:
        known = [*MODEL_TYPES, *ITEM_TYPES, "cascade"]
        near = get_close_matches(model_type, known, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}"
        raise SettingError(f"unknown --model-type '{model_type}'; {hint}")
    kind: Any = {**MODEL_TYPES, **ITEM_TYPES}[model_type]
    has = inspect.signature(kind).parameters
    defaults = {option.name: option.default for option in ctx.command.params}
    own = {name: value for name, value in settings.items() if name in has}
    more = {name: p.default for name, p in has.items() if name not in defaults}  # what --options has, then
    listed = ", ".join(f"{name}={default}" for name, default in more.items()) or "nothing"
    for name, value in settings.items():
        is_given = value is not None and value is not False and value != defaults[name]
        if name not in has and name not in ("options", *kind.ignores) and is_given:
            hint = f"; --options has: {listed}" if "options" not in has else ""
            raise SettingError(f"--{name.replace('_', '-')} is no setting of {_a(model_type)}; leave it out{hint}")
    given = settings["options"] or {}
    others = {name: value for name, value in given.items() if name not in more}
    if "options" in has:
        own["options"] = others or None  # of the optimizer, which says what it does not know
        near = [one for name in others for one in get_close_matches(name, more, 1)]
        if near:
            raise SettingError(f"--options of {_a(model_type)}: did you mean {near[0]}? It has: {listed}")
    elif others:
        name = next(iter(others))
        near = get_close_matches(name, more, 1)
        hint = f"that is --{name.replace('_', '-')}, " if name in has else f"did you mean {near[0]}? " if near else ""
        raise SettingError(f"--options of {_a(model_type)} has no '{name}'; {hint}it has: {listed}")
    return kind(**own, **{name: given[name] for name in given if name in more})


def _a(model_type: str) -> str:
    """With its article."""
    return f"an {model_type}" if model_type == "hmm" else f"a {model_type}"


def without_effect(ctx: click.Context, tagger: Any) -> str | None:
    """What to say of options that were given to a model which has no use for them, so that one word can be changed."""
    given = {ParameterSource.COMMANDLINE, ParameterSource.DEFAULT_MAP}
    defaults = {option.name: option.default for option in ctx.command.params}
    idle = [
        f"--{name.replace('_', '-')} ({why})"
        for name, why in tagger.ignores.items()
        if ctx.get_parameter_source(name) in given and ctx.params[name] != defaults[name]
    ]
    return f"without effect: {', '.join(idle)}" if idle else None


def default_target(tagger: Any, columns: list[str]) -> str:
    """The column to predict where none is named: the last one; a new one for labels that nobody has given."""
    return "state" if getattr(tagger, "states", None) is not None else columns[-1]


def tagger_from(path: str, texts: bool = False) -> Any:
    """The model in a file, one that labels the tokens of column files: a tagger, or a cascade of such; with `texts`
    maybe one that classifies these."""
    from trellis.cascade import Cascade, load
    from trellis.cli.functions import Unknown, refuse_functions
    from trellis.models import Tagger, TextClassifier

    model = load(path, functions=Unknown(path))
    if isinstance(model, TextClassifier) and not texts:
        raise SettingError(f"{path} classifies whole texts; `trellis tag` and `trellis eval` know how")
    if not isinstance(model, Tagger | Cascade | TextClassifier):
        raise SettingError(
            f"{path} is a {type(model).__name__}, a model of lattices, which column files do not hold; use it in "
            "Python: trellis.load(path).predict(lattices)"
        )
    refuse_functions(path, model, "{}")
    return model


def refuse_items(file: str, model: str) -> None:
    """Where a column file is needed."""
    if is_items(file):
        raise SettingError(f"{file} is a file of items; {model} labels tokens, of column files")


def is_cascade(model: Any) -> bool:
    from trellis.cascade import Cascade

    return isinstance(model, Cascade)


def is_of_texts(model: Any) -> bool:
    from trellis.models import TextClassifier

    return isinstance(model, TextClassifier)


def targets_of(model: Any) -> list[str]:
    """What it predicts, lower stages first."""
    return list(model.targets_) if is_cascade(model) else [model.target]
