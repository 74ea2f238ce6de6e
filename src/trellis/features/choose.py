"""From what a user gives as features to templates: a preset, a file, template lines, an expression."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from trellis.errors import SettingError, TemplateError
from trellis.features.expression import Features
from trellis.features.expression_text import parse_features
from trellis.features.functions.reading import decoded
from trellis.features.hints import instead, near, written
from trellis.features.notation import parse_templates
from trellis.features.presets import PRESETS
from trellis.features.reading import columns_of, views_of
from trellis.features.template import Template
from trellis.files import read_bytes

_COMMAND = re.compile(r"%\w+\[")
# a template without a command (U, B01, U:bias), or nothing; bag(...) is an expression
_TEMPLATE_LINE = re.compile(r"#|(?:\*|[UBub](?!\w*\s*\())[^\[]*\Z|\Z")
# what only the name of a file can be: /a/b, ./b, a/b, b.txt
_PATH = re.compile(r"(?:~|\.{0,2}/).*|[^/\[\](){}\"'+&]*(?:/[^\[\](){}\"'+&]*|\.\w+)")

Choice = str | PathLike[str] | Features


def templates_for(
    features: Choice, columns: Sequence[str], target: str, positions: Sequence[str] | None = None
) -> tuple[Template, ...]:
    """A preset by name, a file by path (template lines or an expression), or either as it is."""
    if isinstance(features, Features):
        return _checked(features.templates([name for name in columns if name != target]), columns, target)
    text, path = str(features).strip(), "features"
    if not text:
        raise SettingError(f"no features given; name a preset ({', '.join(PRESETS)}) or a file, or write e.g. word[0]")
    if text in PRESETS:
        return _preset_templates(text, columns, target)
    if isinstance(features, PathLike) or not _COMMAND.search(text):
        if _exists(Path(text)):
            text, path = _read(Path(text)), text
            if text.strip() in PRESETS:
                return _preset_templates(text.strip(), columns, target)
        elif isinstance(features, PathLike) or _PATH.fullmatch(text):
            raise SettingError(f"features '{features}': no such file")
        elif not re.search(r"[\[(+&]", text) and text.strip() not in columns:
            raise SettingError(f"features '{features}': {_neither(text, columns)}")
    return _parse(text, columns, target, path, positions)


def callables_of(features: Choice) -> Mapping[str, Callable[..., Any]]:
    """The functions of their own that a user's features use."""
    return features.functions if isinstance(features, Features) else {}


def _parse(
    text: str, columns: Sequence[str], target: str, path: str, positions: Sequence[str] | None = None
) -> tuple[Template, ...]:
    lines = [line.strip() for line in text.splitlines()]
    if _COMMAND.search(text) or all(_TEMPLATE_LINE.match(line) for line in lines):
        return parse_templates(text, columns, target, path, positions)

    found = parse_features(text, columns, target, path, lambda name: preset(name, columns, target)).templates()
    if not any(template.on_labels for template in found):
        raise TemplateError("there are features of transitions only; at least one of labels is needed", path)
    return found


def preset(name: str, columns: Sequence[str] = (), target: str = "") -> Features:
    """A preset as features, to build on. `columns`: those there are; if not given, features of columns that it can do
    without are left out once the corpus is known."""
    if not isinstance(name, str) or name not in PRESETS:
        raise SettingError(f"no preset '{name}'; {instead(str(name), 'presets', PRESETS)}")
    if isinstance(columns, str):
        raise SettingError(f'the columns are {columns!r}; expected a list, e.g. preset("{name}", ["{columns}"])')
    if columns:
        return Features.of(_preset_templates(name, columns, target))
    needed = _columns_in(PRESETS[name].text)
    found = Features.of(_preset_templates(name, needed, target))
    for column, text in PRESETS[name].more:
        found += Features.of(_parse(text, [*needed, column], target, f"preset '{name}'"), optional=True)
    return found


def _fitting(columns: Sequence[str]) -> str:
    """Presets that columns are enough for, in words; those made for a paper or for lattices are left out."""
    names = [n for n in ("pos", "ner", "morph") if set(_columns_in(PRESETS[n].text)) <= set(columns)]
    return f", such as {', '.join(names)}" if names else ""


def _preset_templates(name: str, columns: Sequence[str], target: str) -> tuple[Template, ...]:
    preset, readable = PRESETS[name], [c for c in columns if c != target]
    needed = _columns_in(preset.text)
    if not set(needed) <= set(readable):
        raise SettingError(
            f"features '{name}' read the columns {', '.join(needed)}, and there are: {', '.join(readable)}; "
            f"name the columns (--columns), or choose other features{_fitting(readable)}"
        )
    found = _parse(preset.text, columns, target, f"preset '{name}'")
    for column, text in preset.more:
        if column in readable:
            found += _parse(text, columns, target, f"preset '{name}'")
    return tuple({template.text: template for template in found}.values())


def _columns_in(text: str) -> list[str]:
    """The columns that a preset reads, found by reading it as if all columns were there."""
    names = list(dict.fromkeys(re.findall(r"[a-z_]+", text)))
    return columns_of(views_of(_parse(text, names, "", "preset")))


def _checked(templates: tuple[Template, ...], columns: Sequence[str], target: str) -> tuple[Template, ...]:
    for template in templates:
        for name in columns_of(views_of([template])):
            if name not in columns:
                raise TemplateError(f"'{template.text}': no column {name}; {instead(name, 'columns', columns)}")
            if name == target:
                raise TemplateError(
                    f"'{template.text}': reads the target column '{target}', which is to be predicted; read another"
                )
    if not any(template.on_labels for template in templates):
        raise TemplateError("no feature of labels; at least one is needed, e.g. word[0]")
    return templates


def _neither(text: str, columns: Sequence[str]) -> str:
    meant = near(text, [*PRESETS, *columns])
    if meant is None:
        return f"neither a preset ({', '.join(PRESETS)}) nor a file"
    shown = meant if meant in PRESETS else f"{written(meant)}[0]"
    return f"neither a preset nor a file; did you mean '{shown}'?"


def _exists(path: Path) -> bool:
    """A file, or a pipe: `--features <(cat my.tmpl)`."""
    try:
        return path.exists()
    except (OSError, ValueError):  # too long for a name, or a character that none can have
        return False


def _read(path: Path) -> str:
    raw = read_bytes(path).removeprefix(b"\xef\xbb\xbf")
    for number, line in enumerate(raw.splitlines(), 1):
        decoded(line, str(path), number)
    return raw.decode()
