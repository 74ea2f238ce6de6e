"""`trellis inspect`: what a model consists of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from trellis.cli import options
from trellis.cli.choosing import is_cascade, is_of_texts, targets_of
from trellis.cli.console import amount, print_json
from trellis.errors import DataError, SettingError

if TYPE_CHECKING:
    from rich.console import Console

    from trellis.cascade import Cascade
    from trellis.corpus import Corpus
    from trellis.models import HMM, KernelPerceptron
    from trellis.report import HiddenInspection, Inspection, SupportInspection
    from trellis.report.hidden import Counted
    from trellis.report.inspection import Weighted

_NAMED = 5  # words or labels on a line
_COMMONEST = "commonest words, and how often"
_TEXTS = ("on", "label", "labels", _COMMONEST)  # what stands to the left in a table, beside the first column
_NARROWEST = 16  # characters for a template, however narrow the terminal
_WIDEST = 1 << 16
# lines end behind these: between the parts of a template, or else between arguments
_PIECES = re.compile(r"[^/|=&\s]*[/|=&\s]+|[^/|=&\s]+"), re.compile(r"[^,]*,+|[^,]+")


@click.command("inspect")
@click.argument("model")
@click.argument("file", metavar="[DATA]", required=False)
@click.option("--columns", metavar="NAMES", help="Names of DATA's columns, if other than the training file's.")
@options.comments
@click.option("--top", type=click.IntRange(min=0), default=10, show_default=True, help="Strongest weights to show.")
@options.as_json
def inspect(model: str, file: str | None, columns: str | None, comments: bool, top: int, json: bool) -> None:
    """Show how many features each template made, what they cost, and the strongest weights; of a kernel perceptron its
    support tokens, of an hmm its counts, of a cascade all this stage by stage.

    With DATA, a column file, also how often each template says something about its tokens; the target columns may
    be there or not.

    \b
    Example:
      trellis inspect chunk.trellis test.txt --top 20
    """
    from trellis.cascade import load
    from trellis.cli.functions import Unknown
    from trellis.models import HMM, KernelPerceptron
    from trellis.report import inspect as look
    from trellis.report import inspect_hidden, inspect_stages, inspect_supports

    tagger = load(model, functions=Unknown(model))
    data = None if file is None else _read(tagger, model, file, options.names_of(columns), comments)
    if is_cascade(tagger):
        stages = inspect_stages(tagger, data, top)
        _show_stages(tagger, stages, data is not None)
        found: dict[str, Any] = {"stages": {target: one.as_json() for target, one in stages.items()}}
    elif isinstance(tagger, KernelPerceptron):
        supports = inspect_supports(tagger, data, top)
        _show_supports(tagger, supports)
        found = supports.as_json()
    elif isinstance(tagger, HMM):
        hidden = inspect_hidden(tagger, data, top)
        _show_hidden(tagger, hidden)
        found = hidden.as_json()
    else:
        whole = look(tagger, data, top)
        _show(tagger, whole, data is not None)
        found = whole.as_json()
    if json:
        print_json(found)


def _read(tagger: Any, model: str, file: str, columns: list[str] | None, comments: bool) -> Corpus:
    from trellis.cli.functions import refuse_functions
    from trellis.corpus import parse_conll
    from trellis.files import read_bytes

    if not (is_cascade(tagger) or hasattr(tagger, "target")):
        raise SettingError(f"{model} is a model of lattices, which column files do not hold; leave DATA out")
    if is_of_texts(tagger):
        raise SettingError(f"{model} classifies whole texts, which column files do not hold; leave DATA out")
    names = columns or tagger.columns_
    if not names:
        raise DataError("this model was trained on lists of attributes; it cannot read a column file", model)
    look = "inspect_stages" if is_cascade(tagger) else "inspect"
    refuse_functions(model, tagger, f"trellis.report.{look}({{}}, data)", "leave DATA out, or ")
    return parse_conll(read_bytes(file), names, file, comments, optional=list(map(str, targets_of(tagger))))


def _console() -> tuple[Console, int | None]:
    """Where to print, and how many characters a line has there; in a pipe nothing is folded."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, soft_wrap=True, width=_WIDEST)
    return console, Console().width if console.is_terminal else None


def _show_supports(tagger: KernelPerceptron, found: SupportInspection) -> None:
    console, room = _console()
    console.print(f"{tagger!r}")
    ended = "no mistake in the last" if tagger.converged_ else f"objective {amount(tagger.objective_)} in the last"
    console.print(
        f"{tagger.iterations_} epochs, {ended}; {len(found.labels)} labels, {found.attributes:,} attributes, "
        f"{found.supports:,} support tokens with {found.coefficients:,} coefficients"
    )
    if found.per_token is not None:
        console.print(f"{found.per_token:.2f} known attributes a token")
    console.print()
    if found.strongest:
        rows = [[" ".join(one.attributes), one.label, f"{one.coefficient:+.3f}"] for one in found.strongest]
        _print_table(console, room, ["strongest support tokens", "label", "coefficient"], *rows)
    _show_transitions(console, room, found)


