"""`trellis data`: look at corpora, convert their labels, fetch public ones."""

from __future__ import annotations

import sys

import click

from trellis.cli import options
from trellis.cli.console import download_progress, print_json, say
from trellis.errors import FileAccessError

ENCODINGS = "io, iob1, iob2, ioe1, ioe2, bioes or bilou"


@click.group()
def data() -> None:
    """Check column files and convert their labels; list and fetch public corpora."""


@data.command("check")
@click.argument("file")
@click.argument("other", required=False)
@options.columns
@click.option("--target", metavar="NAME", help="The label column; the last one if not given.")
@options.comments
@options.as_json
def check(file: str, other: str | None, columns: str | None, target: str | None, comments: bool, json: bool) -> None:
    """Report sentences, tokens, labels, illegal label transitions, rare labels; for a second file the overlap.

    \b
    Example:
      trellis data check train.txt test.txt --columns word,pos,chunk
    """
    from trellis.corpus import read_conll
    from trellis.corpus.check import check_corpus
    from trellis.errors import DataError

    names = options.names_of(columns)
    paths = [file] if other is None else [file, other]
    corpora = [read_conll(path, columns=names, comments=comments) for path in paths]
    for path, corpus in zip(paths, corpora, strict=True):
        if not corpus.tokens:
            raise DataError("there is no token in the file", path)
    target = target or list(corpora[0].columns)[-1]
    found = [check_corpus(corpora[0], target)]
    found += [check_corpus(second, target, corpora[0]) for second in corpora[1:]]
    print("\n\n".join(one.as_text() for one in found))
    if json:
        print_json({"files": [one.as_json() for one in found]})


@data.command("convert")
@click.argument("source", metavar="IN")
@click.argument("output", metavar="OUT")
@click.option("--to", required=True, metavar="ENCODING", help=f"The encoding to write: {ENCODINGS}.")
@click.option("--from", "encoding", metavar="ENCODING", help="The encoding of IN; detected if not given.")
@click.option("--column", metavar="NAME", help="The label column; the last one if not given, or for `last`.")
@click.option(
    "--repair",
    type=click.Choice(["conlleval", "discard", "strict"]),
    default="conlleval",
    show_default=True,
    help="Ill-formed labels: read them as conlleval does, discard them (O), or end with an error (strict).",
)
@options.columns
@options.comments
@options.as_json
def convert(
    source: str,
    output: str,
    to: str,
    encoding: str | None,
    column: str | None,
    repair: str,
    columns: str | None,
    comments: bool,
    json: bool,
) -> None:
    """Write the segment labels of a column file in another encoding; all else stays as it is, byte for byte.

    To convert to the encoding that the file has is to repair it. `-` is standard input or output.

    \b
    Example:
      trellis data convert train.txt train.bioes.txt --to bioes
      trellis data convert train.txt mended.txt --to iob2 --from iob2 --repair discard
      trellis data convert - - --columns word,pos,chunk,entity --column chunk --to iob1 < train.txt
    """
    from trellis.corpus.convert import convert_text
    from trellis.files import read_bytes, write_all, write_atomically

    names = options.names_of(columns)
    if column == "last" and "last" not in (names or ()):
        column = None
    data, corpus, found = convert_text(read_bytes(source), to, column, repair, encoding, names, source, comments)
    if output == "-":
        if sys.stdout is None:
            raise FileAccessError("standard output is closed")
        sys.stdout.flush()
        write_all(sys.stdout.buffer, data)
    else:
        write_atomically(output, data)
    say(f"{found.segments:,} segments from {found.encoding} to {to}; labels repaired: {found.repaired:,}")
    if found.repaired and encoding is None:
        say(f"their encoding was guessed; if it is not {found.encoding}, name it with --from")
    if json:
        counts = {"sentences": len(corpus), "tokens": corpus.tokens, "segments": found.segments}
        print_json({"from": found.encoding, "to": to, **counts, "repaired": found.repaired})


@data.command("list")
@options.as_json
def list_sets(json: bool) -> None:
    """List the corpora that can be had by name.

    \b
    Example:
      trellis data list
    """
    from trellis.corpus.sample import COLUMNS
    from trellis.corpus.sources import SOURCES

    rows = [("sample", COLUMNS, "English written for Trellis; ships with it", "MIT")]
    rows += [(s.name, s.columns, s.about, s.licence) for s in SOURCES.values()]
    for name, columns, about, licence in rows:
        print(f"{name:<14} {','.join(columns)}\n{'':14} {about} (licence: {licence})")
    if json:
        keys = ("name", "columns", "about", "licence")
        print_json({"sets": [dict(zip(keys, (n, list(c), a, li), strict=True)) for n, c, a, li in rows]})


@data.command("get")
@click.argument("name")
@click.option("--folder", metavar="DIR", help="Where to put the files; the cache folder if not given.")
@options.as_json
def get(name: str, folder: str | None, json: bool) -> None:
    """Fetch a public corpus, check it and keep it as column files; prints the folder.

    \b
    Example:
      trellis data get conll2000
    """
    from trellis.corpus.sample import COLUMNS, sample_path

    if name == "sample":
        where, columns = sample_path("train").parent, COLUMNS
    else:
        from trellis.corpus.fetch import fetch
        from trellis.corpus.sources import find_source

        source = find_source(name)
        say(f"{name}: {source.about} (licence: {source.licence})")
        with download_progress() as report:
            where, columns = fetch(name, folder, report), source.columns
    print(where)
    if json:
        print_json({"folder": str(where), "columns": list(columns)})
