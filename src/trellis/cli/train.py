"""`trellis train`: column files -> model."""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import click

from trellis.cli import options
from trellis.cli.console import print_json, say, say_if_first_run, training_progress

FEATURES = "A preset, a template file (CRF++, Wapiti), an expression such as 'word[-1:1] + suffix(word, 3)[0]', or -."


@click.command()
@click.argument("files", metavar="TRAIN...", nargs=-1, required=True)
@click.option("--model", "-m", required=True, metavar="OUT", help="Where to write the model.")
@options.columns
@click.option("--target", metavar="NAME", help="The column to predict; the last one if not given.")
@click.option("--features", default="chunking", show_default=True, help=FEATURES)
@click.option("--loss", default="log", show_default=True, help="The loss: log.")
@click.option("--optimizer", default="auto", show_default=True, help="auto or lbfgs.")
@click.option("--l2", type=float, default=1.0, show_default=True, help="Gaussian prior; the penalty is l2/2 |theta|^2.")
@click.option("--min-count", default=1, show_default=True, help="Leave out attributes that occur less often.")
@click.option("--hash-size", type=int, metavar="N", help="Number attributes by a hash into N places; keep no strings.")
@click.option(
    "--tag-dictionary", type=int, metavar="N", help="Words seen N times may only have labels they were seen with."
)
@click.option("--all-pairs", is_flag=True, help="Weights for every attribute with every label, seen or not.")
@click.option("--all-transitions", is_flag=True, help="Weights for every pair of neighbouring labels, seen or not.")
@click.option("--dev", metavar="FILE", help="Stop when the score on this file no longer rises.")
@click.option("--patience", default=10, show_default=True, help="Iterations without a better score on --dev.")
@click.option("--max-iter", default=1000, show_default=True, help="Most iterations.")
@click.option("--tol", default=1e-5, show_default=True, help="Stop when ten iterations gain less than this share.")
@options.threads
@options.comments
@click.option("--strict", is_flag=True, help="Exit with code 3 when training does not converge.")
@options.as_json
def train(
    files: tuple[str, ...],
    model: str,
    columns: str | None,
    target: str | None,
    dev: str | None,
    comments: bool,
    strict: bool,
    json: bool,
    **settings: object,
) -> None:
    """Train a tagger on column files.

    \b
    Example:
      trellis train train.txt --columns word,pos,chunk --target chunk --l2 2.0 --model chunk.trellis
    """
    from trellis.corpus import read_conll
    from trellis.errors import DataError, SettingError
    from trellis.files import check_writable, same_file
    from trellis.models import CRF

    began = time.perf_counter()
    sources = [*files, *([dev] if dev else [])]
    if sources.count("-") > 1:
        raise SettingError("standard input (-) can be read only once")
    if any(same_file(source, model) for source in sources):
        raise SettingError(f"--model {model} would overwrite the data")
    check_writable(model)
    say_if_first_run()
    names = options.names_of(columns)
    corpus = read_conll(*files, columns=names, comments=comments)
    if not corpus.tokens:
        raise DataError("there is no token to learn from", files[0])
    if settings["features"] == "-":
        if "-" in sources:
            raise SettingError("standard input (-) can be read only once")
        try:
            settings["features"] = sys.stdin.buffer.read().decode("utf-8-sig").strip()
        except UnicodeDecodeError as error:
            raise DataError(f"{error}; the features have to be UTF-8", "<stdin>") from None
    crf = CRF(target or list(corpus.columns)[-1]).set_params(**settings)
    held_out = None if dev is None else read_conll(dev, columns=names, comments=comments)
    say(f"{len(corpus):,} sentences, {corpus.tokens:,} tokens; training '{crf.target}'")
    with training_progress("training") as report, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        crf.fit(corpus, dev=held_out, progress=report)
    for warning in caught:
        say(f"trellis: warning: {warning.message}")
    crf.save(model)
    seconds = time.perf_counter() - began
    say(
        f"objective {crf.objective_:,.2f} after {crf.iterations_} iterations; {len(crf.classes_)} labels, "
        f"{crf.model_.layout.size:,} weights; wrote {model} ({Path(model).stat().st_size / 1e6:.1f} MB) "
        f"in {seconds:.1f} s"
    )
    if crf.dev_score_ is not None:
        ended = "stopped early" if crf.stopped_early_ else "ended"
        say(f"best score on {dev}: {100 * crf.dev_score_:.2f}; training {ended}, the best weights were kept")
    if json:
        print_json(
            {
                "objective": crf.objective_,
                "evaluations": crf.evaluations_,
                "iterations": crf.iterations_,
                "converged": crf.converged_,
                "seconds": seconds,
                "parameters": crf.model_.layout.size,
                "active": int((crf.model_.weights != 0).sum()),
                "model": model,
                "dev_score": crf.dev_score_,
            }
        )
    if strict and not (crf.converged_ or crf.stopped_early_):
        sys.exit(3)
