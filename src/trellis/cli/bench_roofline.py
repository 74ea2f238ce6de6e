"""`trellis bench roofline`: the kernels of an evaluation beside what the machine can do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from trellis.cli import options
from trellis.cli.bench_training import print_table
from trellis.cli.console import print_json

if TYPE_CHECKING:
    from trellis.studies.bench_roofline import RooflineBench

NOTE = (
    "Nanoseconds for a token, medians; beside each bound how many times as long the kernel takes. strict: only what "
    "any way of doing it needs, everything in the nearest cache; by use: all that the algorithm does, rows the nearer "
    "the more often they are asked for; uniform: all rows asked for alike."
)


def add_to(
    bench: click.Group,
    task_of: Callable[..., Any],
    numbers_of: Callable[[str, str], list[int]],
    measuring: Callable[[], Any],
) -> None:
    @bench.command("roofline")
    @click.argument("train", required=False)
    @click.option("--columns", default="word,pos,chunk", show_default=True, help="Names from left to right.")
    @click.option("--target", default="chunk", show_default=True, help="The column to predict.")
    @click.option("--features", default="chunking", show_default=True, help="A preset or a template file.")
    @click.option("--threads", default="1,2", show_default=True, help="Numbers of threads.")
    @click.option("--repeat", default=5, show_default=True, help="Rounds of limits and kernels, by turns.")
    @click.option("--sizes", default="32,128,512,2048,8192,32768,262144", show_default=True, help="Of memory, in kB.")
    @options.as_json
    def roofline(
        train: str | None,
        columns: str,
        target: str,
        features: str,
        threads: str,
        repeat: int,
        sizes: str,
        json: bool,
    ) -> None:
        """Measure multiply-adds and memory, and how near forward-backward and scoring come to these limits.

        Without TRAIN, CoNLL-2000 is used where it is on this machine.

        \b
        Example:
          trellis bench roofline train.txt --columns word,pos,chunk --target chunk
        """
        from trellis.studies.bench_roofline import bench_roofline

        given = task_of(train, "crfsuite", columns, target, features, None, None)
        many, kilobytes = numbers_of(threads, "threads"), numbers_of(sizes, "sizes")
        with measuring() as say:
            result = bench_roofline(given, many, repeat, [1024 * size for size in kilobytes], say)
        click.echo(f"{given.train}, '{given.features}', {result.tokens:,} tokens, {result.labels} labels")
        _print_limits(result)
        _print_kernels(result)
        click.echo(NOTE)
        if json:
            print_json(result.as_json())


def _print_limits(result: RooflineBench) -> None:
    from trellis.studies.roofline_limits import BANDWIDTHS, MULTIPLY_ADDS, TILED

    limits, threads = result.limits, result.limits.threads
    heads = [f"{n} thread{'s' * (n > 1)}" for n in threads]
    rows = [
        (f"{name}, 10^9 a second", *(f"{limits.arithmetic[name, n].median / 1e9:.1f}" for n in threads))
        for name in (MULTIPLY_ADDS, TILED)
    ]
    print_table(("", *heads), rows)
    for n, head in zip(threads, heads, strict=True):
        table = [
            (f"{size // 1024:,} kB", *(f"{limits.memory[kind, size, n].median / 1e9:.1f}" for kind in BANDWIDTHS))
            for size in limits.sizes
        ]
        print_table((f"GB a second, {head}", *BANDWIDTHS), table)


def _print_kernels(result: RooflineBench) -> None:
    from trellis.studies.roofline_counts import WAYS

    per = 1e9 / result.tokens
    for n in result.limits.threads:
        rows = []
        for name in result.names:
            one = result.judged[name, n]
            cells = [f"{per * max(one.bounds[way]):.1f} ({one.within(way):.2f}x)" for way in WAYS]
            rows.append((name, f"{per * one.times.median:.1f}", *cells))
        print_table((f"ns, {n} thread{'s' * (n > 1)}", "measured", *WAYS), rows)
        whole, share = per * result.evaluations[n].median, 100 * result.share(n)
        click.echo(f"An evaluation takes {whole:.0f} ns, {share:.0f}% of it in these.")
