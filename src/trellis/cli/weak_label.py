"""`trellis weak label`: a label model says what votes mean."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from trellis.cli import options
from trellis.cli.column_names import CHANCE, LABEL, names_for, outputs, write_names
from trellis.cli.console import print_json, say
from trellis.cli.output import check_json, check_outputs, counted, open_sink, saying_warnings
from trellis.cli.weak_votes import is_items
from trellis.errors import DataError, SettingError

if TYPE_CHECKING:
    from trellis.corpus import Piece
    from trellis.weak import LabelModel


@click.command("label")
@click.argument("model")
@click.argument("file", metavar="VOTES", default="-")
@click.option("--output", "-o", metavar="FILE", help="Where to write; standard output if not given.")
@click.option("--columns", metavar="NAMES", help="Names of the columns; else as in VOTES.columns or columns.txt.")
@click.option("--name", default=LABEL, show_default=True, help="What the column (of items: the field) is called.")
@click.option("--marginals", is_flag=True, help="Add a column LABEL:PROBABILITY for every label.")
@click.option("--jsonl", is_flag=True, help="Of column files: a JSON object a sentence, with tokens, tags and soft.")
@click.option("--items", is_flag=True, help="VOTES are items, JSON lines, as those of .jsonl and .json files are.")
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
    jsonl: bool,
    items: bool,
    keep_votes: bool,
    comments: bool,
    json: bool,
) -> None:
    """Write a file of votes with the labels that a model takes to be true, ready to train a tagger on.

    The columns are those of VOTES without the votes, and the label last; their names are written to OUTPUT.columns.
    With --marginals, P(label) of every label follows, which `trellis train --soft` learns from.

    Items get the field `label` and, with --marginals, `probabilities`.

    \b
    Example:
      trellis weak label believed.trellis votes.txt --output train.txt
      trellis weak label believed.trellis test.votes.txt | trellis score -
      trellis weak label believed.trellis votes.txt --jsonl --output train.jsonl
    """
    from trellis.weak import load

    check_json(json, output)
    check_outputs(outputs(output), [model, file])
    believed = load(model)
    named = output is not None and output != "-"
    names: list[str] = []
    with saying_warnings(), ExitStack() as stack:
        sink = open_sink(output, stack)
        if jsonl and (items or is_items(file) or marginals or keep_votes or name != LABEL):
            raise SettingError(
                "--jsonl is for column files, and has probabilities already; leave the other options out"
            )
        if jsonl:
            tally = _sentences(believed, file, sink, columns, comments, stack)
        elif items or is_items(file):
            tally = _items(believed, file, sink, name, marginals, keep_votes)
        else:
            added = [name, *(f"{CHANCE}{label}" for label in believed.labels_ if marginals)]
            _check_name(name, added)
            tally, names = _tokens(believed, file, sink, columns, added, named, keep_votes, comments, stack)
    if names and named:
        write_names(str(output), [*names, *added])
    done = ", ".join(counted(many, what.removesuffix("s")) for what, many in tally.items())
    say(f"{done} labelled by {believed.name}")
    if json:
        print_json({**tally, "kind": believed.name, "output": output})


def _tokens(
    model: LabelModel,
    file: str,
    sink: Any,
    columns: str | None,
    added: Sequence[str],
    named: bool,
    keep_votes: bool,
    comments: bool,
    stack: ExitStack,
) -> tuple[dict[str, int], list[str]]:
    """How much there was, and the names of the columns before those that are added, if there was any; `named`: they are
    written as well, so that none may come twice."""
    from trellis.corpus import stream_conll
    from trellis.files import open_bytes, write_all
    from trellis.weak.columns import without_votes

    tally, names = {"sentences": 0, "tokens": 0}, list[str]()
    source = stack.enter_context(open_bytes(file))
    for piece in stream_conll(source, names_for(file, columns), file, comments=comments):
        corpus = piece.corpus
        if corpus.tokens:
            plain = without_votes(corpus, model.functions_, model.linkers_)
            names = list(corpus.file_columns or corpus.columns) if keep_votes else plain
            if named:
                _check_new(names, added, file)
            write_all(sink, _labelled(model, piece, tally["tokens"], len(added) > 1, None if keep_votes else plain))
        elif comments:
            write_all(sink, piece.data)
        tally["sentences"] += len(corpus)
        tally["tokens"] += corpus.tokens
    return tally, names


def _check_name(name: str, added: Sequence[str]) -> None:
    """That it can be the name of a column, and of one with labels."""
    from trellis.weak.columns import FUNCTION, LINKER

    if name.split() != [name] or "," in name:
        raise SettingError(f"--name is {name!r}; expected a name without white space and commas")
    if name.startswith((FUNCTION, LINKER)) or name in added[1:]:
        what = "of a column of votes" if name not in added[1:] else "of the column with the probabilities of that label"
        raise SettingError(f"--name {name}: this is the name {what}; give another name")


def _check_new(names: Sequence[str], added: Sequence[str], file: str) -> None:
    """That no name comes twice: nobody could read such a file by its names."""
    for name in added:
        if name in names:
            remedy = "name it otherwise (--columns)" if name.startswith(CHANCE) else "give another name: --name"
            raise DataError(f"there is a column '{name}' already; {remedy}", file)


def _sentences(
    model: LabelModel, file: str, sink: Any, columns: str | None, comments: bool, stack: ExitStack
) -> dict[str, int]:
    """A JSON object for each: other programs read such lines, as columns of a data set."""
    import json

    import numpy as np

    from trellis.corpus import stream_conll
    from trellis.files import open_bytes, write_all
    from trellis.labels import by_sentence
    from trellis.weak.columns import votes_like
    from trellis.weak.paths import label_rows

    tally = {"sentences": 0, "tokens": 0}
    source = stack.enter_context(open_bytes(file))
    for piece in stream_conll(source, names_for(file, columns), file, comments=comments):
        corpus = piece.corpus
        if not corpus.tokens:
            continue
        votes = votes_like(corpus, model.space_, model.functions_, model.linkers_, model.abstain_, tally["tokens"])
        words = corpus.sentences(next(iter(corpus.columns)))
        said = by_sentence(np.round(label_rows(model, votes), 6), votes.offsets)
        for tokens, named, rows in zip(words, model.predict(votes), said, strict=True):
            chances = [dict(zip(model.labels_, row, strict=True)) for row in rows.tolist()]
            line = {"tokens": tokens, "tags": named, "soft": chances}
            write_all(sink, json.dumps(line, ensure_ascii=False).encode() + b"\n")
        tally["sentences"] += len(corpus)
        tally["tokens"] += corpus.tokens
    return tally


def _labelled(model: LabelModel, piece: Piece, first: int, marginals: bool, kept: Sequence[str] | None) -> bytes:
    """The lines of a piece, before which there are `first` tokens; of the columns that are `kept`, all if None."""
    from trellis.corpus.columns import append_columns, replace_columns
    from trellis.weak.columns import votes_like
    from trellis.weak.paths import label_rows

    corpus, space = piece.corpus, model.space_
    votes = votes_like(corpus, space, model.functions_, model.linkers_, model.abstain_, first)
    added = [[model.labels_[k] for k in model.best(votes).tolist()]]
    if marginals:
        for label, column in zip(model.labels_, label_rows(model, votes).T.tolist(), strict=True):
            added.append([f"{label}:{p:.6f}" for p in column])
    if kept is None:
        return append_columns(piece, added)
    return replace_columns(piece, [*(corpus[name].values() for name in kept), *added])


def _items(model: LabelModel, file: str, sink: Any, name: str, marginals: bool, keep_votes: bool) -> dict[str, int]:
    import warnings

    from trellis.files import write_all
    from trellis.weak.item_files import item_batches, item_lines

    fields = [name, *(["probabilities"] if marginals else [])]
    if name in ("votes", *fields[1:]):
        raise SettingError(f"--name {name}: this is where the {name} are; give another name")
    done, silent = 0, set(model.functions_)
    coarse = {key: list(members) for key, members in model.space_.coarse.items()}
    for found in item_batches(file, None, None, coarse=coarse, labels=list(model.labels_), functions=model.functions_):
        if found.votes is None:
            raise DataError("no item has votes; `trellis weak apply` adds them", file)
        for item, record in enumerate(found.records):
            for there in fields:
                if record.get(there) is not None:
                    remedy = "give another: --name" if there == name else "rename it, or leave --marginals"
                    what = f"there is a field {there!r} already, which would be replaced; {remedy}"
                    raise DataError(what, file, found.line(item))
        votes = replace(found.votes, first=done)
        silent -= found.named
        if len(found) and not done and len(silent) == len(model.functions_):  # before anything is written
            raise DataError("no item names a function that the model knows; `trellis weak apply` adds votes", file)
        chances = model.probabilities(votes) if marginals else None
        kept = votes if keep_votes else None
        for line in item_lines(found.records, kept, model.best(votes), chances, model.labels_, name):
            write_all(sink, line)
        done += len(found)
    if done and silent:
        warnings.warn(f"the model knows {', '.join(sorted(silent))}, which no item names", stacklevel=2)
    return {"items": done}
