"""`trellis bench page`: what other benchmarks have measured, as a page with tables and plots."""

from __future__ import annotations

from pathlib import Path

import click

from trellis.cli.console import say


def add_to(bench: click.Group) -> None:
    @bench.command("page")
    @click.argument("results", nargs=-1, required=True)
    @click.option("--output", default="performance.md", show_default=True, help="The page; plots go beside it.")
    @click.option("--tried", help="Markdown to take over; tried.md in the folder of plots if not given, where there.")
    def page(results: tuple[str, ...], output: str, tried: str | None) -> None:
        """Write a page on performance from RESULTS: files with what `trellis bench ... --json` printed.

        Plots need trellis[plot]. They go into a folder beside the page, of its name.

        \b
        Example:
          trellis bench train --json > train.json
          trellis bench page train.json --output performance.md
        """
        from trellis.report.plots import require_matplotlib
        from trellis.studies.performance.page import check_known, write_page
        from trellis.studies.performance.results import read_results

        require_matplotlib()
        found = read_results([Path(file) for file in results])
        check_known(found)
        path = Path(output)
        beside = path.parent / path.stem / "tried.md"
        told = Path(tried) if tried is not None else beside if beside.is_file() else None
        for file in write_page(found, path, told):
            say(f"written: {file}")
