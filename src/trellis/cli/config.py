"""Options in a TOML file: `--config FILE.toml`, `--set key=value`, and `--show-config`, which prints such a file.

Keys are the names of options, with - or _ between words; `train` lists the training files. What stands on the command
line goes before `--set`, that before the file, and the file before the defaults.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import click

from trellis.cli import cascade
from trellis.cli.options import Table
from trellis.cli.toml import knob
from trellis.errors import DataError, SettingError
from trellis.files import read_bytes

_FILES = "files"  # what click calls the argument TRAIN...
_PATH = "trellis.config"  # where the path of the file is found in a context
_TYPES: dict[Any, tuple[type, ...]] = {click.INT: (int,), click.FLOAT: (int, float), click.STRING: (str,)}


def _read(ctx: click.Context, _: click.Parameter, path: str | None) -> None:
    if path is None:
        return
    raw = read_bytes(path)
    ctx.meta[_PATH] = path
    try:
        given = tomllib.loads(raw.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"not a TOML file: {error}", path) from None
    try:
        ctx.default_map = {**_checked(ctx, cascade.taken_from_file(ctx, path, given)), **(ctx.default_map or {})}
    except SettingError as error:
        raise SettingError(f"{path}: {error}") from None


def _set(ctx: click.Context, _: click.Parameter, pairs: tuple[str, ...]) -> None:
    given = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals:
            raise SettingError(f"--set {pair}: expected key=value")
        try:
            given[key.strip()] = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            given[key.strip()] = text.strip()  # text need not be in quotes
    ctx.default_map = {**(ctx.default_map or {}), **_checked(ctx, cascade.taken_from_changes(ctx, given))}


file = click.option(
    "--config", metavar="FILE", is_eager=True, expose_value=False, callback=_read, help="Options in a TOML file."
)
settings = click.option(
    "--set", "-s", metavar="KEY=VALUE", multiple=True, is_eager=True, expose_value=False, callback=_set,
    help="An option as in --config; may be given several times.",
)  # fmt: skip
show = click.option("--show-config", is_flag=True, help="Print all options as a file for --config, and end.")


def path_of(ctx: click.Context) -> str | None:
    """The file that was given with --config."""
    path: str | None = ctx.meta.get(_PATH)
    return path


def as_toml(
    ctx: click.Context,
    only: Sequence[str] | None = None,
    values: Mapping[str, Any] | None = None,
    about: Mapping[str, str] | None = None,
) -> str:
    """Every option, or `only` some, with its meaning and its value, or those given here; those that are not set are
    commented out."""
    lines: list[str] = []
    shown = {**ctx.params, **(values or {})}
    for key, option in _options(ctx).items():
        if only is None or key in only:
            meaning = "Training files." if key == _FILES else getattr(option, "help", None) or ""
            value = None if shown[key] == () else shown[key]
            lines += knob("train" if key == _FILES else key, value, (about or {}).get(key, meaning))
    return "\n".join(lines)


def _options(ctx: click.Context) -> dict[str, click.Parameter]:
    """All that a file may set, by name."""
    return {
        p.name: p for p in ctx.command.params if p.name and p.expose_value and p.name not in ("show_config", "help")
    }


def _checked(ctx: click.Context, given: dict[str, Any]) -> dict[str, Any]:
    options = _options(ctx)
    out: dict[str, Any] = {}
    names = ["train" if name == _FILES else name for name in options]
    for key, value in given.items():
        name = key.replace("-", "_")
        if name not in names:
            more = list(cascade.own_settings())
            near = get_close_matches(name, [*names, *more], 1)
            listed = f"{', '.join(names)}; for cascades also {', '.join(more)} and tables [[stage]]"
            hint = f"did you mean {near[0]}?" if near else f"there are: {listed}"
            raise SettingError(f"unknown option '{key}'; {hint}")
        if name == "train":
            files = [value] if isinstance(value, str) else value
            if not isinstance(files, list) or not all(isinstance(one, str) for one in files):
                raise SettingError(f"train is {value!r}; expected a list of files")
            out[_FILES] = tuple(files)
            continue
        flag = getattr(options[name], "is_flag", False)
        good = (bool,) if flag else _TYPES.get(options[name].type, (str, int, float))
        good = (*good, int, float, dict) if isinstance(options[name], Table) else good
        if not isinstance(value, good) or (isinstance(value, bool) and not flag):
            raise SettingError(f"{name} is {value!r}; expected {' or '.join(_WORDS[kind] for kind in good)}")
        out[name] = value
    return out


_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text in quotes", dict: "a table"}
