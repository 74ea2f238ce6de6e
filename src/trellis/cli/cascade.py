"""Cascades in TOML files: `trellis train --config FILE.toml` with a table [[stage]] for each stage.

The rest of such a file is as for other models (`config`), and has the settings of the cascade beside. `--set` takes
these, too, and those of a stage behind its target: `--set chunk.l2=0.5`.
"""

from __future__ import annotations

import inspect
import json
import textwrap
from difflib import get_close_matches
from typing import Any

import click
from click.core import ParameterSource

from trellis.errors import SettingError

_GIVEN = "trellis.cascade"  # where what was given is found in a context
STAGES = "stage"
# settings of the cascade that are options of `train`, too
_SHARED = ("optimizer", "options", "max_iter", "tol", "patience", "seed", "threads")
OPTIONS = ("files", "model", "columns", "dev", "checkpoint", "checkpoint_every", "resume", "log", "comments", "strict",
            "json", "show_config", *_SHARED)  # fmt: skip
_ABOUT = {
    "wire": "What upper stages see of lower ones: gold, onebest, kbest, sample, marginal or joint.",
    "k": "Paths for kbest.",
    "samples": "Paths for sample.",
    "least": "Labels that are less probable are not read.",
    "jackknife": "Folds: upper stages learn from lower ones that have not seen the sentence; 0 for none.",
    "schedule": "Joint training of all stages together, or of each in its turn (alternate).",
    "rounds": "Turns of each stage with alternate.",
    "frozen": "Targets of stages that joint training leaves as they are.",
    "target": "The column to predict.",
    "reads": "Targets of lower stages.",
    "model": "crf or semi-crf.",
    "weight": "How much the stage's loss counts in joint training.",
}


def taken_out(ctx: click.Context, given: dict[str, Any], dotted: bool = False) -> dict[str, Any]:
    """Keeps what is of cascades alone; the rest. `dotted`: keys may name a stage, TARGET.KEY."""
    mine: dict[str, Any] = ctx.meta.setdefault(_GIVEN, {"cascade": {}, "stages": [], "changes": {}})
    rest = {}
    for key, value in given.items():
        name = key.replace("-", "_")
        if key == STAGES and not dotted:
            if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
                raise SettingError("stage is no list of tables; write [[stage]] above the settings of each")
            mine["stages"] = value
        elif name in _own_settings():
            if dotted or name not in mine["cascade"]:  # --set goes before the file, whichever comes first
                mine["cascade"][name] = value
        elif dotted and "." in key:
            target, _, setting = key.rpartition(".")
            mine["changes"][target, setting] = value
        else:
            rest[key] = value
    return rest


def is_meant(ctx: click.Context, model_type: str) -> bool:
    """Whether a cascade is to be trained, or shown."""
    mine = ctx.meta.get(_GIVEN)
    return model_type == "cascade" or bool(mine and (mine["stages"] or mine["changes"] or mine["cascade"]))


def cascade_of(ctx: click.Context, settings: dict[str, Any]) -> Any:
    """The cascade that the file and the options say."""
    from trellis.cascade import Cascade

    mine = ctx.meta.get(_GIVEN) or {"cascade": {}, "stages": [], "changes": {}}
    stages = _stages(mine)
    if not stages:
        raise SettingError(
            "a cascade needs stages: a table [[stage]] with a target for each in a file for --config; "
            "`trellis train --model-type cascade --show-config` prints one"
        )
    for name in (p.name for p in ctx.command.params if p.name and p.expose_value):
        if ctx.get_parameter_source(name) != ParameterSource.DEFAULT and name not in (*OPTIONS, "model_type"):
            raise SettingError(f"{name} is a setting of stages; give it below [[stage]], or --set TARGET.{name}=...")
    shared = {name: settings[name] for name in _SHARED}
    cascade = Cascade(stages, **{**shared, **mine["cascade"]})
    cascade.check()  # before anything is read
    return cascade


def _stages(mine: dict[str, Any]) -> list[Any]:
    from trellis.cascade import Stage

    tables = [{key.replace("-", "_"): value for key, value in table.items()} for table in mine["stages"]]
    for (target, setting), value in mine["changes"].items():
        named = [table for table in tables if table.get("target") == target]
        if not named:
            there = ", ".join(str(table.get("target")) for table in tables) or "none"
            raise SettingError(f"--set {target}.{setting}: no stage has the target '{target}'; there are: {there}")
        named[0][setting.replace("-", "_")] = value
    out = []
    for n, table in enumerate(tables, 1):
        if "target" not in table:
            raise SettingError(f"stage {n} has no target; name the column that it predicts")
        known = list(stage_settings(str(table.get("model", "crf"))))
        for key in table:
            if key not in known:
                near = get_close_matches(key, known, 1)
                hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}"
                raise SettingError(f"stage '{table['target']}': unknown setting '{key}'; {hint}")
        out.append(Stage(**table))
    return out


def stage_settings(model: str) -> dict[str, Any]:
    """Settings of a stage with their defaults."""
    from trellis.cascade.stage import KINDS, NOT_HERE, Stage

    if model not in KINDS:
        raise SettingError(f"the model of a stage is '{model}'; expected {' or '.join(KINDS)}")
    own = {name: p.default for name, p in inspect.signature(Stage.__init__).parameters.items()}
    skipped = ("self", "settings", "smooth")  # a function has no place in a file
    first = {name: default for name, default in own.items() if name not in skipped}
    kind = inspect.signature(KINDS[model].__init__).parameters
    return first | {n: p.default for n, p in kind.items() if n not in (*NOT_HERE, "self", *first)}


def as_toml(ctx: click.Context, options: str) -> str:
    """Every knob with its meaning and its value: `options`, those of the command; then the cascade's; then each
    stage's."""
    mine = ctx.meta.get(_GIVEN) or {"cascade": {}, "stages": [], "changes": {}}
    helps = {p.name: getattr(p, "help", None) for p in ctx.command.params}
    lines = [options]
    for name, default in _own_settings().items():
        lines += _knob(name, mine["cascade"].get(name, default), _ABOUT[name])
    tables = [vars_of(stage) for stage in _stages(mine)]
    for table in tables or [{"target": "pos"}, {"target": "chunk", "reads": ["pos"]}]:
        lines += ["[[stage]]", ""]
        for name, default in stage_settings(str(table.get("model", "crf"))).items():
            lines += _knob(name, table.get(name, default), _ABOUT.get(name) or helps.get(name) or "")
    return "\n".join(lines)


def vars_of(stage: Any) -> dict[str, Any]:
    """A stage's settings by name."""
    table: dict[str, Any] = stage.table()
    return table


def _knob(name: str, value: Any, about: str) -> list[str]:
    lines = [f"# {line}" for line in textwrap.wrap(about, 100)]
    empty = value is None or value is inspect.Parameter.empty
    return [*lines, f"# {name} =" if empty else f"{name} = {_toml(value)}", ""]


def _toml(value: Any) -> str:
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(one)}" for key, one in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


def _own_settings() -> dict[str, Any]:
    """Those of a cascade that are no options of `train`."""
    from trellis.cascade import Cascade

    parameters = inspect.signature(Cascade.__init__).parameters
    return {name: p.default for name, p in parameters.items() if name not in ("self", "stages", *_SHARED)}
