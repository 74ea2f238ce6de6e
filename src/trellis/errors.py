"""The one exception tree. A message says what was found, what was expected and what to do.

TrellisError
├── SettingError (ValueError)      a parameter, option, column or target that does not fit
├── DataError (ValueError)         bad input data; carries path and line where there is a file
│   └── TemplateError              a feature template that cannot be read
├── NoLegalPathError (ValueError)  every path through a lattice is forbidden
├── NotFittedError (ValueError, AttributeError)
├── ModelFileError                 a model file or a checkpoint that cannot be used
│   ├── DamagedModelError          truncated, changed or hand-made
│   ├── NewerModelError            written by a later version of the format
│   └── CheckpointError            a checkpoint of another training, one in the way, or none at all
├── FileAccessError (OSError)      missing, a directory, no permission, no space
├── DownloadError                  a corpus could not be fetched
└── EndpointError                  a language model cannot be asked, or refuses to answer
    └── BudgetError                what it may be asked, or may cost, is used up

ConvergenceWarning (UserWarning)   training stopped before its goal
"""

from __future__ import annotations

from pathlib import Path


class TrellisError(Exception):
    """Base of everything a user can cause."""


class SettingError(TrellisError, ValueError):
    """A parameter, option, column or target that does not fit."""


class DataError(TrellisError, ValueError):
    """Bad input data, with the place it was found: `file:line: what, expected, remedy`.

    `column` counts characters from 1, where a place in the line is known too.
    """

    def __init__(
        self, message: str, path: str | Path | None = None, line: int | None = None, column: int | None = None
    ):
        place = [str(part) for part in (path, line, column) if part is not None]
        super().__init__((":".join(place) + ": " if place else "") + message)
        self.path = path
        self.line = line
        self.column = column


class TemplateError(DataError):
    """A feature template that cannot be read."""


class NoLegalPathError(TrellisError, ValueError):
    """Every path through a lattice is forbidden: that of sentence number `sentence`, counted from 0, where it is known,
    of which `what` is said."""

    def __init__(self, what: str, sentence: int | None = None):
        super().__init__(what if sentence is None else f"sentence {sentence + 1}{what}")
        self.what, self.sentence = what, sentence

    def after(self, sentences: int) -> NoLegalPathError:
        """The same where so many sentences come before."""
        return NoLegalPathError(self.what, None if self.sentence is None else self.sentence + sentences)


class NotFittedError(TrellisError, ValueError, AttributeError):
    """A model was used before `fit` or `load`."""


class ModelFileError(TrellisError):
    """A model file or a checkpoint that cannot be used."""


class DamagedModelError(ModelFileError):
    """A model file that is truncated, changed or hand-made."""


class NewerModelError(ModelFileError):
    """A model file in a format that this version does not know yet."""


class CheckpointError(ModelFileError):
    """A checkpoint of another training, one that is in the way, or a file of another kind in its place."""


class FileAccessError(TrellisError, OSError):
    """A file that cannot be read or written."""


class DownloadError(TrellisError):
    """A corpus could not be fetched."""


class EndpointError(TrellisError):
    """The endpoint of a language model is out of reach, or refuses to answer."""


class BudgetError(EndpointError):
    """As many requests are made, or as much is spent, as was allowed."""


class ConvergenceWarning(UserWarning):
    """Training stopped before its goal was reached."""


def shown(value: object) -> str:
    """A value as messages have it: not all digits of a number that is too long for a line, or even for `repr`."""
    return "a whole number of over 300 digits" if isinstance(value, int) and value.bit_length() > 1000 else repr(value)
