"""Sections on how cost grows: with text, labels, threads and order; memory by phases; the first seconds."""

from __future__ import annotations

from functools import partial

from trellis.report.markdown import table
from trellis.report.plots import BLUE, GREEN, GREY, ORANGE, VERMILLION, Line, Panel, Style, draw
from trellis.studies.performance import texts
from trellis.studies.performance.pictures import LEGEND
from trellis.studies.performance.section import (
    Picture,
    Section,
    Values,
    compared,
    data_of,
    megabytes,
    seconds,
    threads,
    times,
)

_BOTH = ("evaluation", "tagging")
_COLOURS = {"evaluation": (BLUE, GREEN), "tagging": (VERMILLION, ORANGE)}


def scaling(found: Values) -> Section:
    parts: list[str | Picture] = [texts.SCALING, f"{data_of(found['data'])}, {found['data']['tokens']:,} tokens."]
    if found["tokens"]:
        gains = {(one["tokens"], one["threads"]): one for one in found["threads"]}
        rows = []
        for cost in found["tokens"]:
            gain = gains.get((cost["tokens"], cost["threads"]))
            more = [times(gain[what]) for what in _BOTH] if gain else ["", ""]
            rows.append([f"{cost['tokens']:,}", str(cost["threads"]), *_ns(cost), *_grown(cost), *more])
        heads = ["tokens", "threads", *_BOTH, "growth", "", "gain", ""]
        parts += [texts.BY_TOKENS, table(heads, rows)]
    if found["labels"]:
        rows = []
        for cost in found["labels"]:
            powers = cost["exponent"]
            rows.append([str(cost["labels"]), *_ns(cost), *(f"{powers[w]:.2f}" if powers else "" for w in _BOTH)])
        parts += [texts.BY_LABELS, table(["labels", *_BOTH, "power", ""], rows)]
    if found["pruned"]:
        rows = [
            [str(cost["labels"]), *_ns(cost), f"{cost['labels_left']:.1f}", seconds(cost["learning_seconds"]),
             *(times(cost["ratio"][what]) for what in _BOTH)]
            for cost in found["pruned"]
        ]  # fmt: skip
        parts += [texts.PRUNED, table(["labels, pruned", *_BOTH, "left", "learnt in", "gain", ""], rows)]
    if found["orders"]:
        rows = [[str(cost["order"]), *_ns(cost), *_grown(cost)] for cost in found["orders"]]
        parts.append(table(["order", *_BOTH, "growth", ""], rows))
    if found["iteration"]:
        sizes = {f"{int(tokens):,} tokens": both for tokens, both in found["iteration"].items()}
        parts += ["An iteration of L-BFGS, beside CRFsuite's:", compared(sizes)]
    panels = [panel for panel in (_by_tokens(found), _by_labels(found)) if len(panel.lines)]
    if panels:
        title = "how time grows"
        parts.append(
            Picture("scaling", "Time by tokens, and for a token by labels", partial(draw, panels, title, legend=LEGEND))
        )
    return Section(parts, {})


def _ns(cost: Values) -> list[str]:
    return [f"{cost[what]['ns_per_token']['median']:,.0f} ns" for what in _BOTH]


def _grown(cost: Values) -> list[str]:
    return [f"{cost['relative'][what]:.2f}" for what in _BOTH]


def _by_tokens(found: Values) -> Panel:
    lines = []
    for k, many in enumerate(dict.fromkeys(cost["threads"] for cost in found["tokens"])):
        for what in _BOTH:
            mine = [cost for cost in found["tokens"] if cost["threads"] == many]
            style = Style(_COLOURS[what][k % 2], "-" if k == 0 else "--", "o" if k == 0 else "s")
            taken = [cost[what]["median"] for cost in mine]
            lines.append(Line(f"{what}, {threads(many)}", [cost["tokens"] for cost in mine], taken, style))
    there = found["iteration"]
    if there:
        sizes = [float(tokens) for tokens in there]
        taken = [both["crfsuite"]["median"] for both in there.values()]
        lines.append(Line("iteration, CRFsuite", sizes, taken, Style(GREY, ":", "^")))
    return Panel("tokens", "seconds", lines, log_x=True, log_y=True)


def _by_labels(found: Values) -> Panel:
    lines = []
    for pruned, dash, marker in ((False, "-", "o"), (True, ":", "D")):
        costs = found["pruned" if pruned else "labels"]
        for what in _BOTH if costs else ():
            name = "pruned" if pruned else threads(costs[0]["threads"])
            taken = [cost[what]["ns_per_token"]["median"] for cost in costs]
            style = Style(_COLOURS[what][0], dash, marker)
            lines.append(Line(f"{what}, {name}", [cost["labels"] for cost in costs], taken, style))
    return Panel("labels", "ns a token", lines, log_x=True, log_y=True)


def memory(found: Values) -> Section:
    data = found["data"]
    names = {"steps": "training, step by step", "train": "training", "tag": "tagging"}
    rows = []
    for system, name in (("trellis", "Trellis"), ("crfsuite", "CRFsuite")):
        for key, what in names.items():
            for phase in found[system].get(key) or []:
                held = [megabytes(phase[f"{which}_bytes"]) for which in ("held", "peak", "growth")]
                rows.append([f"{name}, {what}", phase["phase"], *held])
    about = (
        f"{data_of(data)}: {data['tokens']:,} tokens, {data['labels']} labels, {found['iterations']} iterations, "
        f"{threads(found['threads'])}."
    )
    parts = [texts.MEMORY, about, table(["", "after", "held", "peak", "growth"], rows, 2)]
    ratios = [f"{what} {times(ratio)}" for what, ratio in found["ratio"].items() if ratio is not None]
    if ratios:
        parts.append(f"Growth of CRFsuite over that of Trellis: {', '.join(ratios)}.")
    return Section(parts, {})


def startup(found: Values) -> Section:
    rows = [[name, seconds(taken["best"]), seconds(taken["median"])] for name, taken in found["seconds"].items()]
    parts = [texts.STARTUP, table(["a process that does", "best", "median"], rows)]
    if found["first_run"]:
        first = [
            [f"`trellis {name}`", seconds(run["empty"]["median"]), seconds(run["filled"]["median"]),
             seconds(run["compiling_seconds"])]
            for name, run in found["first_run"].items()
        ]  # fmt: skip
        heads = [f"first run, {found['first_run_tokens']:,} tokens", "empty cache", "filled cache", "compiling"]
        parts.append(table(heads, first))
    return Section(parts, {})
