"""Cascades in TOML files: `trellis train --config FILE.toml` with a table [[stage]] for each stage.

The rest of such a file is as for other models (`config`), and has the settings of the cascade beside. `--set` takes
these, too, and those of a stage behind its target: `--set chunk.l2=0.5`.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import click
from click.core import ParameterSource

from trellis.cli import options
from trellis.errors import SettingError

_GIVEN = "trellis.cascade"  # where what was given is found in a context
STAGES = "stage"
# settings of the cascade that are options of `train`, too
SHARED = ("optimizer", "options", "max_iter", "tol", "patience", "seed", "threads")
OPTIONS = ("files", "model", "columns", "dev", "warm_start", "checkpoint", "checkpoint_every", "resume", "log",
           "comments", "strict", "json", "show_config", *SHARED)  # fmt: skip
_TEXTS = {"options": options.table_of, "costs": options.costs_of}  # of stages; may be text, as on the command line


@dataclass
class Given:
    """What is of cascades alone: in the file `path`, `settings` and `stages`; with --set, `changes` of settings, and
    of those of a stage by target and name."""

    path: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    stages: list[dict[str, Any]] = field(default_factory=list)
    changes: dict[str, Any] = field(default_factory=dict)
    stage_changes: dict[tuple[str, str], Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.settings or self.stages or self.changes or self.stage_changes)

    @property
    def all_settings(self) -> dict[str, Any]:
        return {**self.settings, **self.changes}

    @property
    def alone(self) -> Given:
        """The file without changes."""
        return Given(self.path, self.settings, self.stages)


def given_in(ctx: click.Context) -> Given:
    """What was given so far."""
    given: Given = ctx.meta.setdefault(_GIVEN, Given())
    return given


def taken_from_file(ctx: click.Context, path: str, found: dict[str, Any]) -> dict[str, Any]:
    """Keeps what is of cascades alone; the rest."""
    mine, rest = given_in(ctx), {}
    mine.path = path
    for key, value in found.items():
        name = key.replace("-", "_")
        if key == STAGES:
            if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
                raise SettingError("stage is no list of tables; write [[stage]] above the settings of each")
            mine.stages = value
        elif name in own_settings():
            mine.settings[name] = value
        elif isinstance(value, dict | list) and get_close_matches(key.lower(), [STAGES], 1):
            raise SettingError(f"unknown table '{key}'; did you mean [[stage]]?")
        else:
            rest[key] = value
    return rest


def taken_from_changes(ctx: click.Context, found: dict[str, Any]) -> dict[str, Any]:
    """The same for --set, whose keys may name a stage: TARGET.KEY."""
    mine, rest = given_in(ctx), {}
    for key, value in found.items():
        name = key.replace("-", "_")
        if key == STAGES:
            raise SettingError(
                "--set stage: stages are tables [[stage]] in a file; change them by --set TARGET.KEY=..."
            )
        if name in own_settings():
            mine.changes[name] = value
        elif "." in key:
            target, _, setting = key.rpartition(".")
            mine.stage_changes[target, setting.replace("-", "_")] = value
        else:
            rest[key] = value
    return rest


def is_meant(ctx: click.Context, model_type: str) -> bool:
    """Whether a cascade is to be trained, or shown."""
    mine = given_in(ctx)
    if mine and model_type != "cascade" and is_given(ctx, "model_type"):
        what = "tables [[stage]]" if mine.stages else "settings of cascades"
        raise SettingError(f"--model-type is '{model_type}', and there are {what}; give cascade, or leave them out")
    return model_type == "cascade" or bool(mine)


def is_given(ctx: click.Context, name: str) -> bool:
    """Whether an option was, by whatever way."""
    return ctx.get_parameter_source(name) != ParameterSource.DEFAULT


def cascade_of(ctx: click.Context, settings: dict[str, Any]) -> Any:
    """The cascade that the file and the options say."""
    mine = given_in(ctx)
    if not mine.stages:
        raise SettingError(
            "a cascade needs stages: a table [[stage]] with a target for each in a file for --config; "
            "`trellis train --model-type cascade --show-config` prints one"
        )
    from trellis.cascade.stage import KINDS

    known = {name for kind in KINDS for name in stage_settings(kind)}
    for name in (p.name for p in ctx.command.params if p.name and p.expose_value):
        if is_given(ctx, name) and name not in (*OPTIONS, "model_type"):
            if name == "target":
                raise SettingError("target: each [[stage]] of a cascade names its own; leave it out")
            if name not in known:
                raise SettingError(f"{name} is no setting of cascades; leave it out")
            raise SettingError(f"{name} is a setting of stages; give it below [[stage]], or --set TARGET.{name}=...")
    try:
        return _made(mine, {name: settings[name] for name in SHARED})
    except SettingError as error:
        raise SettingError(_named(mine, error)) from None


def _named(mine: Given, error: SettingError) -> str:
    """With the file, if it says the same by itself."""
    try:
        _made(mine.alone, {})
    except SettingError as other:
        if str(other) == str(error):
            return f"{mine.path}: {error}"
    return str(error)


def _made(mine: Given, shared: dict[str, Any]) -> Any:
    from trellis.cascade import Cascade

    own = mine.all_settings
    if "frozen" in own:
        own["frozen"] = _targets(own["frozen"])
    cascade = Cascade(stages_of(mine), **{**shared, **own})
    cascade.check()  # before anything is read
    return cascade


def _targets(value: Any) -> list[str]:
    """`pos,chunk`, or a list."""
    names = [name.strip() for name in value.split(",")] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise SettingError(f"frozen is {value!r}; expected targets of stages")
    return names


def stages_of(mine: Given) -> list[Any]:
    """As the file has them, with the changes."""
    from trellis.cascade.stage import KINDS, Stage

    tables = [{key.replace("-", "_"): value for key, value in table.items()} for table in mine.stages]
    for (target, setting), value in mine.stage_changes.items():
        named = [table for table in tables if table.get("target") == target]
        if not named:
            there = ", ".join(str(table.get("target")) for table in tables) or "none"
            raise SettingError(f"--set {target}.{setting}: no stage has the target '{target}'; there are: {there}")
        named[0][setting] = value
    out = []
    for n, table in enumerate(tables, 1):
        if "target" not in table:
            raise SettingError(f"stage {n} has no target; name the column that it predicts")
        where = f"stage '{table['target']}'"
        model = table.get("model", "crf")
        if not isinstance(model, str) or model not in KINDS:
            raise SettingError(f"{where}: the model is {model!r}; expected {' or '.join(KINDS)}")
        known = list(stage_settings(model))
        for key in table:
            if key not in known:
                near = get_close_matches(key, known, 1)
                hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}"
                raise SettingError(f"{where}: unknown setting '{key}'; {hint}")
        for name, read in _TEXTS.items():
            if isinstance(table.get(name), str):
                table[name] = read(table[name], f"{where}: {name}")
        out.append(Stage(**table))
    return out


def stage_settings(model: str) -> dict[str, Any]:
    """Settings of a stage with their defaults."""
    from trellis.cascade.stage import KINDS, NOT_HERE, Stage

    own = {name: p.default for name, p in inspect.signature(Stage.__init__).parameters.items()}
    skipped = ("self", "settings", "smooth")  # a function has no place in a file
    first = {name: default for name, default in own.items() if name not in skipped}
    kind = inspect.signature(KINDS[model].__init__).parameters
    return first | {n: p.default for n, p in kind.items() if n not in (*NOT_HERE, "self", *first)}


def own_settings() -> dict[str, Any]:
    """Those of a cascade that are no options of `train`, with their defaults."""
    from trellis.cascade import Cascade

    parameters = inspect.signature(Cascade.__init__).parameters
    return {name: p.default for name, p in parameters.items() if name not in ("self", "stages", *SHARED)}
