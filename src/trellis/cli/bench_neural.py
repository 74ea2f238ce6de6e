"""`trellis bench neural`: a CRF over an encoder's scores beside pytorch-crf."""

from __future__ import annotations

from typing import Any

import click

from trellis.cli import options
from trellis.cli.console import print_json


def add_to(bench: click.Group, measuring: Any) -> None:
    @bench.command("neural")
    @click.option("--sentences", default=32, show_default=True, help="Of a batch.")
    @click.option("--length", default=40, show_default=True, help="Tokens of each sentence, or of the longest.")
    @click.option("--shortest", type=int, help="Tokens of the shortest sentence; --length if not given.")
    @click.option("--labels", default=45, show_default=True, help="How many there are.")
    @click.option("--repeat", default=15, show_default=True, help="Rounds; the two take turns.")
    @click.option("--threads", default="1,2", show_default=True, help="PyTorch's, with commas between them.")
    @options.as_json
    def neural(
        sentences: int, length: int, shortest: int | None, labels: int, repeat: int, threads: str, json: bool
    ) -> None:
        """Loss and gradient of a CRF over an encoder's scores, against pytorch-crf.

        \b
        Example:
          trellis bench neural --sentences 32 --length 40 --labels 45
        """
        from trellis.errors import SettingError
        from trellis.studies.bench_neural import bench_neural

        counts = [int(one) if one.strip().isdigit() else 0 for one in threads.split(",")]
        if min([sentences, length, labels, repeat, *counts]) < 1:
            raise SettingError("sizes, rounds and threads have to be whole numbers of 1 or more")
        with measuring() as say:
            result = bench_neural(sentences, length, labels, repeat, counts, shortest, say)
        tokens = length if shortest in (None, length) else f"{shortest} to {length}"
        print(f"{sentences} sentences of {tokens} tokens, {labels} labels; median of {repeat}")
        for n, ratio in result.ratios.items():
            ours, theirs = (1000 * one[n].median for one in (result.trellis, result.peer))
            many = "thread" if n == 1 else "threads"
            print(f"{n} {many}: pytorch-crf {theirs:.2f} ms, Trellis {ours:.2f} ms: {ratio:.1f} times as fast")
        if json:
            print_json(result.as_json())
