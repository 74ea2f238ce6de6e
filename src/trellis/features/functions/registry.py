"""Functions by name, imported when they are asked for: a model that reads words needs no gazetteers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import cast

from trellis.features.functions.contract import Function


class Registry(Mapping[str, Function]):
    """name -> function, from name -> "file.NAME"."""

    def __init__(self, **places: str):
        self._places = places
        self._found: dict[str, Function] = {}

    def __getitem__(self, name: str) -> Function:
        if name not in self._found:
            file, attribute = self._places[name].split(".")
            module = import_module(f"trellis.features.functions.{file}")
            self._found[name] = cast(Function, getattr(module, attribute))
        return self._found[name]

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
