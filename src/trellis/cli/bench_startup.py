"""`trellis bench startup`: how soon a fresh process has done its first thing, and what the first run compiles."""

from __future__ import annotations

from typing import Any

import click

from trellis.cli import options
from trellis.cli.bench_training import print_table
from trellis.cli.console import print_json


def add_to(bench: click.Group, measuring: Any) -> None:
    @bench.command("startup")
    @click.option("--repeat", default=7, show_default=True, help="Rounds of small processes, which take turns.")
    @click.option("--first-runs", default=1, show_default=True, help="First runs after installation; 0 for none.")
    @click.option("--tokens", default=21_000, show_default=True, help="Of first runs; kernels are for over 20,000.")
    @click.option("--iterations", default=3, show_default=True, help="Of their training.")
    @options.as_json
    def startup(repeat: int, first_runs: int, tokens: int, iterations: int, json: bool) -> None:
        """Time small processes from start to end, and the first training and tagging, which compile.

        A first run has an empty cache of kernels; what it takes longer than one with a filled cache is compiling.

        \b
        Example:
          trellis bench startup --repeat 7 --first-runs 1
        """
        from trellis.studies.bench_startup import bench_startup

        with measuring() as say:
            result = bench_startup(repeat, first_runs, tokens, iterations, say)
        rows = [(name, f"{1e3 * t.best:.0f} ms", f"{1e3 * t.median:.0f} ms") for name, t in result.times.items()]
        print_table(("a process that does", "best", "median"), rows)
        click.echo(f"import trellis / import numpy: {result.ratio:.2f}")
        if result.compiling is not None:
            first = [
                (name, f"{run.empty.median:.1f} s", f"{run.filled.median:.1f} s", f"{run.compiling:.1f} s")
                for name, run in result.first.items()
            ]
            print_table((f"first run, {result.tokens:,} tokens", "empty cache", "filled", "compiling"), first)
            click.echo(f"{result.compiling:.1f} s of compiling in all; {result.kernels[0]} files of kernels")
            if result.kernels[1]:
                click.echo(f"{result.kernels[1]} of them were compiled again with the filled cache")
        if json:
            print_json(result.as_json())
