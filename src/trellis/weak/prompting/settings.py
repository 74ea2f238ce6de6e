"""The settings of prompted functions, checked when they are given, not after an hour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trellis.errors import SettingError, shown
from trellis.weak.functions.contract import check_label
from trellis.weak.prompting.aligning import Alignment
from trellis.weak.prompting.prompts import Answer
from trellis.weak.space import SILENCE

VOTES = ("items", "spans")
_LONGEST = 86_400.0  # seconds that one request may take
_MOST = 1e12  # any other number


@dataclass(frozen=True)
class Request:
    """Whom to ask, and how; as `prompted` says."""

    model: str
    base_url: str | None
    key_variable: str | None
    batch: int
    parallel: int
    retries: int
    timeout: float
    cache: str | Path | None
    prices: tuple[float, float] | None
    max_cost: float | None
    max_requests: int | None
    temperature: float | None
    seed: int | None
    max_tokens: int | None

    def __post_init__(self) -> None:
        for name in ("model", "key_variable"):
            value = getattr(self, name)
            if not (isinstance(value, str) and value) and not (name == "key_variable" and value is None):
                raise SettingError(f"{name} is {shown(value)}; expected a name")
        for name, least, optional in (
            ("batch", 1, False),
            ("parallel", 1, False),
            ("retries", 0, False),
            ("max_requests", 0, True),
            ("max_tokens", 1, True),
            ("seed", None, True),
        ):
            _check_whole(name, getattr(self, name), least, optional)
        _check_number("timeout", self.timeout, most=_LONGEST, above=True)
        for name in ("max_cost", "temperature"):
            if getattr(self, name) is not None:
                _check_number(name, getattr(self, name))
        if not (self.cache is None or (isinstance(self.cache, str | Path) and str(self.cache))):
            raise SettingError(f"cache is {shown(self.cache)}; expected the name of a file, or None")
        if self.prices is not None:
            if not isinstance(self.prices, tuple | list) or len(self.prices) != 2:
                raise SettingError(f"prices is {shown(self.prices)}; expected two: for a million tokens in, and out")
            for price in self.prices:
                _check_number("prices", price)
        elif self.max_cost is not None:
            raise SettingError("max_cost is given, but no prices; give prices=(for a million tokens in, and out)")

    @property
    def parameters(self) -> dict[str, Any]:
        """All of a request but the messages; what is None is not sent."""
        given = {name: getattr(self, name) for name in ("model", "temperature", "seed", "max_tokens")}
        return {name: value for name, value in given.items() if value is not None}


def checked_prompt(
    votes: str, labels: object, task: object, examples: object
) -> tuple[dict[str, str], tuple[tuple[str, Answer], ...]]:
    """label -> description, and the examples."""
    if votes not in VOTES:
        raise SettingError(f"votes is {shown(votes)}; expected one of {', '.join(VOTES)}")
    if task is not None and not (isinstance(task, str) and task.strip()):
        raise SettingError(f"task is {shown(task)}; expected a sentence that says what is asked")
    inventory = _inventory(votes, labels)
    if not isinstance(examples, Sequence) or isinstance(examples, str):
        raise SettingError(f"examples is {shown(examples)}; expected a list of (text, answer)")
    shots: dict[str, Answer] = {}
    for one in examples:
        text, answer = _example(votes, inventory, one)
        if shots.setdefault(text, answer) != answer:
            raise SettingError(f"examples has {shown(text)} twice, with different answers")
    return inventory, tuple(shots.items())


def _inventory(votes: str, labels: object) -> dict[str, str]:
    if isinstance(labels, Mapping):
        given = dict(labels)
    elif isinstance(labels, Sequence) and not isinstance(labels, str):
        given = {}
        for label in labels:
            if not isinstance(label, str):
                raise SettingError(f"labels has {shown(label)}; expected a label, a text")
            if label in given:
                raise SettingError(f"labels has {shown(label)} twice")
            given[label] = ""
    else:
        given = {}
    if not given:
        raise SettingError(f"labels is {shown(labels)}; expected a list of labels, or a table of what they mean")
    for label, what in given.items():
        if votes == "spans":
            check_label(label, "a prompted function", "spans")
        elif not _is_label(label):
            raise SettingError(f"labels has {shown(label)}; expected a label, a text without white space around it")
        if not isinstance(what, str):
            raise SettingError(f"labels says {shown(what)} of {label!r}; expected what it means, a text")
    return given


def _is_label(label: object) -> bool:
    if not isinstance(label, str) or label == SILENCE:
        return False
    return bool(label) and label == label.strip() and label.isprintable()


def _example(votes: str, labels: Mapping[str, str], one: object) -> tuple[str, Answer]:
    wrong = "(text, label or None)" if votes == "items" else "(text, [(phrase, type), ...])"
    error = SettingError(f"examples has {shown(one)}; expected {wrong}, with labels of the inventory")
    if not isinstance(one, tuple | list) or len(one) != 2 or not isinstance(one[0], str):
        raise error
    text, answer = one
    if votes == "items":
        if answer is not None and not (isinstance(answer, str) and answer in labels):
            raise error
        return text, answer
    if not isinstance(answer, tuple | list):
        raise error
    spans = []
    for span in answer:
        if not isinstance(span, tuple | list) or len(span) != 2 or not all(isinstance(part, str) for part in span):
            raise error
        if span[1] not in labels:
            raise error
        spans.append((span[0], span[1]))
    for reason in Alignment(text.split()).find(spans)[1]:
        what = f"examples has {shown(one)}, in which a phrase would be dropped: {reason}"
        raise SettingError(f"{what}; expected phrases of whole words of the text, each named as often as it is meant")
    return text, spans


def _check_whole(name: str, value: object, least: int | None, optional: bool) -> None:
    if optional and value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool) or (least is not None and value < least):
        expected = "a whole number" + ("" if least is None else f" >= {least}") + (", or None" if optional else "")
        raise SettingError(f"{name} is {shown(value)}; expected {expected}")


def _check_number(name: str, value: object, most: float = _MOST, above: bool = False) -> None:
    fits = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most
    if not fits or (above and value == 0):
        least = ">" if above else ">="
        raise SettingError(f"{name} is {shown(value)}; expected a number {least} 0, and at most {most:g}")
