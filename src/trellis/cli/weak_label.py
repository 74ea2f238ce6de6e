"""`trellis weak label`: a label model says what votes mean."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from trellis.cli import options
from trellis.cli.console import print_json, say
from trellis.cli.output import check_json, check_outputs, counted, open_sink, saying_warnings
from trellis.cli.weak_votes import is_items, names_for
from trellis.errors import DataError

if TYPE_CHECKING:
    from trellis.corpus import Corpus, Piece
    from trellis.weak import LabelModel, Votes


@click.command("label")
@click.argument("model")
@click.argument("file", metavar="VOTES", default="-")
@click.option("--output", "-o", metavar="FILE", help="Where to write; standard output if not given.")
@click.option("--columns", metavar="NAMES", help="Names of the columns; else as in VOTES.columns or columns.txt.")
@click.option("--name", default="label", show_default=True, help="Of items: the field for the label.")
@click.option("--marginals", is_flag=True, help="Add a column LABEL:PROBABILITY for every label.")
@click.option("--keep-votes", is_flag=True, help="Keep the columns with votes, which are else left out.")
@options.comments
@options.as_json
def label_(
    model: str,
    file: str,
    output: str | None,
    columns: str | None,
    name: str,
    marginals: bool,
    keep_votes: bool,
    comments: bool,
    json: bool,
) -> None:
    """Write a file of votes with the labels that a model takes to be true, ready to train a tagger on.

    The columns are those of VOTES without the votes, and the label last. Items get the field `label` (--name) and,
    with --marginals, `probabilities`.

    \b
    Example:
      trellis weak label believed.trellis votes.txt --output train.txt
      trellis weak label believed.trellis test.votes.txt | trellis score -
    """
    from trellis.weak import load

    check_json(json, output)
    check_outputs({"--output": output}, [model, file])
    believed = load(model)
    with saying_warnings(), ExitStack() as stack:
        sink = open_sink(output, stack)
        if is_items(file):
            tally = _items(believed, file, sink, name, marginals, keep_votes)
        else:
            tally = _tokens(believed, file, sink, columns, marginals, keep_votes, comments, stack)
    say(f"{counted(tally['sentences'], 'sentence')}, {counted(tally['tokens'], 'token')} labelled by {believed.name}")
    if json:
        print_json({**tally, "kind": believed.name, "output": output})


def _tokens(
    model: LabelModel,
    file: str,
    sink: Any,
    columns: str | None,
    marginals: bool,
    keep_votes: bool,
    comments: bool,
    stack: ExitStack,
) -> dict[str, int]:
    from trellis.corpus import stream_conll
    from trellis.files import open_bytes, write_all

    tally = {"sentences": 0, "tokens": 0}
    source = stack.enter_context(open_bytes(file))
    for piece in stream_conll(source, names_for(file, columns), file, comments=comments):
        if piece.corpus.tokens:
            write_all(sink, _labelled(model, piece, marginals, keep_votes))
        tally["sentences"] += len(piece.corpus)
        tally["tokens"] += piece.corpus.tokens
    return tally


def _labelled(model: LabelModel, piece: Piece, marginals: bool, keep_votes: bool) -> bytes:
    from trellis.corpus import Column, write_conll
    from trellis.corpus.columns import append_columns

    votes = _votes_in(piece.corpus, model)
    said = Column(model.best(votes), list(model.labels_))
    more = []
    if marginals:
        for own, column in zip(model.own_labels, model.probabilities(votes).T.tolist(), strict=True):
            more.append([f"{own}:{p:.6f}" for p in column])
    if keep_votes:
        return append_columns(piece, [said.values(), *more])
    from trellis.weak.columns import FUNCTION, LINKER

    voters = {*model.functions_, *model.linkers_}
    kept = {
        name: column
        for name, column in piece.corpus.columns.items()
        if not name.startswith((FUNCTION, LINKER)) and name not in voters
    }
    chances = {f" {k}": Column.of(values) for k, values in enumerate(more)}
    return write_conll(replace(piece.corpus, columns={**kept, " label": said, **chances}))


def _votes_in(corpus: Corpus, model: LabelModel) -> Votes:
    from trellis.labels import segment_types
    from trellis.weak import votes_of

    space = model.space_
    known = space.labels if space.encoding is None else segment_types(space.labels)
    coarse = {name: list(members) for name, members in space.coarse.items()}
    if space.encoding is not None:
        coarse = {
            name[2:]: [one[2:] for one in members] for name, members in space.coarse.items() if name.startswith("B-")
        }
    return votes_of(corpus, model.functions_, model.linkers_, abstain=model.abstain_, coarse=coarse, labels=known)


def _items(model: LabelModel, file: str, sink: Any, name: str, marginals: bool, keep_votes: bool) -> dict[str, int]:
    from trellis.files import write_all
    from trellis.weak import read_items
    from trellis.weak.item_files import item_lines

    coarse = {key: list(members) for key, members in model.space_.coarse.items()}
    found = read_items(file, text=None, coarse=coarse, labels=list(model.labels_))
    if found.votes is None:
        raise DataError("no item has votes; `trellis weak apply` adds them", file)
    best = model.best(found.votes)
    chances = model.probabilities(found.votes) if marginals else None
    kept = found.votes if keep_votes else None
    lines = item_lines(found.records, kept, best, chances, labels=model.labels_, gold_field=name)
    for line in lines:
        write_all(sink, line)
    return {"sentences": len(found), "tokens": len(found)}
