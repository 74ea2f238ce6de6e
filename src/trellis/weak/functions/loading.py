"""Labeling functions out of a Python file of the user's own, which is run: for the command line.

Taken are all labeling functions at the top of the file, as they come, but for those whose names begin with _; or, where
there is a list `FUNCTIONS`, that. `COARSE` may say what coarse labels stand for, `LABELS` what else can be voted for.
A function that was given no name is called what its variable is.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from trellis.errors import DataError, TrellisError
from trellis.files import read_bytes
from trellis.weak.functions.contract import LabelingFunction, check_functions, check_name


@dataclass(frozen=True)
class Loaded:
    """What a file of labeling functions has."""

    functions: list[LabelingFunction]
    coarse: dict[str, list[str]] | None
    labels: list[str] | None


def load_functions(path: str | Path) -> Loaded:
    """Runs a Python file and takes its labeling functions; see the top of this file."""
    given = vars(_run(path))
    for variable, value in given.items():
        if isinstance(value, LabelingFunction) and not value.named:
            value.name, value.named = check_name(variable.lstrip("_") or variable), True
    listed = given.get("FUNCTIONS")
    if listed is None:
        public = (value for name, value in given.items() if not name.startswith("_"))
        listed = list({id(one): one for one in public if isinstance(one, LabelingFunction)}.values())
    if isinstance(listed, LabelingFunction):
        listed = [listed]
    if not isinstance(listed, list | tuple) or not listed:
        raise DataError(
            "no labeling function here; decorate functions with @spans, @tokens, @links or @items, or set FUNCTIONS to "
            "a list",
            path,
        )
    try:
        functions = check_functions(listed)
    except TrellisError as error:
        raise DataError(str(error), path) from None
    return Loaded(functions, _coarse(given.get("COARSE"), path), _labels(given.get("LABELS"), path, "LABELS"))


def _run(path: str | Path) -> ModuleType:
    source = read_bytes(path)
    module = ModuleType(f"trellis_functions_{Path(path).stem}")
    module.__file__ = str(path)
    folder = str(Path(path).resolve().parent)
    sys.modules[module.__name__] = module  # dataclasses and pickle look there
    sys.path.insert(0, folder)  # so that the file can import its neighbours, as a script can
    try:
        exec(compile(source, str(path), "exec"), vars(module))
    except SyntaxError as error:
        raise DataError(f"no Python: {error.msg}", error.filename or path, error.lineno) from error
    except (Exception, SystemExit) as error:
        what = str(error) if isinstance(error, TrellisError) else f"{type(error).__name__}: {error}"
        raise DataError(what, path, _line(error, str(path))) from error
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
    return module


def _line(error: BaseException, path: str) -> int | None:
    """The innermost line of the file that the error came through."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return lines[-1] if lines else None


def _coarse(value: Any, path: str | Path) -> dict[str, list[str]] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise DataError(f"COARSE is {value!r}; expected a table such as {{'ENT': ['PER', 'LOC']}}", path)
    return {name: _labels(members, path, f"COARSE[{name!r}]") or [] for name, members in value.items()}


def _labels(value: Any, path: str | Path, what: str) -> list[str] | None:
    if value is None:
        return None
    if not isinstance(value, list | tuple | set | frozenset) or not all(isinstance(one, str) for one in value):
        raise DataError(f"{what} is {value!r}; expected a list of labels", path)
    return sorted(value) if isinstance(value, set | frozenset) else list(value)
