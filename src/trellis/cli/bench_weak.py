"""`trellis bench weak`: a model of votes beside skweak's, and a long list of phrases beside reading the text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from trellis.cli import options
from trellis.cli.console import print_json

if TYPE_CHECKING:
    from trellis.studies.bench_gazetteer import GazetteerBench
    from trellis.studies.bench_weak import WeakBench
    from trellis.weak import Votes


def add_to(bench: click.Group, measuring: Any) -> None:
    @bench.command("weak")
    @click.argument("file", required=False)
    @click.option("--only", type=click.Choice(["hmm", "gazetteer"]), help="One of the two parts; both if not given.")
    @click.option("--against", help="skweak, to insist on it; if not given, it is left out where it is not installed.")
    @click.option("--columns", help="Names of FILE's columns; by default as in columns.txt beside it.")
    @click.option("--functions", help="Columns that vote; all whose names begin with lf: if not given.")
    @click.option("--gold", help="The column with gold labels; gold if there.")
    @click.option("--abstain", default="_", show_default=True, help="What stands for no vote: _,O for instance.")
    @click.option("--iterations", default=50, show_default=True, help="Of EM, by both.")
    @click.option("--rounds", default=5, show_default=True, help="Runs of Trellis.")
    @click.option("--repeat", default=1, show_default=True, help="Runs of skweak, spread among those of Trellis.")
    @click.option("--entries", default=1_000_000, show_default=True, help="Phrases of the list.")
    @click.option("--tokens", default=1_000_000, show_default=True, help="Of the text in which they are looked for.")
    @options.as_json
    def weak(
        file: str | None,
        only: str | None,
        against: str | None,
        iterations: int,
        rounds: int,
        repeat: int,
        entries: int,
        tokens: int,
        json: bool,
        **columns: Any,
    ) -> None:
        """The hidden Markov model of votes against skweak's, and a long gazetteer against reading the text.

        FILE has the votes as for `trellis weak fit`; without it, NCBI-disease is used where it is on this machine.

        \b
        Example:
          trellis bench weak train.txt --iterations 50
        """
        from trellis.studies.bench_gazetteer import bench_gazetteer
        from trellis.studies.bench_weak import bench_weak
        from trellis.studies.machine import machine

        values: dict[str, Any] = {"benchmark": "weak", "machine": machine()}
        if only != "gazetteer":
            with measuring() as say:
                result = bench_weak(*_read(file, **columns), iterations, rounds, repeat, against, say)
            _print_votes(result)
            values |= result.as_json()
        if only != "hmm":
            with measuring() as say:
                found = bench_gazetteer(entries, tokens, rounds, say)
            _print_gazetteer(found)
            values["gazetteer"] = found.as_json()
        if json:
            print_json(values)


def _read(file: str | None, **columns: Any) -> tuple[Votes, list[str], Any]:
    """Votes, words, and gold labels where there are any."""
    from trellis.cli.weak_votes import is_items, read_votes
    from trellis.errors import SettingError
    from trellis.studies.bench_weak import default_votes

    path = str(default_votes()) if file is None else file
    if is_items(path):
        raise SettingError(f"{path} has votes on whole items; the comparison is of votes for segments, a column file")
    voted = read_votes([path], **columns, coarse=None, labels=None, comments=False)
    assert voted.corpus is not None
    first = voted.corpus[next(iter(voted.corpus.columns))]
    return voted.votes, [first.strings[i] for i in first.ids.tolist()], voted.gold


def _print_votes(result: WeakBench) -> None:
    from trellis.studies.bench_weak import INSTALL

    print(
        f"votes of {result.functions} functions on {result.tokens:,} tokens in {result.sentences:,} sentences, "
        f"{result.iterations} iterations of EM"
    )
    own = f"Trellis {result.trellis.median:.3f} s (median of {len(result.trellis.seconds)})"
    if result.peer is None:
        print(f"{own}; skweak is not installed, to compare: {INSTALL}")
    else:
        theirs = f"skweak {result.peer.median:.2f} s (median of {len(result.peer.seconds)})"
        print(f"{theirs}, {own}: {result.ratio:.1f} times as fast")
        print(f"skweak learns from the {result.heard:,} tokens of sentences with votes, Trellis from all")
    if result.f1 is not None:
        names = {"trellis": "Trellis", "skweak": "skweak"}
        print("F1 of exact segments: " + ", ".join(f"{names[k]} {100 * v:.2f}" for k, v in result.f1.items()))


def _print_gazetteer(found: GazetteerBench) -> None:
    print(
        f"gazetteer of {found.entries:,} phrases in {found.tokens:,} tokens: {found.spans:,} found, on "
        f"{100 * found.covered / found.tokens:.0f}% of the tokens; median of {len(found.read.seconds)}"
    )
    print(
        f"read the text {found.read.median:.3f} s, build the list {found.build.median:.2f} s, "
        f"match {found.match.median:.3f} s: {found.ratio:.2f} times the time of reading"
    )
