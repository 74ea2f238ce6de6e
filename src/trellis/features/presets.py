"""Template sets that have a name, each with its source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from trellis.errors import FileAccessError, SettingError
from trellis.features.template import Template, parse_templates

# The unigram patterns of the chunking example that comes with CRF++ (base phrases from words and parts of
# speech in a window of five tokens), plus label transitions.
_CHUNKING = """
U00:%x[-2,word]
U01:%x[-1,word]
U02:%x[0,word]
U03:%x[1,word]
U04:%x[2,word]
U05:%x[-1,word]/%x[0,word]
U06:%x[0,word]/%x[1,word]

U10:%x[-2,pos]
U11:%x[-1,pos]
U12:%x[0,pos]
U13:%x[1,pos]
U14:%x[2,pos]
U15:%x[-2,pos]/%x[-1,pos]
U16:%x[-1,pos]/%x[0,pos]
U17:%x[0,pos]/%x[1,pos]
U18:%x[1,pos]/%x[2,pos]

U20:%x[-2,pos]/%x[-1,pos]/%x[0,pos]
U21:%x[-1,pos]/%x[0,pos]/%x[1,pos]
U22:%x[0,pos]/%x[1,pos]/%x[2,pos]

B
"""

PRESETS = {"chunking": _CHUNKING}


def templates_for(
    features: str, columns: Sequence[str], target: str, positions: Sequence[str] | None = None
) -> tuple[Template, ...]:
    """A preset by name, a template file by path, or template lines given as they are."""
    if features in PRESETS:
        needed = dict.fromkeys(re.findall(r"%x\[[^,]*,(.*?)\]", PRESETS[features]))
        if not set(needed) <= set(columns) - {target}:
            there = ", ".join(name for name in columns if name != target)
            raise SettingError(
                f"features '{features}' read the columns {', '.join(needed)}, and there are: {there}; "
                "name the columns (--columns), or choose other features"
            )
        return parse_templates(PRESETS[features], columns, target, f"preset '{features}'")
    if "%x[" in features:
        return parse_templates(features, columns, target, None, positions)
    path = Path(features)
    if not path.is_file():
        known = ", ".join(PRESETS)
        raise SettingError(f"features '{features}': neither a preset ({known}) nor a template file")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise FileAccessError(f"{path}: the template file cannot be read: {error}") from None
    return parse_templates(text, columns, target, path, positions)
