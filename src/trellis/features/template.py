"""What a feature template is: views of columns at positions, put together to one attribute.

U05:%x[-1,word]/%suffix[0,word,3]      kind U; literals "U05:", "/", ""; parts x of word at -1, suffix at 0
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from trellis.features.functions import Arguments

# The two notations mark positions outside the sentence differently. Wapiti knows four places on either side and one
# name for all that is further away.
CRFPP = "_B"
WAPITI = "_x"
# a first line that says which notation a file is in, where that is not to be seen from its templates
CRFPP_HEADER = "# notation: CRF++"
_WAPITI_PLACES = 4


@dataclass(frozen=True)
class View:
    """A column seen through a function: one value (or several, or none) for each of its strings. `folded`: in lower
    case after all. `padding`: how positions outside the sentence are called. `place`: where it was written, as
    file:line:column, for errors."""

    function: str
    column: str
    arguments: Arguments = ()
    folded: bool = False
    padding: str = CRFPP
    place: str = field(default="", compare=False, repr=False)

    def described(self) -> str:
        """For errors: `my.tmpl:3:5: '%suffix[0,word,3]'`."""
        return f"{self.place}: '{Part(self, 0).text}'" if self.place else f"'{Part(self, 0).text}'"

    def outside(self, reach: int) -> list[str]:
        """The strings that stand at -1, -2, ... -reach and +1, ... +reach."""
        most = reach if self.padding == CRFPP else _WAPITI_PLACES
        places = [str(k) if k <= most else "#" for k in range(1, reach + 1)]
        return [f"{self.padding}{sign}{place}" for sign in "-+" for place in places]


@dataclass(frozen=True)
class Part:
    """A view `row` tokens away; or, `absolute`, at the row-th token of the sentence (from its end if negative)."""

    view: View
    row: int
    absolute: bool = False

    @property
    def text(self) -> str:
        """As in a template: `%x[-1,word]`."""
        view = self.view
        command = view.function.upper() if view.folded else view.function
        arguments = [view.column, *map(quoted, view.arguments)]
        return f"%{command}[{'@' if self.absolute else ''}{self.row},{','.join(arguments)}]"


@dataclass(frozen=True)
class Template:
    """`literals` stand before, between and after the parts; the first begins with the kind: U or u for attributes of
    a label, B or b for attributes of a transition, * for both."""

    literals: tuple[str, ...]
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The line of a template file."""
        return self.name([part.text for part in self.parts])

    def name(self, values: Sequence[str]) -> str:
        """The attribute's name when the parts have these values: `U05:the/ing`."""
        pieces = [self.literals[0]]
        for value, literal in zip(values, self.literals[1:], strict=True):
            pieces += (value, literal)
        return "".join(pieces)

    @property
    def on_labels(self) -> bool:
        return self.literals[0][0] in "Uu*"

    @property
    def on_transitions(self) -> bool:
        return self.literals[0][0] in "Bb*"


def quoted(argument: str | int) -> str:
    """An argument as templates write it: numbers as they are, text in quotes."""
    if isinstance(argument, int):
        return str(argument)
    text, escaped = [], False
    for character in argument:
        text.append('\\"' if character == '"' and not escaped else character)
        escaped = character == "\\" and not escaped
    return '"' + "".join(text) + '"'


def can_be_written(argument: str | int) -> bool:
    """Whether an argument is the same after it was written in a template and read again."""
    if isinstance(argument, int):
        return abs(argument) < 10**9
    text = quoted(argument)[1:-1]
    whole = re.fullmatch(r'(?:[^"\\]|\\.)*', text) is not None
    return whole and unquoted(text) == argument and argument.splitlines() in ([], [argument])


def unquoted(text: str) -> str:
    """The argument between the quotes. A backslash stays, as regular expressions need it, but for that before a
    quote, which is there for the quote's sake."""
    out: list[str] = []
    escaped = False
    for character in text:
        if character == '"' and escaped:
            out.pop()
        out.append(character)
        escaped = character == "\\" and not escaped
    return "".join(out)
