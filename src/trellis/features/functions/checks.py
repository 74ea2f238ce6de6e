"""What several functions check their arguments with. Messages follow the function's name: "suffix: needs ..."."""

from __future__ import annotations

from trellis.features.functions.contract import Argument, Arguments

MOST_COUNT = 100


def listed(arguments: Arguments) -> str:
    """The arguments as a message shows them."""
    return ", ".join(map(repr, arguments)) or "none"


def is_text(argument: Argument) -> bool:
    """Whether the argument is text, and some."""
    return isinstance(argument, str) and argument != ""


def is_count(argument: Argument) -> bool:
    """Whether the argument is a whole number that can count characters."""
    return isinstance(argument, int) and 1 <= argument <= MOST_COUNT


def one_text(arguments: Arguments, what: str) -> str:
    """The one argument of functions that take one text; `what` it should be, with an example."""
    if len(arguments) != 1 or not is_text(arguments[0]):
        raise ValueError(f"needs {what}; found {listed(arguments)}")
    return str(arguments[0])


def file_first(arguments: Arguments, most: int, what: str) -> str:
    """The name of the file that the first of up to `most` arguments is."""
    if not 1 <= len(arguments) <= most or not is_text(arguments[0]):
        raise ValueError(f"needs {what}; found {listed(arguments)}")
    if arguments[0] == "-":
        raise ValueError("cannot read its file from standard input, where the data may come from; give a file name")
    return str(arguments[0])
