"""Settings as TOML, with what they mean above them."""

from __future__ import annotations

import json
import re
import textwrap
from typing import Any

_OPTION = re.compile(r"--([a-z][a-z-]*)")


def knob(name: str, value: Any, about: str) -> list[str]:
    """The lines of one setting; one without a value (None) is commented out. Options that `about` speaks of are keys
    here."""
    about = _OPTION.sub(lambda found: found[1].replace("-", "_"), about)
    lines = [f"# {line}" for line in textwrap.wrap(about, 100)]
    return [*lines, f"# {name} =" if value is None else f"{name} = {written(value)}", ""]


def written(value: Any) -> str:
    """A value as TOML has it."""
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(written, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {written(one)}" for key, one in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)
