"""`trellis curve`: scores of models that learn from growing parts of the training data."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trellis.cli import options
from trellis.cli.augment import read_table
from trellis.cli.console import measuring, print_json, say, say_if_first_run
from trellis.cli.output import check_outputs
from trellis.cli.trainable import metric_of, model_options, read_both, trainable_of
from trellis.errors import SettingError

if TYPE_CHECKING:
    from trellis.corpus import Corpus
    from trellis.fewlabels.curve import Curve, More

_PLAIN = "as it is"
_SIZES = "0.0625,0.125,0.25,0.5,1.0"


@click.command()
@click.argument("train", metavar="TRAIN")
@click.argument("test", metavar="TEST")
@click.option(
    "--sizes",
    default=_SIZES,
    show_default=True,
    help="Parts of TRAIN: fractions with a point, or numbers of sentences.",
)
@click.option("--repeats", type=int, default=3, show_default=True, help="How often parts are drawn.")
@click.option("--augment", "methods", multiple=True, metavar="METHOD", help="Also with copies (see trellis augment).")
@click.option("--copies", type=click.IntRange(1), default=4, show_default=True, help="Copies for --augment.")
@click.option("--p", type=float, metavar="P", help="How probable a change is; by default as usual for the method.")
@click.option("--table", metavar="FILE", help="For --augment, as in trellis augment.")
@click.option("--copy-weight", type=float, metavar="X", help="What a copy counts; 1/copies if not given.")
@click.option("--plot", metavar="FILE", help="Draw the curves (PNG).")
@click.option("--title", metavar="TEXT", help="What to write above the plot.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of whatever is drawn at random.")
@model_options
@options.comments
@options.as_json
def curve(
    train: str,
    test: str,
    sizes: str,
    repeats: int,
    methods: tuple[str, ...],
    copies: int,
    p: float | None,
    table: str | None,
    copy_weight: float | None,
    plot: str | None,
    title: str | None,
    seed: int,
    comments: bool,
    json: bool,
    **settings: Any,
) -> None:
    """Train on growing parts of TRAIN, score on TEST, and say what twice the labels would bring.

    Parts are drawn at random, larger ones hold the smaller ones. Options of the model are those of `trellis train`.

    \b
    Example:
      trellis curve train.txt test.txt --columns word,pos,chunk --l2 0.5 --plot curve.png
      trellis curve train.txt test.txt --columns word,pos,ner --features ner --sizes 100,200,400 --augment tokens
    """
    from trellis.fewlabels.augment import takes_table
    from trellis.fewlabels.curve import learning_curve

    check_plot(plot, [train, test, *([table] if table else [])])
    tagger, columns, target = trainable_of(settings, seed)
    parts = _sizes(sizes)
    for name, value in (("--p", p), ("--table", table), ("--copy-weight", copy_weight)):
        if value is not None and not methods:
            raise SettingError(f"{name} is for --augment; give a method, or leave it out")
    say_if_first_run()
    learn, held_out = read_both(tagger, train, test, columns, target, comments)
    ways: dict[str, More | None] = {_PLAIN: None}
    entries, encoding = None if table is None else read_table(table), settings["encoding"]
    for method in methods:
        weight = 1.0 / copies if copy_weight is None else copy_weight
        own = entries if takes_table(method) or not any(map(takes_table, methods)) else None  # none: says so
        given = {"table": own, "encoding": None if encoding == "auto" else encoding}
        more = _more(method, tagger.target, copies, p, weight, seed, given)
        more(learn, 0)  # says what is wrong before hours are spent
        ways[method] = more
    found = {}
    with measuring() as tell, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for name, way in ways.items():
            say_what = tell if len(ways) == 1 else partial(_named, tell, name)
            found[name] = learning_curve(tagger, learn, held_out, parts, repeats, seed, way, say_what)
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        say(f"trellis: warning: {message}")
    what = metric_of(held_out, tagger.target)
    print(_table(found, what))
    if plot is not None:
        from trellis.report.curves import draw_curves

        draw_curves(found, what, title or f"'{tagger.target}' of {Path(test).name}", plot)
    if json:
        print_json({"metric": what.lower(), **found[_PLAIN].as_json(), "augmented": _others(found)})


def _named(tell: Callable[[str], None], name: str, text: str) -> None:
    tell(f"{name}: {text}")


def _more(
    method: str, target: str, copies: int, p: float | None, weight: float, seed: int, given: dict[str, Any]
) -> More:
    """Augmentation of a part of the training data."""
    from trellis.fewlabels import augmented, copy_weights

    def more(part: Corpus, repeat: int) -> Any:
        made = augmented(part, target, method, copies, p, seed + repeat, **given)
        return made, None if weight == 1.0 else copy_weights(part, made, weight)

    return more


def _sizes(text: str) -> list[float]:
    """`0.5` is a fraction, `50` a number of sentences."""
    out: list[float] = []
    for each in text.split(","):
        try:
            out.append(float(each) if "." in each else int(each))
        except ValueError:
            raise SettingError(f"--sizes {text}: '{each}' is no number; expected 0.1,0.5,1.0 or 50,100,200") from None
    return out


def check_plot(plot: str | None, read: list[str]) -> None:
    """Fails now, not after an hour of training, where a plot could not be drawn or written."""
    if plot is not None:
        from trellis.report.plots import require_matplotlib

        require_matplotlib()
        check_outputs({"--plot": plot}, read)


def _table(found: dict[str, Curve], what: str) -> str:
    """A line a size, in percent; then what twice the labels would bring."""
    names = [what if name == _PLAIN else f"{what}, {name}" for name in found]
    lines = [f"{'sentences':>9} {'tokens':>10}" + "".join(f"  {name:>20}" for name in names)]
    first = found[_PLAIN]
    for k, point in enumerate(first.points):
        cells = [curve.points[k] for curve in found.values()]
        shown = [f"{100 * cell.mean:.2f} +- {100 * cell.deviation:.2f}" for cell in cells]
        lines.append(f"{point.sentences:>9,} {point.tokens:>10,.0f}" + "".join(f"  {text:>20}" for text in shown))
    for name, curve in found.items():
        of = "" if name == _PLAIN else f", {name}"
        if curve.doubled is None:
            lines.append(f"twice the labels{of}: no power law fits; try more or other sizes")
            continue
        ahead = curve.doubled
        lines.append(
            f"twice the labels{of} ({ahead.tokens:,.0f} tokens): about {100 * ahead.score:.1f}, single repeats say "
            f"{100 * ahead.low:.1f} to {100 * ahead.high:.1f}"
        )
    return "\n".join(lines)


def _others(found: dict[str, Curve]) -> dict[str, Any]:
    return {name: curve.as_json() for name, curve in found.items() if name != _PLAIN}
