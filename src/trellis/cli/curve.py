"""`trellis curve`: scores of models that learn from growing parts of the training data."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from trellis.cli import options
from trellis.cli.augment import read_table
from trellis.cli.console import measuring, print_json, say_if_first_run
from trellis.cli.output import announced, check_outputs, counted, saying_warnings
from trellis.cli.trainable import metric_of, model_options, read_both, trainable_of
from trellis.errors import SettingError
from trellis.fewlabels import SIZES

if TYPE_CHECKING:
    from trellis.corpus import Corpus
    from trellis.fewlabels.curve import Curve, More, Point

_PLAIN = "as it is"


@click.command()
@click.argument("train", metavar="TRAIN")
@click.argument("test", metavar="TEST")
@click.option(
    "--sizes",
    default=",".join(map(str, SIZES)),
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
    from trellis.fewlabels.curve import learning_curve, models_to_train

    check_plot(plot, title, [train, test, *([table] if table else [])])
    tagger, columns, target = trainable_of(settings, seed)
    parts = _sizes(sizes)
    weight = 1.0 / copies if copy_weight is None else copy_weight
    _check_augmentation(methods, {"--p": p, "--table": table, "--copy-weight": copy_weight}, weight, tagger)
    say_if_first_run()
    learn, held_out = read_both(tagger, train, test, columns, target, comments)
    ways = _ways(learn, tagger.target, methods, copies, p, seed, table, settings["encoding"], weight)
    many = sum(models_to_train(parts, len(learn), repeats, way is not None) for way in ways.values())
    found = {}
    with measuring() as tell, saying_warnings():
        told = announced(f"{counted(many, 'model')} to train", tell)
        for name, way in ways.items():
            say_what = told if len(ways) == 1 else partial(_named, told, name)
            found[name] = learning_curve(tagger, learn, held_out, parts, repeats, seed, way, say_what)
    what = metric_of(held_out, tagger.target)
    print(_table(found, what))
    if plot is not None:
        from trellis.report.curves import draw_curves

        draw_curves(found, what, title or f"'{tagger.target}' of {Path(test).name}", plot)
    if json:
        print_json({"metric": what.lower(), **found[_PLAIN].as_json(), "augmented": _others(found)})


def _check_augmentation(methods: tuple[str, ...], given: dict[str, Any], weight: float, tagger: Any) -> None:
    """Options that --augment has, by name, and whether the model can do what they ask for."""
    from trellis.fewlabels.curve import cannot_weigh, weighs

    copies = click.get_current_context().get_parameter_source("copies")
    named = [name for name, value in given.items() if value is not None]
    named += ["--copies"] if copies is ParameterSource.COMMANDLINE else []
    if not methods:
        if named:
            raise SettingError(f"{named[0]} is for --augment; give a method, or leave it out")
        return
    if not 0.0 <= weight < math.inf:
        raise SettingError(f"--copy-weight is {weight:g}; expected a number >= 0")
    if weight != 1.0 and not weighs(tagger):
        raise SettingError(cannot_weigh(tagger))


def _ways(
    learn: Corpus,
    target: str,
    methods: tuple[str, ...],
    copies: int,
    p: float | None,
    seed: int,
    table: str | None,
    encoding: str | None,
    weight: float,
) -> dict[str, More | None]:
    """What is done to parts of the training data before they are learnt from: nothing, and each method. What is wrong
    with methods is said here, of the whole, before hours are spent; parts may lack what the whole has."""
    ways: dict[str, More | None] = {_PLAIN: None}
    if not methods:
        return ways
    from trellis.fewlabels.augment import METHODS, augmented, copy_weights, with_copies
    from trellis.fewlabels.augment.fitting import encoding_of, names_of

    entries = None if table is None else read_table(table)
    wanted = None if encoding in ("auto", "gappy") else encoding
    with saying_warnings():
        augmented(learn, target, methods, 1, p, seed, entries, wanted)
    with warnings.catch_warnings():  # said above
        warnings.simplefilter("ignore")
        spelt = encoding_of(learn, target, wanted)

    def more(method: str, part: Corpus, repeat: int) -> Any:
        made = with_copies(part, target, [method], copies, p, seed + repeat, entries, spelt)
        return made, None if weight == 1.0 else copy_weights(part, made, weight)

    return ways | {name: partial(more, name) for name in names_of(methods, METHODS)}


def _named(tell: Callable[[str], None], name: str, text: str) -> None:
    tell(f"{name}: {text}")


def _sizes(text: str) -> list[float]:
    """`0.5` is a fraction, `50` a number of sentences."""
    out: list[float] = []
    for each in text.split(","):
        try:
            out.append(float(each) if "." in each else int(each))
        except ValueError:
            raise SettingError(f"--sizes {text}: '{each}' is no number; expected 0.1,0.5,1.0 or 50,100,200") from None
    return out


def check_plot(plot: str | None, title: str | None, read: list[str]) -> None:
    """Fails now, not after an hour of training, where a plot could not be drawn or written."""
    if title is not None and plot is None:
        raise SettingError("--title is for --plot; give a file to draw to, or leave it out")
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
        shown = [_cell(curve.points[k]) for curve in found.values()]
        lines.append(f"{point.sentences:>9,} {point.tokens:>10,.0f}" + "".join(f"  {text:>20}" for text in shown))
    lines += [_ahead("" if name == _PLAIN else f", {name}", curve) for name, curve in found.items()]
    return "\n".join(lines)


def _cell(point: Point) -> str:
    """Mean and deviation; `-` where all repeats are one training."""
    wide = f"{'-':>7}" if point.deviation is None else f"+- {100 * point.deviation:.2f}"
    return f"{100 * point.mean:.2f} {wide}"


def _ahead(of: str, curve: Curve) -> str:
    """What twice the labels would bring."""
    from trellis.fewlabels.power_law import FEWEST

    ahead, sizes = curve.doubled, len(curve.points)
    if ahead is None:
        few = f"that takes {FEWEST} sizes, and there {'is' if sizes == 1 else 'are'} {sizes}; give more (--sizes)"
        return f"twice the labels{of}: " + (few if sizes < FEWEST else "no power law fits; try more or other sizes")
    text = f"twice the labels{of} ({ahead.tokens:,.0f} tokens): about {100 * ahead.score:.1f}"
    if ahead.low is None or ahead.high is None:
        return text
    return f"{text} ({100 * ahead.low:.1f} to {100 * ahead.high:.1f} by other draws of the repeats)"


def _others(found: dict[str, Curve]) -> dict[str, Any]:
    return {name: curve.as_json() for name, curve in found.items() if name != _PLAIN}
