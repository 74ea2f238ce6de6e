"""What a labeling function is: a name, what it votes on, and its votes on a whole batch at once.

    spans    segments of a sentence, by their type
    tokens   one label for each token: of segments in any encoding, or any other
    links    whether a token belongs with the one before it
    items    one label for a whole item: a text, or any Python object

A new kind is one file with a subclass and a function that makes it, and one line in `trellis.weak.functions`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from trellis.corpus import Column, Corpus
from trellis.errors import DataError, SettingError, shown
from trellis.weak.functions.casts import Cast
from trellis.weak.space import SILENCE

KINDS = ("spans", "tokens", "links", "items")
_NAME = re.compile(r"[^\s,%\[\]]+")  # of columns too, which votes can be written to


class ItemError(DataError):
    """What is wrong with one item, `item` from 0 on; whoever read it knows where that was."""

    def __init__(self, message: str, item: int = 0):
        super().__init__(message)
        self.item = item


class Account(NamedTuple):
    """What it took a function to vote: a line for people, and the same as values that JSON can have."""

    line: str
    values: dict[str, Any]


class LabelingFunction(ABC):
    """Votes of `votes` (one of `KINDS`) by the name `name`.

    `whole`: it has to see all sentences at once, so it cannot be streamed. `python`: it runs Python for each sentence
    or item, so that more processes make it faster. `named`: whether its name was given, not made up. `asks`: functions
    whose votes it looks at; all that it does with them is `made_of`.
    """

    python: bool = False
    whole: bool = False
    asks: tuple[LabelingFunction, ...] = ()

    def __init__(self, votes: str, name: str | None, otherwise: str):
        self.votes = votes
        self.named = name is not None
        self.name = check_name(otherwise if name is None else name)

    @abstractmethod
    def on(self, data: Any, first: int = 0) -> Cast:
        """The votes on a corpus (of functions on items: on a sequence of them), before which there are `first` other
        sentences (items): messages count these, too."""

    def made_of(self, casts: Sequence[Cast], data: Any) -> Cast:
        """The votes, given those of the functions it asks."""
        raise NotImplementedError

    def report(self) -> Account | None:
        """What all calls so far took; None where there is nothing to say, as for most."""
        return None

    def stop(self, at_once: bool) -> None:  # noqa: B027 - most are done soon
        """Called from another thread while it votes, where nobody waits for the votes any more; `at_once`: nor for an
        orderly end."""

    def __repr__(self) -> str:
        return f"<labeling function {self.name!r} on {self.votes}>"

    def failed(self, what: str, data: Any, first: int, at: int, token: int | None = None) -> DataError:
        """The error that says where: function, sentence (item) number `at` of the batch, and its token."""
        message = f"the labeling function '{self.name}' {what}"
        if not isinstance(data, Corpus):
            return ItemError(f"item {first + at + 1}: {message}", first + at)
        a, b = int(data.offsets[at]), int(data.offsets[at + 1])
        place = f"sentence {first + at + 1}"
        if token is not None and 0 <= token < b - a:
            words = data[next(iter(data.columns))]
            place += f", token {token + 1} ({words.strings[words.ids[a + token]]!r})"
        line = None
        if data.path is not None and data.lines is not None and a < b:
            line = int(data.lines[a + (token if token is not None and 0 <= token < b - a else 0)])
        return DataError(f"{place}: {message}", data.path, line)


def check_name(name: object) -> str:
    """The same name, if votes by it can be a column."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise SettingError(
            f"{shown(name)} cannot name a labeling function; expected text without spaces, commas, % and brackets"
        )
    return name


def made_up(kind: str, *parts: object) -> str:
    """A name for a function that was given none: its kind and what it votes for."""
    return re.sub(r"[\s,%\[\]]+", "_", "-".join([kind, *map(str, parts)]))


def check_label(label: object, whose: str, kind: str = "tokens") -> str:
    """The same label: text, and some; of spans a type."""
    wrong = what_is_wrong(label, kind)
    if wrong:
        raise SettingError(f"{whose} votes {shown(label)}; {wrong}")
    return str(label)


def what_is_wrong(label: object, kind: str) -> str:
    """What to expect instead of such a label (of spans: type); nothing where it will do."""
    if not isinstance(label, str) or not label or any(map(str.isspace, label)):
        return "expected a label: text without spaces"
    if label == SILENCE:
        return f"expected a label; {SILENCE!r} is how files spell that there is no vote"
    if kind == "spans" and label[:2] in ("B-", "I-") and label[2:]:
        return f"expected a type, {label[2:]!r}: spans are spelt {label!r} and the like by themselves"
    return ""


def column_of(corpus: Corpus, name: str | None, whose: str) -> Column:
    """The column that a function looks at: the first if it names none."""
    if name is None:
        return next(iter(corpus.columns.values()))
    if name not in corpus.columns:
        known = ", ".join(corpus.columns)
        raise SettingError(f"the labeling function '{whose}' looks at '{name}'; the columns are: {known}")
    return corpus[name]


def check_functions(functions: Iterable[object]) -> list[LabelingFunction]:
    """The same as a list: labeling functions, all of different names."""
    found: list[LabelingFunction] = []
    for one in [functions] if isinstance(functions, LabelingFunction) else functions:
        if not isinstance(one, LabelingFunction):
            hint = "; decorate it with @spans, @tokens, @links or @items" if callable(one) else ""
            raise SettingError(f"{shown(one)} is no labeling function{hint}")
        found.append(one)
    if not found:
        raise SettingError("no labeling function is given; at least one is needed")
    names = [one.name for one in found]
    for name in names:
        if names.count(name) > 1:
            raise SettingError(f"two labeling functions are called '{name}'; give each a name of its own: name=...")
    return found
