"""The peer's side: CRFsuite by way of python-crfsuite, used as its users do.

Imports nothing but the standard library and, when called, python-crfsuite: processes that measure its memory
run this file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from trellis.errors import DataError, SettingError
from trellis.studies.crfsuite_log import TrainingLog

Rows = list[list[str]]  # the fields of each token of a sentence
Pattern = tuple[Sequence[str], Sequence[tuple[int, int]]]  # literal text, and (row, column number) between its pieces


def require_pycrfsuite() -> Any:
    """The module python-crfsuite, or an error that says how to get it."""
    try:
        import pycrfsuite
    except ImportError:
        raise SettingError(
            "python-crfsuite is not installed, and there is nothing to compare with; pip install trellis[bench]"
        ) from None
    return pycrfsuite


def read_sentences(path: str) -> Iterator[Rows]:
    """Sentences of a column file, one at a time."""
    rows: Rows = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            fields = line.split()
            if fields:
                rows.append(fields)
            elif rows:
                yield rows
                rows = []
    if rows:
        yield rows


def string_builder(patterns: Sequence[Pattern]) -> Callable[[Rows], list[list[str]]]:
    """A function from a sentence to the attribute strings of each token.

    It is written out as one would by hand for these patterns, f-strings in one comprehension, because a general
    loop over patterns takes twice as long and CRFsuite should not pay for that.
    """
    parts = list(dict.fromkeys((row, column) for _, around in patterns for row, column in around))
    reach = max((abs(row) for row, _ in parts), default=0)
    before = [f"_B-{k}" for k in range(reach, 0, -1)]
    after = [f"_B+{k}" for k in range(1, reach + 1)]
    columns = sorted({column for _, column in parts})
    variables = {part: f"v{i}" for i, part in enumerate(parts)}
    strings = ", ".join(_f_string(pattern, variables) for pattern in patterns)
    names = ", ".join(["_", *variables.values()])
    tokens: Callable[..., list[list[str]]] = eval(f"lambda *shifted: [[{strings}] for {names} in zip(*shifted)]")

    def build(rows: Rows) -> list[list[str]]:
        try:
            n, fields = len(rows), list(zip(*rows, strict=True))
        except ValueError:
            raise DataError(f"not every token has the same number of columns; one sentence begins {rows[0]}") from None
        padded = {column: [*before, *fields[column], *after] for column in columns}
        return tokens(rows, *(padded[column][reach + row : reach + row + n] for row, column in parts))

    return build


def _f_string(pattern: Pattern, variables: dict[tuple[int, int], str]) -> str:
    """Source text, e.g. `f'U05:{v1}/{v2}'`."""
    literals = [text.replace("{", "{{").replace("}", "}}") for text in pattern[0]]
    holes = ["{" + variables[row, column] + "}" for row, column in pattern[1]]
    return "f" + repr("".join(a + b for a, b in zip(literals, [*holes, ""], strict=True)))


def new_trainer(c2: float, iterations: int | None = None) -> tuple[Any, TrainingLog]:
    """An L-BFGS trainer without data, and the log that its training will write to."""
    log = TrainingLog()

    class Trainer(require_pycrfsuite().Trainer):  # type: ignore[misc]
        def message(self, message: str) -> None:
            log.note(message)

    limit = {} if iterations is None else {"max_iterations": iterations}
    return Trainer(algorithm="lbfgs", params={"c1": 0.0, "c2": c2, **limit}), log


def online_trainer(algorithm: str, epochs: int, c2: float) -> Any:
    """A trainer without data that goes over sentences one by one; only l2sgd has a prior."""
    prior = {"c2": c2} if algorithm == "l2sgd" else {}
    params = {"max_iterations": epochs, **prior}
    return require_pycrfsuite().Trainer(algorithm=algorithm, params=params, verbose=False)


def fill(trainer: Any, path: str, patterns: Sequence[Pattern], target: int) -> int:
    """Reads a file, builds the strings and appends them to a trainer; the number of tokens."""
    build, tokens = string_builder(patterns), 0
    for rows in read_sentences(path):
        trainer.append(build(rows), [fields[target] for fields in rows])
        tokens += len(rows)
    return tokens


def train(path: str, patterns: Sequence[Pattern], target: int, c2: float, iterations: int, model: str) -> None:
    """Trains from a file to a model file."""
    trainer, _ = new_trainer(c2, iterations)
    fill(trainer, path, patterns, target)
    trainer.train(model)


def import_only() -> None:
    """What a process takes that does nothing with CRFsuite."""
    require_pycrfsuite()


def open_tagger(model: str) -> Any:
    """A tagger with the model of a file."""
    tagger = require_pycrfsuite().Tagger()
    tagger.open(model)
    return tagger


def tag(tagger: Any, path: str, build: Callable[[Rows], list[list[str]]]) -> list[list[str]]:
    """The labels of every sentence of a file."""
    return [tagger.tag(build(rows)) for rows in read_sentences(path)]


def tag_file(model: str, path: str, patterns: Sequence[Pattern]) -> None:
    """Opens a model and tags a file."""
    tag(open_tagger(model), path, string_builder(patterns))
