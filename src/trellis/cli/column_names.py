"""Names of a file's columns, where nobody gives them with --columns: those that stand beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from trellis.cli import options
from trellis.cli.output import write_output
from trellis.errors import DataError

LABEL, CHANCE = "label", "p:"  # what `trellis weak label` calls the columns that it adds, the second with the label


def own_names(path: str, columns: str | None) -> list[str] | None:
    """As given, or as in `FILE.columns`, which is written beside a file whose columns have names."""
    if columns is not None:
        return options.names_of(columns)
    return _beside(path, Path(_beside_of(path)))


def names_for(path: str, columns: str | None) -> list[str] | None:
    """The same, or as in `columns.txt` in its folder, as sets of votes have it."""
    return own_names(path, columns) or _beside(path, Path(path).parent / "columns.txt")


def names_for_model(path: str, columns: str | None, known: Sequence[str] | None) -> list[str]:
    """For text to a model: as in `own_names`, where a name that nobody gave (c0, c1 ...) stands for the model's in that
    place; else the model's."""
    own = own_names(path, columns)
    if own is None or columns is not None:
        return own or list(known or ())
    meant = {f"c{i}": name for i, name in enumerate(known or ()) if name not in own}
    return [meant.get(name, name) if name == f"c{i}" else name for i, name in enumerate(own)]


def outputs(output: str | None) -> dict[str, str | None]:
    """What is written where columns have names: --output, and the names beside it."""
    if output is None or output == "-":
        return {"--output": output}
    return {"--output": output, "--output, the names of its columns:": _beside_of(output)}


def write_names(output: str, names: Iterable[str]) -> None:
    """Those of the columns of a file, which is there by now."""
    write_output(_beside_of(output), "".join(f"{name}\n" for name in names).encode())


def _beside_of(path: str) -> str:
    return f"{path}.columns"


def _beside(path: str, beside: Path) -> list[str] | None:
    if path == "-" or not _is_file(beside):
        return None
    try:
        return beside.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"the names of columns cannot be read: {error}; give --columns", beside) from None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long with what is added, or a folder that cannot be looked into
        return False
