"""Packages whose names are imported when they are first used: start-up is part of the product."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package; homes: name -> the module in it that has the name."""

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{homes[name]}"), name)
        vars(sys.modules[package])[name] = value
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return find, names
