"""`trellis bench score`: counting segments beside seqeval."""

from __future__ import annotations

from typing import Any

import click

from trellis.cli import options
from trellis.cli.console import print_json


def add_to(bench: click.Group, measuring: Any) -> None:
    @bench.command("score")
    @click.option("--tokens", default=1_000_000, show_default=True, help="Of random labels to count segments in.")
    @click.option("--scheme", default="strict", show_default=True, type=click.Choice(["strict", "conlleval"]))
    @click.option("--repeat", default=3, show_default=True, help="Rounds; the two take turns.")
    @options.as_json
    def score(tokens: int, scheme: str, repeat: int, json: bool) -> None:
        """F1 of segments, against seqeval in its strict mode or its default one.

        \b
        Example:
          trellis bench score --tokens 1000000
        """
        from trellis.studies.bench_score import bench_score

        with measuring() as say:
            result = bench_score(tokens, scheme, repeat, say)
        print(f"{scheme}: F1 {100 * result.f1:.4f}, by seqeval {100 * result.peers_f1:.4f}; {tokens:,} tokens")
        print(f"seqeval {1000 * result.peer.median:,.0f} ms (median of {repeat})")
        for name, what in (("columns", "from columns as they are read"), ("lists", "from the same lists of strings")):
            times = getattr(result, name)
            print(f"Trellis {1000 * times.median:,.0f} ms {what}: {result.ratios[name]:.1f} times as fast")
        if json:
            print_json(result.as_json())
