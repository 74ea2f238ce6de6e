"""`trellis train`: column files -> model."""

from __future__ import annotations

import inspect
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import click

from trellis.cli import cascade, cascade_toml, config, options, texts
from trellis.cli.cascade_unused import unused
from trellis.cli.choosing import estimator_of, is_cascade, without_effect
from trellis.cli.console import messages, print_json, say, say_if_first_run, training_progress
from trellis.cli.lessons import Asked, features_from_input, lesson_of_columns
from trellis.cli.soft import soft_options
from trellis.cli.trained import as_json, ended_well, report
from trellis.errors import SettingError

MODEL_TYPES = (
    "local-classifier, sequential-classifier, hmm, scored-hmm, crf: the ladder; structured-perceptron, structured-svm, "
    "kernel-perceptron, semi-crf, neural-crf; text-classifier: whole texts; or cascade."
)
TARGET = "The column to predict; the last one if not given, with --soft and --label-model gold or label."
FEATURES = "A preset, a template file (CRF++, Wapiti), an expression such as 'word[-1:1] + suffix(word, 3)[0]', or -."
SEGMENTS = "Features of whole segments (semi-crf): surface + lower + shape + words + length + gazetteer(FILE)."
LOSSES = "log, exp, pointwise-log, pointwise-exp, hinge or softmax-margin; by default the optimizer's own, or log."
OPTIMIZERS = (
    "auto, lbfgs, owlqn, cg, newton-cg; sentence by sentence sgd, adagrad, saga, eg, perceptron, pa, arow, mira, bcfw; "
    "weight by weight boosting."
)


@click.command()
@click.argument("files", metavar="TRAIN...", nargs=-1)
@click.option("--model", "-m", metavar="OUT", help="Where to write the model.")
@options.columns
@click.option("--target", metavar="NAME", help=TARGET)
@click.option("--model-type", default="crf", show_default=True, help=MODEL_TYPES)
@click.option("--features", default="chunking", show_default=True, help=FEATURES)
@click.option("--loss", help=LOSSES)
@options.pairs("--costs", "X|LABEL=X,...", "Cost of a mistake (margin, pointwise): for all, or by the token's label.")
@click.option("--optimizer", default="auto", show_default=True, help=OPTIMIZERS)
@options.pairs("--options", "NAME=X,...", "The optimizer's own settings, or the model type's: memory=50.")
@click.option("--l2", type=float, default=1.0, show_default=True, help="Gaussian prior; the penalty is l2/2 |theta|^2.")
@click.option("--l1", type=float, default=0.0, show_default=True, help="The penalty l1 |theta|_1: weights that are 0.")
@click.option("--hyperbolic", type=float, default=0.0, show_default=True, help="Strength of a prior between l1 and l2.")
@click.option("--min-count", default=1, show_default=True, help="Leave out attributes that occur less often.")
@click.option("--hash-size", type=int, metavar="N", help="Number attributes by a hash into N places; keep no strings.")
@click.option(
    "--tag-dictionary", type=int, metavar="N", help="Words seen N times may only have labels they were seen with."
)
@click.option("--order", default=1, show_default=True, help="Labels before its own that a token's label depends on.")
@click.option(
    "--prune", type=float, metavar="P", help="Leave out labels below this probability in a lower order (try 0.001)."
)
@click.option("--encoding", metavar="NAME", help="Only well-formed labels of this encoding (iob2, ...), or auto.")
@click.option("--only-seen", is_flag=True, help="Labels may only follow each other as they do in training.")
@options.once
@options.penalties
@click.option("--segments", default="length", show_default=True, help=SEGMENTS)
@click.option(
    "--longest", type=int, metavar="N", help="Most tokens of a segment (semi-crf); by default as in training."
)
@click.option("--partial", is_flag=True, help="In the target column ? is not known, and A|B is A or B.")
@soft_options
@click.option("--all-pairs", is_flag=True, help="Weights for every attribute with every label, seen or not.")
@click.option("--all-transitions", is_flag=True, help="Weights for every pair of neighbouring labels, seen or not.")
@click.option("--raw", metavar="FILE", help="Text without labels to learn from, too (hmm: by EM).")
@click.option("--dev", metavar="FILE", help="Stop when the score on this file no longer rises.")
@click.option("--patience", default=10, show_default=True, help="Iterations without a better score on --dev.")
@click.option("--max-iter", default=1000, show_default=True, help="Most iterations.")
@click.option("--tol", default=1e-5, show_default=True, help="Stop when ten iterations gain less than this share.")
@click.option("--seed", default=0, show_default=True, help="Of what optimizers draw at random.")
@click.option("--warm-start", metavar="MODEL", help="Begin with the weights of this model, by name.")
@click.option("--checkpoint", metavar="DIR", help="Keep the state of the training there, to go on with --resume.")
@click.option("--checkpoint-every", type=int, metavar="N", help="Iterations; by default what costs 1% of the time.")
@click.option("--resume", is_flag=True, help="Go on from the checkpoint, to the same model; without one, begin.")
@click.option("--log", metavar="FILE", help="Write a JSON object a line: start, each iteration, end.")
@options.threads
@options.comments
@click.option("--strict", is_flag=True, help="Exit with code 3 when training does not converge.")
@options.as_json
@config.file
@config.settings
@config.show
def train(
    files: tuple[str, ...],
    model: str | None,
    columns: str | None,
    target: str | None,
    model_type: str,
    at_most_once: str | None,
    penalties: str | None,
    soft: bool,
    label_model: str | None,
    teach: object,
    votes: bool,
    raw: str | None,
    dev: str | None,
    warm_start: str | None,
    checkpoint: str | None,
    checkpoint_every: int | None,
    resume: bool,
    log: str | None,
    comments: bool,
    strict: bool,
    json: bool,
    show_config: bool,
    **settings: object,
) -> None:
    """Train a tagger, or a cascade of several, on column files.

    \b
    Example:
      trellis train train.txt --columns word,pos,chunk --target chunk --l2 2.0 --model chunk.trellis
      trellis train --config chunk.toml --checkpoint run --resume
      trellis train votes.txt --label-model believed.trellis --features ner --model names.trellis
      trellis train --config cascade.toml --set wire=marginal --set chunk.l2=0.5
    """
    ctx = click.get_current_context()
    staged = cascade.is_meant(ctx, model_type)
    if show_config:
        click.echo(cascade_toml.as_toml(ctx) if staged else config.as_toml(ctx), nl=False)
        return
    if not files or model is None:
        raise click.UsageError(f"missing {'--model OUT' if files else 'TRAIN..., the files to learn from'}")
    began = time.perf_counter()
    _check_files([*files, raw, dev], model, log, warm_start, checkpoint, label_model, settings["features"])
    settings["costs"] = options.costs_of(settings["costs"], "--costs")
    settings["options"] = options.table_of(settings["options"], "--options")
    if model_type == texts.TYPE:
        texts.usual_features(ctx, settings)
    tagger = cascade.cascade_of(ctx, settings) if staged else estimator_of(ctx, model_type, settings)
    more = options.constraints_of(type(tagger), at_most_once, penalties)
    start = {} if warm_start is None else {"start": _start(warm_start, "cascade" if staged else model_type)}
    if more and "constraints" not in inspect.signature(tagger.fit).parameters:
        raise SettingError(
            f"a training of --model-type {model_type} knows no constraints; give --at-most-once and --penalties to tag "
            "and eval"
        )
    if raw is not None and "raw" not in inspect.signature(tagger.fit).parameters:
        raise SettingError(f"--raw is for --model-type hmm; a {'cascade' if staged else model_type} needs labels")
    idle = unused(ctx, tagger, bool(start)) if staged else without_effect(ctx, tagger)
    if idle is not None:
        say(f"trellis: warning: {idle}")
    say_if_first_run()
    if settings["features"] == "-":
        tagger.set_params(features=features_from_input())
    asked = Asked(files, columns, target, soft, label_model, teach, votes, raw, dev, comments)
    if model_type == texts.TYPE:
        lesson = texts.lesson_of_items(tagger, asked)
    else:
        lesson = lesson_of_columns(tagger, model_type, staged, asked)
    say(lesson.says)
    with messages(), training_progress("training") as follow, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lesson.fit(
            tagger, lesson.data, dev=lesson.dev, checkpoint=checkpoint, resume=resume, log=log, progress=follow,
            checkpoint_every=checkpoint_every, **start, **more, **lesson.more,
        )  # fmt: skip
    for warning in caught:
        say(f"trellis: warning: {warning.message}")
    tagger.save(model)
    seconds = time.perf_counter() - began
    report(tagger, model, dev, seconds)
    if json:
        print_json(as_json(tagger, model, seconds))
    if strict and not ended_well(tagger):
        after = "" if staged else f" after {tagger.iterations_} iterations"
        say(f"--strict: training had not converged{after}")
        sys.exit(3)