def _show_hidden(hmm: HMM, found: HiddenInspection) -> None:
    console, room = _console()
    console.print(f"{hmm!r}\n{_ended(hmm)}; {len(found.labels)} labels, {hmm.model_.summary}")
    told = "are not told apart"
    if found.unknown_classes:
        told = f"are told by {found.unknown_classes:,} classes: words of their shape, and with their last letters"
    console.print(f"unknown words {told}")
    if found.known is not None:
        console.print(f"{100 * found.known:.2f}% of the tokens are known words")
    console.print()
    if any(one.words for one in found.by_label):
        rows = [[one.label, _count(one.count), _first(_times(word) for word in one.words)] for one in found.by_label]
        _print_table(console, room, ["label", "tokens", _COMMONEST], *rows)
    if found.moves:
        moves = [[f"{one.source} -> {one.target}", _count(one.count), _percent(one.share)] for one in found.moves]
        _print_table(console, room, ["most frequent transitions", "times", "of all from there"], *moves)
    if found.classes:
        classes = [
            [
                f"{one.shape} -{one.ending}" if one.ending else one.shape,
                _count(one.count),
                _first(f"{label.name} {_percent(label.share)}" for label in one.labels),
            ]
            for one in found.classes
        ]
        _print_table(console, room, ["largest classes of rare words", "tokens", "labels"], *classes)


def _first(texts: Iterable[str]) -> str:
    return ", ".join(islice(texts, _NAMED))


def _times(one: Counted) -> str:
    return f"{one.name} {_count(one.count)}"


def _count(count: float) -> str:
    """Expected counts are seldom whole."""
    return f"{count:,.0f}" if count == round(count) else amount(count)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _show_transitions(console: Console, room: int | None, found: Inspection | SupportInspection) -> None:
    if found.transitions:
        moves = [[f"{one.feature} -> {one.label}", f"{one.weight:+.3f}"] for one in found.transitions]
        _print_table(console, room, ["strongest transitions", "weight"], *moves)


def _show_stages(cascade: Cascade, stages: dict[str, Inspection], with_data: bool) -> None:
    console, room = _console()
    wired = f"a cascade of the wire {cascade.model_.wire}; the last training: {_ended(cascade)}"
    console.print(f"{wired}; {sum(one.weights for one in stages.values()):,} weights\n")
    by_target = {stage.target: stage for stage in cascade.stages}
    for target, found in stages.items():
        console.print(f"{target}: {by_target[target]!r}\n{_size_of(found)}\n")
        _show_weights(console, room, found, with_data)


def _show(crf: Weighted, found: Inspection, with_data: bool) -> None:
    console, room = _console()
    console.print(f"{crf!r}\n{_ended(crf)}; {_size_of(found)}\n")
    _show_weights(console, room, found, with_data)


def _ended(crf: Weighted | HMM | Cascade) -> str:
    ended = "converged" if crf.converged_ else "stopped early" if crf.stopped_early_ else "not converged"
    return f"objective {amount(crf.objective_)} after {crf.iterations_} iterations, {ended}"


def _size_of(found: Inspection) -> str:
    own = f"{len(found.labels)} labels, {found.attributes:,} attributes, {found.weights:,} weights"
    if found.encoder is None:
        return own
    has = found.encoder
    more = f", {has['vectors_only']:,} more by vectors" if has["vectors_only"] else ""
    return (
        f"{own}\nan encoder of {has['numbers']:,} numbers; it sees {', '.join(has['columns'])}, and knows "
        f"{has['words']:,} words{more} and {has['alphabet']:,} letters"
    )


def _show_weights(console: Console, room: int | None, found: Inspection, with_data: bool) -> None:
    headings = ["template", "on", "attributes", "weights", "not 0", "largest", "size", "a token"]
    rows = [
        [
            cost.template, cost.on, f"{cost.attributes:,}", f"{cost.weights:,}", f"{cost.active:,}",
            f"{cost.largest:.2f}", _size(cost.size), "" if cost.per_token is None else f"{cost.per_token:.2f}",
        ]
        for cost in found.templates
    ]  # fmt: skip
    several_kinds = len({cost.on for cost in found.templates}) > 1
    shown = [k for k, heading in enumerate(headings) if {"on": several_kinds, "a token": with_data}.get(heading, True)]
    _print_table(console, room, *([row[k] for k in shown] for row in (headings, *rows)))
    if found.strongest:
        attributes = [[one.feature, one.label, f"{one.weight:+.3f}"] for one in found.strongest]
        _print_table(console, room, ["strongest attributes", "label", "weight"], *attributes)
    _show_transitions(console, room, found)


def _print_table(console: Console, room: int | None, headings: Sequence[str], *rows: Sequence[str]) -> None:
    """Numbers to the right; where there is not enough room, the first column is folded."""
    from rich.box import SIMPLE_HEAD
    from rich.cells import cell_len
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for k, heading in enumerate(headings):
        table.add_column(heading, justify="left" if k == 0 or heading in _TEXTS else "right", no_wrap=True)
    others = sum(2 + max(map(cell_len, column)) for column in list(zip(headings, *rows, strict=True))[1:])
    for row in rows:
        first = row[0] if room is None else "\n".join(_folded(row[0], max(room - others - 2, _NARROWEST)))
        table.add_row(first, *row[1:])
    console.print(table)


def _folded(text: str, width: int, level: int = 0) -> list[str]:
    """In lines of so many characters, cut behind separators where there are some."""
    from rich.cells import cell_len, chop_cells

    if cell_len(text) <= width:
        return [text]
    if level == len(_PIECES):
        return chop_cells(text, width)
    lines: list[str] = []
    for piece in _PIECES[level].findall(text):
        first, *more = _folded(piece, width, level + 1)
        if lines and cell_len(lines[-1] + first) <= width:
            lines[-1] += first
        else:
            lines.append(first)
        lines += more
    return lines


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 999_950 else f"{size / 1e3:.1f} kB"
