"""The options of `trellis train` that say what a model is, for other commands that train models by themselves."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, TypeVar

import click

from trellis.cli import options
from trellis.cli.choosing import default_target, estimator_of, without_effect
from trellis.cli.console import say
from trellis.cli.train import train
from trellis.errors import SettingError

Function = TypeVar("Function", bound=Callable[..., Any])

_SHARED = (
    "columns target model_type features loss costs optimizer options l2 l1 hyperbolic min_count hash_size "
    "tag_dictionary order prune encoding only_seen segments longest all_pairs all_transitions max_iter tol threads"
).split()


def model_options(function: Function) -> Function:
    """Adds them to a command, which has an option --seed of its own and takes them as `**settings`."""
    shared = [_here(option) for option in train.params if option.name in _SHARED]
    vars(function)["__click_params__"] = [*getattr(function, "__click_params__", []), *reversed(shared)]
    return function


def _here(option: click.Parameter) -> click.Parameter:
    """Without cascades, which these commands do not know."""
    if not (isinstance(option, click.Option) and option.name == "model_type" and option.help):
        return option
    own = copy(option)
    own.help = option.help.replace("; or cascade", "")
    return own


def trainable_of(settings: dict[str, Any], seed: int) -> tuple[Any, list[str] | None, str | None]:
    """An untrained model with these settings, the names of columns, and the target as far as it was given."""
    from trellis.models import ITEM_TYPES

    ctx = click.get_current_context()
    given = dict(settings)
    columns, target, model_type = given.pop("columns"), given.pop("target"), given.pop("model_type")
    if model_type == "cascade" or given["features"] == "-":
        what = "--model-type cascade" if model_type == "cascade" else "--features -"
        raise SettingError(f"{what} is for `trellis train` alone; choose another")
    given["costs"] = options.costs_of(given["costs"], "--costs")
    given["options"] = options.table_of(given["options"], "--options")
    if model_type in ITEM_TYPES:
        raise SettingError(f"--model-type {model_type} is for `trellis train` alone; column files have tokens")
    tagger = estimator_of(ctx, model_type, {**given, "seed": seed})
    idle = without_effect(ctx, tagger)
    if idle is not None:
        say(f"trellis: warning: {idle}")
    return tagger, options.names_of(columns), target


def read_both(
    tagger: Any, train_file: str, test_file: str, columns: list[str] | None, target: str | None, comments: bool
) -> tuple[Any, Any]:
    """The two corpora; the tagger is told its target."""
    from trellis.corpus import read_conll
    from trellis.errors import DataError
    from trellis.files import same_file

    both = [read_conll(file, columns=columns, comments=comments) for file in (train_file, test_file)]
    for file, corpus in zip((train_file, test_file), both, strict=True):
        if not corpus.tokens:
            raise DataError("there is no token in the file", file)
    wanted = target or default_target(tagger, list(both[0].columns))
    for file, corpus in zip((train_file, test_file), both, strict=True):
        if wanted not in corpus.columns:
            raise DataError(f"there is no column '{wanted}'; the columns are: {', '.join(corpus.columns)}", file)
    tagger.set_params(target=wanted)
    if same_file(train_file, test_file) or _alike(both[0], both[1]):
        say(f"trellis: warning: {test_file} is what is learnt from, so scores say little; test on other sentences")
    return both[0], both[1]


def _alike(one: Any, other: Any) -> bool:
    """Whether two corpora are the same."""
    if one.offsets.tolist() != other.offsets.tolist() or list(one.columns) != list(other.columns):
        return False
    return all((one[name].ids == other[name].translated(one[name].index)).all() for name in one.columns)


def metric_of(corpus: Any, target: str) -> str:
    """What scores are of the labels of a corpus: F1 of segments, or accuracy."""
    from trellis.labels import detect, is_gappy

    labels = corpus[target].compact().strings
    return "F1" if is_gappy(labels) or detect(labels) is not None else "accuracy"
