"""Where a study's findings go: results, report and plots in a folder, and a page for the documentation."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Any

from trellis.errors import DataError, FileAccessError, SettingError
from trellis.files import read_bytes, write_atomically

RESULTS, REPORT = "results.json", "report.md"


def make_folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileAccessError(f"{path}: cannot be made: {error.strerror or error}") from None
    return path


def put_aside(folder: Path) -> Path | None:
    """Results of an earlier run may have taken hours: a copy under a name of its own, None where there are none."""
    if not (folder / RESULTS).exists():
        return None
    names = (folder / f"results.before-{k}.json" for k in count(1))
    aside = next(path for path in names if not path.exists())
    write_atomically(aside, read_bytes(folder / RESULTS))
    return aside


def write_found(found: Mapping[str, Any], folder: Path) -> None:
    write_atomically(folder / RESULTS, (json.dumps(found) + "\n").encode())


def read_found(folder: Path) -> Any:
    path = folder / RESULTS
    try:
        return json.loads(read_bytes(path))
    except ValueError:
        raise DataError("this is no JSON", path) from None


def write_pages(page: Callable[[str], str], files: Sequence[str], folder: Path, docs: Path | None) -> None:
    """`page(images)` is the report's text with `images` before the names of plots; for the documentation `files`, plots
    and what else belongs to the page, are copied from the folder to one of the page's name beside it."""
    write_atomically(folder / REPORT, page("").encode())
    if docs is not None:
        images = make_folder(docs.parent / docs.stem)
        for name in files:
            write_atomically(images / name, read_bytes(folder / name))
        write_atomically(docs, page(f"{docs.stem}/").encode())


def plain_settings(settings: Any) -> dict[str, Any]:
    """Those of a dataclass, as JSON gives them back."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(settings).items()}


def check_alike(settings: Mapping[str, Any], earlier: Mapping[str, Any], free: Sequence[str]) -> None:
    """Refuses to go on with a study that was made in another way, but for what is `free`."""
    for name, value in settings.items():
        if name not in free and earlier.get(name) != value:
            raise SettingError(f"the study there has {name}={earlier.get(name)!r}, not {value!r}")
