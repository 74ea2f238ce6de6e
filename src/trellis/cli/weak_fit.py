"""`trellis weak fit`: a label model learns from votes whom to believe."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from trellis.cli import options
from trellis.cli.console import measuring, messages, print_json, say
from trellis.cli.output import check_outputs, counted, saying_warnings
from trellis.cli.weak_votes import Voted, read_votes, vote_options
from trellis.errors import SettingError

if TYPE_CHECKING:
    from trellis.weak import LabelModel
    from trellis.weak.choosing import Tried

KINDS = "auto, majority, weighted, triplets, generative, dawid-skene, hmm or linked-hmm"


@click.command("fit")
@click.argument("files", metavar="VOTES...", nargs=-1, required=True)
@click.option("--model", required=True, metavar="FILE", help="Where to write the label model.")
@click.option(
    "--kind", default="auto", show_default=True, help=f"{KINDS}; auto: the best on --dev, without it a usual one."
)
@click.option("--dev", metavar="FILE", help="Other votes with gold labels: to judge the model by, and to choose it.")
@options.pairs("--options", "NAME=VALUE,...", "Settings of the label model: anchor=1,structure=independent.")
@click.option("--groups", metavar="A+B,...", help="Functions that vote as one, as they are nearly copies: names.")
@options.pairs(
    "--weights", "NAME=WEIGHT,...", "What votes of functions count, for the kind weighted; others are learnt."
)
@vote_options
@click.option("--strict", is_flag=True, help="Exit with code 3 when learning does not converge.")
@options.as_json
def fit_(
    files: tuple[str, ...],
    model: str,
    kind: str,
    dev: str | None,
    options: object,
    groups: str | None,
    weights: object,
    strict: bool,
    json: bool,
    **how: Any,
) -> None:
    """Fit a label model to votes; majority vote is shown beside it.

    No gold labels are needed. Where there are some, in --dev or in VOTES itself, they say how good the model is and
    which kind is best; none is fitted to them.

    \b
    Example:
      trellis weak fit votes.txt --model believed.trellis
      trellis weak fit votes.txt --dev dev.votes.txt --gold chunk --model believed.trellis
      trellis weak fit votes.txt --kind hmm --options anchor=1 --groups names_cased+names_uncased --model m.trellis
    """
    check_outputs({"--model": model}, [*files, *([dev] if dev else [])])
    began = time.perf_counter()
    settings = _settings(options, groups, weights)
    with saying_warnings(), messages():
        voted = read_votes(files, **how, gold_needed=dev is None)
        held_out = voted if dev is None else read_votes([dev], **_like(how, voted))
        if dev is not None and held_out.gold is None:
            raise SettingError(f"--dev {dev} has no gold labels; name their column with --gold")
        missing = [name for name in voted.votes.functions if name not in held_out.votes.functions]
        if missing:
            raise SettingError(f"--dev {dev} has no votes of '{missing[0]}', which votes in VOTES")
        if dev is None and voted.gold is not None:
            say("judged on the gold labels of VOTES, which no model is fitted to")
        fitted, tried = _fitted(voted, held_out, kind, settings)
        fitted.save(model)
    if tried:
        _show(tried, fitted)
    say(f"{counted(len(voted.votes.functions), 'function')}; {fitted.name} in {model}")
    if json:
        print_json(_as_json(fitted, tried, voted, model, time.perf_counter() - began))
    if strict and not fitted.converged_:
        say(f"--strict: {fitted.name} had not converged after {fitted.iterations_} iterations")
        raise SystemExit(3)


def _settings(text: object, groups: str | None, weights: object) -> dict[str, Any]:
    from trellis.cli.options import table_of

    settings = dict(table_of(text, "--options") or {})
    if groups is not None:
        settings["structure"] = [group.split("+") for group in groups.split(",")]
    if weights is not None:
        settings["weights"] = table_of(weights, "--weights")
    return settings


def _like(how: dict[str, Any], voted: Voted) -> dict[str, Any]:
    """The same functions and labels for other votes."""
    from trellis.cli.options import names_of
    from trellis.labels import segment_types

    space = voted.votes.space
    known = space.labels if space.encoding is None else segment_types(space.labels)
    return {**how, "labels": [*known, *(names_of(how["labels"]) or [])]}


def _fitted(voted: Voted, held_out: Voted, kind: str, settings: dict[str, Any]) -> tuple[LabelModel, list[Tried]]:
    from trellis.weak.choosing import choose, default_for
    from trellis.weak.models import label_model

    if kind == "auto" and held_out.dev is not None:
        if settings:
            raise SettingError("--options, --groups and --weights are of one kind of model; name it with --kind")
        with measuring() as tell:
            return choose(voted.votes, held_out.dev, say=tell)
    name = default_for(voted.votes) if kind == "auto" else kind
    model = label_model(name)
    unknown = [one for one in settings if one not in model().get_params()]
    if unknown:
        known = ", ".join(model().get_params()) or "none"
        raise SettingError(f"'{unknown[0]}' is no setting of {name}; it has: {known}")
    return model(**settings).fit(voted.votes, held_out.dev), []


def _show(tried: list[Tried], chosen: LabelModel) -> None:
    """A table of what was tried; the scores are those on the gold labels."""
    from trellis.weak.models import label_model

    name, params = chosen.name, chosen.get_params()
    first = next(one for one in tried if one.name == name and label_model(name)(**one.settings).get_params() == params)
    for one in tried:
        settings = " ".join(f"{name}={value:g}" for name, value in one.settings.items())
        score = "-" if one.report is None else f"{100 * one.report.headline:.2f}"
        mark = " *" if one is first else ""
        print(f"{one.name:<12} {settings:<10} {score:>6}{mark}{'' if one.why_not is None else f'  {one.why_not}'}")


def _as_json(fitted: LabelModel, tried: list[Tried], voted: Voted, path: str, seconds: float) -> dict[str, Any]:
    return {
        "kind": fitted.name,
        "settings": fitted.get_params(),
        "functions": list(fitted.functions_),
        "linkers": list(fitted.linkers_),
        "labels": list(fitted.labels_),
        "groups": getattr(fitted, "groups_", None),
        "accuracies": fitted.learned_accuracy(voted.votes),
        "objective": fitted.objective_,
        "iterations": fitted.iterations_,
        "converged": fitted.converged_,
        "beside": None if fitted.beside_ is None else fitted.beside_.as_json(),
        "tried": [one.as_json() for one in tried],
        "sentences": len(voted.votes),
        "tokens": voted.votes.tokens,
        "seconds": seconds,
        "model": path,
    }
