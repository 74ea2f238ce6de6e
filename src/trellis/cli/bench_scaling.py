"""`trellis bench scaling`: how an evaluation and tagging grow with tokens, labels, threads and order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trellis.cli import options
from trellis.cli.bench_training import print_table
from trellis.cli.console import print_json

if TYPE_CHECKING:
    from trellis.studies.bench_scaling import ScalingBench
    from trellis.studies.chain_cost import ChainCost
    from trellis.studies.growing import Text

NOTE = (
    "Two figures: of an evaluation and of tagging. growth: time for a token over that of the first row; gain: how many "
    "times as fast as with the first number of threads, or without pruning; power: time grows as labels to this power; "
    "left: labels that pruning leaves a token."
)


def add_to(bench: click.Group, numbers_of: Callable[[str, str], list[int]], measuring: Any) -> None:
    @bench.command("scaling")
    @click.argument("files", nargs=-1)
    @click.option("--columns", default="word,pos", show_default=True, help="Names of FILES' columns; one is word.")
    @click.option("--target", default="pos", show_default=True, help="The column with labels.")
    @click.option("--only", default="tokens,labels,orders", show_default=True, help="Parts, with commas between them.")
    @click.option("--tokens", default="50000,200000,800000", show_default=True, help="Sizes of the text.")
    @click.option("--labels", default="9,22,45,200,600", show_default=True, help="Numbers of labels.")
    @click.option("--orders", default="1,2", show_default=True, help="Orders of the chain.")
    @click.option("--threads", default="1,2", show_default=True, help="Threads; labels and orders have the first.")
    @click.option("--classes", default=22, show_default=True, help="Labels, where these do not grow.")
    @click.option("--at", default=50_000, show_default=True, help="Tokens, where these do not grow.")
    @click.option("--prune", default=0.001, show_default=True, help="Threshold of pruning.")
    @click.option("--prune-from", default=200, show_default=True, help="Pruning is tried with so many labels or more.")
    @click.option("--repeat", default=3, show_default=True, help="Rounds; what is in a part takes turns.")
    @click.option("--against", help="crfsuite, to have its L-BFGS iterations on the same sizes of text.")
    @options.as_json
    def scaling(
        files: tuple[str, ...],
        columns: str,
        target: str,
        only: str,
        tokens: str,
        labels: str,
        orders: str,
        threads: str,
        against: str | None,
        json: bool,
        **more: Any,
    ) -> None:
        """Time an evaluation of objective and gradient, and tagging, as text, labels, threads and order grow.

        Without FILES, Brown is used where it is on this machine, or else CoNLL-2000, over again where it is too short.

        \b
        Example:
          trellis bench scaling train.txt --columns word,pos --target pos --tokens 50000,200000
        """
        from trellis.studies.bench_scaling import Settings, bench_scaling

        sizes = {"tokens": tokens, "labels": labels, "orders": orders, "threads": threads}
        numbers: dict[str, Any] = {name: numbers_of(text, name) for name, text in sizes.items()}
        settings = Settings(**numbers, parts=only.split(","), **more)
        text = text_of(files, columns, target)
        with measuring() as say:
            result = bench_scaling(text, settings, against, say)
        click.echo(f"{', '.join(map(str, text.files))}: {result.there:,} tokens; medians, for a token")
        _print_parts(result)
        click.echo(NOTE)
        if json:
            print_json(result.as_json())


def text_of(files: Sequence[str], columns: str, target: str) -> Text:
    """What is measured with; what is kept on this machine if no file is named."""
    from trellis.studies.growing import Text

    return Text(tuple(map(Path, files)), tuple(columns.split(",")), target) if files else Text.default()


def _print_parts(result: ScalingBench) -> None:
    from trellis.studies.bench_scaling import exponent, faster, faster_pruned, relative

    costs = ("evaluation", "tagging")
    if result.tokens:
        rows = []
        for cost in result.tokens:
            grown, gained = relative(cost, result.tokens), faster(cost, result.tokens)
            shares = [f"{grown[what]:.2f}" for what in costs] + [f"{gained[what]:.2f}x" for what in costs]
            rows.append((f"{cost.tokens:,}", str(cost.threads), *_ns(cost), *shares))
        heads = ("evaluation", "tagging", "growth", "", "gain", "")
        print_table(("tokens", "threads", *heads), rows)
    if result.labels:
        rows = []
        for cost in result.labels:
            powers = exponent(cost, result.labels)
            rows.append((str(cost.labels), *_ns(cost), *("" if powers is None else f"{powers[w]:.2f}" for w in costs)))
        print_table(("labels", "evaluation", "tagging", "power", ""), rows)
    if result.pruned:
        rows = []
        for cost in result.pruned:
            gained = faster_pruned(cost, result.labels)
            more = (f"{cost.left:.1f}", f"{cost.learning:.1f} s", *(f"{gained[what]:.2f}x" for what in costs))
            rows.append((str(cost.labels), *_ns(cost), *more))
        print_table(("labels, pruned", "evaluation", "tagging", "left", "learnt in", "gain", ""), rows)
    if result.orders:
        rows = []
        for cost in result.orders:
            grown = relative(cost, result.orders)
            rows.append((str(cost.order), *_ns(cost), *(f"{grown[what]:.2f}" for what in costs)))
        print_table(("order", "evaluation", "tagging", "growth", ""), rows)
    if result.iteration:
        rows = []
        for tokens, both in result.iteration.items():
            per = 1e9 / tokens
            rows += [
                (f"{tokens:,}", str(n), f"{per * both.crfsuite.median:,.0f} ns", f"{per * own.median:,.0f} ns",
                 f"{both.ratio(n)['median']:.2f}x")
                for n, own in both.trellis.items()
            ]  # fmt: skip
        print_table(("tokens, L-BFGS iteration", "threads", "CRFsuite", "Trellis", "ratio"), rows)


def _ns(cost: ChainCost) -> tuple[str, str]:
    """For each token."""
    evaluation, tagging = (1e9 * times.median / cost.tokens for times in (cost.evaluation, cost.tagging))
    return f"{evaluation:,.0f} ns", f"{tagging:,.0f} ns"
