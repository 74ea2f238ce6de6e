"""`trellis data`: look at corpora and fetch public ones."""

from __future__ import annotations

import click

from trellis.cli import options
from trellis.cli.console import download_progress, print_json, say


@click.group()
def data() -> None:
    """Check column files; list and fetch public corpora."""


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