def _check_files(
    data: list[str | None],
    model: str,
    log: str | None,
    warm_start: str | None,
    checkpoint: str | None,
    label_model: str | None,
    features: object,
) -> None:
    """Whatever is wrong with names of files is said before the work begins."""
    from trellis.files import check_writable, same_file
    from trellis.store import CheckpointFile

    if data.count("-") + (features == "-") > 1:
        raise SettingError("standard input (-) can be read only once")
    used: dict[str, list[str | None]] = {
        "the data": data,
        "the configuration": [config.path_of(click.get_current_context())],
        "the features": [str(features)],
        "the label model": [label_model],
        "the checkpoint": [None if checkpoint is None else str(CheckpointFile(checkpoint).path)],
    }
    # a model may take the place of the one it began with
    for option, written, read in (("--model", model, used), ("--log", log, {**used, "the model": [warm_start]})):
        for what, paths in read.items():
            if written is not None and any(path is not None and same_file(path, written) for path in paths):
                raise SettingError(f"{option} {written} would overwrite {what}; give another name")
    if log is not None and Path(log).resolve() == Path(model).resolve():
        raise SettingError(f"--log and --model are both {log}; give two names")
    check_writable(model)


def _start(path: str, model_type: str) -> Any:
    """The model to begin with: a chain for a chain, a cascade for a cascade."""
    from trellis.cascade import load
    from trellis.models import ITEM_TYPES, MODEL_TYPES
    from trellis.models.chain_tagger import ChainTagger

    if model_type in ITEM_TYPES:
        return load(path)
    if model_type != "cascade" and not issubclass(MODEL_TYPES[model_type], ChainTagger):
        raise SettingError(f"--warm-start is for chains and cascades; a {model_type} begins with nothing")
    model = load(path)
    if is_cascade(model) != (model_type == "cascade"):
        raise SettingError(
            f"--warm-start {path} is a {type(model).__name__}; a {model_type} begins with one of its kind"
        )
    return model
